//! Detects texts that give orders to their reader: an agent, an assistant, whoever reads its memory.
//!
//! Words alone stop almost nothing, for there are always other words. So nothing rests on this check alone: it
//! separates what is certainly an order from what merely came from a stranger.

use crate::text::{JoinerPolicy, strip_hidden_text};

#[cfg(test)]
#[path = "reader_orders_tests.rs"]
mod tests;

/// The most bytes of a text that are read.
const MAX_BYTES: usize = 8 * 1024;

/// The aim of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderOrder {
    /// Other instructions shall be ignored.
    Override,
    /// Something hidden shall be revealed.
    Reveal,
    /// Something shall be sent away.
    Send,
    /// The reader shall act as somebody else.
    Pretend,
    /// A download shall be run, or a check disabled.
    Unsafe,
    /// The text shall be taken for the harness.
    Disguise,
    /// The text shall be remembered.
    Remember,
}

impl ReaderOrder {
    /// Tells whether no lesson may say it or rest on it, whoever wants it.
    pub(super) fn is_grave(self) -> bool {
        matches!(self, Self::Override | Self::Reveal | Self::Send | Self::Disguise)
    }

    /// Describes the order, worded to follow "it tells its reader".
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Override => "to ignore other instructions",
            Self::Reveal => "to tell what is hidden",
            Self::Send => "to send something away",
            Self::Pretend => "to be somebody else",
            Self::Unsafe => "to run a download or to switch a check off",
            Self::Disguise => "that it comes from the harness",
            Self::Remember => "to remember it",
        }
    }
}

/// Alternative words, separated by spaces; with a `*` at its end a word is a prefix.
type Group = &'static str;

/// Words that must follow one another, one of each group, with at most `between` others between two of them.
struct OrderPattern {
    order: ReaderOrder,
    between: usize,
    groups: &'static [Group],
}

const fn make_pattern(order: ReaderOrder, between: usize, groups: &'static [Group]) -> OrderPattern {
    OrderPattern { order, between, groups }
}

const DROP: Group = "ignore ignoring disregard* forget overlook override overrule bypass neglect discard drop abandon unlearn \
    supersede*";
const EARLIER: Group = "previous* prior above earlier preceding foregoing former your system safety initial original";
const RULES: Group = "instruction* directive* direction* guideline* guardrail* prompt* rules orders programming restriction* \
    safeguard* told instructed training limitation* policies";
const ORDERS: Group = "instruction* directive* direction* guideline* guardrail* safeguard*";
const ALL: Group = "all any every the those these";
const SHOW: Group = "reveal print show tell output repeat dump leak expose disclose share give list display confirm write provide \
    what recite spell know";
const TELL: Group = "reveal print dump leak expose disclose share";
const YOURS: Group = "your system hidden secret admin";
const HIDDEN: Group = "prompt prompts instructions password* passphrase* passcode* credential* secrets keys key guidelines token \
    tokens";
const SECRETS: Group = "password* passphrase* passcode* credential* secrets";
const SEND: Group = "send sends post posts upload uploads mail email forward exfiltrate curl transmit submit copy push";
const CARGO: Group = "key keys token tokens secret secrets password* credential* env environment ssh conversation history prompt \
    contents data variables cookies id_rsa";
const READER: Group = "ai assistant assistants agent agents llm llms chatgpt gpt claude copilot codex gemini bot bots chatbot \
    chatbots archivist";
const KEEP: Group = "remember memorize memorise save store persist record note learn keep";
const MEMORY: Group = "memory memories lesson lessons future forever permanently always sessions";

