//! Reads documents: one JSON value, several in sequence, or an array of objects that other logs write as lines.

use std::cell::Cell;
use std::io::BufReader;
use std::io::Read;

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::Value;

use super::LogReader;
use super::json_fields::Object;
use super::json_repair::JsonRepairReader;
use crate::domain::EventSink;
use crate::domain::SkippedLogLine;
use crate::domain::TrajectoryEvent;
use crate::domain::TruncationCount;

#[cfg(test)]
#[path = "json_documents_tests.rs"]
mod tests;

/// The maximum size of one part of a document; at a longer part the rest of the document is given up.
const MAX_PART_BYTES: usize = 8 * 1024 * 1024;

/// The size after which the messages of a long document are passed on in batches.
const TURN_BYTES: usize = 4 * 1024 * 1024;

const BUFFER_BYTES: usize = 64 * 1024;

/// Passes every object of a document to a reader, as if it were a line.
pub(super) fn read_documents(
    input: &mut dyn Read,
    reader: &mut dyn LogReader,
    sink: &mut dyn EventSink,
) -> std::io::Result<()> {
    let meter = DocumentMeter::default();
    let mut input = MeteredInput { input: JsonRepairReader::new(input), meter: &meter };
    let mut values = JsonDocumentReader { reader, sink, meter: &meter, number: 0, is_element: false };
    let ended = {
        let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, &mut input));
        loop {
            meter.begin_part();
            if let Err(error) = values.part_seed().deserialize(&mut json) {
                break Err(error);
            }
            match json.end() {
                Ok(()) => break Ok(()),
                Err(error) if error.is_io() => break Err(error),
                Err(_) => {}
            }
        }
    };
    let JsonDocumentReader { reader, sink, .. } = values;
    if input.input.cut_amount() != TruncationCount::default() {
        sink.receive_event(TrajectoryEvent::Cut(input.input.cut_amount()));
    }
    let read = match ended {
        Ok(()) => Ok(()),
        Err(error) if error.is_io() => Err(error.into()),
        Err(error) => {
            let why = if meter.is_part_too_long() {
                format!("a part of the document is longer than {} MB", MAX_PART_BYTES / 1024 / 1024)
            } else if error.is_eof() {
                "the JSON is cut off".to_owned()
            } else {
                format!("not JSON (line {}, column {})", error.line(), error.column())
            };
            sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why }));
            Ok(())
        }
    };
    reader.finish_log(sink);
    read
}

/// Counts the bytes that are read.
#[derive(Debug, Default)]
struct DocumentMeter {
    read: Cell<usize>,
    part: Cell<usize>,
    turn: Cell<usize>,
}

impl DocumentMeter {
    /// Marks the beginning of another part.
    fn begin_part(&self) {
        self.part.set(self.read.get());
    }

    fn is_part_too_long(&self) -> bool {
        self.read.get() - self.part.get() > MAX_PART_BYTES
    }

    /// Returns true if enough was read for a batch; if so, another batch begins.
    fn begin_batch_if_due(&self) -> bool {
        let is_turn = self.read.get() - self.turn.get() > TURN_BYTES;
        if is_turn {
            self.turn.set(self.read.get());
        }
        is_turn
    }
}

struct MeteredInput<'i, 'm> {
    input: JsonRepairReader<'i>,
    meter: &'m DocumentMeter,
}

impl Read for MeteredInput<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.meter.is_part_too_long() {
            return Ok(0);
        }
        let read = self.input.read(buffer)?;
        self.meter.read.set(self.meter.read.get() + read);
        Ok(read)
    }
}

struct JsonDocumentReader<'r> {
    reader: &'r mut dyn LogReader,
    sink: &'r mut dyn EventSink,
    meter: &'r DocumentMeter,
    number: u64,
    is_element: bool,
}

impl<'r> JsonDocumentReader<'r> {
    fn part_seed(&mut self) -> DocumentPartSeed<'_, 'r> {
        DocumentPartSeed(self)
    }

    fn pass_to_reader(&mut self, object: Object) {
        self.reader.read_log_line(self.number, Value::Object(object), self.sink);
    }

    fn report_skipped(&mut self, what: &str) {
        let why = format!("{what}, where an object was expected");
        self.sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: self.number, why }));
    }
}

/// Deserializes a value of the document, or an element of its array.
struct DocumentPartSeed<'v, 'r>(&'v mut JsonDocumentReader<'r>);

impl<'de> DeserializeSeed<'de> for DocumentPartSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DocumentPartSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let values = self.0;
        values.number += 1;
        let mut object = Object::new();
        let read = read_fields(values, &mut map, &mut object);
        // Of a document that is cut off, the readable part is passed on.
        let is_worth_it = !values.is_element && object.values().any(|value| value.is_array() || value.is_object());
        if read.is_ok() || is_worth_it {
            values.pass_to_reader(object);
        }
        read
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let values = self.0;
        if values.is_element {
            values.number += 1;
            while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            values.report_skipped("a JSON array");
            return Ok(());
        }
        values.is_element = true;
        let mut read = Ok(Some(()));
        while let Ok(Some(())) = read {
            values.meter.begin_part();
            read = list.next_element_seed(values.part_seed());
        }
        values.is_element = false;
        read.map(|_| ())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.skip_bare_value()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.skip_bare_value()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.skip_bare_value()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.skip_bare_value()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.skip_bare_value()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.skip_bare_value()
    }
}

impl DocumentPartSeed<'_, '_> {
    fn skip_bare_value<E>(self) -> Result<(), E> {
        self.0.number += 1;
        self.0.report_skipped("a bare JSON value");
        Ok(())
    }
}

/// Reads the fields of an object into `object`, as far as they can be read.
fn read_fields<'de, A: MapAccess<'de>>(
    values: &mut JsonDocumentReader<'_>,
    map: &mut A,
    object: &mut Object,
) -> Result<(), A::Error> {
    while let Some(key) = map.next_key::<String>()? {
        if key == "messages" {
            map.next_value_seed(ChatMessagesSeed { values: &mut *values, object: &mut *object, key })?;
        } else {
            let value = map.next_value()?;
            object.insert(key, value);
        }
    }
    Ok(())
}

/// Deserializes the messages of a chat and passes them on in batches, so that they do not use too much memory.
struct ChatMessagesSeed<'v, 'r> {
    values: &'v mut JsonDocumentReader<'r>,
    object: &'v mut Object,
    key: String,
}

impl<'de> DeserializeSeed<'de> for ChatMessagesSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ChatMessagesSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { values, object, key } = self;
        let mut messages = Vec::new();
        let read = loop {
            values.meter.begin_part();
            match list.next_element::<Value>() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
            if values.meter.begin_batch_if_due() {
                let mut turn = object.clone();
                turn.insert(key.clone(), Value::Array(std::mem::take(&mut messages)));
                values.pass_to_reader(turn);
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
