use super::*;

#[test]
fn ends_of_calls_that_are_forgotten_are_given_up_and_not_lost() {
    let end = |text: &str| ToolOutput { text: text.to_owned(), ..ToolOutput::default() };
    let mut calls = CodexCallTracker::default();
    calls.register_item_call("first");
    calls.store_end("first".to_owned(), end("a"));
    calls.register_item_call("first");
    assert_eq!(calls.take_forgotten_end(), Some(("first".to_owned(), end("a"))), "its name is another's now");
    calls.store_end("first".to_owned(), end("b"));
    for number in 1..MAX_CALLS {
        calls.register_item_call(&number.to_string());
        assert_eq!(calls.take_forgotten_end(), None);
    }
    calls.register_item_call("last");
    assert_eq!(calls.take_forgotten_end(), Some(("first".to_owned(), end("b"))));
    assert_eq!(calls.take_unanswered_ends(), []);
}
