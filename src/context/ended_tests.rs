use super::{Ended, ended};
use crate::context::action::Action;
use crate::domain::Output;

fn read(command: &str, text: &str, failed: Option<bool>) -> Ended {
    let output = Output { text: text.to_owned(), failed, ..Output::default() };
    ended("Bash", &Action::Run { command: command.to_owned() }, Some(&output))
}

#[test]
fn a_call_passes_fails_or_says_nothing() {
    assert_eq!(read("make", "done", Some(false)), Ended::Passed);
    assert_eq!(read("make", "Command running in background with ID: 1", None), Ended::Unknown);
    assert_eq!(read("make", "The user doesn't want to proceed with this tool use.", Some(true)), Ended::Unknown);
    assert_eq!(ended("Bash", &Action::Other, None), Ended::Unknown);
    let Ended::Failed(fault) = read("jq . x.json", "bash: jq: command not found", Some(true)) else { panic!("passed") };
    assert_eq!((fault.class, fault.headline.as_str()), ("not_found", "bash: jq: command not found"));
}

#[test]
fn the_family_is_that_of_the_signal() {
    use crate::context::test_support::{Does, gather};
    let gathered = gather(&[Does::User("build it"), Does::Fails("make", "make: cc: No such file or directory")]);
    let call = gathered.trajectories[0].steps[1].calls[0].clone();
    let action = Action::of(&call.tool, &call.arguments);
    let Ended::Failed(fault) = ended(&call.tool, &action, call.output.as_ref()) else { panic!("passed") };
    assert_eq!(Some(&fault.family), gathered.signals[0].error_family.as_ref());
}
