use super::*;

fn at(text: &str) -> Timestamp {
    parse_timestamp(text).unwrap()
}

fn bundle(lines: &str) -> ImportBundle {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(LESSONS);
    std::fs::write(&path, lines).unwrap();
    read_memory(folder.path(), at("2026-01-01T00:00:00Z")).unwrap()
}

#[test]
fn a_line_in_our_words() {
    let bundle = bundle(include_str!("../../../fixtures/exchange/archeflow/lessons.jsonl"));
    let said: Vec<String> = bundle
        .lessons
        .iter()
        .map(|brought| {
            let memory = brought.current_version().unwrap();
            let (kind, category, scope) = (&memory.kind, &memory.category, &memory.scope);
            let facets = (memory.facets.domain.as_deref().unwrap_or("-"), memory.facets.role.as_deref().unwrap_or("-"));
            format!("{} {kind} {category} {scope} {} {} seen {}", brought.name, facets.0, facets.1, brought.facts.len())
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    m-001 lesson heuristic project writing - seen 2
    m-002 preference preference project general - seen 1
    m-003 lesson heuristic role writing story-sage seen 3
    m-004 lesson anti_pattern project code - seen 1
    ");
}

#[test]
fn lines_that_say_nothing_are_left_out_and_told_of() {
    let bundle = bundle(
        "{\"id\":\"m-001\",\"description\":\" \"}\nnot json\n\n{\"id\":\"m-002\",\"description\":\"one\\ntwo\"}",
    );
    assert_eq!(bundle.lessons.len(), 1);
    assert_eq!(bundle.lessons[0].current_version().unwrap().summary, "one two", "a lesson is one line");
    let why: Vec<&str> = bundle.skipped.iter().map(|skipped| skipped.why.as_str()).collect();
    assert_eq!(why, ["it says nothing", "expected ident at line 1 column 2"]);
}

#[test]
fn severities_are_words_of_many() {
    for (word, expected) in [
        ("BUG", Severity::Bug),
        ("Critical", Severity::Bug),
        ("WARNING", Severity::Warning),
        ("recommendation", Severity::Recommendation),
        ("info", Severity::Info),
        ("", Severity::Info),
    ] {
        assert_eq!(parse_severity(word), expected, "{word}");
    }
}

#[test]
fn a_frequency_that_nobody_can_have_counted_is_cut_and_kept() {
    let bundle = bundle("{\"id\":\"m-001\",\"description\":\"often\",\"frequency\":999999999}");
    let brought = &bundle.lessons[0];
    assert_eq!(brought.facts.len(), 1000);
    let origin = LessonOrigin::from_memory(brought.current_version().unwrap()).unwrap();
    assert_eq!(origin.rest.get("frequency"), Some(&Value::from(999_999_999)));
}
