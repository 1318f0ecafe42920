//! `archivist eval real` measures how much of what real sessions teach is learned.

mod false_replies;
mod labels;
mod matching;
mod print;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::false_replies::{FalseReplyReport, read_false_replies};
use self::labels::{GoldGrade, GoldQuote, GoldSession, read_labels};
use self::matching::is_gold;
use crate::cli_error::{CliError, CommandExit};
use crate::console::Console;
use archivist_core::context::{DigestInput, ReflectionContext, render_digest};
use archivist_core::distill::SessionDistiller;
use archivist_core::domain::{Candidate, EvidenceLevel, MemoryKind, Timestamp};
use archivist_core::redact::Redactor;
use archivist_core::text::Tokenizer;

const EXAMPLES: &str = "\
Examples:
  archivist eval real --data real-lessons
  archivist eval real --data real-lessons --show
  archivist eval real --data real-lessons --json

The folder holds labels.jsonl, one session a line: `path` of its log, `gold` lessons with `grade` (A or B), `steps` and
`summary`, and a strong model's `reply` whose candidates are the gold lessons in the same order.

Rules: a lesson is right if it quotes one of the steps of a gold lesson and shares three words with its summary that are
not in every lesson. Precision counts every other lesson as false, also one that a strict reader would merely not miss.
Injected at once is what would be given without a second sighting.
Reply: what becomes of the gold lessons when a model claims them: given at once, or waiting for a second sighting.
False: what becomes of lessons that the sessions do not teach when a model claims them, with quotes that stand there:
orders for one task, warnings, remedies that nobody tried, strangers' advice, claims that their quotes do not carry. The
program carries those for one set; a folder may bring others in false-replies.jsonl, lines of {\"path\", \"kind\",
\"candidate\", \"why\"}. None may be given at once.
Digest: a gold step is shown if all words that the reply quotes of it stand in the digest, spaces aside.";

/// The default importance from which a proved lesson is injected without a second sighting.
const INJECTED_IMPORTANCE: f64 = 0.7;

/// The sizes of the digests that are measured, in tokens.
const DIGEST_TOKENS: [usize; 3] = [8_000, 14_000, 24_000];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalReal {
    /// A folder of labelled sessions
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// List every lesson told, every gold lesson missed, held back or dropped, every false one, and every gold step hidden
    #[arg(long)]
    show: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The figures of all measurements of `archivist eval real`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RealEvalReport {
    sessions: usize,
    gold: GradeCounts,
    rules: HeuristicReport,
    reply: GoldReplyReport,
    false_replies: FalseReplyReport,
    digest: Vec<GoldDigestReport>,
}

/// The number of gold lessons of each grade.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct GradeCounts {
    a: usize,
    b: usize,
}

/// The figures of the lessons that the heuristics learn without a model.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct HeuristicReport {
    told: usize,
    right: usize,
    injected: usize,
    injected_right: usize,
    found: GradeCounts,
    /// The number of lessons, and of right ones among them, by the reason for their importance.
    by_ground: BTreeMap<String, (usize, usize)>,
    lessons: Vec<HeuristicLesson>,
    missed: Vec<String>,
}

/// One lesson that the heuristics learned.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HeuristicLesson {
    session: String,
    /// The id of the gold lesson that it matches.
    gold: Option<String>,
    is_injected: bool,
    summary: String,
}

/// The number of gold lessons by what becomes of them when a model proposes them.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GoldReplyReport {
    kept: GradeCounts,
    /// The number of kept lessons that would be injected before a second sighting.
    injected: usize,
    quarantined: usize,
    dropped: usize,
    /// The lessons that were quarantined or dropped, each with the reason.
    held: Vec<(String, String)>,
}

/// The number of gold steps that a digest of some size shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GoldDigestReport {
    tokens: usize,
    steps: usize,
    shown: usize,
    hidden: Vec<String>,
}

impl GradeCounts {
    fn add_grade(&mut self, grade: GoldGrade) {
        match grade {
            GoldGrade::A => self.a += 1,
            GoldGrade::B => self.b += 1,
        }
    }

    fn total(self) -> usize {
        self.a + self.b
    }
}

impl EvalReal {
    pub(super) fn run(&self, now: Timestamp, console: &mut Console) -> Result<CommandExit> {
        let sessions = read_labels(&self.data)?;
        let false_replies = read_false_replies(&self.data)?;
        let redactor = Redactor::new();
        let distiller = SessionDistiller {
            redactor: &redactor,
            documents: &[],
            max_candidates: super::MAX_CANDIDATES,
            min_importance: super::MIN_IMPORTANCE,
        };
        let mut report = RealEvalReport { sessions: sessions.len(), ..RealEvalReport::default() };
        report.digest = DIGEST_TOKENS
            .iter()
            .map(|tokens| GoldDigestReport { tokens: *tokens, steps: 0, shown: 0, hidden: Vec::new() })
            .collect();
        for session in &sessions {
            let context = session.read_context(&self.data, &redactor, now)?;
            session.gold.iter().for_each(|gold| report.gold.add_grade(gold.grade));
            report.rules.measure_session(session, &context, &distiller);
            report.reply.measure_session(session, &context, &distiller)?;
            for reply in false_replies.iter().filter(|reply| reply.path == session.path) {
                report.false_replies.measure_reply(reply, &session.name(), &context, &distiller)?;
            }
            for size in &mut report.digest {
                size.measure_session(session, &context);
            }
        }
        if self.json {
            console.print_json(&report)?;
        } else {
            print::print_report(&report, self.show, console)?;
        }
        Ok(CommandExit::Done)
    }
}

