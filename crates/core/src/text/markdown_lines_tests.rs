use proptest::prelude::*;

use super::MarkdownLineKind::*;
use super::*;

fn kinds(text: &str) -> Vec<MarkdownLineKind<'_>> {
    read_markdown_lines(text).into_iter().map(|line| line.kind).collect()
}

#[test]
fn each_line_has_a_kind() {
    for (line, kind) in [
        ("", Blank),
        ("  \t", Blank),
        ("# Notes", Heading { level: 1, title: "Notes" }),
        ("  ### Deep  ", Heading { level: 3, title: "Deep" }),
        ("####### too deep", Text),
        ("#123 is an issue", Text),
        ("---", Ruler),
        ("* * *", Ruler),
        ("=====", Ruler),
        ("--- no ruler ---", Text),
        ("--", Text),
        ("|---|", TableRow),
        ("<!-- one line -->", Comment),
        ("- item", ListItem("item")),
        ("  * [ ] box", ListItem("box")),
        ("+   [X] ticked", ListItem("ticked")),
        ("• dot", ListItem("dot")),
        ("12) twelve", ListItem("twelve")),
        ("1. one", ListItem("one")),
        ("2026. A year", Text),
        ("-no item", Text),
        ("1.5 seconds", Text),
        ("```inline``` code", Text),
        ("plain", Text),
    ] {
        assert_eq!(kinds(line), if line.is_empty() { vec![] } else { vec![kind] }, "{line}");
    }
}

#[test]
fn code_and_comments_go_on_to_their_end() {
    assert_eq!(kinds("```sh\n# no\n\n~~~\n- no\n```\n- yes"), [[Code; 6].as_slice(), &[ListItem("yes")]].concat());
    assert_eq!(kinds("````\n```\n- no\n````\nyes"), [Code, Code, Code, Code, Text]);
    assert_eq!(kinds("~~~\nnever ends\n"), [Code, Code]);
    assert_eq!(kinds("<!-- a\n- no\n\nb --> c\nyes"), [Comment, Comment, Comment, Comment, Text]);
}

#[test]
fn front_matter_is_about_the_document() {
    assert_eq!(split_front_matter("---\na: 1\n---\n\nText"), Some(("a: 1\n", "\nText")));
    assert_eq!(split_front_matter("---\r\na: 1\r\n---\r\nText"), Some(("a: 1\r\n", "Text")));
    assert_eq!(split_front_matter("---\n---"), Some(("", "")));
    for none in ["", "Text\n---\n---\n", "---\nnever ends", "--- \nx: 1\n----\n"] {
        assert_eq!(split_front_matter(none), None, "{none}");
    }
    let lines = read_markdown_lines("---\r\na: 1\r\n---\r\nText\r\n");
    assert_eq!(lines, [MarkdownLine { number: 4, raw: "Text", kind: Text }]);
    assert_eq!(kinds("---\nnever ends"), [Ruler, Text]);
}

#[test]
fn a_link_has_a_target() {
    assert_eq!(first_link_target("[Tests](tests.md): how, see [more](more.md)"), Some("tests.md"));
    assert_eq!(first_link_target("no (link) [here]"), None);
}

proptest! {
    #[test]
    fn no_line_is_lost(text in "([-#*`~<>!|a1. ]|\n|\r\n){0,80}|\\PC{0,200}") {
        let lines = read_markdown_lines(&text);
        let skipped = text.lines().count() - lines.len();
        prop_assert!(skipped == 0 || split_front_matter(&text).is_some());
        let raw: Vec<&str> = lines.iter().map(|line| line.raw).collect();
        prop_assert_eq!(raw, text.lines().skip(skipped).collect::<Vec<_>>());
        prop_assert!(lines.iter().zip(skipped + 1..).all(|(line, number)| line.number == number));
    }
}
