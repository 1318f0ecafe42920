//! Finds the parts of a message that its author only passes on: whoever pastes a page has not said what it says.
//!
//! Quoted lines and quoted blocks in a user's message are somebody else's words. Fenced blocks are mostly the author's
//! own code, so they, and what an agent quotes, are a stranger's only if they give orders to their reader.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::provenance::steps_in_time_order;
use super::reader_orders::{ReaderOrder, find_order};
use crate::context::{ReflectionContext, quotable_texts};
use crate::domain::{Speaker, Step, TrustClass};
use crate::text::fold_lookalikes;

#[cfg(test)]
#[path = "pasted_text_tests.rs"]
mod tests;

/// The trust class of text that was passed on: that of a page on the web.
pub(super) const CLASS: TrustClass = TrustClass::Web;

/// The mark around a quoted block in plain text.
const QUOTES: &str = "\"\"\"";

/// Beginnings of tags that only a harness writes; a user who sends one has pasted it.
const HARNESS: &[&str] = &["system", "archivist"];

/// The most different tags of one message that are examined. A message with more is a pasted page.
const MAX_TAGS: usize = 32;

/// The number of bytes of a block that are searched for orders at once.
const LOOKED_AT_BYTES: usize = 4 * 1024;

/// The number of consecutive words of a line that are compared with outputs, and the share of them that an output must
/// hold for the line to be copied from it.
const COPIED_WORDS: usize = 5;
const COPIED_SHARE: f64 = 0.6;

/// The most words before a colon that introduce what somebody else wrote.
const LEAD_WORDS: usize = 12;

/// The fewest words behind such a colon.
const LED_WORDS: usize = 3;

/// Words for where somebody read something, in several languages.
const SOURCES: &str = "log logs output outputs console terminal error errors message messages warning notice banner hint \
    ci pipeline build page website site docs documentation readme article blog answer stackoverflow thread issue \
    forum reddit chatgpt saw found read copied copy pasted paste says said printed prints reported shows showed \
    protokoll ausgabe konsole meldung fehlermeldung steht stand gefunden gesehen gelesen kopiert journal sortie trouvé vu \
    lu copié message registro salida consola encontré vi leí dice copiado saída achei diz лог логе логах вывод выводе \
    консоль нашёл нашел увидел пишет 日志 输出 控制台 ログ 出力 로그 출력";

/// Beginnings of lines that programs write.
const PROGRAM_LINES: &[&str] = &[
    "error:",
    "warning:",
    "fatal:",
    "hint:",
    "note:",
    "npm err!",
    "npm error",
    "npm warn",
    "traceback",
    "exception",
    "panic:",
    "err:",
    "e   ",
    "info:",
    "debug:",
    "warn:",
    "deprecated:",
    "deprecationwarning",
    "fehler:",
    "erreur",
    "erro:",
    "ошибка",
    "错误",
    "エラー",
    "오류",
];

/// The tools by which agents ask a person.
const QUESTION_TOOLS: &[&str] = &["AskUserQuestion", "request_user_input", "ask_user", "question"];

/// The lines of a session's user that an earlier output says already.
#[derive(Debug, Clone, Default)]
pub(super) struct PassedOnLines(HashSet<String>);

impl PassedOnLines {
    /// Compares the lines of every message with the outputs before it.
    pub(super) fn collect(context: &ReflectionContext) -> Self {
        let messages = context.trajectories.iter().flat_map(|trajectory| &trajectory.steps);
        let messages = messages.filter(|step| step.speaker == Speaker::User && !step.text.is_empty());
        let wanted: HashSet<u64> = messages.flat_map(|step| step.text.lines()).flat_map(hash_runs).collect();
        let mut lines = HashSet::new();
        if wanted.is_empty() {
            return Self(lines);
        }
        let mut seen: HashSet<u64> = HashSet::new();
        for heard in steps_in_time_order(context) {
            let repeats_person = repeats_a_person(heard.step);
            for passage in quotable_texts(heard.step).into_iter().filter(|one| heard.includes_trust(&one.trust)) {
                match passage.trust {
                    TrustClass::Agent => {}
                    trust if repeats_person && trust != TrustClass::User => {}
                    TrustClass::User => {
                        let is_copied = |line: &&str| {
                            let runs = hash_runs(line);
                            let known = runs.iter().filter(|run| seen.contains(*run)).count();
                            !runs.is_empty() && known as f64 >= COPIED_SHARE * runs.len() as f64
                        };
                        lines.extend(passage.text.lines().filter(is_copied).map(normalize_line));
                    }
                    _ => seen.extend(passage.text.lines().flat_map(hash_runs).filter(|run| wanted.contains(run))),
                }
            }
        }
        Self(lines)
    }

