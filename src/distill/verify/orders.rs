//! Whether a text orders its reader about: an agent, an assistant, whoever reads its memory.
//!
//! Words alone stop almost nothing, for there are always other words. So nothing rests on this alone: it tells what is
//! certainly an order from what merely came from a stranger.

use super::clean::visible;

#[cfg(test)]
#[path = "orders_tests.rs"]
mod tests;

/// As much of a text as is read.
const MAX_BYTES: usize = 8 * 1024;

/// What an order wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// That other orders no longer count.
    Override,
    /// That something hidden is told.
    Reveal,
    /// That something is sent away.
    Send,
    /// That the reader be somebody else.
    Pretend,
    /// That a download is run, or a check is switched off.
    Unsafe,
    /// That it is believed to come from the harness.
    Disguise,
    /// That it is kept for later.
    Remember,
}

impl Order {
    /// Whether no lesson may say it or rest on it, whoever wants it.
    pub(super) fn is_grave(self) -> bool {
        matches!(self, Self::Override | Self::Reveal | Self::Send | Self::Disguise)
    }

    /// In words, behind "it tells its reader".
    pub(super) fn say(self) -> &'static str {
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

/// Words of which one is meant; with a `*` at its end it is the beginning of one.
type Group = &'static str;

/// Words that must follow one another, each one of a group, with so many others between two of them at most.
struct Pattern {
    order: Order,
    between: usize,
    groups: &'static [Group],
}

const fn pattern(order: Order, between: usize, groups: &'static [Group]) -> Pattern {
    Pattern { order, between, groups }
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

const PATTERNS: &[Pattern] = &[
    pattern(Order::Override, 4, &[DROP, EARLIER, RULES]),
    pattern(Order::Override, 2, &[DROP, ALL, ORDERS]),
    pattern(Order::Override, 0, &[DROP, ALL, RULES]),
    pattern(
        Order::Override,
        3,
        &[DROP, "everything everthing anything all", "told said above before learned know instructed"],
    ),
    pattern(
        Order::Override,
        2,
        &[
            "new updated real actual",
            "instructions directive directives orders",
            "are follow is override you ignore from",
        ],
    ),
    pattern(
        Order::Override,
        3,
        &[
            "not no never without stop",
            "follow* obey* abide bound restricted limited comply*",
            "your the any by previous",
            RULES,
        ],
    ),
    pattern(
        Order::Override,
        3,
        &[
            "override bypass disable circumvent",
            "safety security content",
            "guardrail* filter* check* polic* rule* measure* restriction*",
        ],
    ),
    pattern(Order::Reveal, 3, &[SHOW, YOURS, HIDDEN]),
    pattern(Order::Reveal, 3, &[TELL, SECRETS]),
    pattern(Order::Pretend, 0, &["you", "are", "now no", "a an in dan the longer going free jailbroken"]),
    pattern(
        Order::Pretend,
        2,
        &[
            "act behave respond answer reply pretend roleplay",
            "as like to",
            "a an if the be though",
            "unrestricted admin* dan ai evil different human hacker root jailbroken no you uncensored developer",
        ],
    ),
    pattern(
        Order::Pretend,
        1,
        &[
            "enter enable activate activated in developer",
            "developer debug god jailbreak dan unrestricted maintenance mode",
            "mode activated enabled",
        ],
    ),
    pattern(Order::Pretend, 3, &["from", "now", "on", "you your act respond answer reply speak"]),
    pattern(Order::Unsafe, 8, &["curl wget fetch", "sh bash zsh python python3 node perl"]),
    pattern(
        Order::Unsafe,
        3,
        &[
            "disable skip bypass deactivate turn",
            "all off the any every signature tls ssl certificate permission safety security",
            "verification validation checks sandbox firewall antivirus signing confirmation* approval*",
        ],
    ),
    pattern(Order::Unsafe, 2, &["chmod", "777"]),
    pattern(Order::Unsafe, 2, &["rm", "rf", "home root etc"]),
    pattern(Order::Remember, 8, &[READER, "must should always never please need shall remember"]),
    pattern(Order::Remember, 2, &[READER, "note", "that this the to"]),
    pattern(
        Order::Remember,
        6,
        &["attention dear note important message notice instruction* hey hello", "to for all", READER],
    ),
    pattern(Order::Remember, 6, &[KEEP, "this that it following as", MEMORY]),
    pattern(Order::Remember, 1, &["remember memorize memorise", "to that", "always never"]),
    pattern(Order::Remember, 2, &["you", "must shall", "always never now obey comply immediately"]),
];

/// The same in other languages: a verb and what it is about, close to each other in whatever order.
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

/// How far apart the two may stand.
const PAIR_WITHIN: usize = 8;

/// Scripts without spaces.
const UNSPACED: &[(&[&str], &[&str])] = &[
    (&["忽略", "无视", "忘记", "無視", "忽視"], &["指令", "指示", "规则", "規則", "说明", "提示"]),
    (&["無視", "忘れ"], &["指示", "命令", "ルール", "規則"]),
];

/// What only a harness would write.
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

/// What a text orders its reader to do, if it does; the gravest first.
pub(super) fn is_order(text: &str) -> Option<Order> {
    let text = visible(text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text));
    let lower = text.to_lowercase();
    let words = words(&lower);
    let found = |pattern: &&Pattern| pattern.stands_in(&words);
    if has_pair(&words) || UNSPACED.iter().any(|(verbs, objects)| has(&lower, verbs) && has(&lower, objects)) {
        return Some(Order::Override);
    }
    if let Some(pattern) = PATTERNS.iter().filter(|pattern| pattern.order.is_grave()).find(found) {
        return Some(pattern.order);
    }
    if sends_away(&lower, &words) {
        return Some(Order::Send);
    }
    if has(&lower, MARKUP) || lower.lines().any(plays_harness) || hidden_comment(&lower) {
        return Some(Order::Disguise);
    }
    let other = PATTERNS.iter().find(found).map(|pattern| pattern.order);
    // A download that is run needs the pipe, or it is two words that stand near each other.
    other.filter(|order| {
        *order != Order::Unsafe || !runs_download(&words) || lower.contains('|') || lower.contains("$(")
    })
}

fn has(text: &str, any: &[&str]) -> bool {
    any.iter().any(|words| text.contains(words))
}

/// The words of a text; letters that stand apart, as in `i g n o r e`, are one.
fn words(lower: &str) -> Vec<String> {
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

fn matches(word: &str, group: Group) -> bool {
    group.split(' ').any(|known| known.strip_suffix('*').map_or(known == word, |start| word.starts_with(start)))
}

/// Whether what begins here is forbidden, as in "never print the password".
fn is_denied(words: &[String], at: usize) -> bool {
    let before = words.get(at.saturating_sub(3)..at).unwrap_or_default();
    before.iter().any(|word| matches!(word.as_str(), "never" | "not" | "don" | "avoid" | "without" | "cannot"))
}

impl Pattern {
    fn stands_in(&self, words: &[String]) -> bool {
        let Some((first, rest)) = self.groups.split_first() else { return false };
        let mut starts = words.iter().enumerate().filter(|(_, word)| matches(word, first)).map(|(at, _)| at);
        starts.any(|start| !is_denied(words, start) && self.goes_on(words, start, rest))
    }

    fn goes_on(&self, words: &[String], at: usize, groups: &[Group]) -> bool {
        let Some((next, rest)) = groups.split_first() else { return true };
        (at + 1..=at + 1 + self.between)
            .any(|place| words.get(place).is_some_and(|word| matches(word, next)) && self.goes_on(words, place, rest))
    }
}

fn has_pair(words: &[String]) -> bool {
    PAIRS.iter().any(|(verbs, objects)| {
        let (mut verb, mut object) = (None, None);
        words.iter().enumerate().any(|(at, word)| {
            if matches(word, verbs) {
                verb = Some(at);
            } else if matches(word, objects) {
                object = Some(at);
            }
            verb.zip(object).is_some_and(|(a, b): (usize, usize)| a.abs_diff(b) <= PAIR_WITHIN)
        })
    })
}

/// Whether something that is nobody's business is to go to an address.
fn sends_away(lower: &str, words: &[String]) -> bool {
    let is_near = |host: &str| {
        ["localhost", "127.", "0.0.0.0", "10.", "192.168.", "example."].iter().any(|near| host.starts_with(near))
    };
    let has_address = lower.split("://").skip(1).any(|behind| !is_near(behind))
        || lower
            .split_whitespace()
            .any(|word| word.split_once('@').is_some_and(|(who, at)| !who.is_empty() && at.contains('.')));
    has_address && pattern(Order::Send, 8, &[SEND, CARGO]).stands_in(words)
}

/// Whether a line pretends to be the harness speaking.
fn plays_harness(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    ["system:", "system prompt:", "developer:", "system message:", "system override"]
        .iter()
        .any(|who| line.starts_with(who))
}

/// Whether a comment that no reader sees speaks to one.
fn hidden_comment(lower: &str) -> bool {
    lower.split("<!--").skip(1).any(|behind| {
        let comment = behind.split("-->").next().unwrap_or(behind);
        // A service that signs with its address speaks to nobody.
        words(&comment.replace(".ai", ""))
            .iter()
            .any(|word| matches(word, READER) || matches!(word.as_str(), "remember" | "instructions" | "you" | "your"))
    })
}

fn runs_download(words: &[String]) -> bool {
    PATTERNS.iter().filter(|pattern| pattern.order == Order::Unsafe).take(1).any(|pattern| pattern.stands_in(words))
}
