//! What a lesson names that can be looked for in its project.
//!
//! To call something gone that is there costs more than to miss something that is gone. So only what can hardly be
//! anything else counts as named: a path inside the project, a script that a runner is told to run, a name in a code
//! span. What the lesson itself calls missing, old, made or removed is none of it.

use std::collections::BTreeSet;

use crate::domain::{AgentMemory, MemoryScope};

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;

/// So many things that a lesson names are looked at.
const MAX_ANCHORS: usize = 8;
/// No field is read beyond this.
const MAX_READ_BYTES: usize = 4096;
/// Longer than the paths and names that people write.
const MAX_NAME_BYTES: usize = 200;

/// What the names of source files end with.
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "dart", "ex", "exs", "fish", "go", "gradle", "graphql", "h",
    "hpp", "hs", "html", "ini", "java", "jl", "js", "json", "jsonc", "jsonl", "jsx", "kt", "kts", "lua", "m", "md",
    "mdx", "mjs", "ml", "nix", "php", "pl", "prisma", "proto", "ps1", "py", "pyi", "r", "rb", "rs", "scala", "scss",
    "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zsh",
];

/// Folders and files that are made, ignored or private: that they are absent says nothing.
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

/// Parts of names that stand for any other.
const PLACEHOLDERS: &[&str] =
    &["bar", "baz", "dummy", "example", "foo", "my", "name", "path", "placeholder", "sample", "xxx", "your"];

/// A field that says one of these may speak of what is not there.
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

/// Programs that are told which script to run.
const RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Something that a lesson names and that can be looked for in the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchor {
    /// A file or a folder, from the project's root; without a folder it may stand anywhere.
    Path(String),
    /// A script of a `package.json`.
    Script(String),
    /// A target of a makefile.
    Target(String),
    /// A name in the code.
    Symbol(String),
}

impl Anchor {
    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Path(name) | Self::Script(name) | Self::Target(name) | Self::Symbol(name) => name,
        }
    }

    /// What it is called in a sentence.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Path(path) => path.clone(),
            Self::Script(name) => format!("the script {name}"),
            Self::Target(name) => format!("the target {name}"),
            Self::Symbol(name) => format!("`{name}`"),
        }
    }
}

/// What a lesson names that can be looked for in its project, in its order, each once. A lesson that holds everywhere
/// names nothing in this one.
pub fn anchors(memory: &AgentMemory) -> Vec<Anchor> {
    if memory.scope == MemoryScope::Global {
        return Vec::new();
    }
    named_in([Some(&memory.summary), memory.rule.as_ref(), memory.detail.as_ref()].into_iter().flatten())
}

/// The same of a text that is no lesson: a sentence or two of somebody's notes.
pub fn anchors_in(text: &str) -> Vec<Anchor> {
    named_in([text])
}

fn named_in<'t, T: AsRef<str> + ?Sized + 't>(fields: impl IntoIterator<Item = &'t T>) -> Vec<Anchor> {
    let mut found = Found::default();
    for field in fields {
        let field = field.as_ref();
        let field = field.get(..field.floor_char_boundary(MAX_READ_BYTES)).unwrap_or_default();
        if !speaks_of_absence(field) {
            found.read(field);
        }
    }
    found.anchors.truncate(MAX_ANCHORS);
    found.anchors
}

fn speaks_of_absence(field: &str) -> bool {
    let lower = field.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).collect();
    let said = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    ABSENCE.iter().any(|phrase| said(&phrase.split(' ').collect::<Vec<_>>()))
}

#[derive(Default)]
struct Found {
    anchors: Vec<Anchor>,
    known: BTreeSet<Anchor>,
}

impl Found {
    fn add(&mut self, anchor: Anchor) {
        if self.known.insert(anchor.clone()) {
            self.anchors.push(anchor);
        }
    }

    fn read(&mut self, field: &str) {
        // Of a field cut at its backticks every second part is a code span; one that never ends is none.
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
        let words: Vec<&str> = text.split_whitespace().map(bare).collect();
        for word in &words {
            self.add_path(word, Spelling::Prose);
        }
        self.add_scripts(&words);
    }

    fn read_code(&mut self, code: &str) {
        let words: Vec<&str> = code.split_whitespace().map(bare).collect();
        for word in &words {
            self.add_path(word, Spelling::Code);
        }
        self.add_scripts(&words);
        match words.as_slice() {
            ["make", target] if is_plain(target) => self.add(Anchor::Target((*target).to_owned())),
            [name] if is_symbol(name) => self.add(Anchor::Symbol((*name).to_owned())),
            _ => {}
        }
    }

    fn add_scripts(&mut self, words: &[&str]) {
        for window in words.windows(3) {
            if let [runner, "run", script] = window
                && RUNNERS.contains(runner)
                && is_plain(script)
            {
                self.add(Anchor::Script((*script).to_owned()));
            }
        }
    }

    fn add_path(&mut self, word: &str, spelling: Spelling) {
        if let Some(path) = path(word, spelling) {
            self.add(Anchor::Path(path.to_owned()));
        }
    }
}

/// How a word stands in a lesson.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Prose,
    Code,
}

/// A word without the signs around it.
fn bare(word: &str) -> &str {
    let around = |c: char| matches!(c, '"' | '\'' | '(' | ')' | '[' | ']' | ',' | ';' | ':' | '!' | '?');
    word.trim_start_matches(around).trim_end_matches(|c| around(c) || c == '.')
}

/// The path that a word is, if it is certainly one of this project's.
fn path(word: &str, spelling: Spelling) -> Option<&str> {
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
    if parts.iter().any(|part| part.is_empty() || matches!(*part, "." | "..") || is_passing(part)) {
        return None;
    }
    let (file, folders) = parts.split_last()?;
    let first = folders.first().copied().unwrap_or_default();
    // `example.com/x.html` is a page, and `a.b/c` may be anything.
    let is_page = !first.starts_with('.') && first.contains('.');
    let named = match (folders.is_empty(), spelling) {
        (_, Spelling::Prose) if is_folder => false,
        (_, Spelling::Code) if is_folder => !folders.is_empty(),
        (false, _) => has_extension(file),
        // `Node.js` is no file, and neither is `config.rs` where any would do; in a code span they are.
        (true, Spelling::Code) => has_extension(file) && file.starts_with(|c: char| c.is_ascii_lowercase()),
        (true, Spelling::Prose) => false,
    };
    (named && !is_page).then_some(path)
}

fn has_extension(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && EXTENSIONS.contains(&extension))
}

/// Whether a part of a path is made, private, or stands for any other.
fn is_passing(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    let mut words = lower.split(['.', '_', '-']);
    PASSING.contains(&lower.as_str()) || lower.starts_with(".env") || words.any(|word| PLACEHOLDERS.contains(&word))
}

fn is_plain(word: &str) -> bool {
    let is_named = word.starts_with(|c: char| c.is_ascii_lowercase()) && word.len() <= MAX_NAME_BYTES;
    let is_plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':'));
    is_named && is_plain && !word.split([':', '-', '_']).any(|part| PLACEHOLDERS.contains(&part))
}

/// A name of several words, as programs write them: `fit_lines`, `MemoryBank`.
fn is_symbol(name: &str) -> bool {
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= MAX_NAME_BYTES;
    let is_snake = name.trim_matches('_').contains('_') && !name.bytes().any(|b| b.is_ascii_uppercase());
    let is_hump = |pair: &[u8]| matches!(pair, [low, high] if low.is_ascii_lowercase() && high.is_ascii_uppercase());
    is_name && (is_snake || name.as_bytes().windows(2).any(is_hump))
}
