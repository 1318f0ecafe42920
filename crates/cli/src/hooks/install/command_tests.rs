use super::*;
use crate::hooks::{HookAgent, RecallTiming};

fn plan(program: &str) -> HookPlan {
    HookPlan { agent: HookAgent::ClaudeCode, program: program.to_owned(), recall: RecallTiming::AtStart }
}

#[test]
fn ours_are_known_wherever_the_program_lies() {
    let check = |command: &str, expected| assert_eq!(is_ours(command, &plan("archivist")), expected, "{command}");
    check("archivist hook claude-code stop", true);
    check("/opt/bin/archivist hook claude-code stop", true);
    check("\"C:\\Program Files\\Archivist.exe\" hook claude-code stop", true);
    check("'/my tools/archivist' --project /x hook claude-code stop -q", true);
    check("RUST_LOG=debug archivist hook claude-code stop || true", true);
    check("cd /x && archivist hook claude-code", true);
    check("archivist hook codex stop", false);
    check("archivist recall hook claude-code", true);
    check("archivist list; other hook claude-code stop", false);
    check("archivist", false);
    check("echo archivist-hook claude-code stop", false);
    check("my-archivist hook claude-code stop", false);
    check("", false);
    check("\"archivist hook claude-code", false);
}

#[test]
fn a_program_of_another_name_is_ours_by_its_plan() {
    assert!(is_ours("/x/arch-dev hook claude-code stop", &plan("\"/y z/arch-dev\"")));
    assert!(!is_ours("/x/arch-dev hook claude-code stop", &plan("archivist")));
}

#[test]
fn an_update_keeps_what_somebody_added() {
    let check = |command: &str, event: &str, expected: Option<&str>| {
        assert_eq!(update_command(command, event, &plan("/new/archivist")).as_deref(), expected, "{command}");
    };
    check("/new/archivist hook claude-code stop", "Stop", None);
    check("/new/archivist hook claude-code stop -q", "Stop", None);
    check("archivist hook claude-code stop -q", "Stop", Some("/new/archivist hook claude-code stop -q"));
    check("A=1 archivist -q hook claude-code stop", "Stop", Some("A=1 /new/archivist -q hook claude-code stop"));
    check("archivist hook claude-code stop", "SessionEnd", Some("/new/archivist hook claude-code session-end"));
    check("archivist hook claude-code", "Stop", Some("/new/archivist hook claude-code stop"));
    check("archivist hook claude-code 2>a;b", "Stop", Some("/new/archivist hook claude-code stop 2>a;b"));
    check("C:\\x\\archivist.exe hook claude-code stop&", "Stop", Some("/new/archivist hook claude-code stop&"));
    check("archivist hook claude-code stop", "PostToolUse", None);
    check("other hook claude-code stop", "Stop", None);
}

#[test]
fn a_program_is_quoted_where_it_must_be() {
    let check = |program: &str, expected: Option<&str>| {
        assert_eq!(HookPlan::quote_program(program).as_deref(), expected, "{program}");
    };
    check("archivist", Some("archivist"));
    check("~/.cargo/bin/archivist", Some("~/.cargo/bin/archivist"));
    check("/my tools/archivist", Some("\"/my tools/archivist\""));
    check("C:\\tools\\archivist.exe", Some("\"C:\\tools\\archivist.exe\""));
    check("a; rm -rf b", Some("\"a; rm -rf b\""));
    check("$(x)", None);
    check("a\"b", None);
    check("", None);
    check("--x", None);
}
