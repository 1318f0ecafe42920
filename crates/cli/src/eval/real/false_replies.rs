//! False lessons that a careless model might propose for the sessions of a set, and what becomes of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::is_injected_at_once;
use crate::cli_error::CliError;
use archivist_core::context::ReflectionContext;
use archivist_core::distill::SessionDistiller;

/// The false replies that are built into the program.
const OWN_REPLIES: &str = include_str!("../../../../../fixtures/false-replies.jsonl");

/// The file of a set that holds false replies of its own.
const REPLIES_FILE: &str = "false-replies.jsonl";

/// A false candidate for a session, with quotes that do occur in it.
#[derive(Debug, Deserialize)]
pub(super) struct FalseReply {
    /// The path of the log, relative to the set's folder.
    pub(super) path: PathBuf,
    /// The kind of mistake that it makes.
    kind: String,
    candidate: Value,
    /// The reason why it is false.
    #[expect(dead_code, reason = "it is for whoever reads the file")]
    why: String,
}

/// The number of false lessons by what became of them.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FalseReplyReport {
    pub(super) claimed: usize,
    pub(super) dropped: usize,
    pub(super) quarantined: usize,
    /// The number of lessons that are kept, but not injected before a second sighting.
    pub(super) waiting: usize,
    pub(super) injected: usize,
    pub(super) verdicts: Vec<FalseReplyVerdict>,
}

/// The verdict on one false lesson.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FalseReplyVerdict {
    pub(super) session: String,
    pub(super) kind: String,
    pub(super) verdict: String,
    pub(super) summary: String,
}

/// Reads the false replies of a set, or the built-in ones if the set has none.
pub(super) fn read_false_replies(folder: &Path) -> Result<Vec<FalseReply>, CliError> {
    let path = folder.join(REPLIES_FILE);
    let text = fs::read_to_string(&path).unwrap_or_else(|_| OWN_REPLIES.to_owned());
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            CliError::user_error(format!("{}, line {number}: {error}", path.display())).with_hint("see --help")
        })
    };
    lines.map(parse).collect()
}

impl FalseReplyReport {
    /// Counts what becomes of one false lesson when it is the only candidate of a reply.
    pub(super) fn measure_reply(
        &mut self,
        reply: &FalseReply,
        session: &str,
        context: &ReflectionContext,
        distiller: &SessionDistiller<'_>,
    ) -> Result<(), CliError> {
        let answer = serde_json::json!({"outcome_summary": "", "candidates": [&reply.candidate]});
        let distilled = distiller
            .distill_from_reply(context, &answer)
            .map_err(|error| CliError::user_error(format!("the false reply for {session}: {error}")))?;
        let (count, verdict) = match distilled.candidates.first() {
            None => {
                let why = distilled.dropped.first().map(|one| format!(", {}: {}", one.why, one.detail));
                (&mut self.dropped, format!("dropped{}", why.unwrap_or_default()))
            }
            Some(lesson) => match &lesson.quarantine {
                Some(why) => (&mut self.quarantined, format!("quarantined: {why}")),
                None if is_injected_at_once(lesson) => (&mut self.injected, "given at once".to_owned()),
                None => (&mut self.waiting, format!("waiting as a {}", lesson.kind)),
            },
        };
        *count += 1;
        self.claimed += 1;
        let summary = reply.candidate.get("summary").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (session, kind) = (session.to_owned(), reply.kind.clone());
        self.verdicts.push(FalseReplyVerdict { session, kind, verdict, summary });
        Ok(())
    }
}
