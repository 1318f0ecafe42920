//! Documents: one JSON value, several one after the other, or an array of what would be lines elsewhere.

use std::cell::Cell;
use std::io::BufReader;
use std::io::Read;

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::Value;

use super::Reader;
use super::mend::Mended;
use super::pick::Object;
use crate::domain::Cut;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Skipped;

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;

/// What one part of a document may take; without it the document is given up from there.
const MAX_PART_BYTES: usize = 8 * 1024 * 1024;

/// Of a longer document the messages are told in several turns.
const TURN_BYTES: usize = 4 * 1024 * 1024;

const BUFFER_BYTES: usize = 64 * 1024;

/// Hands every object of a document to a reader, as if it were a line.
pub(super) fn each(input: &mut dyn Read, reader: &mut dyn Reader, sink: &mut dyn Sink) -> std::io::Result<()> {
    let meter = Meter::default();
    let mut input = Metered { input: Mended::new(input), meter: &meter };
    let mut values = Values { reader, sink, meter: &meter, number: 0, is_element: false };
    let ended = {
        let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, &mut input));
        loop {
            meter.begin();
            if let Err(error) = values.part().deserialize(&mut json) {
                break Err(error);
            }
            match json.end() {
                Ok(()) => break Ok(()),
                Err(error) if error.is_io() => break Err(error),
                Err(_) => {}
            }
        }
    };
    let Values { reader, sink, .. } = values;
    if input.input.cut() != Cut::default() {
        sink.hear(Event::Cut(input.input.cut()));
    }
    let read = match ended {
        Ok(()) => Ok(()),
        Err(error) if error.is_io() => Err(error.into()),
        Err(error) => {
            let why = if meter.is_over() {
                format!("a part of the document is longer than {} MB", MAX_PART_BYTES / 1024 / 1024)
            } else if error.is_eof() {
                "the JSON is cut off".to_owned()
            } else {
                format!("not JSON (line {}, column {})", error.line(), error.column())
            };
            sink.hear(Event::Skipped(Skipped { line: 0, why }));
            Ok(())
        }
    };
    reader.end(sink);
    read
}

/// Counts what is read.
#[derive(Debug, Default)]
struct Meter {
    read: Cell<usize>,
    part: Cell<usize>,
    turn: Cell<usize>,
}

impl Meter {
    /// Another part begins.
    fn begin(&self) {
        self.part.set(self.read.get());
    }

    fn is_over(&self) -> bool {
        self.read.get() - self.part.get() > MAX_PART_BYTES
    }

    /// Whether so much was read that it should be told; if so, another turn begins.
    fn is_turn(&self) -> bool {
        let is_turn = self.read.get() - self.turn.get() > TURN_BYTES;
        if is_turn {
            self.turn.set(self.read.get());
        }
        is_turn
    }
}

struct Metered<'i, 'm> {
    input: Mended<'i>,
    meter: &'m Meter,
}

impl Read for Metered<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.meter.is_over() {
            return Ok(0);
        }
        let read = self.input.read(buffer)?;
        self.meter.read.set(self.meter.read.get() + read);
        Ok(read)
    }
}

struct Values<'r> {
    reader: &'r mut dyn Reader,
    sink: &'r mut dyn Sink,
    meter: &'r Meter,
    number: u64,
    is_element: bool,
}

impl<'r> Values<'r> {
    fn part(&mut self) -> Part<'_, 'r> {
        Part(self)
    }

    fn tell(&mut self, object: Object) {
        self.reader.line(self.number, Value::Object(object), self.sink);
    }

    fn skip(&mut self, what: &str) {
        let why = format!("{what}, where an object was expected");
        self.sink.hear(Event::Skipped(Skipped { line: self.number, why }));
    }
}

/// A value of the document, or an element of the array that it is.
struct Part<'v, 'r>(&'v mut Values<'r>);

impl<'de> DeserializeSeed<'de> for Part<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let values = self.0;
        values.number += 1;
        let mut object = Object::new();
        let read = fields(values, &mut map, &mut object);
        // Of a document that is cut off, what can be read is told.
        let is_worth_it = !values.is_element && object.values().any(|value| value.is_array() || value.is_object());
        if read.is_ok() || is_worth_it {
            values.tell(object);
        }
        read
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let values = self.0;
        if values.is_element {
            values.number += 1;
            while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            values.skip("a JSON array");
            return Ok(());
        }
        values.is_element = true;
        let mut read = Ok(Some(()));
        while let Ok(Some(())) = read {
            values.meter.begin();
            read = list.next_element_seed(values.part());
        }
        values.is_element = false;
        read.map(|_| ())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.bare()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.bare()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.bare()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.bare()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.bare()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.bare()
    }
}

impl Part<'_, '_> {
    fn bare<E>(self) -> Result<(), E> {
        self.0.number += 1;
        self.0.skip("a bare JSON value");
        Ok(())
    }
}

/// The fields of an object, as far as they can be read.
fn fields<'de, A: MapAccess<'de>>(values: &mut Values<'_>, map: &mut A, object: &mut Object) -> Result<(), A::Error> {
    while let Some(key) = map.next_key::<String>()? {
        if key == "messages" {
            map.next_value_seed(Messages { values: &mut *values, object: &mut *object, key })?;
        } else {
            let value = map.next_value()?;
            object.insert(key, value);
        }
    }
    Ok(())
}

/// The messages of a chat: told before they are too many.
struct Messages<'v, 'r> {
    values: &'v mut Values<'r>,
    object: &'v mut Object,
    key: String,
}

impl<'de> DeserializeSeed<'de> for Messages<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { values, object, key } = self;
        let mut messages = Vec::new();
        let read = loop {
            values.meter.begin();
            match list.next_element::<Value>() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
            if values.meter.is_turn() {
                let mut turn = object.clone();
                turn.insert(key.clone(), Value::Array(std::mem::take(&mut messages)));
                values.tell(turn);
            }
        };
        object.insert(key, Value::Array(messages));
        read
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let value = serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        self.object.insert(self.key, value);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}
