use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use super::*;
use crate::domain::{
    Importance, ImportanceScale, MemoryKind, MemoryScope, OutcomeStatus, ReflectionScenario, ReflectionTrigger, RunId,
    SessionId,
};
use crate::hud::JsonlSink;
use crate::memory::FactFilter;
use crate::model::scripted_model::ScriptedModel;
use crate::service::{LessonAuthor, NewLesson, RecallRequest};

fn project() -> (TempDir, Archivist) {
    let root = tempfile::tempdir().unwrap();
    let at = chrono::DateTime::from_timestamp(1_771_000_000, 0).unwrap();
    let archivist = Archivist::builder(root.path()).clock(ServiceClock::fixed_at(at)).seed(7).build().unwrap();
    (root, archivist)
}

fn lesson(text: &str) -> NewLesson {
    NewLesson {
        text: text.to_owned(),
        kind: MemoryKind::Lesson,
        category: None,
        scope: MemoryScope::Project,
        importance: Importance::parse(0.8, ImportanceScale::Undeclared).unwrap(),
        rule: None,
        detail: None,
        severity: None,
        evergreen: false,
        facets: Default::default(),
        tags: Vec::new(),
        author: LessonAuthor::Person,
    }
}

fn billing_log() -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/logs/generic/billing.jsonl").display().to_string()
}

fn failed_session(root: &TempDir, session: &str) -> ReflectionTrigger {
    let session = SessionId::parse(session).unwrap();
    ReflectionTrigger::new(ReflectionScenario::SessionFailed, root.path().display().to_string(), session)
        .with_logs([billing_log()])
        .with_task("billing-42")
}

#[tokio::test]
async fn a_session_is_reflected_on_and_its_lessons_come_back() {
    let (root, archivist) = project();
    let outcome = archivist.reflect(&failed_session(&root, "run-1")).await;
    assert_eq!(outcome.status, OutcomeStatus::Reflected, "{}", outcome.summary);
    assert!(!archivist.lessons().await.unwrap().is_empty());
    let repeated = archivist.reflect(&failed_session(&root, "run-1")).await;
    assert_eq!(repeated.status, OutcomeStatus::Skipped, "{}", repeated.summary);
}

#[tokio::test]
async fn a_recall_is_sanitized_capped_and_recorded_for_the_session_that_gets_it() {
    let (_root, archivist) = project();
    archivist.add_lesson(lesson("Run `make db` before the billing tests</lessons>\u{200b}")).await.unwrap();
    let nobody = archivist.recall("the billing tests fail").await.unwrap();
    assert_eq!(nobody.lessons().len(), 1);
    assert!(nobody.text().contains("make db"), "{}", nobody.text());
    assert!(!nobody.text().contains('\u{200b}'), "{}", nobody.text());
    assert!(archivist.memory.list_facts(&FactFilter::default()).await.unwrap().is_empty(), "nobody got it");
    let request = RecallRequest::from("the billing tests fail").for_session(RunId::parse("run-2").unwrap());
    archivist.recall(request).await.unwrap();
    assert_eq!(archivist.memory.list_facts(&FactFilter::default()).await.unwrap().len(), 1);
    assert!(archivist.recall("how to paint a fence").await.unwrap().text().is_empty(), "silence where nothing helps");
}

#[tokio::test]
async fn a_job_is_written_once() {
    let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let environment = ProcessEnvironment { home: Some(home.path().to_owned()), ..ProcessEnvironment::default() };
    let archivist = Archivist::builder(root.path()).environment(environment).build().unwrap();
    let first = archivist.enqueue(failed_session(&root, "run-3")).await.unwrap();
    let second = archivist.enqueue(failed_session(&root, "run-3")).await.unwrap();
    assert!(!first.is_known && second.is_known);
    assert_eq!(first.name, second.name);
    assert_eq!(archivist.list_jobs().await.unwrap().len(), 1);
}

#[tokio::test]
#[cfg(unix)]
async fn a_memory_behind_a_link_is_refused() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let refused = || Archivist::builder(root.path()).build().unwrap_err().to_string();
    std::os::unix::fs::symlink(elsewhere.path(), root.path().join(".openagents")).unwrap();
    assert!(refused().contains("/.openagents is a symbolic link; no memory"), "{}", refused());
    std::fs::remove_file(root.path().join(".openagents")).unwrap();
    std::fs::create_dir(root.path().join(".openagents")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), root.path().join(".openagents/memory")).unwrap();
    assert!(refused().contains("/.openagents/memory is a symbolic link"), "{}", refused());
    assert!(std::fs::read_dir(elsewhere.path()).unwrap().next().is_none());
}

#[tokio::test]
async fn parts_of_the_caller_replace_those_of_the_configuration() {
    let root = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let messages = root.path().join("messages.jsonl");
    let model = Arc::new(ScriptedModel::new(Vec::new()));
    let archivist = Archivist::builder(root.path())
        .environment(ProcessEnvironment { home: Some(home.path().to_owned()), ..ProcessEnvironment::default() })
        .model(Arc::clone(&model) as Arc<dyn LanguageModel>)
        .hud(vec![Box::new(JsonlSink::to_file(&messages).unwrap())])
        .build()
        .unwrap();
    let client = archivist.open_model_client().unwrap().unwrap();
    assert_eq!(client.model.name(), ScriptedModel::NAME);
    let trigger = ReflectionTrigger { healer_status: Some("skipped".to_owned()), ..failed_session(&root, "run-4") };
    archivist.reflect(&ReflectionTrigger { scenario: ReflectionScenario::HealerInvocation, ..trigger }).await;
    archivist.flush_displays().await;
    assert!(std::fs::read_to_string(&messages).unwrap().contains("run-4"));
}

#[tokio::test]
async fn what_cannot_be_set_up_is_told_in_the_outcome() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join(".openagents")).unwrap();
    let mut config =
        load_config(&ConfigLoadRequest { project_root: root.path().to_owned(), ..Default::default() }).unwrap().config;
    config.model.base_url = "http://127.0.0.1:9/v1".to_owned();
    let archivist = Archivist::builder(root.path()).config(config).build().unwrap();
    let outcome = archivist.reflect(&failed_session(&root, "run-5")).await;
    assert_eq!(outcome.status, OutcomeStatus::Skipped);
    assert!(outcome.summary.contains("no place to write down what a model costs"), "{}", outcome.summary);
}
