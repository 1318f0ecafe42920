use super::*;

#[test]
fn files_are_known_by_how_they_begin() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, content: &str, expected: Option<MemoryFormat>| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        assert_eq!(detect_format(&path), expected, "{name} {content}");
    };
    check("a.jsonl", "{\"id\":\"m-001\",\"type\":\"pattern\",\"description\":\"x\"}\n", Some(MemoryFormat::ArcheFlow));
    check("b.jsonl", "{\"id\":\"x\",\"memoryType\":\"episodic\"}\n", Some(MemoryFormat::OpenAgents));
    check("c.json", "{\n  \"results\": []\n}", Some(MemoryFormat::Mem0));
    check("d.json", "[{\"id\": 1, \"memory\": \"x\"}]", Some(MemoryFormat::Mem0));
    check("e.db", "SQLite format 3\0...", Some(MemoryFormat::ClaudeMem));
    check("f.md", "# Notes\n", Some(MemoryFormat::Markdown));
    check("MEMORY.md", "# Memory\n", Some(MemoryFormat::ClaudeMemory));
    check("g.jsonl", "{\"lesson\":{}}\n", Some(MemoryFormat::Jsonl));
    check("h.jsonl", "{\"what\":{}}\n", None);
    check("i", "", None);
    assert_eq!(detect_format(&folder.path().join("nothing")), None);
}

#[test]
fn folders_are_known_by_what_they_hold() {
    let check = |names: &[&str], expected: Option<MemoryFormat>| {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(detect_format(folder.path()), expected, "{names:?}");
    };
    check(&["MEMORY.md", "topic.md"], Some(MemoryFormat::ClaudeMemory));
    check(&[".archeflow/memory/lessons.jsonl"], Some(MemoryFormat::ArcheFlow));
    check(&["lessons.jsonl", "archive.jsonl"], Some(MemoryFormat::ArcheFlow));
    check(&["memories.jsonl", "progress.md"], Some(MemoryFormat::OpenAgents));
    check(&["trajectories.jsonl"], Some(MemoryFormat::OpenAgents));
    check(&["claude-mem.db", "chroma"], Some(MemoryFormat::ClaudeMem));
    check(&["a.md"], Some(MemoryFormat::Markdown));
    check(&["a.txt"], None);
}
