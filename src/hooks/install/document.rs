//! A settings file, and where things stand in it.

use jsonc_parser::ast::{Array, Object, ObjectProp, StringLit, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::layout::{Layout, Member, Place, indentation};
use super::{HOOKS, NotEditable, Splice};

/// What agents read: JSON, comments, a comma too many.
const FORGIVING: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A parsed settings file.
pub(super) struct Document<'t> {
    /// The text without a byte order mark.
    text: &'t str,
    /// How long the mark is.
    shift: usize,
    value: Option<Value<'t>>,
    /// Every token, comments among them, in order.
    tokens: Vec<TokenAndRange<'t>>,
    layout: Layout,
}

/// A command that an agent runs, and everything that it stands in.
pub(super) struct Hook<'d> {
    pub(super) event: &'d str,
    pub(super) event_range: Range,
    pub(super) groups: &'d Array<'d>,
    pub(super) group: &'d Object<'d>,
    pub(super) list: &'d Array<'d>,
    pub(super) entry: &'d Object<'d>,
    pub(super) command: &'d StringLit<'d>,
}

/// Where the parts of a list or an object stand.
pub(super) fn ranges<R: Ranged>(parts: &[R]) -> Vec<Range> {
    parts.iter().map(Ranged::range).collect()
}

/// Something that holds parts between brackets.
pub(super) trait Container: Ranged {
    /// Where its last part stands.
    fn last(&self) -> Option<Range>;
}

impl Container for Object<'_> {
    fn last(&self) -> Option<Range> {
        self.properties.last().map(Ranged::range)
    }
}

impl Container for Array<'_> {
    fn last(&self) -> Option<Range> {
        self.elements.last().map(Ranged::range)
    }
}

