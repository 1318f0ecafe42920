use super::*;

#[test]
fn files_are_known_by_how_they_begin() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, content: &str, expected: Option<Format>| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        assert_eq!(detect(&path), expected, "{name} {content}");
    };
    check("a.jsonl", "{\"id\":\"m-001\",\"type\":\"pattern\",\"description\":\"x\"}\n", Some(Format::ArcheFlow));
    check("b.jsonl", "{\"id\":\"x\",\"memoryType\":\"episodic\"}\n", Some(Format::OpenAgents));
    check("c.json", "{\n  \"results\": []\n}", Some(Format::Mem0));
    check("d.json", "[{\"id\": 1, \"memory\": \"x\"}]", Some(Format::Mem0));
    check("e.db", "SQLite format 3\0...", Some(Format::ClaudeMem));
    check("f.md", "# Notes\n", Some(Format::Markdown));
    check("MEMORY.md", "# Memory\n", Some(Format::ClaudeMemory));
    check("g.jsonl", "{\"lesson\":{}}\n", Some(Format::Jsonl));
    check("h.jsonl", "{\"what\":{}}\n", None);
    check("i", "", None);
    assert_eq!(detect(&folder.path().join("nothing")), None);
}

#[test]
fn folders_are_known_by_what_they_hold() {
    let check = |names: &[&str], expected: Option<Format>| {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(detect(folder.path()), expected, "{names:?}");
    };
    check(&["MEMORY.md", "topic.md"], Some(Format::ClaudeMemory));
    check(&[".archeflow/memory/lessons.jsonl"], Some(Format::ArcheFlow));
    check(&["lessons.jsonl", "archive.jsonl"], Some(Format::ArcheFlow));
    check(&["memories.jsonl", "progress.md"], Some(Format::OpenAgents));
    check(&["trajectories.jsonl"], Some(Format::OpenAgents));
    check(&["claude-mem.db", "chroma"], Some(Format::ClaudeMem));
    check(&["a.md"], Some(Format::Markdown));
    check(&["a.txt"], None);
}
