//! Splits a shell line into commands and words.

/// The operator that separates a command from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandSeparator {
    And,
    Or,
    Pipe,
    Next,
    End,
}

/// One command of a line with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<String>,
    pub(super) then: CommandSeparator,
}

/// Splits a line at its operators, respecting quotes and skipping here-documents.
pub(super) fn split_commands(command: &str) -> Vec<SimpleCommand> {
    let mut simples = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut document: Option<String> = None;
    let mut characters = command.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let previous = std::mem::replace(&mut before, character);
        let joint = match character {
            '\\' => {
                // A backslash at the line's end joins the lines.
                if let Some(next) = characters.next().filter(|next| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
                continue;
            }
            '\'' | '"' => {
                read_quoted(character, &mut characters, word.get_or_insert_default());
                continue;
            }
            '#' if previous.is_whitespace() => {
                while characters.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            '<' if characters.peek() == Some(&'<') && previous != '<' => {
                characters.next();
                if characters.next_if_eq(&'<').is_none() {
                    document = Some(here_document_end(&mut characters));
                }
                continue;
            }
            '&' if characters.next_if_eq(&'&').is_some() => CommandSeparator::And,
            '|' if characters.next_if_eq(&'|').is_some() => CommandSeparator::Or,
            '|' => {
                characters.next_if_eq(&'&');
                CommandSeparator::Pipe
            }
            '&' if previous == '>' || characters.peek() == Some(&'>') => {
                word.get_or_insert_default().push(character);
                continue;
            }
            '\n' => {
                if let Some(end) = document.take() {
                    skip_here_document(&mut characters, &end);
                }
                CommandSeparator::Next
            }
            ';' | '&' => CommandSeparator::Next,
            '(' | ')' => {
                words.extend(word.take());
                continue;
            }
            _ if character.is_whitespace() => {
                words.extend(word.take());
                continue;
            }
            _ => {
                word.get_or_insert_default().push(character);
                continue;
            }
        };
        words.extend(word.take());
        if !words.is_empty() {
            simples.push(SimpleCommand { words: std::mem::take(&mut words), then: joint });
        }
    }
    words.extend(word);
    if !words.is_empty() {
        simples.push(SimpleCommand { words, then: CommandSeparator::End });
    }
    simples
}

/// The characters of a line that is being parsed.
pub(in crate::context) type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn read_quoted(quote: char, characters: &mut Characters<'_>, into: &mut String) {
    while let Some(inner) = characters.next() {
        if inner == quote {
            return;
        }
        if inner == '\\' && quote == '"' {
            into.extend(characters.next());
        } else {
            into.push(inner);
        }
    }
}

/// Reads the word that ends a here-document, after its `<<`.
pub(in crate::context) fn here_document_end(characters: &mut Characters<'_>) -> String {
    let mut end = String::new();
    while characters.next_if(|next| matches!(next, '-' | ' ')).is_some() {}
    while let Some(next) =
        characters.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | '\'' | '"' | '-' | '!'))
    {
        if !matches!(next, '\'' | '"') {
            end.push(next);
        }
    }
    end
}

/// Skips the lines of a here-document.
pub(in crate::context) fn skip_here_document(characters: &mut Characters<'_>, end: &str) {
    let mut line = String::new();
    for character in characters.by_ref() {
        if character == '\n' {
            if line.trim() == end {
                return;
            }
            line.clear();
        } else {
            line.push(character);
        }
    }
}
