use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &[(&str, &str)]) {
    let read = read_markdown_entries("notes.md", text);
    let found: Vec<(&str, &str)> =
        read.entries.iter().map(|entry| (entry.name.as_str(), entry.text.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn bullets_and_paragraphs_are_entries() {
    check(
        "# Notes\n\nOne paragraph\nof two lines.\n\n- a bullet\n  that goes on\n  - with one below\n- another\n\n  after a blank\n\nThe end.\n",
        &[
            ("notes.md:3", "One paragraph\nof two lines."),
            ("notes.md:6", "a bullet\nthat goes on\n- with one below"),
            ("notes.md:9", "another\nafter a blank"),
            ("notes.md:13", "The end."),
        ],
    );
    check(
        "1. one\n2) two\n* [x] three\n+ four",
        &[("notes.md:1", "one"), ("notes.md:2", "two"), ("notes.md:3", "three"), ("notes.md:4", "four")],
    );
}

#[test]
fn what_is_no_note_is_left_out() {
    check(
        "---\nname: tests\n---\n\n# Heading\n\n---\n\n<!-- a comment\nover lines -->\n\nText\n",
        &[("notes.md:12", "Text")],
    );
    check("<!-- one line -->\nText\n***\n|---|\n", &[("notes.md:2", "Text")]);
    check("", &[]);
    check("---\nnever ends", &[("notes.md:2", "never ends")]);
}

#[test]
fn code_belongs_to_what_stands_before_it() {
    check(
        "Run this:\n```sh\n# no heading\n\n- no bullet\n```\n\nNext",
        &[("notes.md:1", "Run this:\n```sh\n# no heading\n\n- no bullet\n```"), ("notes.md:8", "Next")],
    );
    check(
        "- Run this:\n  ```sh\n  # no heading\n\n  - no bullet\n  ```\n  and wait\n- next",
        &[("notes.md:1", "Run this:\n```sh\n# no heading\n- no bullet\n```\nand wait"), ("notes.md:8", "next")],
    );
    check("```one line``` is text\n\nNext", &[("notes.md:1", "```one line``` is text"), ("notes.md:3", "Next")]);
    check("```\nalone\n```\n", &[("notes.md:1", "```\nalone\n```")]);
    check("```\nnever ends", &[("notes.md:1", "```\nnever ends")]);
}

#[test]
fn recalled_text_is_one_entry() {
    check(
        "- before\n\n## Known Issues (from past runs)\n- one\n\n- two\n\n## Mine\n- after\n",
        &[
            ("notes.md:1", "before"),
            ("notes.md:3", "## Known Issues (from past runs)\n- one\n\n- two"),
            ("notes.md:9", "after"),
        ],
    );
    check(
        "<relevant-memories>\n- one\n\n- two\n</relevant-memories>\n- after",
        &[("notes.md:1", "<relevant-memories>\n- one\n\n- two\n</relevant-memories>"), ("notes.md:6", "after")],
    );
}

#[test]
fn an_index_points_to_its_entries() {
    let text = "# Memory\n- [Tests](tests.md): how to run them\n- Use pnpm\n";
    let names =
        |file: &str| read_markdown_entries(file, text).entries.into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    assert_eq!(names("MEMORY.md"), ["MEMORY.md:3"]);
    assert_eq!(names("memory/MEMORY.md"), ["memory/MEMORY.md:3"]);
    assert_eq!(names("other.md").len(), 2);
}

proptest! {
    #[test]
    fn every_word_of_a_plain_text_is_in_an_entry(lines in proptest::collection::vec("(- |  |1\\. )?[a-z]{1,8}( [a-z]{1,8}){0,3}|", 0..20)) {
        let text = lines.join("\n");
        let entries = read_markdown_entries("notes.md", &text).entries;
        let words = |text: &str| text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).map(str::to_owned).collect::<Vec<_>>();
        let found: Vec<String> = entries.iter().flat_map(|entry| words(&entry.text)).collect();
        prop_assert_eq!(found, words(&text));
    }

    #[test]
    fn any_text_is_read(text in "([-#*`<>!|a ]|\n){0,80}|\\PC{0,200}") {
        read_markdown_entries("notes.md", &text);
    }
}
