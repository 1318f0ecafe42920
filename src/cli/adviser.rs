//! The model that the configuration names, if it names one.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use secrecy::SecretString;

use super::failure::Failure;
use super::prompt::prompts;
use super::session::Session;
use crate::config::{CassetteMode, EngineChoice, FormChoice, ModelSettings, Surroundings};
use crate::distill::Asking;
use crate::model::{
    Breaker, Caps, Caution, Endpoint, Governor, Ladders, LanguageModel, OpenAi, Patience, Player, Prices, Recorder,
    Rung, key_from_file,
};
use crate::redact::Redactor;
use crate::service::Adviser;

/// No answer has more bytes than this.
const MAX_REPLY_BYTES: u64 = 4 * 1024 * 1024;

/// The most turns of one conversation by tools.
const MAX_TURNS: u32 = 6;

/// Pauses between attempts.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(20);
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// When an endpoint is left alone.
const CAUTION: Caution = Caution { failures: 8, rest: Duration::from_secs(30), max_rest: Duration::from_secs(600) };

/// The adviser that reflections ask, unless the heuristics are to do it alone.
pub(super) fn adviser(session: &Session, surroundings: &Surroundings) -> Result<Option<Adviser>> {
    let config = session.desk.config();
    let settings = &config.model;
    let is_set = !settings.base_url.is_empty() || settings.cassette == CassetteMode::Replay;
    if config.distill.engine == EngineChoice::Heuristic || !is_set {
        return Ok(None);
    }
    let home = surroundings.home.as_deref();
    let prompts = prompts(config.distill.prompt_path(home).as_deref())?;
    let model = answering(settings, surroundings)?;
    let state = surroundings.state_dir().ok_or_else(|| {
        Failure::user("there is no place to write down what a model costs").with_hint("set HOME, or XDG_STATE_HOME")
    })?;
    let is_live = settings.cassette != CassetteMode::Replay;
    let prices = Prices {
        input_per_million: settings.prices.input_per_million,
        output_per_million: settings.prices.output_per_million,
    };
    // The day of a cap is the day on the wall, whatever time a command pretends that it is.
    let clock = Arc::new(chrono::Utc::now);
    let governor = is_live.then(|| match session.desk.ledger() {
        Some(ledger) => {
            let account = session.desk.bank();
            Governor::sharing(ledger, &account, &settings.base_url, prices, caps(settings), clock)
        }
        None => Governor::new(state.join("spend"), &settings.base_url, prices, caps(settings), clock),
    });
    // A recording must hold the trial too, and a played one must not teach anybody anything.
    let ladders = Ladders::open((settings.cassette == CassetteMode::Off).then(|| state.join("models.json")));
    Ok(Some(Adviser {
        model,
        address: settings.base_url.clone(),
        governor,
        breaker: Arc::new(Breaker::new(CAUTION)),
        patience: Patience {
            max_attempts: settings.max_attempts,
            first_delay: FIRST_DELAY,
            max_delay: MAX_DELAY,
            max_retry_after: MAX_RETRY_AFTER,
        },
        form: match settings.form {
            FormChoice::Auto => None,
            FormChoice::Tools => Some(Rung::Tools),
            FormChoice::JsonSchema => Some(Rung::Schema),
            FormChoice::JsonObject => Some(Rung::Json),
            FormChoice::Text => Some(Rung::Text),
        },
        ladders,
        prompts,
        asking: Asking {
            digest_tokens: usize::try_from(config.distill.digest_tokens).unwrap_or(usize::MAX),
            max_output_tokens: settings.max_output_tokens,
            max_turns: MAX_TURNS,
        },
        deadline: Duration::from_secs(settings.reflection_timeout_seconds),
        seed: session.seed,
    }))
}

/// Who answers: the endpoint, the endpoint with a recorder before it, or recordings alone.
fn answering(settings: &ModelSettings, surroundings: &Surroundings) -> Result<Arc<dyn LanguageModel>> {
    let home = surroundings.home.as_deref();
    let redactor = Redactor::new();
    let clean: Arc<dyn Fn(&str) -> String + Send + Sync> =
        Arc::new(move |text: &str| redactor.redact(text).text.into_owned());
    let cassette = settings.cassette_path(home).unwrap_or_default();
    if settings.cassette == CassetteMode::Replay {
        return Ok(Arc::new(Player::new(settings.name.clone(), cassette, clean)));
    }
    let endpoint = OpenAi::new(Endpoint {
        base_url: settings.base_url.clone(),
        model: settings.name.clone(),
        key: key(settings, surroundings)?,
        attempt_timeout: Duration::from_secs(settings.attempt_timeout_seconds),
        max_reply_bytes: MAX_REPLY_BYTES,
        temperature: Some(settings.temperature),
    })
    .map_err(|error| {
        Failure::user(error.to_string()).with_hint("`archivist config show` tells what `model` is set to")
    })?;
    Ok(match settings.cassette {
        CassetteMode::Record => Arc::new(Recorder::new(endpoint, cassette, clean)),
        CassetteMode::Off | CassetteMode::Replay => Arc::new(endpoint),
    })
}

/// The key, from its file, else from its variable. A key of one service is not sent to another.
fn key(settings: &ModelSettings, surroundings: &Surroundings) -> Result<Option<SecretString>, Failure> {
    if let Some(path) = settings.key_path(surroundings.home.as_deref()) {
        let read = key_from_file(&path);
        return read.map(Some).map_err(|error| Failure::user(error.to_string()).with_hint("look at `model.keyFile`"));
    }
    let is_openai = settings.base_url.starts_with("https://api.openai.com/");
    let variable = match settings.key_variable.as_str() {
        "" if is_openai => "OPENAI_API_KEY",
        named => named,
    };
    let value = surroundings.variable(variable).map(str::trim).filter(|value| !value.is_empty());
    Ok(value.map(SecretString::from))
}

fn caps(settings: &ModelSettings) -> Caps {
    let caps = &settings.caps;
    Caps {
        calls_per_reflection: caps.calls_per_reflection,
        tokens_per_reflection: caps.tokens_per_reflection,
        usd_per_reflection: caps.usd_per_reflection,
        tokens_per_day: caps.tokens_per_day,
        usd_per_day: caps.usd_per_day,
        tokens_per_project_day: caps.tokens_per_project_day,
        usd_per_project_day: caps.usd_per_project_day,
    }
}