    /// Returns true if an output said a line before.
    pub(super) fn contains_line(&self, line: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&normalize_line(line))
    }
}

/// Returns true if the output of a step repeats what a person said: why a call was refused, or the answer to a question.
fn repeats_a_person(step: &Step) -> bool {
    let of_calls = step.calls.iter().filter_map(|call| call.output.as_ref());
    step.outputs.iter().chain(of_calls).any(|output| output.interrupted)
        || step.calls.iter().any(|call| QUESTION_TOOLS.contains(&call.tool.as_str()))
}

fn normalize_line(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the hashes of all runs of words of a line; a sign of a script without spaces is a word.
fn hash_runs(line: &str) -> Vec<u64> {
    let folded = fold_lookalikes(line).to_lowercase();
    let mut words: Vec<&str> = Vec::new();
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        match word.chars().any(|c| u32::from(c) >= 0x2E80) {
            true => words.extend(word.split_inclusive(|_| true)),
            false => words.push(word),
        }
    }
    let hash = |run: &[&str]| {
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(COPIED_WORDS).map(hash).collect()
}

/// Returns true if a line passes on what somebody else wrote: it says where it was read, or a program wrote it.
fn is_passed_on(line: &str) -> bool {
    let lower = line.trim().to_lowercase();
    let is_program = PROGRAM_LINES.iter().any(|start| lower.starts_with(start));
    let lead = lower.split_once(": ").or_else(|| lower.split_once('：'));
    let is_led = lead.is_some_and(|(lead, led)| {
        let words: Vec<&str> = lead.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_source = |word: &&str| {
            let is_unspaced = word.chars().any(|c| u32::from(c) >= 0x2E80);
            SOURCES.split_whitespace().any(|source| *word == source || (is_unspaced && word.contains(source)))
        };
        let is_long = led.split_whitespace().count() >= LED_WORDS || led.chars().any(|c| u32::from(c) >= 0x2E80);
        words.len() <= LEAD_WORDS && words.iter().any(is_source) && is_long
    });
    is_program || is_led
}

/// A part of a message by one author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AttributedPart<'t> {
    /// Its start in the message, in bytes.
    pub(super) start: usize,
    pub(super) text: &'t str,
    pub(super) is_strange: bool,
}

/// Returns the parts of a message in order; together they are all of it.
pub(super) fn split_by_author<'t>(message: &'t str, speaker: &TrustClass) -> Vec<AttributedPart<'t>> {
    let is_strange = |set: PieceStyle, text: &str| match set {
        PieceStyle::Plain => false,
        PieceStyle::Quoted if *speaker == TrustClass::User => true,
        PieceStyle::Quoted | PieceStyle::Block => gives_orders(text),
    };
    let mut parts: Vec<AttributedPart<'t>> = Vec::new();
    for (start, text, set) in split_pieces(message) {
        let part = AttributedPart { start, text, is_strange: is_strange(set, text) };
        match parts.last_mut().filter(|last| last.is_strange == part.is_strange) {
            Some(last) => last.text = message.get(last.start..start + text.len()).unwrap_or(last.text),
            None => parts.push(part),
        }
    }
    parts
}

/// Returns the words of a message that are its author's own.
pub(super) fn extract_own_words(message: &str, speaker: &TrustClass) -> String {
    split_by_author(message, speaker).iter().filter(|part| !part.is_strange).map(|part| part.text).collect()
}

/// Returns the stretches of a message that are set off neither as somebody else's words nor as code.
pub(in crate::distill) fn plain_parts(message: &str) -> Vec<&str> {
    split_pieces(message).into_iter().filter(|(_, _, set)| *set == PieceStyle::Plain).map(|(_, text, _)| text).collect()
}

/// The way in which a stretch is set off from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceStyle {
    Plain,
    /// It is set off as somebody else's words.
    Quoted,
    /// It is set off as code, or between tags.
    Block,
}

/// The end of the block that a line is in.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BlockEnd {
    /// A fence of this sign, at least this long, ends it.
    Fence(char, usize),
    /// The first line that contains this text ends it.
    Mark(String),
    /// Nothing ends the block.
    End,
}