impl<'t> Document<'t> {
    pub(super) fn parse(whole: &'t str) -> Result<Self, NotEditable> {
        let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &FORGIVING).map_err(|error| NotEditable::NotJson {
            line: error.line_display(),
            column: error.column_display(),
            why: error.kind().to_string().to_lowercase(),
        })?;
        Ok(Self {
            text,
            shift: whole.len() - text.len(),
            value: parsed.value,
            tokens: parsed.tokens.unwrap_or_default(),
            layout: Layout::of(text),
        })
    }

    /// The object that settings are.
    pub(super) fn root(&self) -> Result<&Object<'t>, NotEditable> {
        let root = self.value.as_ref().and_then(Value::as_object);
        root.ok_or_else(|| self.shape(0, "the whole file".to_owned(), "one object, as in {}"))
    }

    /// The part of this name.
    pub(super) fn member<'d>(
        &'d self,
        object: &'d Object<'t>,
        name: &str,
    ) -> Result<Option<&'d ObjectProp<'t>>, NotEditable> {
        let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
        let (first, second) = (found.next(), found.next());
        match second {
            Some(second) => Err(NotEditable::Twice { line: self.line(second.range.start), key: name.to_owned() }),
            None => Ok(first),
        }
    }

    /// The error that a part's value is not what it should be.
    pub(super) fn misshaped(&self, member: &ObjectProp<'_>, what: String, expected: &'static str) -> NotEditable {
        self.shape(member.range.start, what, expected)
    }

    /// Every command in `hooks`. What has another form is somebody else's.
    pub(super) fn hooks<'d>(&'d self, events: &'d Object<'t>) -> Vec<Hook<'d>> {
        let mut hooks = Vec::new();
        for member in &events.properties {
            let Some(groups) = member.value.as_array() else { continue };
            for group in groups.elements.iter().filter_map(Value::as_object) {
                let Some(list) = group.get_array(HOOKS) else { continue };
                for entry in list.elements.iter().filter_map(Value::as_object) {
                    let Some(command) = entry.get_string("command") else { continue };
                    let (event, event_range) = (member.name.as_str(), member.range);
                    hooks.push(Hook { event, event_range, groups, group, list, entry, command });
                }
            }
        }
        hooks
    }

    /// Whether somebody wrote a comment there.
    pub(super) fn has_comments(&self, range: Range) -> bool {
        self.tokens
            .iter()
            .any(|token| is_comment(&token.token) && token.range.start >= range.start && token.range.end <= range.end)
    }

    /// What puts one text in the place of another.
    pub(super) fn replace(&self, start: usize, end: usize, text: String) -> Splice {
        Splice { at: self.shift + start, bytes: end.saturating_sub(start), text }
    }

    /// What adds members behind the last one.
    pub(super) fn append(&self, container: &impl Container, members: &[Member]) -> Vec<Splice> {
        match container.last() {
            Some(last) => self.append_behind(last, container.range(), members),
            None => vec![self.fill(container.range(), members)],
        }
    }

    /// What takes a member out, the inverse of [`append`](Self::append): the blanks before it go, and one comma.
    pub(super) fn take(&self, container: Range, members: &[Range], own: Range) -> Option<Vec<Splice>> {
        let place = members.iter().position(|member| *member == own)?;
        if members.len() == 1 && !self.has_comments(container) {
            return Some(vec![self.replace(container.start + 1, container.end - 1, String::new())]);
        }
        let comma_behind = self.comma(own.end, container.end);
        let comma_before = match place.checked_sub(1).and_then(|before| members.get(before)) {
            Some(before) if comma_behind.is_none() => self.comma(before.end, own.start),
            _ => None,
        };
        let end = comma_behind.map_or(own.end, |comma| comma.end);
        let start = self.start_of_blanks(own.start, end);
        let mut cuts = Vec::new();
        cuts.extend(comma_before.map(|comma| self.replace(comma.start, comma.end, String::new())));
        cuts.push(self.replace(start, own.end, String::new()));
        cuts.extend(comma_behind.map(|comma| self.replace(comma.start, comma.end, String::new())));
        Some(cuts)
    }

    fn append_behind(&self, last: Range, container: Range, members: &[Member]) -> Vec<Splice> {
        let trailing = self.comma(last.end, container.end);
        let anchor = trailing.map_or(last.end, |comma| comma.end);
        let closing = if trailing.is_some() { "," } else { "" };
        let is_one_line = !self.slice(container.start, container.end).contains('\n');
        let ends_apart = self.slice(anchor, container.end).contains('\n');
        let (at, added) = if ends_apart {
            let own_line = self.line_before(last.start);
            let inner = match own_line.trim().is_empty() {
                true => own_line.to_owned(),
                false => format!("{}{}", self.indentation(container.start), self.layout.unit),
            };
            (self.end_of_line(anchor, container.end), self.layout.lines(members, &inner))
        } else {
            let place = match is_one_line {
                true => Place::Inline,
                false => Place::Lines(self.indentation(last.end).to_owned()),
            };
            let parts: Vec<String> = members.iter().map(|member| self.layout.member(member, &place)).collect();
            let blank = self.layout.blank;
            (anchor, format!("{blank}{}", parts.join(&format!(",{blank}"))))
        };
        match trailing {
            Some(_) => vec![self.replace(at, at, format!("{added}{closing}"))],
            None if at == last.end => vec![self.replace(at, at, format!(",{added}"))],
            None => vec![self.replace(last.end, last.end, ",".to_owned()), self.replace(at, at, added)],
        }
    }

    /// What puts the first members between two brackets.
    fn fill(&self, container: Range, members: &[Member]) -> Splice {
        let (start, end) = (container.start + 1, container.end - 1);
        let is_one_line = !self.text.trim().contains('\n') && container.start > 0;
        let outer = self.indentation(container.start);
        let lines = self.layout.lines(members, &format!("{outer}{}", self.layout.unit));
        let newline = self.layout.newline;
        let is_inside = |token: &&TokenAndRange<'_>| token.range.start >= start && token.range.end <= end;
        let comment = self.tokens.iter().filter(|token| is_comment(&token.token)).rfind(is_inside);
        if let Some(comment) = comment {
            let at = comment.range.end;
            let ends_apart = self.slice(at, end).contains('\n');
            return self.replace(at, at, if ends_apart { lines } else { format!("{lines}{newline}{outer}") });
        }
        if is_one_line {
            let parts: Vec<String> = members.iter().map(|member| self.layout.member(member, &Place::Inline)).collect();
            return self.replace(start, end, parts.join(&format!(",{}", self.layout.blank)));
        }
        self.replace(start, end, format!("{lines}{newline}{outer}"))
    }

    /// The comma that comes next, if nothing but comments stands before it.
    fn comma(&self, from: usize, to: usize) -> Option<Range> {
        let mut behind = self.tokens.iter().filter(|token| token.range.start >= from && token.range.end <= to);
        let next = behind.find(|token| !is_comment(&token.token))?;
        (next.token == Token::Comma).then_some(next.range)
    }

    /// Behind the comments that stand on the same line.
    fn end_of_line(&self, from: usize, to: usize) -> usize {
        let mut end = from;
        for token in self.tokens.iter().filter(|token| token.range.start >= from && token.range.end <= to) {
            if !is_comment(&token.token) || self.slice(end, token.range.start).contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }

    /// Where the blanks before a part begin that go with it. A comment keeps its line to itself.
    fn start_of_blanks(&self, start: usize, end: usize) -> usize {
        let Some(before) = self.tokens.iter().rfind(|token| token.range.end <= start) else { return start };
        let rest = self.text.get(end..).unwrap_or_default();
        let is_last_on_line = rest.lines().next().is_none_or(|line| line.trim().is_empty());
        match before.token {
            Token::CommentLine(_) if !is_last_on_line => start,
            _ => before.range.end,
        }
    }

    /// The indentation of the line that something stands on.
    fn indentation(&self, at: usize) -> &'t str {
        indentation(self.line_before(at))
    }

    /// What stands before something on its line, or all of it where that is blank.
    fn line_before(&self, at: usize) -> &'t str {
        let before = self.text.get(..at).unwrap_or_default();
        before.rsplit('\n').next().unwrap_or_default()
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn line(&self, at: usize) -> usize {
        self.slice(0, at).matches('\n').count() + 1
    }

    fn shape(&self, at: usize, what: String, expected: &'static str) -> NotEditable {
        NotEditable::Shape { line: self.line(at), what, expected }
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}
