//! ATIF, the Agent Trajectory Interchange Format, of every version and with every liberty that producers take.
//!
//! Read leniently always; held against Harbor's own rules as well where that is asked for. The events come in the order
//! of the document. Trajectories that are embedded in another one come behind it: after [`Event::Begin`], and with
//! [`About::parent_session_id`](crate::domain::About) set if the parent has an id.

mod chat;
mod document;
mod mend;
mod result;
mod spent;
mod step;
mod stream;
mod strict;
mod told;

#[cfg(test)]
#[path = "atif_tests.rs"]
mod tests;

use std::io::BufReader;
use std::io::Read;

use serde::de::DeserializeSeed;

use super::Rules;
use crate::domain::Cut;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Skipped;
use document::Documents;
use mend::Mended;
use strict::Strict;

pub(super) use stream::Stream;

/// The parser takes byte by byte, which is quick only out of a buffer of the standard library.
const BUFFER_BYTES: usize = 64 * 1024;

/// Tells one document, an array of them, or several one after the other.
pub(super) fn documents(input: &mut dyn Read, rules: Rules, sink: &mut dyn Sink) -> std::io::Result<()> {
    let mut input = Mended::new(input);
    let mut documents = Documents::new(sink, rules.strict);
    let mut count = 0u64;
    let ended = {
        let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, &mut input));
        loop {
            if let Err(error) = (&mut documents).deserialize(&mut json) {
                break Err(error);
            }
            count += 1;
            match json.end() {
                Ok(()) => break Ok(()),
                Err(error) if error.is_io() => break Err(error),
                Err(_) => {}
            }
        }
    };
    let cut = input.cut();
    let flaw = input.flaw();
    let (begun, steps) = documents.progress();
    let is_list = documents.is_list();
    let sink = documents.sink();
    if cut != Cut::default() {
        sink.hear(Event::Cut(cut));
    }
    if rules.strict {
        let whole = Strict::new("trajectory".to_owned());
        let problems = [
            flaw,
            is_list.then_some("an array, where one object was expected"),
            (count > 1 || (count == 1 && ended.is_err())).then_some("more than one JSON value"),
        ];
        problems.into_iter().flatten().for_each(|problem| whole.whole(problem, sink));
    }
    match ended {
        Ok(()) => Ok(()),
        Err(error) if error.is_io() => Err(error.into()),
        Err(error) => {
            if rules.strict {
                Strict::new("trajectory".to_owned()).whole("not JSON", sink);
            }
            // Lines are lost where numbers are cut.
            let line = if cut == Cut::default() { u64::try_from(error.line()).unwrap_or_default() } else { 0 };
            let what = if error.is_eof() { "cut off" } else { "no JSON" };
            let trajectory = if begun > 1 { format!(" of trajectory {begun}") } else { String::new() };
            let why = format!("the document is {what} after step {steps}{trajectory}");
            sink.hear(Event::Skipped(Skipped { line, why }));
            Ok(())
        }
    }
}
