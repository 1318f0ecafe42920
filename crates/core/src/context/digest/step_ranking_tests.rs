use serde_json::json;

use super::super::tests::{called, ran, said};
use super::*;
use crate::domain::ToolOutput;

#[test]
fn steps_rank_by_what_they_ran_and_what_came_back() {
    let long: String = (0..90).map(|at| format!("test part::{} ... ok\n", "x".repeat(at))).collect();
    let read = |number, text: &str| {
        called(
            number,
            "Read",
            json!({ "file_path": "a.rs" }),
            ToolOutput { text: text.to_owned(), ..ToolOutput::default() },
        )
    };
    let steps = [
        (ran(1, "make", 0, "Command running in background (session 17)"), NewsRank::SmallRun),
        (ran(2, "make", 0, "Command running in background (session 18)"), NewsRank::Nothing),
        (ran(3, "make", 0, "built in 3 s"), NewsRank::Again),
        (ran(4, "make test", 0, &long), NewsRank::LongRun),
        (ran(5, "make test", 0, &long), NewsRank::Nothing),
        (ran(6, "git status --short", 0, "?? out/"), NewsRank::SmallLook),
        (read(7, &long), NewsRank::Look),
        (said(8, Speaker::Agent, "Done."), NewsRank::SmallLook),
    ];
    let (steps, ranks): (Vec<Step>, Vec<NewsRank>) = steps.into_iter().unzip();
    assert_eq!(rank_news(&steps), ranks);
}

#[test]
fn a_command_given_again_names_the_step_that_gave_it_first() {
    let steps = vec![ran(1, "make", 0, ""), ran(2, "make test", 0, ""), ran(4, "make", 0, "ok"), ran(5, "make", 0, "")];
    let trajectory = Trajectory { steps, ..Trajectory::default() };
    let again: Vec<(Place, u32)> = find_repeated_commands(&[trajectory]).into_iter().collect();
    assert_eq!(again, [((0, 2), 1), ((0, 3), 1)]);
}

#[test]
fn what_complains_comes_before_other_steps_whatever_its_end_is_said_to_be() {
    let mut steps: Vec<Step> =
        (1..30).map(|at| ran(at, &format!("make part{at}"), 0, &format!("built {at}"))).collect();
    steps.push(ran(30, "hk install", 0, "zsh:1: command not found: hk"));
    steps.push(ran(31, "cat notes.md", 0, "error: how to read one"));
    let trajectory = Trajectory { steps, ..Trajectory::default() };
    let order = DigestRanking::new(std::slice::from_ref(&trajectory), &[]);
    assert_eq!(order.failing, [(0, 29)]);
    assert!(order.error.contains("hk"), "{:?}", order.error);
}

#[test]
fn a_flood_is_shown_by_what_the_harness_says_of_it() {
    let flood =
        |count: u64| format!("Chunk ID: 1\nOriginal token count: {count}\nOutput:\n{}", "./log:1:\n".repeat(99));
    let steps = vec![ran(1, "grep -R a .", 0, &flood(84_721)), ran(2, "grep -R b src", 0, &flood(310))];
    let trajectory = Trajectory { steps, ..Trajectory::default() };
    assert_eq!(DigestRanking::new(std::slice::from_ref(&trajectory), &[]).failing, [(0, 0)]);
}

#[test]
fn a_plan_is_what_the_agent_says() {
    let plan = called(2, "ExitPlanMode", json!({ "plan": "# Why\nEvery search is empty." }), ToolOutput::default());
    let steps = vec![ran(1, "qmd search a", 0, ""), plan, said(3, Speaker::Agent, "Done.")];
    let trajectory = Trajectory { steps, ..Trajectory::default() };
    let mut spoken = DigestRanking::new(std::slice::from_ref(&trajectory), &[]).spoken;
    spoken.sort_unstable();
    assert_eq!(spoken, [(0, 1), (0, 2)]);
}
