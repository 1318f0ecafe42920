//! Cuts a shell line into commands and words.

/// What joins a command to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
    Pipe,
    Next,
    End,
}

/// One command of a line, wrappers and assignments taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<String>,
    pub(super) then: Joint,
}

/// Cuts a line at its operators, minding quotes and leaving here-documents out.
pub(super) fn split(command: &str) -> Vec<Simple> {
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
                quoted(character, &mut characters, word.get_or_insert_default());
                continue;
            }
            '#' if previous.is_whitespace() => {
                while characters.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            '<' if characters.peek() == Some(&'<') && previous != '<' => {
                characters.next();
                if characters.next_if_eq(&'<').is_none() {
                    document = Some(document_end(&mut characters));
                }
                continue;
            }
            '&' if characters.next_if_eq(&'&').is_some() => Joint::And,
            '|' if characters.next_if_eq(&'|').is_some() => Joint::Or,
            '|' => {
                characters.next_if_eq(&'&');
                Joint::Pipe
            }
            '&' if previous == '>' || characters.peek() == Some(&'>') => {
                word.get_or_insert_default().push(character);
                continue;
            }
            '\n' => {
                if let Some(end) = document.take() {
                    skip_document(&mut characters, &end);
                }
                Joint::Next
            }
            ';' | '&' => Joint::Next,
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
            simples.push(Simple { words: std::mem::take(&mut words), then: joint });
        }
    }
    words.extend(word);
    if !words.is_empty() {
        simples.push(Simple { words, then: Joint::End });
    }
    simples
}

/// A line that is being taken apart.
pub(in crate::context) type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn quoted(quote: char, characters: &mut Characters<'_>, into: &mut String) {
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

/// The word at which a here-document ends, read from behind its `<<`.
pub(in crate::context) fn document_end(characters: &mut Characters<'_>) -> String {
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

/// Passes over a here-document.
pub(in crate::context) fn skip_document(characters: &mut Characters<'_>, end: &str) {
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
