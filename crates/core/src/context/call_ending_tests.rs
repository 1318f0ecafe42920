use super::{CallOutcome, read_call_outcome};
use crate::context::tool_action::ToolAction;
use crate::domain::ToolOutput;

fn read(command: &str, text: &str, failed: Option<bool>) -> CallOutcome {
    let output = ToolOutput { text: text.to_owned(), failed, ..ToolOutput::default() };
    read_call_outcome("Bash", &ToolAction::Run { command: command.to_owned() }, Some(&output))
}

#[test]
fn a_call_passes_fails_or_says_nothing() {
    assert_eq!(read("make", "done", Some(false)), CallOutcome::Passed);
    assert_eq!(read("make", "Command running in background with ID: 1", None), CallOutcome::Unknown);
    assert_eq!(read("make", "The user doesn't want to proceed with this tool use.", Some(true)), CallOutcome::Unknown);
    assert_eq!(read_call_outcome("Bash", &ToolAction::Other, None), CallOutcome::Unknown);
    let CallOutcome::Failed(fault) = read("jq . x.json", "bash: jq: command not found", Some(true)) else {
        panic!("passed")
    };
    assert_eq!((fault.class, fault.headline.as_str()), ("not_found", "bash: jq: command not found"));
}

#[test]
fn the_family_is_that_of_the_signal() {
    use crate::context::test_support::{Does, gather};
    let gathered = gather(&[Does::User("build it"), Does::Fails("make", "make: cc: No such file or directory")]);
    let call = gathered.trajectories[0].steps[1].calls[0].clone();
    let action = ToolAction::from_call(&call.tool, &call.arguments);
    let CallOutcome::Failed(fault) = read_call_outcome(&call.tool, &action, call.output.as_ref()) else {
        panic!("passed")
    };
    assert_eq!(Some(&fault.family), gathered.signals[0].error_family.as_ref());
}
