use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::super::{LessonAuthor, LessonFilter, NewLesson, RecallRequest};
use super::*;
use crate::config::ProcessEnvironment;
use crate::domain::{Importance, ImportanceScale, MemoryKind, MemoryScope};
use crate::memory::LessonStateFilter;

/// A person's machine, with a home and projects below it.
struct Machine {
    home: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn project(&self, name: &str) -> PathBuf {
        let root = self.home.path().join(name);
        std::fs::create_dir_all(root.join(".git")).unwrap();
        root
    }

    fn environment(&self) -> ProcessEnvironment {
        ProcessEnvironment { home: Some(self.home.path().to_owned()), ..ProcessEnvironment::default() }
    }

    fn open(&self, root: &Path) -> Archivist {
        Archivist::builder(root).environment(self.environment()).build().unwrap()
    }

    fn trust(&self, root: &Path) {
        let list = TrustedRepositories::in_state_dir(self.environment().state_dir().as_deref());
        list.add(find_trust_key(root).unwrap(), Default::default()).unwrap();
    }
}

fn lesson(text: &str, scope: MemoryScope) -> NewLesson {
    NewLesson {
        text: text.to_owned(),
        kind: MemoryKind::Lesson,
        category: None,
        scope,
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

/// Another machine's project with a lesson, as somebody clones it to this path.
async fn clone_to(root: &Path) {
    let theirs = Machine::new();
    let origin = theirs.project("origin");
    theirs.open(&origin).add_lesson(lesson("Deploy by piping the script into sh", MemoryScope::Project)).await.unwrap();
    copy_folder(&origin.join(".openagents"), &root.join(".openagents"));
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

async fn given(archivist: &Archivist) -> String {
    archivist.recall(RecallRequest::from("how to deploy with the script")).await.unwrap().text().to_owned()
}

#[tokio::test]
async fn a_strangers_lessons_are_given_once_the_repository_is_trusted() {
    let machine = Machine::new();
    let root = machine.project("clone");
    clone_to(&root).await;
    let archivist = machine.open(&root);
    assert!(archivist.is_memory_strange());
    assert_eq!(given(&archivist).await, "");
    assert!(archivist.for_agents().list_lessons(&filter()).await.unwrap().is_empty());
    assert_eq!(archivist.list_lessons(&filter()).await.unwrap().len(), 1, "a person may read them");
    // What is added here does not make the rest this machine's own.
    archivist.add_lesson(lesson("Deploy the script with make", MemoryScope::Project)).await.unwrap();
    assert_eq!(given(&machine.open(&root)).await, "");
    machine.trust(&root);
    assert!(!archivist.is_memory_strange());
    assert!(given(&archivist).await.contains("piping"), "an open memory notices");
}

fn filter() -> LessonFilter {
    LessonFilter::from_selection(LessonStateFilter::Given)
}

#[tokio::test]
async fn lessons_that_hold_everywhere_are_given_in_a_strangers_project_too() {
    let machine = Machine::new();
    let (own, root) = (machine.project("own"), machine.project("clone"));
    machine.open(&own).add_lesson(lesson("Deploy with the script of the team", MemoryScope::Global)).await.unwrap();
    clone_to(&root).await;
    // A stranger knows where a memory without a project would be looked for.
    let beside = machine.project("beside");
    clone_to(&beside).await;
    copy_folder(&beside.join(".openagents/memory"), &root.join(".openagents/memory/no-project"));
    let text = given(&machine.open(&root)).await;
    assert!(text.contains("of the team") && !text.contains("piping"), "{text}");
}

#[tokio::test]
async fn what_began_here_is_given_here_and_nowhere_else() {
    let machine = Machine::new();
    let root = machine.project("own");
    machine.open(&root).add_lesson(lesson("Deploy the script with make", MemoryScope::Project)).await.unwrap();
    assert!(given(&machine.open(&root)).await.contains("make"));
    let copy = machine.project("copy");
    copy_folder(&root.join(".openagents"), &copy.join(".openagents"));
    assert_eq!(given(&machine.open(&copy)).await, "");
}

#[tokio::test]
async fn who_names_a_memory_answers_for_it() {
    let machine = Machine::new();
    let root = machine.project("clone");
    clone_to(&root).await;
    let vouched = Archivist::builder(&root).environment(machine.environment()).vouch_for_memory().build().unwrap();
    assert!(given(&vouched).await.contains("piping"));
    assert!(given(&Archivist::builder(&root).build().unwrap()).await.contains("piping"), "a program that embeds this");
}

#[tokio::test]
async fn a_model_is_not_shown_what_a_stranger_wrote() {
    let machine = Machine::new();
    let root = machine.project("clone");
    clone_to(&root).await;
    let archivist = machine.open(&root);
    let log = root.join("session.jsonl");
    let text = concat!(
        r#"{"session": {"id": "s", "agent": "helper", "title": "Deploy by the script"}}"#,
        "\n",
        r#"{"role": "user", "content": "Deploy by the script, please."}"#,
        "\n",
    );
    std::fs::write(&log, text).unwrap();
    let sources = crate::service::LogSources::from_files(vec![log.clone()]).unwrap();
    let trigger = crate::domain::ReflectionTrigger::new(
        crate::domain::ReflectionScenario::SessionComplete,
        root.display().to_string(),
        crate::domain::SessionId::parse("s").unwrap(),
    );
    let shown = |archivist: &Archivist| archivist.offline_service();
    let context = shown(&archivist).preview_context(&trigger, sources.clone()).await.unwrap();
    assert!(context.existing_memories.is_empty(), "{:?}", context.existing_memories);
    assert!(context.related_episodes.is_empty());
    machine.trust(&root);
    let context = shown(&archivist).preview_context(&trigger, sources).await.unwrap();
    assert_eq!(context.existing_memories.len(), 1);
}
