use std::time::Duration;

use async_trait::async_trait;

use super::super::reflection_outcome::SkipReason;
use super::super::reflection_service::RepeatPolicy;
use super::super::test_support::{World, redis};
use super::*;
use crate::context::{LogGatherer, ReflectionInputs, SessionDescription};
use crate::domain::{AgentMemory, Engine, SessionId};
use crate::model::scripted_model::{ScriptedModel, text_reply};
use crate::model::{
    CircuitBreakerSettings, Deciding, LedgerError, LedgerMemo, NumberedLine, RequestedFormat, SharedLedger, SpendCaps,
    TokenPrices,
};
use crate::redact::Redactor;

#[derive(Debug)]
struct Nothing;

#[async_trait]
impl LessonLookup for Nothing {
    async fn find_near(&self, _: &str, _: usize) -> Vec<AgentMemory> {
        Vec::new()
    }
}

const EMPTY: &str = r#"{"outcome_summary": "Done.", "candidates": []}"#;

fn now() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn caps(calls: u32) -> SpendCaps {
    SpendCaps {
        calls_per_reflection: calls,
        tokens_per_reflection: 0,
        usd_per_reflection: 0.0,
        tokens_per_day: 0,
        usd_per_day: 0.0,
        tokens_per_project_day: 0,
        usd_per_project_day: 0.0,
    }
}

fn model_client(model: &Arc<ScriptedModel>, folder: &std::path::Path, calls: u32) -> Arc<ModelClient> {
    let caps = caps(calls);
    let prices = TokenPrices { input_per_million: 1.0, output_per_million: 2.0 };
    let caution =
        CircuitBreakerSettings { failures: 5, rest: Duration::from_secs(30), max_rest: Duration::from_secs(300) };
    Arc::new(ModelClient {
        model: Arc::clone(model) as Arc<dyn LanguageModel>,
        address: "http://127.0.0.1:1/v1".to_owned(),
        governor: Some(SpendGovernor::new(folder.join("spend"), "http://127.0.0.1:1/v1", prices, caps, Arc::new(now))),
        breaker: Arc::new(CircuitBreaker::new(caution)),
        patience: ModelRetryPolicy {
            max_attempts: 2,
            first_delay: Duration::from_millis(1),
            max_delay: Duration::from_millis(2),
            max_retry_after: Duration::from_secs(1),
        },
        form: None,
        capabilities: EndpointCapabilities::open(Some(folder.join("models.json"))),
        prompts: PromptSet::with_overrides([]).unwrap(),
        asking: PromptLimits { digest_tokens: 1000, max_output_tokens: 200, max_turns: 3 },
        deadline: Duration::from_secs(5),
        seed: 1,
    })
}

async fn distil(model_client: &Arc<ModelClient>) -> DistillationResult {
    let redactor = Redactor::new();
    let inputs = ReflectionInputs {
        run: SessionDescription {
            session_id: SessionId::parse("s-1").unwrap(),
            project_root: "/shop".to_owned(),
            repo_id: None,
            task_id: None,
            subtask_id: None,
            kind: None,
            outcome: None,
            now: now(),
        },
        gathered: LogGatherer::new(&redactor).finish(),
        sessions: Vec::new(),
        config: None,
        progress_md: None,
        apm_snapshot: None,
        episodes: Vec::new(),
        memories: Vec::new(),
    };
    let context = ReflectionContext::build(inputs, &redactor);
    let distiller = SessionDistiller { redactor: &redactor, documents: &[], max_candidates: 5, min_importance: 0.3 };
    model_client
        .open_session(&context.project_root)
        .distill_context(&distiller, &context, &ReflectionScenario::Manual, &Nothing, now())
        .await
}

fn refused() -> Result<crate::model::ModelReply, ModelError> {
    Err(ModelError::BadRequest { status: 400, said: "tools are not supported".to_owned() })
}

