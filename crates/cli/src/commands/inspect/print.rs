//! Prints a log for people: what happened, what failed, what fixed it, what it cost.

use super::report::InspectReport;
use crate::cli_error::CliError;
use crate::console::{Console, TextStyle};
use crate::text_format::{cut_to_width, format_count, format_number, one_line, wrap_words};
use archivist_core::context::{Signal, SignalKind};
use archivist_core::domain::{StatusBasis, TokenUsage};

/// The most items of a kind that are shown; `--json` has them all.
const SHOWN: usize = 8;

/// The headings, and the signals under each.
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

/// Prints the report about one log, after an empty line unless it is the first.
pub(super) fn print_report(report: &InspectReport, is_first: bool, console: &mut Console) -> Result<(), CliError> {
    if !is_first {
        console.print_line("")?;
    }
    let name = console.style_text(TextStyle::Bold, &one_line(&report.path));
    console.print_line(&format!("{name}  {}", describe_origin(report)))?;
    console.print_line(&format!("  {}", describe_counts(report)))?;
    for line in wrap_words(&one_line(&report.summary), console.columns().saturating_sub(2)) {
        console.print_line(&format!("  {line}"))?;
    }
    for (heading, kinds) in SECTIONS {
        print_section(heading, &select_by_kinds(&report.signals, kinds), console)?;
    }
    for finding in report.survey.findings.iter().take(SHOWN) {
        let label = console.style_text(TextStyle::Yellow, "breaks a rule");
        console.print_line(&format!("  {label}  {}: {}", one_line(&finding.path), one_line(&finding.problem)))?;
    }
    print_remainder(report.survey.findings_total, report.survey.findings.len().min(SHOWN), console)?;
    for remark in collect_remarks(report) {
        let remark = console.style_text(TextStyle::Dim, &remark);
        console.print_line(&format!("  {remark}"))?;
    }
    Ok(())
}

/// Returns the signals of some kinds, in the order of the kinds, with each error family only once.
fn select_by_kinds<'r>(signals: &'r [Signal], kinds: &[SignalKind]) -> Vec<&'r Signal> {
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

fn print_section(heading: &str, signals: &[&Signal], console: &mut Console) -> Result<(), CliError> {
    if signals.is_empty() {
        return Ok(());
    }
    let heading = console.style_text(TextStyle::Cyan, heading);
    console.print_line(&format!("  {heading}"))?;
    for signal in signals.iter().take(SHOWN) {
        let times = if signal.times > 1 { format!("{}× ", signal.times) } else { String::new() };
        let place = format!("s{}", signal.step);
        let line = format!("{times}{}", one_line(&signal.text));
        console.print_line(&format!(
            "    {place:<6} {}",
            cut_to_width(&line, console.columns().saturating_sub(11).max(20))
        ))?;
    }
    print_remainder(signals.len() as u64, signals.len().min(SHOWN), console)
}

fn print_remainder(all: u64, shown: usize, console: &mut Console) -> Result<(), CliError> {
    match all.saturating_sub(shown as u64) {
        0 => Ok(()),
        more => console.print_line(&format!("    … and {more} more")),
    }
}

/// Returns the log's format, agent, model and time.
fn describe_origin(report: &InspectReport) -> String {
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

fn describe_counts(report: &InspectReport) -> String {
    let counts = report.survey.counts;
    let mut parts = Vec::new();
    if counts.trajectories > 1 {
        parts.push(format_plural(counts.trajectories, "run"));
    }
    let copied = if counts.copied_steps > 0 { format!(" ({} copied)", counts.copied_steps) } else { String::new() };
    let failed =
        if counts.tool_errors > 0 { format!(" ({} failed)", format_number(counts.tool_errors)) } else { String::new() };
    parts.push(format!("{}{copied}", format_plural(counts.steps, "step")));
    parts.push(format!("{}{failed}", format_plural(counts.tool_calls, "call")));
    parts.push(format_plural(counts.user_turns, "user turn"));
    if report.survey.subagents.steps > 0 {
        parts.push(format!("{} of subagents", format_plural(report.survey.subagents.steps, "step")));
    }
    parts.extend(describe_cost(report.survey.usage));
    parts.join(", ")
}

fn describe_cost(usage: TokenUsage) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(prompt) = usage.prompt_tokens {
        let cached = match usage.cached_tokens {
            Some(cached) if cached > 0 && prompt > 0 => format!(" ({} % cached)", cached.saturating_mul(100) / prompt),
            _ => String::new(),
        };
        parts.push(format!("{} tokens in{cached}", format_number(prompt)));
    }
    if let Some(completion) = usage.completion_tokens {
        parts.push(format!("{} out", format_number(completion)));
    }
    if let Some(cost) = usage.cost_usd {
        parts.push(if cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") });
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns remarks on the status and on everything unusual in the log.
fn collect_remarks(report: &InspectReport) -> Vec<String> {
    let survey = &report.survey;
    let mut remarks = vec![format!("{}: {}", report.status, describe_basis(&report.status_basis))];
    if let Some(first) = survey.skipped.first() {
        let place = if first.line > 0 { format!("line {}: ", first.line) } else { String::new() };
        remarks.push(format!(
            "{} not read ({place}{})",
            format_plural(survey.skipped_total, "line"),
            one_line(&first.why)
        ));
    }
    if survey.cut.values > 0 {
        remarks.push(format!(
            "{} shortened by {} KB",
            format_plural(survey.cut.values, "long text"),
            survey.cut.bytes / 1000
        ));
    }
    if survey.shed > 0 {
        remarks.push(format!("{} not kept", format_plural(survey.shed, "quiet step")));
    }
    if survey.injected > 0 {
        remarks.push(format!("{} of lessons that Archivist gave, set aside", format_plural(survey.injected, "block")));
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

fn format_plural(number: u64, word: &str) -> String {
    format_count(number, word, &format!("{word}s"))
}
