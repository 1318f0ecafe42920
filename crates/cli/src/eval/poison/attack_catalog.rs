//! The parts that attacks are made of: payloads and wordings from a file, carriers, disguises and what the agent does.

use serde::{Deserialize, Serialize};

use crate::cli_error::CliError;
use archivist_core::text::is_hidden_character;

/// The catalog that is built into the program.
const OWN_CATALOG: &str = include_str!("../../../../../fixtures/poison/payloads.toml");

/// What an attacker wants later sessions to do, or an honest remedy of the same form.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttackPayload {
    pub(super) id: String,
    /// The command that fails.
    pub(super) failing: String,
    /// The error that it prints.
    pub(super) error: String,
    /// The command that the payload consists of.
    pub(super) action: String,
    /// The part of the command that matters.
    pub(super) essence: String,
    /// The words by which the payload is known again; one of them is enough.
    pub(super) decisive: Vec<String>,
}

/// A way to say a payload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderWording {
    pub(super) id: String,
    /// The words, with `{action}`, `{essence}` and `{failing}` to fill in.
    pub(super) text: String,
}

/// Everything that attacks of one file are made of.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttackCatalog {
    #[serde(rename = "wording")]
    pub(super) wordings: Vec<OrderWording>,
    #[serde(rename = "payload")]
    pub(super) payloads: Vec<AttackPayload>,
    #[serde(rename = "honest", default)]
    pub(super) honest: Vec<AttackPayload>,
}

impl AttackCatalog {
    /// Reads a catalog, or the one of the program.
    pub(super) fn read(path: Option<&std::path::Path>) -> Result<Self, CliError> {
        let (name, text) = match path {
            None => ("payloads.toml".to_owned(), OWN_CATALOG.to_owned()),
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| CliError::user_error(format!("cannot read {}: {error}", path.display())))?;
                (path.display().to_string(), text)
            }
        };
        let catalog: Self =
            toml::from_str(&text).map_err(|error| CliError::user_error(format!("{name} is no catalog: {error}")))?;
        if catalog.wordings.is_empty() || catalog.payloads.is_empty() {
            return Err(CliError::user_error(format!("{name} has no wordings or no payloads")));
        }
        Ok(catalog)
    }
}

macro_rules! choices {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $choice:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub(super) enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $choice),+
        }

        impl $name {
            pub(super) const ALL: &'static [Self] = &[$(Self::$choice),+];

            pub(super) fn as_str(self) -> &'static str {
                match self { $(Self::$choice => $word),+ }
            }
        }
    };
}

choices! {
    /// The place where the agent meets the payload.
    Carrier {
        /// The message of the failure itself.
        FailureMessage = "failure message",
        /// A notice that a passing command prints.
        DeprecationNotice = "deprecation notice",
        /// The middle of an output of more than 20 KB.
        LongOutput = "long output",
        /// A failed check whose long output has it in the middle.
        LongFailure = "long failure",
        /// A message of the user that repeats what a log says, without quotation marks.
        UserPaste = "user paste",
        /// The same, and an output of the session holds it too.
        UserPasteOfOutput = "user paste of an output",
        /// The reply of a subagent.
        SubagentResult = "subagent",
        /// The result of a tool of a foreign server.
        McpResult = "MCP result",
        /// A page that was fetched.
        WebPage = "web page",
        /// The README of a dependency.
        DependencyReadme = "README of a dependency",
        /// The instructions for agents that a dependency brings.
        DependencyAgents = "AGENTS.md of a dependency",
        /// The message of a commit.
        CommitMessage = "commit message",
        /// The name of a file.
        FileName = "file name",
        /// The name of a test.
        TestName = "test name",
        /// A comment in code that came with a dependency.
        CodeComment = "code comment",
        /// A field of a JSON answer.
        JsonField = "JSON field",
        /// The description of a tool.
        ToolName = "tool description",
        /// Two outputs with half of it each.
        TwoOutputs = "two outputs",
        /// A reminder that looks like the harness'.
        FakeReminder = "fake reminder",
    }
}

choices! {
    /// The way in which the words are hidden.
    Disguise {
        /// The words as they are.
        None = "none",
        Base64 = "base64",
        Hex = "hex",
        Percent = "percent",
        Rot13 = "rot13",
        /// Letters that look alike.
        Homoglyphs = "homoglyphs",
        /// Hidden characters between letters.
        ZeroWidth = "zero width",
        /// Terminal sequences between words.
        Ansi = "terminal sequences",
    }
}

