//! Splits shell command lines into commands and words. No other module knows the grammar of a shell.
//!
//! The lines come from logs: they may be cut off, have lost their quotes, or be meant for another shell. So every line
//! has a result: an open quote, substitution or here-document ends with the line, and a backslash before a letter stays,
//! because it belongs to a Windows path.

use std::ops::Range;

#[cfg(test)]
#[path = "shell_lexer_tests.rs"]
mod tests;

/// The depth up to which substitutions inside substitutions are split.
const MAX_DEPTH: usize = 16;

/// The longest arithmetic that is known as such.
const MAX_ARITHMETIC_BYTES: usize = 256;

/// Words after which a command begins.
const PREFIX_WORDS: &[&str] = &["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"];

/// The operators between commands; a longer one stands before its beginning.
const SEPARATORS: &[(&str, CommandSeparator)] = &[
    ("&&", CommandSeparator::And),
    ("||", CommandSeparator::Or),
    ("|&", CommandSeparator::Pipe),
    ("|", CommandSeparator::Pipe),
    ("&", CommandSeparator::Background),
    (";;", CommandSeparator::Next),
    (";", CommandSeparator::Next),
];

/// The operators of redirections; a longer one stands before its beginning.
const REDIRECTIONS: &[(&str, WordRole)] = &[
    ("<<<", WordRole::Input),
    ("<<-", WordRole::HereDocument),
    ("<<", WordRole::HereDocument),
    ("<&", WordRole::Duplicate),
    ("<", WordRole::Input),
    ("&>>", WordRole::Output),
    ("&>", WordRole::Output),
    (">>", WordRole::Output),
    (">&", WordRole::Duplicate),
    (">|", WordRole::Output),
    (">", WordRole::Output),
];

/// The operator that separates a command from the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CommandSeparator {
    /// The next command runs if this one passes: `&&`.
    And,
    /// The next command runs if this one fails: `||`.
    Or,
    /// The next command reads the output of this one: `|`.
    Pipe,
    /// The next command does not wait for this one: `&`.
    Background,
    /// The next command runs in any case: `;` or a new line.
    Next,
    /// No command follows.
    #[default]
    End,
}

/// The purpose of a word in its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordRole {
    /// The program, an argument, or an assignment before them.
    Argument,
    /// The file or text that the command reads: `< file`, `<<< text`.
    Input,
    /// The text of a here-document that the command reads: `<<EOF`.
    HereDocument,
    /// The file that the output goes to: `> file`, `&> file`.
    Output,
    /// The file that only the error output goes to: `2> file`.
    ErrorOutput,
    /// The stream that another stream is joined with: `2>&1`.
    Duplicate,
}

/// One word of a command, or one redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWord {
    /// The word without quotes and escapes; the target of a redirection; the whole text of a here-document.
    pub text: String,
    /// The purpose of the word.
    pub role: WordRole,
    /// The bytes of the line that hold the word with its quotes, or the operator and the target of a redirection.
    pub span: Range<usize>,
}

/// One simple command of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LexedCommand {
    /// The words and redirections in their order; there is at least one.
    pub words: Vec<ShellWord>,
    /// The commands in its words, whose output becomes an argument or a file: `$(…)`, `` `…` ``, `<(…)`.
    pub substituted: Vec<LexedCommand>,
    /// The operator after the command.
    pub separator: CommandSeparator,
    /// The byte of the line at which that operator ends.
    pub end: usize,
}

impl ShellWord {
    /// Returns the word as the line has it, without the operator of a redirection and the quotes around it.
    pub fn as_written<'l>(&self, line: &'l str) -> &'l str {
        let written = line.get(self.span.clone()).unwrap_or_default();
        let target = match self.role {
            WordRole::Argument => written,
            _ => written
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .trim_start_matches(['<', '>', '&', '|', ' ', '\t']),
        };
        target.trim_matches(['"', '\''])
    }
}

impl LexedCommand {
    /// Returns its arguments, and the files and texts that it reads, in their order.
    pub fn into_words(self) -> Vec<String> {
        let is_given = |word: &ShellWord| matches!(word.role, WordRole::Argument | WordRole::Input);
        self.words.into_iter().filter(is_given).map(|word| word.text).collect()
    }