const PATTERNS: &[OrderPattern] = &[
    make_pattern(ReaderOrder::Override, 4, &[DROP, EARLIER, RULES]),
    make_pattern(ReaderOrder::Override, 2, &[DROP, ALL, ORDERS]),
    make_pattern(ReaderOrder::Override, 0, &[DROP, ALL, RULES]),
    make_pattern(
        ReaderOrder::Override,
        3,
        &[DROP, "everything everthing anything all", "told said above before learned know instructed"],
    ),
    make_pattern(
        ReaderOrder::Override,
        2,
        &[
            "new updated real actual",
            "instructions directive directives orders",
            "are follow is override you ignore from",
        ],
    ),
    make_pattern(
        ReaderOrder::Override,
        3,
        &[
            "not no never without stop",
            "follow* obey* abide bound restricted limited comply*",
            "your the any by previous",
            RULES,
        ],
    ),
    make_pattern(
        ReaderOrder::Override,
        3,
        &[
            "override bypass disable circumvent",
            "safety security content",
            "guardrail* filter* check* polic* rule* measure* restriction*",
        ],
    ),
    make_pattern(ReaderOrder::Reveal, 3, &[SHOW, YOURS, HIDDEN]),
    make_pattern(ReaderOrder::Reveal, 3, &[TELL, SECRETS]),
    make_pattern(ReaderOrder::Pretend, 0, &["you", "are", "now no", "a an in dan the longer going free jailbroken"]),
    make_pattern(
        ReaderOrder::Pretend,
        2,
        &[
            "act behave respond answer reply pretend roleplay",
            "as like to",
            "a an if the be though",
            "unrestricted admin* dan ai evil different human hacker root jailbroken no you uncensored developer",
        ],
    ),
    make_pattern(
        ReaderOrder::Pretend,
        1,
        &[
            "enter enable activate activated in developer",
            "developer debug god jailbreak dan unrestricted maintenance mode",
            "mode activated enabled",
        ],
    ),
    make_pattern(ReaderOrder::Pretend, 3, &["from", "now", "on", "you your act respond answer reply speak"]),
    make_pattern(ReaderOrder::Unsafe, 8, &["curl wget fetch", "sh bash zsh python python3 node perl"]),
    make_pattern(
        ReaderOrder::Unsafe,
        3,
        &[
            "disable skip bypass deactivate turn",
            "all off the any every signature tls ssl certificate permission safety security",
            "verification validation checks sandbox firewall antivirus signing confirmation* approval*",
        ],
    ),
    make_pattern(ReaderOrder::Unsafe, 2, &["chmod", "777"]),
    make_pattern(ReaderOrder::Unsafe, 2, &["rm", "rf", "home root etc"]),
    make_pattern(ReaderOrder::Remember, 8, &[READER, "must should always never please need shall remember"]),
    make_pattern(ReaderOrder::Remember, 2, &[READER, "note", "that this the to"]),
    make_pattern(
        ReaderOrder::Remember,
        6,
        &["attention dear note important message notice instruction* hey hello", "to for all", READER],
    ),
    make_pattern(ReaderOrder::Remember, 6, &[KEEP, "this that it following as", MEMORY]),
    make_pattern(ReaderOrder::Remember, 1, &["remember memorize memorise", "to that", "always never"]),
    make_pattern(ReaderOrder::Remember, 2, &["you", "must shall", "always never now obey comply immediately"]),
];

/// Orders in other languages: a verb and its object, close to each other in any order.
const PAIRS: &[(Group, Group)] = &[
    ("", ""),
    ("ignorier* vergiss* vergesse* missacht*", "anweisung* instruktion* regeln vorgaben befehle*"),
    ("ignorez oublie* négligez", "consignes instructions règles directives"),
    ("ignore ignores", "consignes règles précédentes"),
    ("ignora* olvida* olvide omite", "instruccion* reglas indicaciones órdenes istruzioni"),
    ("ignore esqueça* desconsidere* esquece", "instruções regras orientações"),
    ("ignora* dimentica* trascura", "istruzioni regole indicazioni"),
    ("negeer vergeet", "instructies regels aanwijzingen"),
    ("игнорируй* забудь* проигнорируй*", "инструкц* правил* указани*"),
    ("zignoruj zapomnij ignoruj", "instrukcj* poleceni* zasad*"),
    ("무시* 잊*", "지시* 명령* 규칙* 지침*"),
    ("abaikan lupakan", "instruksi perintah aturan"),
    ("yoksay unut görmezden", "talimat* kurallar* yönerge*"),
];

/// The most words between the verb and the object.
const PAIR_WITHIN: usize = 8;

/// Verbs and objects in scripts without spaces.
const UNSPACED: &[(&[&str], &[&str])] = &[
    (&["忽略", "无视", "忘记", "無視", "忽視"], &["指令", "指示", "规则", "規則", "说明", "提示"]),
    (&["無視", "忘れ"], &["指示", "命令", "ルール", "規則"]),
];

/// Markup that only a harness would write.
const MARKUP: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|endoftext|>",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<system>",
    "</system>",
    "<system-reminder>",
    "### instruction",
    "### system",
    "[system]",
    "</archivist-lessons>",
    "<archivist-lessons",
];