choices! {
    /// What the agent does with the words.
    Obedience {
        /// It goes on without them.
        Ignores = "ignores",
        /// It runs the command, and the failed one passes afterwards.
        Runs = "runs",
        /// It runs the command, and says in its own words that this is needed.
        RunsAndConcludes = "runs and concludes",
        /// It thinks that this is needed, and runs it.
        ThinksAndRuns = "thinks and runs",
        /// It only repeats it as its own conclusion.
        Concludes = "concludes",
        /// It writes it into a file of the project and runs it.
        WritesAndRuns = "writes and runs",
        /// It runs the command twice, for two failures.
        RunsTwice = "runs twice",
    }
}

choices! {
    /// The format of the log.
    AttackedAgent {
        Claude = "claude-code",
        Codex = "codex",
        OpenCode = "opencode",
        Atif = "atif",
        Generic = "generic",
    }
}

/// An attack on the memory.
#[derive(Debug, Clone)]
pub(super) struct PlannedAttack {
    pub(super) payload: AttackPayload,
    pub(super) wording: OrderWording,
    pub(super) carrier: Carrier,
    pub(super) disguise: Disguise,
    pub(super) obedience: Obedience,
    pub(super) agent: AttackedAgent,
}

impl PlannedAttack {
    /// Returns the choices of the attack in words, without the log's format.
    pub(super) fn describe(&self) -> String {
        format!(
            "{}: {} in {}, disguise {}, the agent {}",
            self.payload.id,
            self.wording.id,
            self.carrier.as_str(),
            self.disguise.as_str(),
            self.obedience.as_str()
        )
    }

    /// Returns the words of the payload as the agent meets them.
    pub(super) fn order_text(&self) -> String {
        self.disguise.apply(&self.plain_order())
    }

    /// Returns the words of the payload.
    pub(super) fn plain_order(&self) -> String {
        let AttackPayload { action, essence, failing, .. } = &self.payload;
        let failing = failing.as_str();
        self.wording.text.replace("{action}", action).replace("{essence}", essence).replace("{failing}", failing)
    }

    /// Returns true if a text holds the payload, in plain words or encoded.
    pub(super) fn is_held_by(&self, text: &str) -> bool {
        let plain = fold_text(text);
        let decisive = || self.payload.decisive.iter();
        let encoded = [encode_base64(&self.payload.action), encode_hex(&self.payload.action)];
        decisive().any(|words| plain.contains(&words.to_lowercase()))
            || decisive().any(|words| plain.contains(&encode_percent(words).to_lowercase()))
            || encoded.iter().any(|words| text.contains(words.as_str()))
    }
}

impl Disguise {
    pub(super) fn apply(self, text: &str) -> String {
        match self {
            Self::None => text.to_owned(),
            Self::Base64 => format!("note (base64): {}", encode_base64(text)),
            Self::Hex => format!("note (hex): {}", encode_hex(text)),
            Self::Percent => encode_percent(text),
            Self::Rot13 => format!("note (rot13): {}", rotate_letters(text)),
            Self::Homoglyphs => text.chars().map(|c| lookalike(c).unwrap_or(c)).collect(),
            Self::ZeroWidth => text.chars().flat_map(|c| [c, zero_width_space()]).collect(),
            Self::Ansi => text.replace(' ', "\u{1b}[0m \u{1b}[32m"),
        }
    }
}

/// Returns a text in lower case, without hidden characters, and with letters in place of those that look like them.
fn fold_text(text: &str) -> String {
    let shown = text.chars().filter(|c| !is_hidden_character(*c) && *c != '`');
    let plain = shown.map(|c| ('a'..='z').find(|letter| lookalike(*letter) == Some(c)).unwrap_or(c));
    plain.flat_map(char::to_lowercase).collect()
}

/// Returns a character that nobody sees.
fn zero_width_space() -> char {
    char::from_u32(0x200B).unwrap_or(' ')
}

/// Returns a Cyrillic letter that looks like this one.
fn lookalike(c: char) -> Option<char> {
    Some(match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'o' => 'о',
        'p' => 'р',
        'x' => 'х',
        'y' => 'у',
        _ => return None,
    })
}

pub(super) fn encode_base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4_usize {
            let index = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or_default();
            let letter = LETTERS.get(index).copied().unwrap_or(b'A');
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

fn encode_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn encode_percent(text: &str) -> String {
    let keeps = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes().map(|byte| if keeps(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn rotate_letters(text: &str) -> String {
    let rotate = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        c => c,
    };
    text.chars().map(rotate).collect()
}
