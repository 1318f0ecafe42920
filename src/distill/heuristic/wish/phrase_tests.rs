use super::{When, as_order, of_the_user, small, when};

#[test]
fn nobody_speaks_of_themselves() {
    let cases = [
        ("I prefer tabs", "the user prefers tabs"),
        ("I really don't like default exports", "the user really doesn't like default exports"),
        ("ask me before you push to my branch", "ask the user before you push to the user's branch"),
        ("Deploys I do myself", "Deploys the user does in person"),
        (
            "I've told you, I'd rather wait, I'm busy",
            "the user has told you, the user would rather wait, the user is busy",
        ),
        ("keep `my_i` and `I` as they are", "keep `my_i` and `I` as they are"),
        ("I watch it, I pass", "the user watches it, the user passes"),
    ];
    for (said, wanted) in cases {
        assert_eq!(of_the_user(said), wanted);
    }
}

#[test]
fn likes_and_duties_are_orders() {
    let cases = [
        ("I prefer tabs", "prefer tabs"),
        ("not a fan of mocks", "avoid mocks"),
        ("you're not allowed to push to main", "don't push to main"),
        ("you can't just bump versions", "don't bump versions"),
        ("you should never log bodies", "never log bodies"),
        ("You need to use the wrapper", "use the wrapper"),
    ];
    for (said, wanted) in cases {
        assert_eq!(as_order(said).as_deref(), Some(wanted));
    }
    assert_eq!(as_order("we use pnpm"), None);
    assert_eq!((small("Use X"), small("HTTP first")), ("use X".to_owned(), "HTTP first".to_owned()));
}

#[test]
fn conditions_are_told_apart_from_orders() {
    let cases = [
        ("when you touch migrations, always add a down step", "you touch migrations", "always add a down step"),
        ("for anything under api/, update the changelog", "you work on anything under api/", "update the changelog"),
        ("if you add a dependency, ask me first", "you add a dependency", "ask me first"),
        (
            "whenever you touch a .proto file you have to run buf generate",
            "you touch a .proto file",
            "run buf generate",
        ),
        ("when adding a column you also have to update schema.md", "you are adding a column", "update schema.md"),
        ("run the linter before you push", "you are about to push", "run the linter"),
        (
            "always run `make fmt` before committing, the hook rejects it otherwise",
            "you are about to commit",
            "always run `make fmt`, the hook rejects it otherwise",
        ),
        ("ask me before you delete anything", "you are about to delete anything", "ask me first"),
        ("if a test is flaky, don't just rerun it", "a test is flaky", "don't just rerun it"),
        ("ask before installing anything", "you are about to install anything", "ask the user first"),
        ("In controllers, never call the database", "you work in controllers", "never call the database"),
    ];
    for (said, condition, order) in cases {
        assert_eq!(when(said), Some(When { condition: condition.to_owned(), order: order.to_owned() }), "{said}");
    }
    for said in [
        "when the user clicks cancel you must abort the request",
        "in future put SQL into queries/",
        "from now on, use pnpm",
        "don't create files when you can extend others",
        "we use pnpm",
        "if it is slow, look at it",
    ] {
        assert_eq!(when(said), None, "{said}");
    }
}

proptest::proptest! {
    #[test]
    fn no_phrase_is_too_strange(text in ".{0,300}") {
        let _ = (when(&text), as_order(&text), of_the_user(&text), small(&text));
    }
}
