//! Reads ATIF documents token by token and emits events before the rest of the document is known.
//!
//! A step is the largest thing ever kept in memory. Embedded trajectories may stand anywhere in their parent, while the
//! events of one trajectory must stay together. So the events of embedded trajectories are deferred until their parent
//! is complete. If they exceed [`MAX_HELD_BYTES`], they are emitted at once, and whatever follows of the parent is
//! emitted after them as a trajectory with the same ids.

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::Value;

use super::strict::AtifValidator;
use super::trajectory_state::AtifTrajectoryReader;
use crate::domain::EventSink;
use crate::domain::SkippedLogLine;
use crate::domain::TrajectoryEvent;

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;

/// The maximum depth of embedded trajectories; deeper ones are not read.
const MAX_DEPTH: usize = 16;

/// The maximum size of the deferred events of embedded trajectories.
const MAX_HELD_BYTES: usize = 8 * 1024 * 1024;

/// Reads the ATIF documents of one log.
pub(super) struct AtifDocuments<'s> {
    sink: &'s mut dyn EventSink,
    is_strict: bool,
    /// The number of trajectories that began.
    begun: u64,
    /// The number of steps of the last trajectory.
    steps: u32,
    is_list: bool,
}

impl<'s> AtifDocuments<'s> {
    pub(super) fn new(sink: &'s mut dyn EventSink, is_strict: bool) -> Self {
        Self { sink, is_strict, begun: 0, steps: 0, is_list: false }
    }

    pub(super) fn sink(&mut self) -> &mut dyn EventSink {
        self.sink
    }

    /// Returns the number of trajectories that began, and the number of steps read of the last one.
    pub(super) fn reading_progress(&self) -> (u64, u32) {
        (self.begun, self.steps)
    }

    /// Returns true if the documents stand in an array.
    pub(super) fn is_list(&self) -> bool {
        self.is_list
    }

    fn read_trajectory<'de, A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        if self.begun > 0 {
            self.sink.receive_event(TrajectoryEvent::Begin);
        }
        self.begun += 1;
        self.steps = 0;
        let mut told = AtifTrajectoryReader::new(self.is_strict.then(|| AtifValidator::new("trajectory".to_owned())));
        let read = emit_trajectory(&mut told, map, self.sink, MAX_DEPTH, &mut self.steps);
        self.steps = told.steps;
        read
    }

    fn report_non_trajectory(&mut self) {
        let why = "a JSON value that is no trajectory".to_owned();
        self.sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why }));
        if self.is_strict {
            AtifValidator::new("trajectory".to_owned()).report_root_breach("expected an object", self.sink);
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut AtifDocuments<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(AnyValueVisitor(self))
    }
}

/// Handles a JSON value of any type.
trait JsonValueHandler<'de>: Sized {
    fn handle_object<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error>;

    fn handle_list<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error>;

    fn handle_scalar(self, is_null: bool);
}

struct AnyValueVisitor<T>(T);

impl<'de, T: JsonValueHandler<'de>> Visitor<'de> for AnyValueVisitor<T> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.handle_object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.0.handle_list(list)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.handle_scalar(true);
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.handle_scalar(false);
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.0.handle_scalar(false);
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.0.handle_scalar(false);
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.0.handle_scalar(false);
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.handle_scalar(false);
        Ok(())
    }
}

impl<'de> JsonValueHandler<'de> for &mut AtifDocuments<'_> {
    fn handle_object<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.read_trajectory(map)
    }

    fn handle_list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.is_list {
            // An array inside an array is no trajectory.
            while list.next_element::<IgnoredAny>()?.is_some() {}
            self.report_non_trajectory();
            return Ok(());
        }
        self.is_list = true;
        while list.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn handle_scalar(self, _: bool) {
        self.report_non_trajectory();
    }
}

/// Reads and emits one trajectory, including what was read of it before an error.
fn emit_trajectory<'de, A: MapAccess<'de>>(
    told: &mut AtifTrajectoryReader,
    map: A,
    sink: &mut dyn EventSink,
    depth: usize,
    steps: &mut u32,
) -> Result<(), A::Error> {
    let mut held = DeferredEvents { sink, events: Vec::new(), bytes: 0, is_open: false };
    let read = read_fields(told, map, &mut held, depth, steps);
    let DeferredEvents { sink, events, is_open, .. } = held;
    let mut last = Vec::new();
    told.finish_trajectory(&mut last);
    if is_open && !last.is_empty() {
        resume_trajectory(told, sink);
    }
    last.into_iter().chain(events).for_each(|event| sink.receive_event(event));
    read
}

/// Continues a trajectory after others were emitted in between.
fn resume_trajectory(told: &AtifTrajectoryReader, sink: &mut dyn EventSink) {
    sink.receive_event(TrajectoryEvent::Begin);
    sink.receive_event(TrajectoryEvent::About(Box::new(told.identity.clone())));
}

fn read_fields<'de, A: MapAccess<'de>>(
    told: &mut AtifTrajectoryReader,
    mut map: A,
    held: &mut DeferredEvents<'_>,
    depth: usize,
    steps: &mut u32,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "steps" => {
                held.resume_parent(told);
                map.next_value_seed(JsonValueSeed(AtifStepList { told, sink: &mut *held.sink }))?;
                *steps = told.steps;
            }
            "subagent_trajectories" if depth == 0 => {
                let why = "trajectories embedded too deep".to_owned();
                held.sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why }));
                map.next_value::<IgnoredAny>()?;
            }
            "subagent_trajectories" => {
                if told.steps > 0 && !held.is_open {
                    told.finish_steps(held.sink);
                }
                map.next_value_seed(JsonValueSeed(EmbeddedTrajectories { told, held, depth: depth - 1 }))?;
            }
            key => {
                let value = map.next_value::<Value>()?;
                held.resume_parent(told);
                told.read_field(key, value, held.sink);
            }
        }
    }
    Ok(())
}

