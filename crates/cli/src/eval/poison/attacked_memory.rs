//! A memory that reflects on the sessions of one attack as in real use, and what a later session is given of it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use chrono::TimeDelta;
use tempfile::TempDir;

use super::attack_session::AttackSession;
use super::obeying_model::ObeyingModel;
use crate::commands::recall::query_about_error;
use crate::eval::hook_block::recall_like_hook;
use archivist_core::config::Config;
use archivist_core::distill::{PromptLimits, PromptSet};
use archivist_core::domain::{
    Extra, LessonAvailability, MemoryQuery, ReflectionScenario, ReflectionTrigger, SessionId, Timestamp,
};
use archivist_core::memory::jsonl::{JsonlMemory, SyncPolicy};
use archivist_core::memory::{BankTenancy, LessonStateFilter, MemoryService};
use archivist_core::model::{
    AnswerFormat, CircuitBreaker, CircuitBreakerSettings, EndpointCapabilities, ModelRetryPolicy,
};
use archivist_core::service::{ArchivistService, ModelClient, ProjectContext, RepeatPolicy, ServiceClock};

/// A memory in a folder of its own.
pub(super) struct AttackedMemory<'c> {
    folder: TempDir,
    config: &'c Config,
    memory: Arc<dyn MemoryService>,
    project: ProjectContext,
}

/// What a later session may see of a memory.
#[derive(Debug, Default)]
pub(super) struct GivenTexts {
    /// The texts of the lessons that are in use, and of the blocks at each point of a session.
    pub(super) in_use: Vec<String>,
    /// The lessons that are kept but not given, each with the reason.
    pub(super) held: Vec<(String, String)>,
}

impl<'c> AttackedMemory<'c> {
    /// Makes an empty memory.
    pub(super) fn new(config: &'c Config) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary directory")?;
        let mut settings = config.memory.jsonl_settings(folder.path(), None);
        settings.project = folder.path().join("memory");
        (settings.global, settings.tenancy, settings.sync) = (None, BankTenancy::Own, SyncPolicy::Lazy);
        let memory: Arc<dyn MemoryService> = Arc::new(JsonlMemory::open(settings));
        let project = ProjectContext::from_root(folder.path());
        Ok(Self { folder, config, memory, project })
    }

    /// Reflects on a session, with a model or with the heuristics.
    pub(super) async fn reflect_on_session(
        &self,
        session: &AttackSession,
        number: usize,
        model: Option<ObeyingModel>,
    ) -> Result<()> {
        let path = self.folder.path().join(format!("{number}.jsonl"));
        std::fs::write(&path, &session.log).with_context(|| format!("cannot write {}", path.display()))?;
        let trigger = ReflectionTrigger {
            scenario: ReflectionScenario::SessionComplete,
            project_root: self.project.root_text(),
            session_id: SessionId::parse(&session.id)?,
            main_task_id: None,
            subtask_id: None,
            log_paths: vec![path.display().to_string()],
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        };
        let mut service =
            ArchivistService::new(Arc::clone(&self.memory), self.project.clone(), self.config.reflection_settings())
                .with_clock(ServiceClock::fixed_at(session_end(session)));
        if let Some(model) = model {
            service = service.with_model_client(Arc::new(make_client(model)?));
        }
        match service.reflect_on_session(&trigger, RepeatPolicy::IfGrown).await {
            Ok(_) => Ok(()),
            Err(skip) if skip.is_choice() => Ok(()),
            Err(skip) => anyhow::bail!("{}: {skip}", session.id),
        }
    }

    /// Returns what a session on the next day is given at its start, at its request, at the failure and before the
    /// failing command, and every lesson that is in use.
    pub(super) async fn read_given_texts(&self, session: &AttackSession, failing: &str) -> Result<GivenTexts> {
        let mut texts = GivenTexts::default();
        for lesson in self.memory.list_lessons(LessonStateFilter::All).await? {
            let memory = lesson.memory;
            let shown = [Some(memory.summary.as_str()), memory.rule.as_deref(), memory.detail.as_deref()];
            let text = shown.into_iter().flatten().collect::<Vec<_>>().join("\n");
            match memory.availability() {
                LessonAvailability::Live => texts.in_use.push(text),
                _ => {
                    let state = memory.state.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string);
                    let why = memory.state_reason.clone().map_or(state.clone(), |why| format!("{state}: {why}"));
                    texts.held.push((text, why));
                }
            }
        }
        let base = self.project.new_query();
        let about = |text: &str| MemoryQuery { text: Some(text.to_owned()), ..base.clone() };
        let mut failure = base.clone();
        query_about_error(&mut failure, Some("bash"), &format!("Exit code 1\n{}", session.failure));
        for query in [base.clone(), about(&session.request), about(failing), failure] {
            texts.in_use.push(self.render_block(query, session_end(session)).await?);
        }
        Ok(texts)
    }

    async fn render_block(&self, query: MemoryQuery, ended: Timestamp) -> Result<String> {
        let at = ended + TimeDelta::days(1);
        Ok(recall_like_hook(self.config, &*self.memory, query, at).await?.text)
    }
}

fn session_end(session: &AttackSession) -> Timestamp {
    Timestamp::from_timestamp_millis(session.ended_ms).unwrap_or_default()
}

fn make_client(model: ObeyingModel) -> Result<ModelClient> {
    let breaker =
        CircuitBreakerSettings { failures: 100, rest: Duration::from_millis(1), max_rest: Duration::from_millis(2) };
    Ok(ModelClient {
        model: Arc::new(model),
        address: "scripted".to_owned(),
        governor: None,
        breaker: Arc::new(CircuitBreaker::new(breaker)),
        patience: ModelRetryPolicy {
            max_attempts: 1,
            first_delay: Duration::from_millis(1),
            max_delay: Duration::from_millis(1),
            max_retry_after: Duration::from_millis(1),
        },
        form: Some(AnswerFormat::Json),
        capabilities: EndpointCapabilities::open(None),
        prompts: PromptSet::with_overrides([])?,
        asking: PromptLimits { digest_tokens: 2000, max_output_tokens: 1000, max_turns: 2 },
        deadline: Duration::from_secs(60),
        seed: 0,
    })
}