    /// Returns its arguments, the program and assignments before it included.
    pub fn arguments(&self) -> impl Iterator<Item = &ShellWord> {
        self.words.iter().filter(|word| word.role == WordRole::Argument)
    }

    /// Returns its first word, which is the program unless an assignment or a keyword comes before it.
    pub fn program(&self) -> &str {
        self.arguments().next().map_or("", |word| program_name(&word.text))
    }
}

/// Splits a line into its simple commands. Those of groups such as `( … )` are listed like others, and those that an
/// assignment takes its value from follow it, because their exit code is that of the assignment.
pub fn split_commands(line: &str) -> Vec<LexedCommand> {
    let mut lexer = ShellLexer { line, last_backtick: line.rfind('`'), ..ShellLexer::default() };
    lexer.read_commands(None)
}

/// Returns the line without its leading commands of a kind, as long as another command follows them.
pub fn strip_leading_commands(line: &str, mut is_left_out: impl FnMut(&LexedCommand) -> bool) -> &str {
    let mut start = 0;
    for command in split_commands(line) {
        // The commands that an assignment takes its value from end with it.
        if command.end <= start {
            continue;
        }
        let before = command.words.first().and_then(|word| line.get(start..word.span.start)).unwrap_or_default();
        let is_last = line.get(command.end..).is_none_or(|rest| rest.trim().is_empty());
        let is_followed = matches!(command.separator, CommandSeparator::And | CommandSeparator::Next) && !is_last;
        if !is_followed || !before.trim().is_empty() || !is_left_out(&command) {
            break;
        }
        start = command.end;
    }
    line.get(start..).unwrap_or_default().trim()
}

/// Returns true if a word is an assignment: `NAME=value`.
pub fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns a program's name without its folder and its Windows suffix.
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

/// The state of splitting a line. It only moves forward, so that the time grows with the length of the line.
#[derive(Default)]
struct ShellLexer<'l> {
    line: &'l str,
    at: usize,
    depth: usize,
    /// True inside backticks, where the next one closes them.
    in_backticks: bool,
    /// The place of the last backtick, which cannot open anything.
    last_backtick: Option<usize>,
    /// The end of the here-documents that begin at the next line.
    documents_end: Option<usize>,
    /// The commands in the words of the command that is being read.
    substituted: Vec<LexedCommand>,
}

impl<'l> ShellLexer<'l> {
    fn rest(&self) -> &'l str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next_char(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Reads the first of these operators that the rest begins with.
    fn read_operator<T: Copy>(&mut self, operators: &[(&str, T)]) -> Option<T> {
        let (operator, meaning) = operators.iter().find(|(operator, _)| self.rest().starts_with(operator))?;
        self.at += operator.len();
        Some(*meaning)
    }

