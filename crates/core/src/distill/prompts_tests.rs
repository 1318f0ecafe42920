use super::*;

fn built_in() -> PromptSet {
    PromptSet::with_overrides([]).unwrap()
}

#[test]
fn the_prompts_that_come_with_the_program_are_whole() {
    let prompts = built_in();
    assert_eq!(prompts.version().len(), 12);
    let names: Vec<&str> = prompts.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["memory_create_candidate_lessons", "memory_detect_duplicates", "memory_score_importance"]);
    for tool in prompts.tools() {
        assert_eq!(tool.parameters["type"], "object", "{}", tool.name);
    }
    assert_eq!(prompts.tools()[0].parameters, prompts.reply_schema().schema);
}

#[test]
fn the_schema_knows_the_words_that_lessons_are_read_by() {
    use crate::domain::{MemoryCategory, MemoryScope};
    let schema = built_in().reply_schema().schema;
    let words = |member: &str| -> Vec<String> {
        let words = &schema["properties"]["candidates"]["items"]["properties"][member]["enum"];
        words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(words("category"), MemoryCategory::WORDS);
    assert_eq!(words("scope"), MemoryScope::WORDS);
}

#[test]
fn a_strict_schema_requires_every_member_and_forbids_others() {
    fn walk(schema: &Value) {
        if let Some(members) = schema["properties"].as_object() {
            let mut required: Vec<&str> =
                schema["required"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
            let mut named: Vec<&str> = members.keys().map(String::as_str).collect();
            required.sort_unstable();
            named.sort_unstable();
            assert_eq!(required, named);
            assert_eq!(schema["additionalProperties"], false);
            members.values().for_each(walk);
        }
        if schema["items"].is_object() {
            walk(&schema["items"]);
        }
    }
    for tool in built_in().tools() {
        walk(&tool.parameters);
    }
}

#[test]
fn prompts_that_cannot_be_asked_with_are_refused() {
    let table = [
        ("success.md", " \n", "success.md cannot be used: it is empty"),
        ("frame.md", "{digest} {fence}", "frame.md has no place for {request}"),
        ("reflection.schema.json", "[]", "reflection.schema.json cannot be used: it is no schema of an object"),
        ("tools.json", "[]", "tools.json cannot be used: it does not describe memory_create_candidate_lessons"),
        ("no.md", "x", "no.md is no prompt"),
    ];
    for (name, text, expected) in table {
        let error = PromptSet::with_overrides([(name.to_owned(), text.to_owned())]).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn another_text_is_another_version() {
    let own = PromptSet::with_overrides([("success.md".to_owned(), "Look twice.".to_owned())]).unwrap();
    assert_ne!(own.version(), built_in().version());
    assert!(own.is_customized("success.md") && !own.is_customized("failure.md"));
    assert_eq!(own.get("success.md"), Some("Look twice."));
}

#[test]
fn prompts_that_cannot_work_are_refused() {
    let refuse = |name: &str, text: &str| {
        PromptSet::with_overrides([(name.to_owned(), text.to_owned())]).unwrap_err().to_string()
    };
    assert!(refuse("hello.md", "").starts_with("hello.md is no prompt; the prompts are archivist.md, "));
    assert_eq!(refuse("frame.md", "{fence} {request}"), "frame.md has no place for {digest}");
    assert!(refuse("tools.json", "[{]").starts_with("tools.json cannot be used: "));
}

#[test]
fn what_is_filled_in_is_not_filled_again() {
    let prompts = PromptSet::with_overrides([(
        "repair.md".to_owned(),
        "a {problem} {unknown} {\"json\": 1} {problem}".to_owned(),
    )])
    .unwrap();
    let filled = prompts.fill_prompt("repair.md", &[("problem", "{problem}{unknown}"), ("digest", "no")]);
    assert_eq!(filled, "a {problem}{unknown} {unknown} {\"json\": 1} {problem}{unknown}");
}