/// Splits a message into whole lines, joined while they have the same style; each block is a piece of its own.
fn split_pieces(message: &str) -> Vec<(usize, &str, PieceStyle)> {
    let mut pieces: Vec<(usize, &str, PieceStyle)> = Vec::new();
    let mut closings = ClosingMarks { message, last: BTreeMap::new() };
    let mut open: Option<(BlockEnd, PieceStyle)> = None;
    let mut start = 0;
    for line in message.split_inclusive('\n') {
        let end = start + line.len();
        let (set, is_first) = match &open {
            Some((_, set)) => (*set, false),
            None => {
                open = find_opened_block(line, end, &mut closings);
                let is_quoted = line.trim_start().starts_with('>') || is_passed_on(line);
                let alone = if is_quoted { PieceStyle::Quoted } else { PieceStyle::Plain };
                (open.as_ref().map_or(alone, |(_, set)| *set), open.is_some())
            }
        };
        match pieces.last_mut().filter(|last| last.2 == set && !is_first) {
            Some(last) => last.1 = message.get(last.0..end).unwrap_or(last.1),
            None => pieces.push((start, line, set)),
        }
        if open.as_ref().is_some_and(|(until, _)| until.is_reached_by(line, is_first)) {
            open = None;
        }
        start = end;
    }
    pieces
}

/// Returns the block that a line opens, if it does. A quoted or tagged block must be closed somewhere to count; one
/// with a tag of a harness need not be.
fn find_opened_block(line: &str, end: usize, closings: &mut ClosingMarks<'_>) -> Option<(BlockEnd, PieceStyle)> {
    let text = line.trim_start();
    for sign in ['`', '~'] {
        let length = text.chars().take_while(|c| *c == sign).count();
        // A fence names at most a language; a code span closes on its own line.
        if length >= 3 && !text.trim_start_matches(sign).contains(sign) {
            return Some((BlockEnd::Fence(sign, length), PieceStyle::Block));
        }
    }
    if text.contains(QUOTES) && (text.matches(QUOTES).count() > 1 || closings.appears_after(QUOTES, end)) {
        return Some((BlockEnd::Mark(QUOTES.to_owned()), PieceStyle::Quoted));
    }
    for behind in text.split('<').skip(1) {
        let name: String = behind.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let is_harness = HARNESS.iter().any(|head| name.to_ascii_lowercase().starts_with(head));
        let set = if is_harness { PieceStyle::Quoted } else { PieceStyle::Block };
        let closing = format!("</{name}>");
        if text.contains(&closing) || closings.appears_after(&closing, end) {
            return Some((BlockEnd::Mark(closing), set));
        }
        if is_harness {
            return Some((BlockEnd::End, set));
        }
    }
    None
}

impl BlockEnd {
    fn is_reached_by(&self, line: &str, is_first: bool) -> bool {
        match self {
            Self::Fence(sign, length) => {
                let text = line.trim();
                !is_first && text.chars().count() >= *length && text.chars().all(|c| c == *sign)
            }
            // Text after the end of a block on the same line belongs to the block.
            Self::Mark(mark) if is_first && mark == QUOTES => line.matches(QUOTES).count() > 1,
            Self::Mark(mark) => line.contains(mark.as_str()),
            Self::End => false,
        }
    }
}

/// The last positions of closing marks, each searched for once.
struct ClosingMarks<'t> {
    message: &'t str,
    last: BTreeMap<String, Option<usize>>,
}

impl ClosingMarks<'_> {
    fn appears_after(&mut self, mark: &str, place: usize) -> bool {
        if self.last.len() >= MAX_TAGS && !self.last.contains_key(mark) {
            return false;
        }
        let found = self.last.entry(mark.to_owned()).or_insert_with(|| self.message.rfind(mark));
        found.is_some_and(|last| last >= place)
    }
}

/// Tells whether a block gives orders. Code that runs a download and a setting called `system` are no orders.
fn gives_orders(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.floor_char_boundary(LOOKED_AT_BYTES);
        let piece = rest.get(..end).unwrap_or(rest);
        let cut = if end == rest.len() { end } else { piece.rfind('\n').map_or(end, |at| at + 1) };
        let (piece, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        if find_order(piece).is_some_and(|order| !matches!(order, ReaderOrder::Unsafe | ReaderOrder::Disguise)) {
            return true;
        }
        rest = after;
    }
    false
}
