use super::super::test_support::Did::{Fails, Runs, Says, User};
use super::super::test_support::{claim, session, verified};

const FAILURE: &str = "error: the pattern matches two suites";

#[test]
fn advice_counts_at_once_only_where_it_was_done_after_the_failure() {
    let before = || vec![User("run the cart suite"), Fails("make suite NAME=cart", FAILURE)];
    let rule = Some("IF one suite is to be run THEN anchor its name: `make suite NAME=^cart$`");
    let untried = Some("IF one suite is to be run THEN pass `--exact` to `make suite NAME=cart`");
    let against = Some("IF one suite is to be run THEN skip `make suite NAME=^cart$`");
    let passes = || Runs("make suite NAME=^cart$", "1 suite passed");
    let quote = (2, FAILURE);
    for (after, rule, quote, expected) in [
        (vec![passes()], rule, quote, 0.7),
        (vec![Says("Anchoring would help.")], rule, quote, 0.6),
        (vec![Fails("make suite NAME=^cart$", FAILURE)], rule, quote, 0.6),
        (vec![passes()], untried, quote, 0.6),
        (vec![passes()], against, quote, 0.6),
        (vec![passes()], rule, (3, "1 suite passed"), 0.6),
    ] {
        let mut did = before();
        did.extend(after);
        let made = claim("`make suite` takes NAME for a pattern, and cart is in two suites", rule, &[quote]);
        let became = verified(&session(&did), vec![made]);
        let importance = became.candidates.first().map(|one| one.importance.value());
        assert_eq!(importance, Some(expected), "{rule:?} {quote:?} {:?}", became.dropped);
    }
}
