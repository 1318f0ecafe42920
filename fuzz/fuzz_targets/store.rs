#![no_main]

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::{MemoryQuery, Timestamp};
use archivist_core::memory::jsonl::{JsonlMemory, JsonlSettings};
use archivist_core::memory::{BankTenancy, EpisodeFilter, LessonStateFilter, MemoryService};

const FILES: [&str; 5] = ["lessons.jsonl", "ledger.jsonl", "episodes.jsonl", "lessons-archive.jsonl", "redo.log"];

// A memory of strange files: the first byte says which file the rest is.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILES[usize::from(*choice) % FILES.len()]);
    std::fs::write(&path, bytes).unwrap();
    let loaded = config::load_config(&ConfigLoadRequest::default()).unwrap().config;
    let settings = JsonlSettings {
        project: folder.path().to_owned(),
        tenancy: BankTenancy::Own,
        global: None,
        ..loaded.memory.jsonl_settings(folder.path(), None)
    };
    let memory = JsonlMemory::open(settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let query = MemoryQuery { text: Some("redis refused".to_owned()), ..MemoryQuery::for_project("/shop") };
        let _ = memory.query_lessons(&query, &loaded.recall.ranking_settings(), Timestamp::UNIX_EPOCH).await;
        let _ = memory.list_lessons(LessonStateFilter::All).await;
        let _ = memory.list_episodes(&EpisodeFilter::default()).await;
        let _ = memory.find_problems().await;
    });
});
