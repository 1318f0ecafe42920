//! A log for people: what happened, what failed, what fixed it, what it cost.

use super::report::Report;
use crate::cli::console::{Console, Style};
use crate::cli::failure::Failure;
use crate::cli::prose::{count, cut, grouped, one_line, wrap};
use crate::context::{Signal, SignalKind};
use crate::domain::{StatusBasis, Usage};

/// How many of a kind are shown; `--json` has them all.
const SHOWN: usize = 8;

/// Headings, and the signals under each.
const SECTIONS: &[(&str, &[SignalKind])] = &[
    (
        "What failed",
        &[
            SignalKind::RepeatedFailure,
            SignalKind::RetryLoop,
            SignalKind::ContextWindow,
            SignalKind::RateLimit,
            SignalKind::Timeout,
            SignalKind::FailedCall,
            SignalKind::VerificationFailed,
        ],
    ),
    ("What fixed it", &[SignalKind::Fixed, SignalKind::VerificationPassed]),
    ("What cannot be relied on", &[SignalKind::FlakyTest]),
    ("What a person corrected", &[SignalKind::UserCorrection]),
    ("What was taken back", &[SignalKind::EditReverted]),
    ("What took long or cost much", &[SignalKind::SlowCall, SignalKind::CostlyStep]),
];

/// Prints one log; logs are set apart by an empty line.
pub(super) fn print(report: &Report, is_first: bool, console: &mut Console) -> Result<(), Failure> {
    if !is_first {
        console.line("")?;
    }
    let name = console.styled(Style::Bold, &one_line(&report.path));
    console.line(&format!("{name}  {}", head(report)))?;
    console.line(&format!("  {}", counts(report)))?;
    for line in wrap(&one_line(&report.summary), console.columns().saturating_sub(2)) {
        console.line(&format!("  {line}"))?;
    }
    for (heading, kinds) in SECTIONS {
        section(heading, &of_kinds(&report.signals, kinds), console)?;
    }
    for finding in report.survey.findings.iter().take(SHOWN) {
        let label = console.styled(Style::Yellow, "breaks a rule");
        console.line(&format!("  {label}  {}: {}", one_line(&finding.path), one_line(&finding.problem)))?;
    }
    more(report.survey.findings_total, report.survey.findings.len().min(SHOWN), console)?;
    for remark in remarks(report) {
        let remark = console.styled(Style::Dim, &remark);
        console.line(&format!("  {remark}"))?;
    }
    Ok(())
}

/// Signals of some kinds, in the order of the kinds; a family of failures is told once.
fn of_kinds<'r>(signals: &'r [Signal], kinds: &[SignalKind]) -> Vec<&'r Signal> {
    let mut families = Vec::new();
    let mut chosen: Vec<&Signal> = Vec::new();
    for kind in kinds {
        let mut of_kind: Vec<&Signal> = signals.iter().filter(|signal| signal.kind == *kind).collect();
        of_kind.sort_by_key(|signal| std::cmp::Reverse(signal.times));
        for signal in of_kind {
            let is_new = signal.error_family.as_ref().is_none_or(|family| !families.contains(&family));
            if is_new || *kind == SignalKind::Fixed {
                families.extend(signal.error_family.as_ref());
                chosen.push(signal);
            }
        }
    }
    chosen
}

fn section(heading: &str, signals: &[&Signal], console: &mut Console) -> Result<(), Failure> {
    if signals.is_empty() {
        return Ok(());
    }
    let heading = console.styled(Style::Cyan, heading);
    console.line(&format!("  {heading}"))?;
    for signal in signals.iter().take(SHOWN) {
        let times = if signal.times > 1 { format!("{}× ", signal.times) } else { String::new() };
        let place = format!("s{}", signal.step);
        let line = format!("{times}{}", one_line(&signal.text));
        console.line(&format!("    {place:<6} {}", cut(&line, console.columns().saturating_sub(11).max(20))))?;
    }
    more(signals.len() as u64, signals.len().min(SHOWN), console)
}

fn more(all: u64, shown: usize, console: &mut Console) -> Result<(), Failure> {
    match all.saturating_sub(shown as u64) {
        0 => Ok(()),
        more => console.line(&format!("    … and {more} more")),
    }
}

