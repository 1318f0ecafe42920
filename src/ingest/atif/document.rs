//! Documents, walked through token by token: what is read is told before the rest is known.
//!
//! A step is the largest thing that is ever held. Trajectories embedded in another one may stand anywhere in it, while
//! events of one trajectory must stay together. So what embedded ones tell is held back until their parent is told to
//! the end. Should that be more than [`MAX_HELD_BYTES`], they are told at once, and whatever of the parent comes
//! later is told as a trajectory of the same ids behind them.

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::Value;

use super::strict::Strict;
use super::told::Told;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Skipped;

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;

/// Trajectories embedded deeper are not read.
const MAX_DEPTH: usize = 16;

/// What embedded trajectories tell is held back up to this size.
const MAX_HELD_BYTES: usize = 8 * 1024 * 1024;

/// The documents of one log.
pub(super) struct Documents<'s> {
    sink: &'s mut dyn Sink,
    is_strict: bool,
    /// Trajectories that began.
    begun: u64,
    /// Steps of the one that began last.
    steps: u32,
    is_list: bool,
}

impl<'s> Documents<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink, is_strict: bool) -> Self {
        Self { sink, is_strict, begun: 0, steps: 0, is_list: false }
    }

    pub(super) fn sink(&mut self) -> &mut dyn Sink {
        self.sink
    }

    /// How many trajectories began, and how many steps of the last one were told.
    pub(super) fn progress(&self) -> (u64, u32) {
        (self.begun, self.steps)
    }

    /// Whether they stand in an array.
    pub(super) fn is_list(&self) -> bool {
        self.is_list
    }

    fn trajectory<'de, A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        if self.begun > 0 {
            self.sink.hear(Event::Begin);
        }
        self.begun += 1;
        self.steps = 0;
        let mut told = Told::new(self.is_strict.then(|| Strict::new("trajectory".to_owned())));
        let read = walk(&mut told, map, self.sink, MAX_DEPTH, &mut self.steps);
        self.steps = told.steps;
        read
    }

    fn none(&mut self) {
        let why = "a JSON value that is no trajectory".to_owned();
        self.sink.hear(Event::Skipped(Skipped { line: 0, why }));
        if self.is_strict {
            Strict::new("trajectory".to_owned()).whole("expected an object", self.sink);
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Documents<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(Anything(self))
    }
}

/// What to do with a value that may be anything at all.
trait Take<'de>: Sized {
    fn object<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error>;

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error>;

    fn other(self, is_null: bool);
}

struct Anything<T>(T);

impl<'de, T: Take<'de>> Visitor<'de> for Anything<T> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.list(list)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.other(true);
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.other(false);
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.0.other(false);
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.0.other(false);
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.other(false);
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.other(false);
        Ok(())
    }
}

impl<'de> Take<'de> for &mut Documents<'_> {
    fn object<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.trajectory(map)
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.is_list {
            // An array in an array.
            while list.next_element::<IgnoredAny>()?.is_some() {}
            self.none();
            return Ok(());
        }
        self.is_list = true;
        while list.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn other(self, _: bool) {
        self.none();
    }
}

/// Tells one trajectory; what was read of it also if the rest cannot be.
fn walk<'de, A: MapAccess<'de>>(
    told: &mut Told,
    map: A,
    sink: &mut dyn Sink,
    depth: usize,
    steps: &mut u32,
) -> Result<(), A::Error> {
    let mut held = Held { sink, events: Vec::new(), bytes: 0, is_open: false };
    let read = fields(told, map, &mut held, depth, steps);
    let Held { sink, events, is_open, .. } = held;
    let mut last = Vec::new();
    told.end(&mut last);
    if is_open && !last.is_empty() {
        resume(told, sink);
    }
    last.into_iter().chain(events).for_each(|event| sink.hear(event));
    read
}

/// The trajectory goes on behind others.
fn resume(told: &Told, sink: &mut dyn Sink) {
    sink.hear(Event::Begin);
    sink.hear(Event::About(Box::new(told.identity.clone())));
}

fn fields<'de, A: MapAccess<'de>>(
    told: &mut Told,
    mut map: A,
    held: &mut Held<'_>,
    depth: usize,
    steps: &mut u32,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "steps" => {
                held.parent(told);
                map.next_value_seed(Seed(Steps { told, sink: &mut *held.sink }))?;
                *steps = told.steps;
            }
            "subagent_trajectories" if depth == 0 => {
                let why = "trajectories embedded too deep".to_owned();
                held.sink.hear(Event::Skipped(Skipped { line: 0, why }));
                map.next_value::<IgnoredAny>()?;
            }
            "subagent_trajectories" => {
                if told.steps > 0 && !held.is_open {
                    told.end_of_steps(held.sink);
                }
                map.next_value_seed(Seed(Embedded { told, held, depth: depth - 1 }))?;
            }
            key => {
                let value = map.next_value::<Value>()?;
                held.parent(told);
                told.field(key, value, held.sink);
            }
        }
    }
    Ok(())
}

