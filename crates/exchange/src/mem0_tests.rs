use super::*;
use crate::lesson_origin::parse_timestamp;

fn bundle(text: &str) -> ImportBundle {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.json");
    std::fs::write(&path, text).unwrap();
    read_memory(&path, parse_timestamp("2026-01-01T00:00:00Z").unwrap()).unwrap()
}

const MEMORY: &str = r#"{"id":"0b6a-1","memory":"Prefers pnpm over npm","hash":"d41d","metadata":{"type":"preference"},
    "created_at":"2025-07-01T10:00:00.123456-07:00","updated_at":null,"user_id":"dev","categories":["tools"]}"#;

#[test]
fn every_shape_that_mem0_hands_out() {
    for text in [
        format!("[{MEMORY}]"),
        format!("{{\"results\": [{MEMORY}], \"relations\": []}}"),
        format!("{{\"count\": 1, \"next\": null, \"previous\": null, \"results\": [{MEMORY}]}}"),
        format!("{{\"memories\": [{MEMORY}]}}"),
    ] {
        let bundle = bundle(&text);
        let brought = &bundle.lessons[0];
        let memory = brought.current_version().unwrap();
        assert_eq!((brought.name.as_str(), memory.summary.as_str()), ("0b6a-1", "Prefers pnpm over npm"));
        assert_eq!(memory.kind, MemoryKind::Preference);
        assert_eq!(memory.tags, ["tools"]);
        assert_eq!(memory.created_at.to_rfc3339(), "2025-07-01T17:00:00.123456+00:00");
        assert_eq!(LessonOrigin::from_memory(memory).unwrap().rest.get("user_id"), Some(&Value::from("dev")));
    }
}

#[test]
fn memories_without_words_or_names() {
    let bundle =
        bundle(r#"[{"id": 7, "memory": "By number"}, {"memory": "By its words"}, {"id": "x", "memory": ""}, 3]"#);
    let names: Vec<&str> = bundle.lessons.iter().map(|brought| brought.name.as_str()).collect();
    assert_eq!(names, ["7", "By its words"]);
    assert_eq!(bundle.skipped.len(), 2);
}
