use super::*;
use archivist_core::domain::Timestamp;

#[test]
fn versions_stay_together_and_strangers_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let lesson = |id: &str, summary: &str| {
        let memory = AgentMemory::new(MemoryId::parse(id).unwrap(), Timestamp::default(), summary);
        serde_json::to_string(&ExportLine::Lesson(Box::new(memory))).unwrap()
    };
    let fact =
        r#"{"fact":{"fact":"effect","run":"r","memory":"mem-9","effect":"unknown","at":"2026-01-01T00:00:00Z"}}"#;
    let text = [&lesson("mem-1", "one"), &lesson("mem-2", "two"), &lesson("mem-1", "one again"), fact, "{}"];
    std::fs::write(&path, text.map(str::to_owned).join("\n")).unwrap();
    let bundle = read_memory(&path).unwrap();
    let versions: Vec<usize> = bundle.lessons.iter().map(|brought| brought.versions.len()).collect();
    assert_eq!(versions, [2, 1]);
    assert_eq!(bundle.lessons[0].current_version().unwrap().summary, "one again");
    let why: Vec<&str> = bundle.skipped.iter().map(|skipped| skipped.why.as_str()).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why.contains(&"it speaks of mem-9, which is not in the file"), "{why:?}");
}
