//! A parsed settings file, and edits at positions in it.

use jsonc_parser::ast::{Array, Object, ObjectProp, StringLit, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::text_layout::{JsonMember, NodePlacement, SettingsFileLayout, leading_blanks};
use super::{HOOKS, SettingsEditError, TextSplice};

/// The accepted syntax: JSON with comments and trailing commas, as agents read it.
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
pub(super) struct SettingsDocument<'t> {
    /// The text without its byte order mark.
    text: &'t str,
    /// The length of the byte order mark.
    shift: usize,
    value: Option<Value<'t>>,
    /// Every token in order, including comments.
    tokens: Vec<TokenAndRange<'t>>,
    layout: SettingsFileLayout,
}

/// A hook command in the settings, with all nodes that contain it.
pub(super) struct InstalledHook<'d> {
    pub(super) event: &'d str,
    pub(super) event_range: Range,
    pub(super) groups: &'d Array<'d>,
    pub(super) group: &'d Object<'d>,
    pub(super) list: &'d Array<'d>,
    pub(super) entry: &'d Object<'d>,
    pub(super) command: &'d StringLit<'d>,
}

/// Returns the ranges of the parts of a list or an object.
pub(super) fn collect_ranges<R: Ranged>(parts: &[R]) -> Vec<Range> {
    parts.iter().map(Ranged::range).collect()
}

/// A node that holds parts between brackets.
pub(super) trait JsonContainer: Ranged {
    /// Returns the range of its last part.
    fn last_range(&self) -> Option<Range>;
}

impl JsonContainer for Object<'_> {
    fn last_range(&self) -> Option<Range> {
        self.properties.last().map(Ranged::range)
    }
}

impl JsonContainer for Array<'_> {
    fn last_range(&self) -> Option<Range> {
        self.elements.last().map(Ranged::range)
    }
}

