//! A short account of a session: its outcome, what worked, what failed and what was decided.

use super::action_timeline::ActionTimeline;
use super::sentence_text::{cut_to_length, is_uninformative, shorten_error, shorten_paths};
use crate::context::SignalKind;
use crate::domain::ReflectionSummary;

/// The most bullets of one kind.
const MOST: usize = 5;

/// The most characters of one bullet.
const BULLET_CHARACTERS: usize = 200;

pub(super) fn build_reflection(timeline: &ActionTimeline<'_>) -> ReflectionSummary {
    let context = timeline.context;
    let mut reflection = ReflectionSummary { outcome: context.episode.summary.clone(), ..ReflectionSummary::default() };
    let root = |trajectory: u32| timeline.working_folder(trajectory).to_owned();
    for signal in &context.signals {
        let text = shorten_paths(&signal.text, Some(&root(signal.trajectory)));
        let error =
            signal.quote.as_deref().map(|quote| shorten_error(&shorten_paths(quote, Some(&root(signal.trajectory)))));
        let times = if signal.times > 1 { format!(" ({}×)", signal.times) } else { String::new() };
        match signal.kind {
            SignalKind::Fixed | SignalKind::VerificationPassed => add_bullet(&mut reflection.worked, &text),
            SignalKind::RepeatedFailure | SignalKind::RateLimit | SignalKind::ContextWindow | SignalKind::Timeout => {
                let tool = signal
                    .tool
                    .as_deref()
                    .filter(|tool| !tool.is_empty())
                    .map(|tool| format!("{tool}: "))
                    .unwrap_or_default();
                let error = error.filter(|error| !is_uninformative(error));
                if let Some(error) = error {
                    // A repeated failure is listed once, with its latest count.
                    let bullet = format!("{tool}{error}");
                    reflection.failed.retain(|known| !known.starts_with(&bullet));
                    add_bullet(&mut reflection.failed, &format!("{bullet}{times}"));
                }
            }
            SignalKind::RetryLoop | SignalKind::VerificationFailed | SignalKind::FlakyTest => {
                add_bullet(&mut reflection.failed, &text);
            }
            SignalKind::UserCorrection => add_bullet(&mut reflection.decisions, &format!("The user said: {text}")),
            SignalKind::EditReverted => add_bullet(&mut reflection.decisions, &text),
            _ => {}
        }
    }
    // Single failures fill the remaining room.
    for signal in context.signals.iter().filter(|signal| signal.kind == SignalKind::FailedCall) {
        let Some(quote) = signal.quote.as_deref().filter(|quote| !is_uninformative(quote)) else { continue };
        let error = shorten_error(&shorten_paths(quote, Some(&root(signal.trajectory))));
        if !reflection.failed.iter().any(|known| known.contains(&error)) {
            add_bullet(&mut reflection.failed, &error);
        }
    }
    if reflection.worked.is_empty() {
        let passed = timeline.actions.iter().filter(|agent_action| agent_action.has_passed()).count();
        if passed > 0 {
            reflection.worked.push(format!("{passed} of {} calls passed", timeline.actions.len()));
        }
    }
    if reflection.decisions.is_empty() {
        let mut edited: Vec<String> = Vec::new();
        for agent_action in timeline.actions.iter().filter(|agent_action| agent_action.has_passed()) {
            if let crate::context::ToolAction::Edit(changes) = &agent_action.action {
                for change in changes {
                    let path =
                        shorten_paths(&change.path, Some(timeline.working_folder(agent_action.place.trajectory)));
                    if edited.len() < MOST && !edited.contains(&path) {
                        edited.push(path);
                    }
                }
            }
        }
        if !edited.is_empty() {
            add_bullet(&mut reflection.decisions, &format!("Changed {}", super::sentence_text::join_with_and(&edited)));
        }
    }
    reflection
}

fn add_bullet(bullets: &mut Vec<String>, text: &str) {
    let bullet = cut_to_length(&text.split_whitespace().collect::<Vec<_>>().join(" "), BULLET_CHARACTERS);
    if bullets.len() < MOST && !bullet.is_empty() && !bullets.contains(&bullet) {
        bullets.push(bullet);
    }
}