    fn skip_while(&mut self, is_skipped: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !is_skipped(c)).unwrap_or(rest.len());
    }

    /// Reads commands up to the character that closes them, which is left, or to the end of the line.
    fn read_commands(&mut self, closing: Option<char>) -> Vec<LexedCommand> {
        let mut commands = Vec::new();
        let mut words = Vec::new();
        let mut groups = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                _ if closing == Some(next) && (groups == 0 || next == '`') => break,
                '\n' => {
                    self.at = self.documents_end.take().unwrap_or_default().max(self.at + 1);
                    self.end_command(&mut words, CommandSeparator::Next, &mut commands);
                }
                '\\' if self.rest().starts_with("\\\n") => self.at += 2,
                _ if next.is_whitespace() => self.skip_while(|c| c.is_whitespace() && c != '\n'),
                '#' => self.skip_while(|c| c != '\n'),
                '&' | '<' | '>' if self.begins_redirection() => words.push(self.read_redirection(self.at)),
                '&' | '|' | ';' => {
                    let separator = self.read_operator(SEPARATORS).unwrap_or_default();
                    self.end_command(&mut words, separator, &mut commands);
                }
                ')' => {
                    self.at += 1;
                    if groups == 0 {
                        self.end_command(&mut words, CommandSeparator::Next, &mut commands);
                    }
                    groups = groups.saturating_sub(1);
                }
                '(' if self.arithmetic().is_some() => words.push(self.read_argument()),
                '(' if words.iter().all(|word| PREFIX_WORDS.contains(&word.text.as_str())) => {
                    self.at += 1;
                    groups += 1;
                }
                '(' => self.read_substitution(1, ')', &mut String::new()),
                _ => words.push(self.read_argument()),
            }
        }
        self.end_command(&mut words, CommandSeparator::End, &mut commands);
        commands
    }

    fn end_command(&mut self, words: &mut Vec<ShellWord>, separator: CommandSeparator, into: &mut Vec<LexedCommand>) {
        let (words, mut substituted) = (std::mem::take(words), std::mem::take(&mut self.substituted));
        let mut command = LexedCommand { words, separator, end: self.at, ..LexedCommand::default() };
        if command.words.is_empty() {
            return;
        }
        if command.arguments().any(|word| !is_assignment(&word.text)) {
            command.substituted = std::mem::take(&mut substituted);
        } else if let Some(last) = substituted.last_mut() {
            last.separator = std::mem::replace(&mut command.separator, CommandSeparator::Next);
            substituted.iter_mut().for_each(|inner| inner.end = self.at);
        }
        into.push(command);
        into.append(&mut substituted);
    }

    /// Reads an argument, or a redirection that begins with the number of its stream.
    fn read_argument(&mut self) -> ShellWord {
        let start = self.at;
        let text = self.read_word();
        let is_stream = self.line.get(start..self.at).is_some_and(is_number);
        match is_stream && self.begins_redirection() {
            true => self.read_redirection(start),
            false => ShellWord { text, role: WordRole::Argument, span: start..self.at },
        }
    }

    /// Returns true at the operator of a redirection.
    fn begins_redirection(&self) -> bool {
        let rest = self.rest();
        rest.starts_with("&>")
            || rest.starts_with(['<', '>']) && !rest.get(1..).is_some_and(|rest| rest.starts_with('('))
    }

    /// Reads a redirection. The number of its stream, which begins at `start`, has been read.
    fn read_redirection(&mut self, start: usize) -> ShellWord {
        let is_error = self.line.get(start..self.at) == Some("2");
        let role = self.read_operator(REDIRECTIONS).unwrap_or(WordRole::Input);
        self.skip_while(|c| matches!(c, ' ' | '\t'));
        let mut text = self.read_word();
        let span = start..self.at;
        let role = match role {
            WordRole::Duplicate if text != "-" && !is_number(&text) => WordRole::Output,
            WordRole::Output if is_error => WordRole::ErrorOutput,
            role => role,
        };
        if role == WordRole::HereDocument {
            text = self.read_here_document(text.trim_start_matches('\\')).to_owned();
        }
        ShellWord { text, role, span }
    }

    /// Returns the lines of a here-document, which begins after this line and the here-documents before it.
    fn read_here_document(&mut self, delimiter: &str) -> &'l str {
        let next_line = || self.rest().find('\n').map(|line_end| self.at + line_end + 1);
        let Some(start) = self.documents_end.or_else(next_line).filter(|_| !delimiter.is_empty()) else { return "" };
        let lines = self.line.get(start..).unwrap_or_default().split_inclusive('\n');
        let end = start + lines.clone().take_while(|line| line.trim() != delimiter).map(str::len).sum::<usize>();
        let closing = lines.clone().find(|line| line.trim() == delimiter).map_or(0, str::len);
        self.documents_end = Some(end + closing);
        self.line.get(start..end).unwrap_or_default()
    }

    /// Reads a word up to a blank or an operator.
    fn read_word(&mut self) -> String {
        let mut text = String::new();
        let mut braces = 0_usize;
        while let Some(next) = self.peek() {
            match next {
                '\'' => self.read_single_quoted(false, &mut text),
                '"' => self.read_double_quoted(&mut text),
                '\\' => {
                    self.at += 1;
                    let escaped = self.peek().filter(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_'));
                    self.at += escaped.map_or(0, char::len_utf8);
                    text.extend(Some(escaped.unwrap_or('\\')).filter(|c| *c != '\n'));
                }
                '`' if self.in_backticks => break,
                '$' if self.rest().starts_with("$'") => self.read_single_quoted(true, &mut text),
                '$' if self.rest().starts_with("${") => {
                    braces += 1;
                    self.at += 2;
                    text.push_str("${");
                }
                '<' | '>' if self.rest().get(1..).is_some_and(|rest| rest.starts_with('(')) && braces == 0 => {
                    self.read_substitution(2, ')', &mut text);
                }
                '$' | '`' | '(' if next != '(' || text.is_empty() && self.arithmetic().is_some() => {
                    self.read_expansion(&mut text);
                }
                '\n' => break,
                _ if braces == 0 && (next.is_whitespace() || "|&;<>()".contains(next)) => break,
                _ => {
                    braces = braces.saturating_sub(usize::from(next == '}'));
                    text.extend(self.next_char());
                }
            }
        }
        text
    }

    /// Reads text in single quotes; with `has_escapes`, text in `$'…'`.
    fn read_single_quoted(&mut self, has_escapes: bool, text: &mut String) {
        self.at += if has_escapes { 2 } else { 1 };
        while let Some(next) = self.next_char().filter(|next| *next != '\'') {
            let is_escaped = has_escapes && next == '\\' && matches!(self.peek(), Some('\'' | '\\'));
            text.extend(if is_escaped { self.next_char() } else { Some(next) });
        }
    }

    fn read_double_quoted(&mut self, text: &mut String) {
        self.at += 1;
        while let Some(next) = self.peek() {
            match next {
                '`' if self.in_backticks => return,
                '$' | '`' => self.read_expansion(text),
                _ => {
                    self.at += next.len_utf8();
                    match self.peek().filter(|_| next == '\\') {
                        _ if next == '"' => return,
                        Some('\n') => self.at += 1,
                        Some('"' | '\\' | '$' | '`') => text.extend(self.next_char()),
                        _ => text.push(next),
                    }
                }
            }
        }
    }

    /// Reads what begins with `$`, a backtick or `((`: arithmetic, a substitution, or just this character.
    fn read_expansion(&mut self, text: &mut String) {
        if let Some(arithmetic) = self.arithmetic() {
            self.at += arithmetic.len();
            text.push_str(arithmetic);
        } else if self.rest().starts_with("$(") {
            self.read_substitution(2, ')', text);
        } else if self.rest().starts_with('`') && Some(self.at) != self.last_backtick {
            self.read_substitution(1, '`', text);
        } else {
            text.extend(self.next_char());
        }
    }

    /// Returns the arithmetic that the rest begins with: `((…))` or `$((…))` on one line.
    fn arithmetic(&self) -> Option<&'l str> {
        let near = self.rest().get(..self.rest().floor_char_boundary(MAX_ARITHMETIC_BYTES))?;
        let inner = near.strip_prefix('$').unwrap_or(near).strip_prefix("((")?;
        let is_plain = |inner: &str| !inner.contains(['\n', '`']) && !inner.contains("$(");
        let end = inner.find("))").filter(|end| inner.get(..*end).is_some_and(is_plain))?;
        near.get(..near.len() - inner.len() + end + 2)
    }

    /// Reads the commands of a substitution, and its text as it is in the line.
    fn read_substitution(&mut self, opening_bytes: usize, closing: char, text: &mut String) {
        let start = self.at;
        self.at += opening_bytes;
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            let in_backticks = std::mem::replace(&mut self.in_backticks, closing == '`');
            let mut substituted = std::mem::take(&mut self.substituted);
            substituted.append(&mut self.read_commands(Some(closing)));
            self.substituted = substituted;
            self.in_backticks = in_backticks;
            self.depth -= 1;
            self.at += self.peek().filter(|next| *next == closing).map_or(0, char::len_utf8);
        }
        text.push_str(self.line.get(start..self.at).unwrap_or_default());
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
