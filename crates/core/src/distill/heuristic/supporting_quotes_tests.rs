use super::super::test_support::Session;
use super::{dedup_and_cap, quote_agent, quote_agent_before, quote_anyone, quote_output, quote_user};
use crate::distill::unchecked_candidate::StepReference;

fn at(step: u32) -> StepReference {
    StepReference { trajectory: 0, step }
}

#[test]
fn words_are_taken_from_whoever_said_them() {
    let context = Session::new("please build it")
        .fails("make  all\nmake docs", "first\nerror: missing separator")
        .context(Vec::new());
    assert_eq!(quote_user(&context, at(1), "please build it").unwrap().text, "please build it");
    assert_eq!(quote_agent(&context, at(2), "make  all\nmake docs").unwrap().text, "make  all");
    assert_eq!(quote_output(&context, at(2), "error: missing separator").unwrap().text, "error: missing separator");
    assert_eq!(quote_agent_before(&context, at(2)).unwrap().text, "make  all");
    assert!(quote_agent(&context, at(2), "error: missing separator").is_none());
    assert!(quote_output(&context, at(2), "never printed").is_none());
    assert!(quote_anyone(&context, at(9), "make all").is_none());
}

#[test]
fn short_words_and_repeated_ones_prove_nothing() {
    let context = Session::new("go").passes("ls -l", "a").passes("make all", "done").context(Vec::new());
    assert!(quote_agent(&context, at(2), "ls -l").is_none());
    let quote = quote_agent(&context, at(3), "make all");
    assert_eq!(dedup_and_cap([quote.clone(), None, quote]).len(), 1);
}