impl<'t> SettingsDocument<'t> {
    pub(super) fn parse(whole: &'t str) -> Result<Self, SettingsEditError> {
        let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &FORGIVING).map_err(|error| SettingsEditError::NotJson {
            line: error.line_display(),
            column: error.column_display(),
            why: error.kind().to_string().to_lowercase(),
        })?;
        Ok(Self {
            text,
            shift: whole.len() - text.len(),
            value: parsed.value,
            tokens: parsed.tokens.unwrap_or_default(),
            layout: SettingsFileLayout::from_text(text),
        })
    }

    /// Returns the root object of the settings.
    pub(super) fn root_object(&self) -> Result<&Object<'t>, SettingsEditError> {
        let root = self.value.as_ref().and_then(Value::as_object);
        root.ok_or_else(|| self.shape_error(0, "the whole file".to_owned(), "one object, as in {}"))
    }

    /// Returns the member of this name, or an error if it occurs twice.
    pub(super) fn find_member<'d>(
        &'d self,
        object: &'d Object<'t>,
        name: &str,
    ) -> Result<Option<&'d ObjectProp<'t>>, SettingsEditError> {
        let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
        let (first, second) = (found.next(), found.next());
        match second {
            Some(second) => {
                Err(SettingsEditError::Twice { line: self.line_number(second.range.start), key: name.to_owned() })
            }
            None => Ok(first),
        }
    }

    /// Makes the error for a member whose value has the wrong shape.
    pub(super) fn member_shape_error(
        &self,
        member: &ObjectProp<'_>,
        what: String,
        expected: &'static str,
    ) -> SettingsEditError {
        self.shape_error(member.range.start, what, expected)
    }

    /// Lists every command in `hooks`. Entries of another shape are ignored.
    pub(super) fn list_hooks<'d>(&'d self, events: &'d Object<'t>) -> Vec<InstalledHook<'d>> {
        let mut hooks = Vec::new();
        for member in &events.properties {
            let Some(groups) = member.value.as_array() else { continue };
            for group in groups.elements.iter().filter_map(Value::as_object) {
                let Some(list) = group.get_array(HOOKS) else { continue };
                for entry in list.elements.iter().filter_map(Value::as_object) {
                    let Some(command) = entry.get_string("command") else { continue };
                    let (event, event_range) = (member.name.as_str(), member.range);
                    hooks.push(InstalledHook { event, event_range, groups, group, list, entry, command });
                }
            }
        }
        hooks
    }

    /// Returns true if the range contains a comment.
    pub(super) fn has_comments(&self, range: Range) -> bool {
        self.tokens
            .iter()
            .any(|token| is_comment(&token.token) && token.range.start >= range.start && token.range.end <= range.end)
    }

    /// Makes the splice that replaces a span by a text.
    pub(super) fn replace_span(&self, start: usize, end: usize, text: String) -> TextSplice {
        TextSplice { at: self.shift + start, bytes: end.saturating_sub(start), text }
    }

    /// Makes the splices that add members after the last one.
    pub(super) fn append_members(&self, container: &impl JsonContainer, members: &[JsonMember]) -> Vec<TextSplice> {
        match container.last_range() {
            Some(last) => self.append_after(last, container.range(), members),
            None => vec![self.fill_container(container.range(), members)],
        }
    }

    /// Makes the splices that remove a member with one comma, the inverse of [`append_members`](Self::append_members).
    pub(super) fn remove_member(&self, container: Range, members: &[Range], own: Range) -> Option<Vec<TextSplice>> {
        let place = members.iter().position(|member| *member == own)?;
        if members.len() == 1 && !self.has_comments(container) {
            return Some(vec![self.replace_span(container.start + 1, container.end - 1, String::new())]);
        }
        let comma_behind = self.find_comma(own.end, container.end);
        let comma_before = match place.checked_sub(1).and_then(|before| members.get(before)) {
            Some(before) if comma_behind.is_none() => self.find_comma(before.end, own.start),
            _ => None,
        };
        let end = comma_behind.map_or(own.end, |comma| comma.end);
        let start = self.start_of_blanks(own.start, end);
        let mut cuts = Vec::new();
        cuts.extend(comma_before.map(|comma| self.replace_span(comma.start, comma.end, String::new())));
        cuts.push(self.replace_span(start, own.end, String::new()));
        cuts.extend(comma_behind.map(|comma| self.replace_span(comma.start, comma.end, String::new())));
        Some(cuts)
    }

    fn append_after(&self, last: Range, container: Range, members: &[JsonMember]) -> Vec<TextSplice> {
        let trailing = self.find_comma(last.end, container.end);
        let anchor = trailing.map_or(last.end, |comma| comma.end);
        let closing = if trailing.is_some() { "," } else { "" };
        let is_one_line = !self.text_slice(container.start, container.end).contains('\n');
        let ends_apart = self.text_slice(anchor, container.end).contains('\n');
        let (at, added) = if ends_apart {
            let own_line = self.line_before(last.start);
            let inner = match own_line.trim().is_empty() {
                true => own_line.to_owned(),
                false => format!("{}{}", self.line_indentation(container.start), self.layout.unit),
            };
            (self.end_of_line_comments(anchor, container.end), self.layout.render_lines(members, &inner))
        } else {
            let place = match is_one_line {
                true => NodePlacement::Inline,
                false => NodePlacement::Lines(self.line_indentation(last.end).to_owned()),
            };
            let parts: Vec<String> = members.iter().map(|member| self.layout.render_member(member, &place)).collect();
            let blank = self.layout.blank;
            (anchor, format!("{blank}{}", parts.join(&format!(",{blank}"))))
        };
        match trailing {
            Some(_) => vec![self.replace_span(at, at, format!("{added}{closing}"))],
            None if at == last.end => vec![self.replace_span(at, at, format!(",{added}"))],
            None => vec![self.replace_span(last.end, last.end, ",".to_owned()), self.replace_span(at, at, added)],
        }
    }

    /// Makes the splice that puts the first members between two brackets.
    fn fill_container(&self, container: Range, members: &[JsonMember]) -> TextSplice {
        let (start, end) = (container.start + 1, container.end - 1);
        let is_one_line = !self.text.trim().contains('\n') && container.start > 0;
        let outer = self.line_indentation(container.start);
        let lines = self.layout.render_lines(members, &format!("{outer}{}", self.layout.unit));
        let newline = self.layout.newline;
        let is_inside = |token: &&TokenAndRange<'_>| token.range.start >= start && token.range.end <= end;
        let comment = self.tokens.iter().filter(|token| is_comment(&token.token)).rfind(is_inside);
        if let Some(comment) = comment {
            let at = comment.range.end;
            let ends_apart = self.text_slice(at, end).contains('\n');
            return self.replace_span(at, at, if ends_apart { lines } else { format!("{lines}{newline}{outer}") });
        }
        if is_one_line {
            let parts: Vec<String> =
                members.iter().map(|member| self.layout.render_member(member, &NodePlacement::Inline)).collect();
            return self.replace_span(start, end, parts.join(&format!(",{}", self.layout.blank)));
        }
        self.replace_span(start, end, format!("{lines}{newline}{outer}"))
    }

    /// Returns the next comma, if only comments come before it.
    fn find_comma(&self, from: usize, to: usize) -> Option<Range> {
        let mut behind = self.tokens.iter().filter(|token| token.range.start >= from && token.range.end <= to);
        let next = behind.find(|token| !is_comment(&token.token))?;
        (next.token == Token::Comma).then_some(next.range)
    }

    /// Returns the end of the comments on the same line.
    fn end_of_line_comments(&self, from: usize, to: usize) -> usize {
        let mut end = from;
        for token in self.tokens.iter().filter(|token| token.range.start >= from && token.range.end <= to) {
            if !is_comment(&token.token) || self.text_slice(end, token.range.start).contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }

    /// Returns the start of the blanks that are removed with a part. A line comment keeps its line break.
    fn start_of_blanks(&self, start: usize, end: usize) -> usize {
        let Some(before) = self.tokens.iter().rfind(|token| token.range.end <= start) else { return start };
        let rest = self.text.get(end..).unwrap_or_default();
        let is_last_on_line = rest.lines().next().is_none_or(|line| line.trim().is_empty());
        match before.token {
            Token::CommentLine(_) if !is_last_on_line => start,
            _ => before.range.end,
        }
    }

    /// Returns the indentation of the line at a position.
    fn line_indentation(&self, at: usize) -> &'t str {
        leading_blanks(self.line_before(at))
    }

    /// Returns the text before a position on its line.
    fn line_before(&self, at: usize) -> &'t str {
        let before = self.text.get(..at).unwrap_or_default();
        before.rsplit('\n').next().unwrap_or_default()
    }

    fn text_slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn line_number(&self, at: usize) -> usize {
        self.text_slice(0, at).matches('\n').count() + 1
    }

    fn shape_error(&self, at: usize, what: String, expected: &'static str) -> SettingsEditError {
        SettingsEditError::Shape { line: self.line_number(at), what, expected }
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}