/// Who and when.
fn head(report: &Report) -> String {
    let version = report.agent_version.as_deref().unwrap_or_default();
    let agent = report.agent.as_deref().map(|agent| one_line(&format!("{agent} {version}")));
    let when = report.started_at.zip(report.finished_at).map(|(from, to)| {
        let minutes = (to - from).num_minutes();
        let lasted = if minutes > 0 { format!(", {minutes} min") } else { String::new() };
        format!("{}{lasted}", from.format("%Y-%m-%d %H:%M"))
    });
    let format = match &report.schema_version {
        Some(version) => format!("{} {}", report.format, one_line(version)),
        None => report.format.to_owned(),
    };
    let model = report.model.as_deref().map(one_line);
    [Some(format), agent, model, when].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn counts(report: &Report) -> String {
    let counts = report.survey.counts;
    let mut parts = Vec::new();
    if counts.trajectories > 1 {
        parts.push(plural(counts.trajectories, "run"));
    }
    let copied = if counts.copied_steps > 0 { format!(" ({} copied)", counts.copied_steps) } else { String::new() };
    let failed =
        if counts.tool_errors > 0 { format!(" ({} failed)", grouped(counts.tool_errors)) } else { String::new() };
    parts.push(format!("{}{copied}", plural(counts.steps, "step")));
    parts.push(format!("{}{failed}", plural(counts.tool_calls, "call")));
    parts.push(plural(counts.user_turns, "user turn"));
    if report.survey.subagents.steps > 0 {
        parts.push(format!("{} of subagents", plural(report.survey.subagents.steps, "step")));
    }
    parts.extend(cost(report.survey.usage));
    parts.join(", ")
}

fn cost(usage: Usage) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(prompt) = usage.prompt_tokens {
        let cached = match usage.cached_tokens {
            Some(cached) if cached > 0 && prompt > 0 => format!(" ({} % cached)", cached.saturating_mul(100) / prompt),
            _ => String::new(),
        };
        parts.push(format!("{} tokens in{cached}", grouped(prompt)));
    }
    if let Some(completion) = usage.completion_tokens {
        parts.push(format!("{} out", grouped(completion)));
    }
    if let Some(cost) = usage.cost_usd {
        parts.push(if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") });
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What was not as it should be.
fn remarks(report: &Report) -> Vec<String> {
    let survey = &report.survey;
    let mut remarks = vec![format!("{}: {}", report.status, describe_basis(&report.status_basis))];
    if let Some(first) = survey.skipped.first() {
        let place = if first.line > 0 { format!("line {}: ", first.line) } else { String::new() };
        remarks.push(format!("{} not read ({place}{})", plural(survey.skipped_total, "line"), one_line(&first.why)));
    }
    if survey.cut.values > 0 {
        remarks.push(format!("{} shortened by {} KB", plural(survey.cut.values, "long text"), survey.cut.bytes / 1000));
    }
    if survey.shed > 0 {
        remarks.push(format!("{} not kept", plural(survey.shed, "quiet step")));
    }
    if survey.injected > 0 {
        remarks.push(format!("{} of lessons that Archivist gave, set aside", plural(survey.injected, "block")));
    }
    for (what, times) in &survey.happenings {
        remarks.push(format!("{} {times}×", what.replace('_', " ")));
    }
    remarks
}

fn describe_basis(basis: &StatusBasis) -> &str {
    match basis {
        StatusBasis::Caller => "whoever started the session says so",
        StatusBasis::Verifier => "a verifier graded the result",
        StatusBasis::Person => "as the person took it",
        StatusBasis::Check => "by the check that ran after the last change",
        StatusBasis::Result => "by what was delivered",
        StatusBasis::Answer => "an answer was asked for and given",
        StatusBasis::Claim => "only the agent's own word speaks for it",
        StatusBasis::Interrupted => "it was broken off",
        StatusBasis::Nothing => "the log does not show how it ended",
        StatusBasis::Other(word) => word,
    }
}

fn plural(number: u64, word: &str) -> String {
    count(number, word, &format!("{word}s"))
}
