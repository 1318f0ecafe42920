//! The things a lesson names that can be searched for in its project.
//!
//! Reporting an existing thing as gone costs more than missing one that is gone. So only what can hardly be anything
//! else counts: a path inside the project, a script that a runner executes, a name in a code span. What the lesson
//! itself calls missing, old, created or removed does not count.

use std::collections::BTreeSet;

use crate::domain::{AgentMemory, MemoryScope};

#[cfg(test)]
#[path = "lesson_anchors_tests.rs"]
mod tests;

/// The most anchors of a lesson that are checked.
const MAX_ANCHORS: usize = 8;
/// The most bytes that are read of a field.
const MAX_READ_BYTES: usize = 4096;
/// The longest path or name that is considered.
const MAX_NAME_BYTES: usize = 200;

/// The file extensions of source files.
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "dart", "ex", "exs", "fish", "go", "gradle", "graphql", "h",
    "hpp", "hs", "html", "ini", "java", "jl", "js", "json", "jsonc", "jsonl", "jsx", "kt", "kts", "lua", "m", "md",
    "mdx", "mjs", "ml", "nix", "php", "pl", "prisma", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "scala", "scss",
    "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zsh",
];

/// The folders and files that are generated, ignored or private: their absence says nothing.
const PASSING: &[&str] = &[
    ".cache",
    ".env",
    ".git",
    ".idea",
    ".next",
    ".openagents",
    ".venv",
    ".vscode",
    "bin",
    "build",
    "cache",
    "coverage",
    "dist",
    "generated",
    "logs",
    "node_modules",
    "obj",
    "out",
    "output",
    "target",
    "temp",
    "tmp",
    "vendor",
    "venv",
];

/// The parts of names that are placeholders.
const PLACEHOLDERS: &[&str] =
    &["bar", "baz", "dummy", "example", "foo", "my", "name", "path", "placeholder", "sample", "xxx", "your"];

/// The words of a field that may speak of something absent.
const ABSENCE: &[&str] = &[
    "absent",
    "add",
    "adding",
    "became",
    "cannot",
    "copied",
    "copy",
    "create",
    "created",
    "creates",
    "delete",
    "deleted",
    "deletes",
    "does not",
    "doesn't",
    "drop",
    "dropped",
    "emit",
    "emits",
    "enoent",
    "former",
    "formerly",
    "generate",
    "generated",
    "generates",
    "gone",
    "instead",
    "introduce",
    "legacy",
    "missing",
    "move",
    "moved",
    "new",
    "no longer",
    "no such",
    "not exist",
    "not found",
    "obsolete",
    "old",
    "previously",
    "produce",
    "produces",
    "remove",
    "removed",
    "removes",
    "rename",
    "renamed",
    "replaced",
    "split",
    "used to",
    "write",
    "writes",
];

/// The programs that run a named script.
const RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// A thing that a lesson names and that can be searched for in the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LessonAnchor {
    /// A file or a folder, from the project's root; without a folder it may be anywhere.
    Path(String),
    /// A script of a `package.json`.
    Script(String),
    /// A target of a makefile.
    Target(String),
    /// A name in the code.
    Symbol(String),
}

impl LessonAnchor {
    /// Returns the name of the anchor.
    pub fn name(&self) -> &str {
        match self {
            Self::Path(name) | Self::Script(name) | Self::Target(name) | Self::Symbol(name) => name,
        }
    }

    /// Returns the anchor as it appears in a sentence.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Path(path) => path.clone(),
            Self::Script(name) => format!("the script {name}"),
            Self::Target(name) => format!("the target {name}"),
            Self::Symbol(name) => format!("`{name}`"),
        }
    }
}

/// Returns the anchors of a lesson, in their order, each once. A lesson that holds everywhere has none in this project.
pub fn find_lesson_anchors(memory: &AgentMemory) -> Vec<LessonAnchor> {
    if memory.scope == MemoryScope::Global {
        return Vec::new();
    }
    collect_anchors([Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()].into_iter().flatten())
}

/// Returns the anchors of a text that is not a lesson, such as a sentence or two of notes.
pub fn find_anchors_in_text(text: &str) -> Vec<LessonAnchor> {
    collect_anchors([text])
}

fn collect_anchors<'t, T: AsRef<str> + ?Sized + 't>(fields: impl IntoIterator<Item = &'t T>) -> Vec<LessonAnchor> {
    let mut found = AnchorCollector::default();
    for field in fields {
        let field = field.as_ref();
        let field = field.get(..field.floor_char_boundary(MAX_READ_BYTES)).unwrap_or_default();
        if !mentions_absence(field) {
            found.read_field(field);
        }
    }
    found.anchors.truncate(MAX_ANCHORS);
    found.anchors
}

fn mentions_absence(field: &str) -> bool {
    let lower = field.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).collect();
    let said = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    ABSENCE.iter().any(|phrase| said(&phrase.split(' ').collect::<Vec<_>>()))
}

#[derive(Default)]
struct AnchorCollector {
    anchors: Vec<LessonAnchor>,
    known: BTreeSet<LessonAnchor>,
}