struct Seed<T>(T);

impl<'de, T: Take<'de>> DeserializeSeed<'de> for Seed<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(Anything(self.0))
    }
}

struct Steps<'t> {
    told: &'t mut Told,
    sink: &'t mut dyn Sink,
}

impl Steps<'_> {
    fn none(self) {
        if let Some(strict) = &mut self.told.strict {
            strict.no_list("steps", self.sink);
        }
    }
}

impl<'de> Take<'de> for Steps<'_> {
    fn object<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.none();
        Ok(())
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let Some(strict) = &mut self.told.strict {
            strict.steps();
        }
        while let Some(step) = list.next_element::<Value>()? {
            self.told.step(step, self.sink);
        }
        Ok(())
    }

    fn other(self, _: bool) {
        self.none();
    }
}

struct Embedded<'t, 'h> {
    told: &'t mut Told,
    held: &'t mut Held<'h>,
    depth: usize,
}

impl Embedded<'_, '_> {
    fn breach(&mut self) {
        if let Some(strict) = &mut self.told.strict {
            strict.no_list("subagent_trajectories", self.held);
        }
    }
}

impl<'de> Take<'de> for Embedded<'_, '_> {
    /// A single one, not in a list.
    fn object<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.breach();
        Child { told: self.told, held: self.held, depth: self.depth }.object(map)
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { told, held, depth } = self;
        while list.next_element_seed(Seed(Child { told: &mut *told, held: &mut *held, depth }))?.is_some() {}
        Ok(())
    }

    fn other(mut self, is_null: bool) {
        if !is_null {
            self.breach();
        }
    }
}

struct Child<'t, 'h> {
    told: &'t mut Told,
    held: &'t mut Held<'h>,
    depth: usize,
}

impl Child<'_, '_> {
    fn strict(&mut self) -> Option<Strict> {
        self.told.strict.as_mut().map(|strict| Strict::new(strict.next_embedded()))
    }

    fn none(mut self) {
        if let Some(strict) = self.strict() {
            strict.whole("expected an object", self.held);
        }
    }
}

impl<'de> Take<'de> for Child<'_, '_> {
    fn object<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        let strict = self.strict();
        let mut child = Told::child(self.told, strict);
        self.held.hear(Event::Begin);
        walk(&mut child, map, self.held, self.depth, &mut 0)?;
        if let (Some(strict), Some(child)) = (&mut self.told.strict, &child.strict) {
            strict.embedded(child, self.held);
        }
        Ok(())
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.none();
        Ok(())
    }

    fn other(self, _: bool) {
        self.none();
    }
}

/// Holds back what embedded trajectories tell, as long as it is not too much.
struct Held<'s> {
    sink: &'s mut dyn Sink,
    events: Vec<Event>,
    bytes: usize,
    /// It was too much, and they were told at once.
    is_open: bool,
}

impl Held<'_> {
    /// The parent wants to tell something itself.
    fn parent(&mut self, told: &Told) {
        if std::mem::take(&mut self.is_open) {
            resume(told, self.sink);
        }
    }
}

impl Sink for Held<'_> {
    fn hear(&mut self, event: Event) {
        if self.is_open {
            return self.sink.hear(event);
        }
        self.bytes += weight(&event);
        self.events.push(event);
        if self.bytes > MAX_HELD_BYTES {
            self.is_open = true;
            self.bytes = 0;
            std::mem::take(&mut self.events).into_iter().for_each(|event| self.sink.hear(event));
        }
    }
}

/// About how much memory an event takes.
fn weight(event: &Event) -> usize {
    fn of(value: &Value) -> usize {
        32 + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(of).sum(),
            Value::Object(object) => object.iter().map(|(key, value)| key.len() + of(value)).sum(),
            _ => 0,
        }
    }
    256 + match event {
        Event::Step(step) => {
            step.text.len()
                + step.reasoning.as_ref().map_or(0, String::len)
                + step.extra.iter().map(|(key, value)| key.len() + of(value)).sum::<usize>()
        }
        Event::Call(_, call) => of(&call.arguments),
        Event::Output(_, output) => output.text.len(),
        _ => 0,
    }
}