impl HeuristicReport {
    fn measure_session(
        &mut self,
        session: &GoldSession,
        context: &ReflectionContext,
        distiller: &SessionDistiller<'_>,
    ) {
        let mut found = BTreeSet::new();
        for lesson in
            distiller.distill_with_heuristics(context).candidates.iter().filter(|one| one.quarantine.is_none())
        {
            let gold = session.gold.iter().find(|gold| is_gold(lesson, gold));
            let is_injected = is_injected_at_once(lesson);
            self.told += 1;
            self.right += usize::from(gold.is_some());
            self.injected += usize::from(is_injected);
            self.injected_right += usize::from(is_injected && gold.is_some());
            let (told, right) = self.by_ground.entry(first_reason(lesson)).or_default();
            *told += 1;
            *right += usize::from(gold.is_some());
            found.extend(gold.map(|gold| gold.id.as_str()));
            let (gold, summary) = (gold.map(|gold| gold.id.clone()), lesson.summary.clone());
            self.lessons.push(HeuristicLesson { session: session.name(), gold, is_injected, summary });
        }
        for gold in &session.gold {
            match found.contains(gold.id.as_str()) {
                true => self.found.add_grade(gold.grade),
                false => self.missed.push(format!("{:?} {}: {}", gold.grade, gold.id, gold.summary)),
            }
        }
    }
}

/// Tells whether a lesson would be injected before a second sighting.
fn is_injected_at_once(lesson: &Candidate) -> bool {
    let is_proof = |level: &EvidenceLevel| matches!(level, EvidenceLevel::Execution | EvidenceLevel::Citation);
    let is_proved = lesson.evidence.quotes.iter().any(|quote| is_proof(&quote.level));
    matches!(lesson.kind, MemoryKind::Preference | MemoryKind::Decision)
        || (is_proved && lesson.importance.value() >= INJECTED_IMPORTANCE)
}

impl GoldReplyReport {
    fn measure_session(
        &mut self,
        session: &GoldSession,
        context: &ReflectionContext,
        distiller: &SessionDistiller<'_>,
    ) -> Result<(), CliError> {
        // Each gold lesson gets a reply of its own, so that the limit on candidates of a session does not count.
        let candidates = session.reply.get("candidates").and_then(serde_json::Value::as_array);
        for (gold, candidate) in session.gold.iter().zip(candidates.into_iter().flatten()) {
            let reply = serde_json::json!({"outcome_summary": "", "candidates": [candidate]});
            let distilled = distiller
                .distill_from_reply(context, &reply)
                .map_err(|error| CliError::user_error(format!("the reply for {}: {error}", session.name())))?;
            match distilled.candidates.first().map(|lesson| (lesson, lesson.quarantine.as_deref())) {
                Some((lesson, None)) => {
                    self.kept.add_grade(gold.grade);
                    self.injected += usize::from(is_injected_at_once(lesson));
                }
                Some((_, Some(why))) => {
                    self.quarantined += 1;
                    self.held.push((gold.id.clone(), format!("quarantined: {why}")));
                }
                None => {
                    self.dropped += 1;
                    let dropped = distilled.dropped.first();
                    let why = dropped.map_or_else(String::new, |one| format!("{}: {}", one.why, one.detail));
                    self.held.push((gold.id.clone(), format!("dropped, {why}")));
                }
            }
        }
        Ok(())
    }
}

impl GoldDigestReport {
    fn measure_session(&mut self, session: &GoldSession, context: &ReflectionContext) {
        let material = DigestInput { trajectories: &context.trajectories, signals: &context.signals, notes: None };
        let shown = fold_spaces(&render_digest(&material, self.tokens, &Tokenizer::new()).text);
        let quotes = session.gold_quotes();
        let mut steps: BTreeMap<(usize, &str), bool> = BTreeMap::new();
        for GoldQuote { lesson, step, text } in &quotes {
            let is_shown = steps.entry((*lesson, step.as_str())).or_insert(true);
            *is_shown &= shown.contains(&fold_spaces(text));
        }
        self.steps += steps.len();
        self.shown += steps.values().filter(|is_shown| **is_shown).count();
        for ((lesson, step), _) in steps.into_iter().filter(|(_, is_shown)| !is_shown) {
            let id = session.gold.get(lesson).map_or("", |gold| gold.id.as_str());
            self.hidden.push(format!("{id} {step}"));
        }
    }
}

fn fold_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first of the reasons that the heuristics give for a lesson's importance.
fn first_reason(lesson: &Candidate) -> String {
    let reason = lesson.importance_reason.as_deref().unwrap_or("nothing is said");
    reason.split(';').next().unwrap_or(reason).to_owned()
}