impl AnchorCollector {
    fn add_anchor(&mut self, anchor: LessonAnchor) {
        if self.known.insert(anchor.clone()) {
            self.anchors.push(anchor);
        }
    }

    fn read_field(&mut self, field: &str) {
        // If a field is split at its backticks, every second part is a code span; an unclosed one is not.
        let parts: Vec<&str> = field.split('`').collect();
        for (place, part) in parts.iter().enumerate() {
            if place % 2 == 1 && place + 1 < parts.len() {
                self.read_code(part);
            } else {
                self.read_prose(part);
            }
        }
    }

    fn read_prose(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().map(trim_punctuation).collect();
        for word in &words {
            self.add_path(word, WordContext::Prose);
        }
        self.add_scripts(&words);
    }

    fn read_code(&mut self, code: &str) {
        let words: Vec<&str> = code.split_whitespace().map(trim_punctuation).collect();
        for word in &words {
            self.add_path(word, WordContext::Code);
        }
        self.add_scripts(&words);
        match words.as_slice() {
            ["make", target] if is_plain_name(target) => self.add_anchor(LessonAnchor::Target((*target).to_owned())),
            [name] if is_symbol(name) => self.add_anchor(LessonAnchor::Symbol((*name).to_owned())),
            _ => {}
        }
    }

    fn add_scripts(&mut self, words: &[&str]) {
        for window in words.windows(3) {
            if let [runner, "run", script] = window
                && RUNNERS.contains(runner)
                && is_plain_name(script)
            {
                self.add_anchor(LessonAnchor::Script((*script).to_owned()));
            }
        }
    }

    fn add_path(&mut self, word: &str, spelling: WordContext) {
        if let Some(path) = parse_project_path(word, spelling) {
            self.add_anchor(LessonAnchor::Path(path.to_owned()));
        }
    }
}

/// The kind of text in which a word appears.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordContext {
    Prose,
    Code,
}

/// Returns a word without the punctuation around it.
fn trim_punctuation(word: &str) -> &str {
    let around = |c: char| matches!(c, '"' | '\'' | '(' | ')' | '[' | ']' | ',' | ';' | ':' | '!' | '?');
    word.trim_start_matches(around).trim_end_matches(|c| around(c) || c == '.')
}

/// Returns the path in a word, if it is certainly a path of this project.
fn parse_project_path(word: &str, spelling: WordContext) -> Option<&str> {
    let word = word.strip_prefix("./").unwrap_or(word);
    // `src/x.rs:12:5` and `src/x.rs#L12` name a place in the file.
    let word = word.split([':', '#']).next().unwrap_or_default();
    let is_plain =
        word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'@' | b'+'));
    if word.is_empty() || word.len() > MAX_NAME_BYTES || !is_plain {
        return None;
    }
    let is_folder = word.ends_with('/');
    let path = word.trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || matches!(*part, "." | "..") || is_transient_part(part)) {
        return None;
    }
    let (file, folders) = parts.split_last()?;
    let first = folders.first().copied().unwrap_or_default();
    // `example.com/x.html` is a web page, and `a.b/c` may be anything.
    let is_page = !first.starts_with('.') && first.contains('.');
    let named = match (folders.is_empty(), spelling) {
        (_, WordContext::Prose) if is_folder => false,
        (_, WordContext::Code) if is_folder => !folders.is_empty(),
        (false, _) => has_source_extension(file),
        // `Node.js` is not a file, and `config.rs` in prose may mean any such file; in a code span both count.
        (true, WordContext::Code) => has_source_extension(file) && file.starts_with(|c: char| c.is_ascii_lowercase()),
        (true, WordContext::Prose) => false,
    };
    (named && !is_page).then_some(path)
}

fn has_source_extension(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && EXTENSIONS.contains(&extension))
}

/// Returns true if a part of a path is generated, private or a placeholder.
fn is_transient_part(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    let mut words = lower.split(['.', '_', '-']);
    PASSING.contains(&lower.as_str()) || lower.starts_with(".env") || words.any(|word| PLACEHOLDERS.contains(&word))
}

fn is_plain_name(word: &str) -> bool {
    let is_named = word.starts_with(|c: char| c.is_ascii_lowercase()) && word.len() <= MAX_NAME_BYTES;
    let is_plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':'));
    is_named && is_plain && !word.split([':', '-', '_']).any(|part| PLACEHOLDERS.contains(&part))
}

/// Returns true for a name of several words, as programs write them: `fit_lines`, `MemoryBank`.
fn is_symbol(name: &str) -> bool {
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= MAX_NAME_BYTES;
    let is_snake = name.trim_matches('_').contains('_') && !name.bytes().any(|b| b.is_ascii_uppercase());
    let is_hump = |pair: &[u8]| matches!(pair, [low, high] if low.is_ascii_lowercase() && high.is_ascii_uppercase());
    is_name && (is_snake || name.as_bytes().windows(2).any(is_hump))
}
