#![no_main]

use archivist_core::domain::Timestamp;
use archivist_exchange::{MemoryFormat, read_memory};

// A memory of another program, by the first byte, in a file or in the file that its folder is known by.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let format = MemoryFormat::ALL[usize::from(*choice) % MemoryFormat::ALL.len()];
    let folder = tempfile::tempdir().unwrap();
    let name = match format {
        MemoryFormat::ArcheFlow => ".archeflow/memory/lessons.jsonl",
        MemoryFormat::OpenAgents => ".openagents/memory/lessons.jsonl",
        MemoryFormat::ClaudeMemory | MemoryFormat::Markdown => "MEMORY.md",
        MemoryFormat::Mem0 => "mem0.json",
        MemoryFormat::ClaudeMem => "claude-mem.db",
        MemoryFormat::Jsonl => "export.jsonl",
    };
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let _ = read_memory(format, &path, Timestamp::UNIX_EPOCH);
    let _ = read_memory(format, folder.path(), Timestamp::UNIX_EPOCH);
});
