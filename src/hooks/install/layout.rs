//! How new lines of a settings file look: like those that are there.

/// A value that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    Number(u32),
    List(Vec<Node>),
    Object(Vec<Member>),
}

/// A part of an object, or of a list, where it has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    name: Option<&'static str>,
    value: Node,
}

impl Member {
    pub(super) fn named(name: &'static str, value: Node) -> Self {
        Self { name: Some(name), value }
    }

    pub(super) fn unnamed(value: Node) -> Self {
        Self { name: None, value }
    }
}

/// How a file is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// What ends a line.
    pub(super) newline: &'static str,
    /// What a level is indented by.
    pub(super) unit: String,
    /// What stands behind commas and colons on one line.
    pub(super) blank: &'static str,
}

/// Where something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In lines, the first of which is indented so.
    Lines(String),
    /// Within a line.
    Inline,
}

impl Default for Layout {
    fn default() -> Self {
        Self { newline: "\n", unit: "  ".to_owned(), blank: " " }
    }
}

impl Layout {
    /// The layout of a text: its line ends, the indentation of its first line that has one, its blanks.
    pub(super) fn of(text: &str) -> Self {
        let usual = Self::default();
        let newline = if text.contains("\r\n") { "\r\n" } else { usual.newline };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let indented = lines.map(indentation).find(|blanks| !blanks.is_empty());
        let has_lines = text.trim().contains('\n');
        let is_dense = !has_lines && text.contains(':') && !text.contains(": ");
        Self {
            newline,
            unit: indented.map(str::to_owned).unwrap_or(usual.unit),
            blank: if is_dense { "" } else { usual.blank },
        }
    }

    /// A value that begins a file.
    pub(super) fn rendered(&self, node: &Node) -> String {
        self.node(node, &Place::Lines(String::new()))
    }

    /// A part of an object or a list, without the indentation of its first line.
    pub(super) fn member(&self, member: &Member, place: &Place) -> String {
        let value = self.node(&member.value, place);
        match member.name {
            Some(name) => format!("{}:{}{value}", string(name), self.blank),
            None => value,
        }
    }

    fn node(&self, node: &Node, place: &Place) -> String {
        match node {
            Node::Text(text) => string(text),
            Node::Number(number) => number.to_string(),
            Node::List(nodes) => {
                let members: Vec<Member> = nodes.iter().cloned().map(Member::unnamed).collect();
                self.bracketed(('[', ']'), &members, place)
            }
            Node::Object(members) => self.bracketed(('{', '}'), members, place),
        }
    }

    fn bracketed(&self, (open, close): (char, char), members: &[Member], place: &Place) -> String {
        match place {
            Place::Inline => {
                let parts: Vec<String> = members.iter().map(|member| self.member(member, place)).collect();
                format!("{open}{}{close}", parts.join(&format!(",{}", self.blank)))
            }
            Place::Lines(indentation) => {
                let inner = format!("{indentation}{}", self.unit);
                let lines = self.lines(members, &inner);
                format!("{open}{lines}{}{indentation}{close}", self.newline)
            }
        }
    }

    /// Members on lines of their own, each line with the break before it.
    pub(super) fn lines(&self, members: &[Member], indentation: &str) -> String {
        let place = Place::Lines(indentation.to_owned());
        let line = |member: &Member| format!("{}{indentation}{}", self.newline, self.member(member, &place));
        members.iter().map(line).collect::<Vec<_>>().join(",")
    }
}

/// The blanks that a line begins with.
pub(super) fn indentation(line: &str) -> &str {
    let end = line.find(|c: char| !matches!(c, ' ' | '\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