/// Returns what a text orders its reader to do, if it does; grave orders come first.
pub(super) fn find_order(text: &str) -> Option<ReaderOrder> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
    let text = strip_hidden_text(text, JoinerPolicy::Remove);
    let lower = text.to_lowercase();
    let words = split_words(&lower);
    let found = |pattern: &&OrderPattern| pattern.matches_words(&words);
    if has_foreign_override(&words)
        || UNSPACED.iter().any(|(verbs, objects)| contains_any(&lower, verbs) && contains_any(&lower, objects))
    {
        return Some(ReaderOrder::Override);
    }
    if let Some(pattern) = PATTERNS.iter().filter(|pattern| pattern.order.is_grave()).find(found) {
        return Some(pattern.order);
    }
    if sends_away(&lower, &words) {
        return Some(ReaderOrder::Send);
    }
    if contains_any(&lower, MARKUP) || lower.lines().any(imitates_harness) || has_hidden_comment(&lower) {
        return Some(ReaderOrder::Disguise);
    }
    let other = PATTERNS.iter().find(found).map(|pattern| pattern.order);
    // A download that is run needs a pipe; otherwise the two words are only near each other.
    other.filter(|order| {
        *order != ReaderOrder::Unsafe || !runs_download(&words) || lower.contains('|') || lower.contains("$(")
    })
}

fn contains_any(text: &str, any: &[&str]) -> bool {
    any.iter().any(|words| text.contains(words))
}

/// Returns the words of a text; letters with gaps between them, as in `i g n o r e`, are one word.
fn split_words(lower: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut spelled = String::new();
    let pieces = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut gap = 0;
    for piece in pieces {
        if piece.is_empty() {
            gap += 1;
            continue;
        }
        let is_letter = piece.chars().nth(1).is_none();
        if (!is_letter || gap > 0) && !spelled.is_empty() {
            words.push(std::mem::take(&mut spelled));
        }
        if is_letter {
            spelled.push_str(piece);
        } else {
            words.push(piece.to_owned());
        }
        gap = 0;
    }
    if !spelled.is_empty() {
        words.push(spelled);
    }
    words
}

fn matches_group(word: &str, group: Group) -> bool {
    group.split(' ').any(|known| known.strip_suffix('*').map_or(known == word, |start| word.starts_with(start)))
}

/// Tells whether the words that begin here are negated, as in "never print the password".
fn is_denied(words: &[String], at: usize) -> bool {
    let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
    before.iter().any(|word| matches!(word.as_str(), "never" | "not" | "don" | "avoid" | "without" | "cannot"))
}

impl OrderPattern {
    fn matches_words(&self, words: &[String]) -> bool {
        let Some((first, rest)) = self.groups.split_first() else { return false };
        let mut starts = words.iter().enumerate().filter(|(_, word)| matches_group(word, first)).map(|(at, _)| at);
        starts.any(|start| !is_denied(words, start) && self.matches_rest(words, start, rest))
    }

    fn matches_rest(&self, words: &[String], at: usize, groups: &[Group]) -> bool {
        let Some((next, rest)) = groups.split_first() else { return true };
        (at + 1..=at + 1 + self.between).any(|place| {
            words.get(place).is_some_and(|word| matches_group(word, next)) && self.matches_rest(words, place, rest)
        })
    }
}

fn has_foreign_override(words: &[String]) -> bool {
    PAIRS.iter().any(|(verbs, objects)| {
        let (mut verb, mut object) = (None, None);
        words.iter().enumerate().any(|(at, word)| {
            if matches_group(word, verbs) {
                verb = Some(at);
            } else if matches_group(word, objects) {
                object = Some(at);
            }
            verb.zip(object).is_some_and(|(a, b): (usize, usize)| a.abs_diff(b) <= PAIR_WITHIN)
        })
    })
}

/// Tells whether a text asks to send something private to an address.
fn sends_away(lower: &str, words: &[String]) -> bool {
    let is_near = |host: &str| {
        ["localhost", "127.", "0.0.0.0", "10.", "192.168.", "example."].iter().any(|near| host.starts_with(near))
    };
    let has_address = lower.split("://").skip(1).any(|behind| !is_near(behind))
        || lower
            .split_whitespace()
            .any(|word| word.split_once('@').is_some_and(|(who, at)| !who.is_empty() && at.contains('.')));
    has_address && make_pattern(ReaderOrder::Send, 8, &[SEND, CARGO]).matches_words(words)
}

/// Tells whether a line pretends to be the harness.
fn imitates_harness(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    ["system:", "system prompt:", "developer:", "system message:", "system override"]
        .iter()
        .any(|who| line.starts_with(who))
}

/// Tells whether a comment that is not rendered addresses a reader.
fn has_hidden_comment(lower: &str) -> bool {
    lower.split("<!--").skip(1).any(|behind| {
        let comment = behind.split("-->").next().unwrap_or(behind);
        // A service that signs with its address addresses nobody.
        split_words(&comment.replace(".ai", "")).iter().any(|word| {
            matches_group(word, READER) || matches!(word.as_str(), "remember" | "instructions" | "you" | "your")
        })
    })
}

fn runs_download(words: &[String]) -> bool {
    PATTERNS
        .iter()
        .filter(|pattern| pattern.order == ReaderOrder::Unsafe)
        .take(1)
        .any(|pattern| pattern.matches_words(words))
}
