//! `archivist eval real`: real sessions, and how much of what they teach is learned.

mod false_replies;
mod labels;
mod matching;
mod show;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::false_replies::{FalseReplyReport, read_false_replies};
use self::labels::{GoldGrade, GoldQuote, LabelledSession, read_labels};
use self::matching::is_gold;
use crate::cli::console::Console;
use crate::cli::failure::{Exit, Failure};
use crate::context::{Material, ReflectionContext, digest};
use crate::distill::Distiller;
use crate::domain::{Candidate, EvidenceLevel, MemoryKind, Timestamp};
use crate::redact::Redactor;
use crate::text::Tokenizer;

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

/// As many candidates as a reflection keeps, and none less important, where nothing else is set.
const MAX_CANDIDATES: usize = 5;
const MIN_IMPORTANCE: f64 = 0.3;

/// The importance from which a proved lesson is given without a second sighting, where nothing else is set.
const INJECTED_IMPORTANCE: f64 = 0.7;

/// Digest sizes that are looked at, in tokens.
const DIGEST_TOKENS: [usize; 3] = [8_000, 14_000, 24_000];

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct EvalReal {
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

/// Everything that was measured.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RealReport {
    sessions: usize,
    gold: GradeCounts,
    rules: RuleReport,
    reply: ReplyReport,
    false_replies: FalseReplyReport,
    digest: Vec<DigestReport>,
}

/// How many of each grade.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct GradeCounts {
    a: usize,
    b: usize,
}

/// What the rules learn without a model.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleReport {
    told: usize,
    right: usize,
    injected: usize,
    injected_right: usize,
    found: GradeCounts,
    /// By what they rest on: how many were told, how many of them are right.
    by_ground: BTreeMap<String, (usize, usize)>,
    lessons: Vec<ToldLesson>,
    missed: Vec<String>,
}

/// One lesson that the rules told.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToldLesson {
    session: String,
    /// The gold lesson that it is.
    gold: Option<String>,
    is_injected: bool,
    summary: String,
}

/// What becomes of the gold lessons of the replies.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplyReport {
    kept: GradeCounts,
    /// Of those kept, how many would be given before they are seen a second time.
    injected: usize,
    quarantined: usize,
    dropped: usize,
    /// Why some did not come through: the lesson and the reason.
    held: Vec<(String, String)>,
}

/// What a digest of some size shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DigestReport {
    tokens: usize,
    steps: usize,
    shown: usize,
    hidden: Vec<String>,
}

impl GradeCounts {
    fn count(&mut self, grade: GoldGrade) {
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
    pub(super) fn run(&self, now: Timestamp, console: &mut Console) -> Result<Exit> {
        let sessions = read_labels(&self.data)?;
        let false_replies = read_false_replies(&self.data)?;
        let redactor = Redactor::new();
        let distiller = Distiller {
            redactor: &redactor,
            documents: &[],
            max_candidates: MAX_CANDIDATES,
            min_importance: MIN_IMPORTANCE,
        };
        let mut report = RealReport { sessions: sessions.len(), ..RealReport::default() };
        report.digest = DIGEST_TOKENS
            .iter()
            .map(|tokens| DigestReport { tokens: *tokens, steps: 0, shown: 0, hidden: Vec::new() })
            .collect();
        for session in &sessions {
            let context = session.read_context(&self.data, &redactor, now)?;
            session.gold.iter().for_each(|gold| report.gold.count(gold.grade));
            report.rules.measure(session, &context, &distiller);
            report.reply.measure(session, &context, &distiller)?;
            for reply in false_replies.iter().filter(|reply| reply.path == session.path) {
                report.false_replies.measure(reply, &session.name(), &context, &distiller)?;
            }
            for size in &mut report.digest {
                size.measure(session, &context);
            }
        }
        if self.json {
            console.json(&report)?;
        } else {
            show::print_report(&report, self.show, console)?;
        }
        Ok(Exit::Done)
    }
}

impl RuleReport {
    fn measure(&mut self, session: &LabelledSession, context: &ReflectionContext, distiller: &Distiller<'_>) {
        let mut found = BTreeSet::new();
        for lesson in distiller.by_heuristics(context).candidates.iter().filter(|one| one.quarantine.is_none()) {
            let gold = session.gold.iter().find(|gold| is_gold(lesson, gold));
            let is_injected = is_injected_at_once(lesson);
            self.told += 1;
            self.right += usize::from(gold.is_some());
            self.injected += usize::from(is_injected);
            self.injected_right += usize::from(is_injected && gold.is_some());
            let (told, right) = self.by_ground.entry(ground_of(lesson)).or_default();
            *told += 1;
            *right += usize::from(gold.is_some());
            found.extend(gold.map(|gold| gold.id.as_str()));
            let (gold, summary) = (gold.map(|gold| gold.id.clone()), lesson.summary.clone());
            self.lessons.push(ToldLesson { session: session.name(), gold, is_injected, summary });
        }
        for gold in &session.gold {
            match found.contains(gold.id.as_str()) {
                true => self.found.count(gold.grade),
                false => self.missed.push(format!("{:?} {}: {}", gold.grade, gold.id, gold.summary)),
            }
        }
    }
}

/// Tells whether a lesson would be given before it was seen a second time.
fn is_injected_at_once(lesson: &Candidate) -> bool {
    let is_proof = |level: &EvidenceLevel| matches!(level, EvidenceLevel::Execution | EvidenceLevel::Citation);
    let is_proved = lesson.evidence.quotes.iter().any(|quote| is_proof(&quote.level));
    matches!(lesson.kind, MemoryKind::Preference | MemoryKind::Decision)
        || (is_proved && lesson.importance.value() >= INJECTED_IMPORTANCE)
}

impl ReplyReport {
    fn measure(
        &mut self,
        session: &LabelledSession,
        context: &ReflectionContext,
        distiller: &Distiller<'_>,
    ) -> Result<(), Failure> {
        // Each gold lesson is claimed on its own: the cap on lessons of one session is not what is measured.
        let candidates = session.reply.get("candidates").and_then(serde_json::Value::as_array);
        for (gold, candidate) in session.gold.iter().zip(candidates.into_iter().flatten()) {
            let reply = serde_json::json!({"outcome_summary": "", "candidates": [candidate]});
            let distilled = distiller
                .by_reply(context, &reply)
                .map_err(|error| Failure::user(format!("the reply for {}: {error}", session.name())))?;
            match distilled.candidates.first().map(|lesson| (lesson, lesson.quarantine.as_deref())) {
                Some((lesson, None)) => {
                    self.kept.count(gold.grade);
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

impl DigestReport {
    fn measure(&mut self, session: &LabelledSession, context: &ReflectionContext) {
        let material = Material { trajectories: &context.trajectories, signals: &context.signals, notes: None };
        let shown = fold_spaces(&digest(&material, self.tokens, &Tokenizer::new()).text);
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

/// Returns what a lesson of the rules rests on: what they say first of why it matters.
fn ground_of(lesson: &Candidate) -> String {
    let reason = lesson.importance_reason.as_deref().unwrap_or("nothing is said");
    reason.split(';').next().unwrap_or(reason).to_owned()
}