struct JsonValueSeed<T>(T);

impl<'de, T: JsonValueHandler<'de>> DeserializeSeed<'de> for JsonValueSeed<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(AnyValueVisitor(self.0))
    }
}

struct AtifStepList<'t> {
    told: &'t mut AtifTrajectoryReader,
    sink: &'t mut dyn EventSink,
}

impl AtifStepList<'_> {
    fn report_no_list(self) {
        if let Some(strict) = &mut self.told.strict {
            strict.report_no_list("steps", self.sink);
        }
    }
}

impl<'de> JsonValueHandler<'de> for AtifStepList<'_> {
    fn handle_object<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.report_no_list();
        Ok(())
    }

    fn handle_list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let Some(strict) = &mut self.told.strict {
            strict.begin_steps();
        }
        while let Some(step) = list.next_element::<Value>()? {
            self.told.read_step(step, self.sink);
        }
        Ok(())
    }

    fn handle_scalar(self, _: bool) {
        self.report_no_list();
    }
}

struct EmbeddedTrajectories<'t, 'h> {
    told: &'t mut AtifTrajectoryReader,
    held: &'t mut DeferredEvents<'h>,
    depth: usize,
}

impl EmbeddedTrajectories<'_, '_> {
    fn report_no_list(&mut self) {
        if let Some(strict) = &mut self.told.strict {
            strict.report_no_list("subagent_trajectories", self.held);
        }
    }
}

impl<'de> JsonValueHandler<'de> for EmbeddedTrajectories<'_, '_> {
    /// Reads a single trajectory that is not in a list.
    fn handle_object<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.report_no_list();
        EmbeddedTrajectory { told: self.told, held: self.held, depth: self.depth }.handle_object(map)
    }

    fn handle_list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { told, held, depth } = self;
        while list
            .next_element_seed(JsonValueSeed(EmbeddedTrajectory { told: &mut *told, held: &mut *held, depth }))?
            .is_some()
        {}
        Ok(())
    }

    fn handle_scalar(mut self, is_null: bool) {
        if !is_null {
            self.report_no_list();
        }
    }
}

struct EmbeddedTrajectory<'t, 'h> {
    told: &'t mut AtifTrajectoryReader,
    held: &'t mut DeferredEvents<'h>,
    depth: usize,
}

impl EmbeddedTrajectory<'_, '_> {
    fn next_validator(&mut self) -> Option<AtifValidator> {
        self.told.strict.as_mut().map(|strict| AtifValidator::new(strict.next_embedded_path()))
    }

    fn report_non_object(mut self) {
        if let Some(strict) = self.next_validator() {
            strict.report_root_breach("expected an object", self.held);
        }
    }
}

impl<'de> JsonValueHandler<'de> for EmbeddedTrajectory<'_, '_> {
    fn handle_object<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        let strict = self.next_validator();
        let mut child = AtifTrajectoryReader::new_embedded(self.told, strict);
        self.held.receive_event(TrajectoryEvent::Begin);
        emit_trajectory(&mut child, map, self.held, self.depth, &mut 0)?;
        if let (Some(strict), Some(child)) = (&mut self.told.strict, &child.strict) {
            strict.check_embedded(child, self.held);
        }
        Ok(())
    }

    fn handle_list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.report_non_object();
        Ok(())
    }

    fn handle_scalar(self, _: bool) {
        self.report_non_object();
    }
}

/// Defers the events of embedded trajectories up to a size limit.
struct DeferredEvents<'s> {
    sink: &'s mut dyn EventSink,
    events: Vec<TrajectoryEvent>,
    bytes: usize,
    /// True if the limit was exceeded and events are passed on at once.
    is_open: bool,
}

impl DeferredEvents<'_> {
    /// Resumes the parent's trajectory if events of embedded ones were passed on before.
    fn resume_parent(&mut self, told: &AtifTrajectoryReader) {
        if std::mem::take(&mut self.is_open) {
            resume_trajectory(told, self.sink);
        }
    }
}

impl EventSink for DeferredEvents<'_> {
    fn receive_event(&mut self, event: TrajectoryEvent) {
        if self.is_open {
            return self.sink.receive_event(event);
        }
        self.bytes += estimate_event_bytes(&event);
        self.events.push(event);
        if self.bytes > MAX_HELD_BYTES {
            self.is_open = true;
            self.bytes = 0;
            std::mem::take(&mut self.events).into_iter().for_each(|event| self.sink.receive_event(event));
        }
    }
}

/// Estimates the memory that an event takes, in bytes.
fn estimate_event_bytes(event: &TrajectoryEvent) -> usize {
    fn estimate_value_bytes(value: &Value) -> usize {
        32 + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(estimate_value_bytes).sum(),
            Value::Object(object) => object.iter().map(|(key, value)| key.len() + estimate_value_bytes(value)).sum(),
            _ => 0,
        }
    }
    256 + match event {
        TrajectoryEvent::Step(step) => {
            step.text.len()
                + step.reasoning.as_ref().map_or(0, String::len)
                + step.extra.iter().map(|(key, value)| key.len() + estimate_value_bytes(value)).sum::<usize>()
        }
        TrajectoryEvent::Call(_, call) => estimate_value_bytes(&call.arguments),
        TrajectoryEvent::Output(_, output) => output.text.len(),
        _ => 0,
    }
}
