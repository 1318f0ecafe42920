use super::*;

#[test]
fn ends_of_calls_that_are_forgotten_are_given_up_and_not_lost() {
    let end = |text: &str| Output { text: text.to_owned(), ..Output::default() };
    let mut calls = Calls::default();
    calls.is_news("first");
    calls.ended("first".to_owned(), end("a"));
    calls.is_news("first");
    assert_eq!(calls.given_up(), Some(("first".to_owned(), end("a"))), "its name is another's now");
    calls.ended("first".to_owned(), end("b"));
    for number in 1..MAX_CALLS {
        calls.is_news(&number.to_string());
        assert_eq!(calls.given_up(), None);
    }
    calls.is_news("last");
    assert_eq!(calls.given_up(), Some(("first".to_owned(), end("b"))));
    assert_eq!(calls.unanswered(), []);
}
