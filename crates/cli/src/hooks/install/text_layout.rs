//! The layout of text added to a settings file, which follows the existing text.

/// A JSON value to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonNode {
    Text(String),
    Number(u32),
    List(Vec<JsonNode>),
    Object(Vec<JsonMember>),
}

/// A member of an object, or an element of a list if it has no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonMember {
    name: Option<&'static str>,
    value: JsonNode,
}

impl JsonMember {
    pub(super) fn new_named(name: &'static str, value: JsonNode) -> Self {
        Self { name: Some(name), value }
    }

    pub(super) fn new_unnamed(value: JsonNode) -> Self {
        Self { name: None, value }
    }
}

/// The layout of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettingsFileLayout {
    /// The line ending.
    pub(super) newline: &'static str,
    /// The indentation of one level.
    pub(super) unit: String,
    /// The blank after commas and colons within a line.
    pub(super) blank: &'static str,
}

/// The placement of a node in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodePlacement {
    /// On separate lines, with this indentation.
    Lines(String),
    /// Within one line.
    Inline,
}

impl Default for SettingsFileLayout {
    fn default() -> Self {
        Self { newline: "\n", unit: "  ".to_owned(), blank: " " }
    }
}

impl SettingsFileLayout {
    /// Detects the layout of a text: its line endings, its first indentation and its blanks.
    pub(super) fn from_text(text: &str) -> Self {
        let usual = Self::default();
        let newline = if text.contains("\r\n") { "\r\n" } else { usual.newline };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let indented = lines.map(leading_blanks).find(|blanks| !blanks.is_empty());
        let has_lines = text.trim().contains('\n');
        let is_dense = !has_lines && text.contains(':') && !text.contains(": ");
        Self {
            newline,
            unit: indented.map(str::to_owned).unwrap_or(usual.unit),
            blank: if is_dense { "" } else { usual.blank },
        }
    }

    /// Renders a value as the root of a file.
    pub(super) fn render_root(&self, node: &JsonNode) -> String {
        self.render_node(node, &NodePlacement::Lines(String::new()))
    }

    /// Renders a member of an object or a list, without the indentation of its first line.
    pub(super) fn render_member(&self, member: &JsonMember, place: &NodePlacement) -> String {
        let value = self.render_node(&member.value, place);
        match member.name {
            Some(name) => format!("{}:{}{value}", quote_string(name), self.blank),
            None => value,
        }
    }

    fn render_node(&self, node: &JsonNode, place: &NodePlacement) -> String {
        match node {
            JsonNode::Text(text) => quote_string(text),
            JsonNode::Number(number) => number.to_string(),
            JsonNode::List(nodes) => {
                let members: Vec<JsonMember> = nodes.iter().cloned().map(JsonMember::new_unnamed).collect();
                self.render_bracketed(('[', ']'), &members, place)
            }
            JsonNode::Object(members) => self.render_bracketed(('{', '}'), members, place),
        }
    }

    fn render_bracketed(&self, (open, close): (char, char), members: &[JsonMember], place: &NodePlacement) -> String {
        match place {
            NodePlacement::Inline => {
                let parts: Vec<String> = members.iter().map(|member| self.render_member(member, place)).collect();
                format!("{open}{}{close}", parts.join(&format!(",{}", self.blank)))
            }
            NodePlacement::Lines(indentation) => {
                let inner = format!("{indentation}{}", self.unit);
                let lines = self.render_lines(members, &inner);
                format!("{open}{lines}{}{indentation}{close}", self.newline)
            }
        }
    }

    /// Renders members on separate lines, each with a line break before it.
    pub(super) fn render_lines(&self, members: &[JsonMember], indentation: &str) -> String {
        let place = NodePlacement::Lines(indentation.to_owned());
        let line = |member: &JsonMember| format!("{}{indentation}{}", self.newline, self.render_member(member, &place));
        members.iter().map(line).collect::<Vec<_>>().join(",")
    }
}

/// Returns the blanks at the start of a line.
pub(super) fn leading_blanks(line: &str) -> &str {
    let end = line.find(|c: char| !matches!(c, ' ' | '\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

fn quote_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
