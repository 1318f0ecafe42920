use super::*;

fn said(text: &str) -> Vec<String> {
    let now = parse_timestamp("2026-01-01T00:00:00Z").unwrap();
    let brought = import_notes("notes.md", text, now);
    brought
        .iter()
        .map(|one| {
            let memory = one.current_version().unwrap();
            format!("{} {} | {}", one.name, memory.situation.as_deref().unwrap_or("-"), memory.summary)
        })
        .collect()
}

#[test]
fn lists_and_paragraphs_under_their_headings() {
    let text = "---\ntitle: x\n---\n# Build\n\nUse the wrapper script, never the\nbare compiler.\n\n## Tests\n\n- Start the \
                database first\n  (port 5433)\n* [ ] no\n1. Run them one by one\n\n```sh\n- not a lesson at all\n```\n\n| a | b \
                |\n|---|---|\n\n---\n\n# Other\n- two words\n- [x] Tick the box when done\n";
    insta::assert_snapshot!(said(text).join("\n"), @"
    notes.md:6 Build | Use the wrapper script, never the bare compiler.
    notes.md:11 Build / Tests | Start the database first (port 5433)
    notes.md:14 Build / Tests | Run them one by one
    notes.md:27 Other | Tick the box when done
    ");
}

#[test]
fn comments_rulers_and_unfinished_front_matter() {
    let text = "---\nthe front matter never ends\n\n<!-- when you change this\n- also change the other file\n-->\n• Use the \
                wrapper script\n\nBuild the thing\n===============\n\n````md\n```\n- not a lesson at all\n````\n";
    insta::assert_snapshot!(said(text).join("\n"), @"
    notes.md:2 - | the front matter never ends
    notes.md:7 - | Use the wrapper script
    notes.md:9 - | Build the thing
    ");
}

#[test]
fn a_long_paragraph_is_its_beginning_and_all_of_it_the_detail() {
    let text = format!("The first sentence says it. {}", "More words follow here. ".repeat(20));
    let brought = import_notes("n.md", &text, Timestamp::default());
    let memory = brought[0].current_version().unwrap();
    assert!(memory.summary.starts_with("The first sentence says it. More words") && memory.summary.len() <= 240);
    assert_eq!(memory.detail.as_deref(), Some(text.trim()));
}

#[test]
fn the_same_words_are_the_same_lesson_wherever_they_stand() {
    let id = |text: &str| import_notes("n.md", text, Timestamp::default())[0].current_version().unwrap().id.clone();
    assert_eq!(id("- Prefer rg over grep"), id("# Tools\n\n1. Prefer  rg over grep"));
}

#[test]
fn the_name_of_a_note_stays_the_same() {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let note = build_note("Use pnpm", now);
    assert_eq!(note.id.as_str(), "mem-01kdvdna00xb6cqwckrqnpyhsy");
    assert_eq!(note.extra["imported"]["name"], "md-f304c2502bea");
}
