//! What happened, in short: how it came out, what worked, what failed, what was decided.

use super::scene::Scene;
use super::words::{cut, is_empty_talk, relative, telling};
use crate::context::SignalKind;
use crate::domain::Reflection;

/// So many bullets of a kind.
const MOST: usize = 5;

/// A bullet is a line.
const BULLET_CHARACTERS: usize = 200;

pub(super) fn reflection(scene: &Scene<'_>) -> Reflection {
    let context = scene.context;
    let mut reflection = Reflection { outcome: context.episode.summary.clone(), ..Reflection::default() };
    let root = |trajectory: u32| scene.root(trajectory).to_owned();
    for signal in &context.signals {
        let text = relative(&signal.text, Some(&root(signal.trajectory)));
        let error = signal.quote.as_deref().map(|quote| telling(&relative(quote, Some(&root(signal.trajectory)))));
        let times = if signal.times > 1 { format!(" ({}×)", signal.times) } else { String::new() };
        match signal.kind {
            SignalKind::Fixed | SignalKind::VerificationPassed => put(&mut reflection.worked, &text),
            SignalKind::RepeatedFailure | SignalKind::RateLimit | SignalKind::ContextWindow | SignalKind::Timeout => {
                let tool = signal
                    .tool
                    .as_deref()
                    .filter(|tool| !tool.is_empty())
                    .map(|tool| format!("{tool}: "))
                    .unwrap_or_default();
                let error = error.filter(|error| !is_empty_talk(error));
                if let Some(error) = error {
                    // The same failure is told once, the last time with its count.
                    let bullet = format!("{tool}{error}");
                    reflection.failed.retain(|known| !known.starts_with(&bullet));
                    put(&mut reflection.failed, &format!("{bullet}{times}"));
                }
            }
            SignalKind::RetryLoop | SignalKind::VerificationFailed | SignalKind::FlakyTest => {
                put(&mut reflection.failed, &text);
            }
            SignalKind::UserCorrection => put(&mut reflection.decisions, &format!("The user said: {text}")),
            SignalKind::EditReverted => put(&mut reflection.decisions, &text),
            _ => {}
        }
    }
    // Single failures fill what room is left.
    for signal in context.signals.iter().filter(|signal| signal.kind == SignalKind::FailedCall) {
        let Some(quote) = signal.quote.as_deref().filter(|quote| !is_empty_talk(quote)) else { continue };
        let error = telling(&relative(quote, Some(&root(signal.trajectory))));
        if !reflection.failed.iter().any(|known| known.contains(&error)) {
            put(&mut reflection.failed, &error);
        }
    }
    if reflection.worked.is_empty() {
        let passed = scene.deeds.iter().filter(|deed| deed.has_passed()).count();
        if passed > 0 {
            reflection.worked.push(format!("{passed} of {} calls passed", scene.deeds.len()));
        }
    }
    if reflection.decisions.is_empty() {
        let mut edited: Vec<String> = Vec::new();
        for deed in scene.deeds.iter().filter(|deed| deed.has_passed()) {
            if let crate::context::Action::Edit(changes) = &deed.action {
                for change in changes {
                    let path = relative(&change.path, Some(scene.root(deed.place.trajectory)));
                    if edited.len() < MOST && !edited.contains(&path) {
                        edited.push(path);
                    }
                }
            }
        }
        if !edited.is_empty() {
            put(&mut reflection.decisions, &format!("Changed {}", super::words::list(&edited)));
        }
    }
    reflection
}

fn put(bullets: &mut Vec<String>, text: &str) {
    let bullet = cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), BULLET_CHARACTERS);
    if bullets.len() < MOST && !bullet.is_empty() && !bullets.contains(&bullet) {
        bullets.push(bullet);
    }
}
