//! Builds the client of the configured language model, with everything that stands between a reflection and an endpoint.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::prompt_files::load_prompts;
use super::{Archivist, RequestError};
use crate::config::{AnswerFormatChoice, CassetteMode, EngineChoice, ModelSettings, ProcessEnvironment};
use crate::distill::PromptLimits;
use crate::model::{
    AnswerFormat, ChatEndpoint, CircuitBreaker, CircuitBreakerSettings, EndpointCapabilities, LanguageModel,
    ModelRetryPolicy, OpenAiModel, RecordingModel, ReplayModel, SpendCaps, SpendGovernor, TokenPrices, read_key_file,
};
use crate::redact::Redactor;
use crate::service::ModelClient;

/// The most bytes that one reply of a model may have.
const MAX_REPLY_BYTES: u64 = 4 * 1024 * 1024;

/// The most turns of one conversation with tool calls.
const MAX_TURNS: u32 = 6;

/// The pauses between attempts to reach a model.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(20);
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// The number of failures after which an endpoint is not called for a while, and for how long.
const CAUTION: CircuitBreakerSettings =
    CircuitBreakerSettings { failures: 8, rest: Duration::from_secs(30), max_rest: Duration::from_secs(600) };

impl Archivist {
    /// Returns the client of the language model that reflections use, or `None` if the heuristics work alone.
    pub fn open_model_client(&self) -> Result<Option<ModelClient>, RequestError> {
        let config = self.config();
        let settings = &config.model;
        let is_set = self.model.is_some() || !settings.base_url.is_empty() || settings.cassette == CassetteMode::Replay;
        if config.distill.engine == EngineChoice::Heuristic || !is_set {
            return Ok(None);
        }
        let home = self.environment.home.as_deref();
        let prompts = load_prompts(config.distill.prompt_path(home).as_deref())?;
        let model = match &self.model {
            Some(model) => Arc::clone(model),
            None => open_language_model(settings, &self.environment)?,
        };
        let state = self.environment.state_dir().ok_or_else(|| {
            RequestError::impossible_request(
                "there is no place to write down what a model costs",
                "set HOME, or XDG_STATE_HOME",
            )
        })?;
        let is_live = settings.cassette != CassetteMode::Replay;
        let prices = TokenPrices {
            input_per_million: settings.prices.input_per_million,
            output_per_million: settings.prices.output_per_million,
        };
        // A cap's day follows the system clock, whatever time `--now` gives to a command.
        let clock = Arc::new(chrono::Utc::now);
        let governor = is_live.then(|| match self.shared_ledger() {
            Some(ledger) => {
                let account = self.bank_key();
                SpendGovernor::with_shared_ledger(
                    ledger,
                    &account,
                    &settings.base_url,
                    prices,
                    build_spend_caps(settings),
                    clock,
                )
            }
            None => {
                SpendGovernor::new(state.join("spend"), &settings.base_url, prices, build_spend_caps(settings), clock)
            }
        });
        // A recording must include the capability probes too, and a replayed one must not change what is known of
        // endpoints.
        let capabilities =
            EndpointCapabilities::open((settings.cassette == CassetteMode::Off).then(|| state.join("models.json")));
        Ok(Some(ModelClient {
            model,
            address: settings.base_url.clone(),
            governor,
            breaker: Arc::new(CircuitBreaker::new(CAUTION)),
            patience: ModelRetryPolicy {
                max_attempts: settings.max_attempts,
                first_delay: FIRST_DELAY,
                max_delay: MAX_DELAY,
                max_retry_after: MAX_RETRY_AFTER,
            },
            form: match settings.form {
                AnswerFormatChoice::Auto => None,
                AnswerFormatChoice::Tools => Some(AnswerFormat::Tools),
                AnswerFormatChoice::JsonSchema => Some(AnswerFormat::Schema),
                AnswerFormatChoice::JsonObject => Some(AnswerFormat::Json),
                AnswerFormatChoice::Text => Some(AnswerFormat::Text),
            },
            capabilities,
            prompts,
            asking: PromptLimits {
                digest_tokens: usize::try_from(config.distill.digest_tokens).unwrap_or(usize::MAX),
                max_output_tokens: settings.max_output_tokens,
                max_turns: MAX_TURNS,
            },
            deadline: Duration::from_secs(settings.reflection_timeout_seconds),
            seed: self.seed,
        }))
    }
}

/// Returns the language model: the endpoint, the endpoint behind a recorder, or a player of recordings.
fn open_language_model(
    settings: &ModelSettings,
    environment: &ProcessEnvironment,
) -> Result<Arc<dyn LanguageModel>, RequestError> {
    let home = environment.home.as_deref();
    let redactor = Redactor::new();
    let clean: Arc<dyn Fn(&str) -> String + Send + Sync> =
        Arc::new(move |text: &str| redactor.redact(text).text.into_owned());
    let cassette = settings.cassette_path(home).unwrap_or_default();
    if settings.cassette == CassetteMode::Replay {
        return Ok(Arc::new(ReplayModel::new(settings.name.clone(), cassette, clean)));
    }
    let endpoint = OpenAiModel::new(ChatEndpoint {
        base_url: settings.base_url.clone(),
        model: settings.name.clone(),
        key: read_model_key(settings, environment)?,
        attempt_timeout: Duration::from_secs(settings.attempt_timeout_seconds),
        max_reply_bytes: MAX_REPLY_BYTES,
        temperature: Some(settings.temperature),
    })
    .map_err(|error| {
        RequestError::impossible_request(error.to_string(), "`archivist config show` tells what `model` is set to")
    })?;
    Ok(match settings.cassette {
        CassetteMode::Record => Arc::new(RecordingModel::new(endpoint, cassette, clean)),
        CassetteMode::Off | CassetteMode::Replay => Arc::new(endpoint),
    })
}

/// Reads the API key from its file, else from its variable. A key of one service is not sent to another.
fn read_model_key(
    settings: &ModelSettings,
    environment: &ProcessEnvironment,
) -> Result<Option<SecretString>, RequestError> {
    if let Some(path) = settings.key_path(environment.home.as_deref()) {
        let read = read_key_file(&path);
        return read
            .map(Some)
            .map_err(|error| RequestError::impossible_request(error.to_string(), "look at `model.keyFile`"));
    }
    let value =
        environment.environment_variable(settings.key_variable_name()).map(str::trim).filter(|value| !value.is_empty());
    Ok(value.map(SecretString::from))
}

fn build_spend_caps(settings: &ModelSettings) -> SpendCaps {
    let caps = &settings.caps;
    SpendCaps {
        calls_per_reflection: caps.calls_per_reflection,
        tokens_per_reflection: caps.tokens_per_reflection,
        usd_per_reflection: caps.usd_per_reflection,
        tokens_per_day: caps.tokens_per_day,
        usd_per_day: caps.usd_per_day,
        tokens_per_project_day: caps.tokens_per_project_day,
        usd_per_project_day: caps.usd_per_project_day,
    }
}