#[tokio::test]
async fn the_form_is_learned_once_and_remembered_for_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    // Tools are refused, a schema is obeyed, and then comes the answer.
    let model =
        Arc::new(ScriptedModel::new(vec![refused(), Ok(text_reply(r#"{"leg_count": 8}"#)), Ok(text_reply(EMPTY))]));
    let first = distil(&model_client(&model, folder.path(), 0)).await;
    assert_eq!((first.engine, first.form.as_deref(), first.calls), (Engine::Model, Some("json_schema"), 3));
    let model = Arc::new(ScriptedModel::new(vec![Ok(text_reply(EMPTY))]));
    let second = distil(&model_client(&model, folder.path(), 0)).await;
    assert_eq!((second.form.as_deref(), second.calls), (Some("json_schema"), 1));
}

#[tokio::test]
async fn a_form_that_no_longer_works_is_unlearned() {
    let folder = tempfile::tempdir().unwrap();
    let model = Arc::new(ScriptedModel::new(vec![refused(), Ok(text_reply(EMPTY)), Ok(text_reply(EMPTY))]));
    let model_client = model_client(&model, folder.path(), 0);
    model_client.capabilities.remember_format(&model_client.address, ScriptedModel::NAME, AnswerFormat::Schema, now());
    assert_eq!(distil(&model_client).await.form.as_deref(), Some("json_object"));
    assert_eq!(distil(&model_client).await.form.as_deref(), Some("json_object"));
    let forms: Vec<RequestedFormat> = model.received_requests().into_iter().map(|request| request.form).collect();
    assert!(
        matches!(forms.as_slice(), [RequestedFormat::Schema(_), RequestedFormat::Json, RequestedFormat::Json]),
        "{forms:?}"
    );
}

#[tokio::test]
async fn probing_and_asking_again_are_counted_and_capped() {
    let folder = tempfile::tempdir().unwrap();
    let busy = || Err(ModelError::Server { status: 500, retry_after: None, said: "busy".to_owned() });
    let model = Arc::new(ScriptedModel::new(vec![refused(), Ok(text_reply(r#"{"leg_count": 8}"#)), busy()]));
    let distilled = distil(&model_client(&model, folder.path(), 3)).await;
    assert_eq!((distilled.engine, distilled.calls), (Engine::Heuristic, 3));
    let why = distilled.fallback.unwrap();
    assert!(why.starts_with("not asked: ") && why.contains("callsPerReflection"), "{why}");
    assert!(distilled.usage.cost_usd.unwrap() > 0.0);
}

/// A ledger on a server that does not answer.
#[derive(Debug)]
struct Away;

fn away<T>() -> Result<T, LedgerError> {
    Err(LedgerError::Elsewhere { why: "the memory at db:5432/team cannot be reached".to_owned() })
}

impl SharedLedger for Away {
    fn describe_location(&self) -> String {
        "db:5432/team".to_owned()
    }

    fn ledger_memo(&self) -> Arc<LedgerMemo> {
        Arc::default()
    }

    fn read_day_lines(&self, _: chrono::NaiveDate) -> Result<Vec<NumberedLine>, LedgerError> {
        away()
    }

    fn reserve_call(&self, _: &str, _: chrono::NaiveDate, _: &Deciding<'_>) -> Result<(), LedgerError> {
        away()
    }

    fn charge_call(&self, _: &str, _: chrono::NaiveDate, _: &str) -> Result<(), LedgerError> {
        away()
    }
}

#[tokio::test]
async fn while_the_ledger_is_away_nothing_is_learned_otherwise_and_it_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = Arc::new(ScriptedModel::new(Vec::new()));
    let local = model_client(&model, folder.path(), 0);
    let prices = TokenPrices { input_per_million: 1.0, output_per_million: 2.0 };
    let governor =
        SpendGovernor::with_shared_ledger(Arc::new(Away), "team", &local.address, prices, caps(0), Arc::new(now));
    let shared = ModelClient { governor: Some(governor), ..Arc::into_inner(local).unwrap() };
    let world = World::new();
    let service = world.service().with_model_client(Arc::new(shared));
    let skipped = service.reflect_on_session(&world.session("s-1", &redis()), RepeatPolicy::IfGrown).await.unwrap_err();
    assert!(matches!(&skipped, SkipReason::LedgerAway(why) if why.contains("db:5432/team")), "{skipped:?}");
    assert!(skipped.is_transient() && model.received_requests().is_empty());
    assert!(world.lessons().await.is_empty());
    let learned =
        world.service().reflect_on_session(&world.session("s-1", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!(learned.created.len(), 1, "the run was not taken for known");
}
