use super::{asked, bare, is_loud, plain, sentences};

#[test]
fn chat_is_spelled_out() {
    let cases = [
        (
            "pls dont create new files when u can extend existing ones",
            "please don't create new files when you can extend existing ones",
        ),
        ("👎 no emojis in code pls", "no emojis in code please"),
        ("why do you keep doing it??", "why do you keep doing it?"),
        ("ASK ME BEFORE YOU DELETE ANYTHING", "ask me before you delete anything"),
        ("we do NOT put logic there", "we do not put logic there"),
        ("don’t use `dont` here", "don't use `dont` here"),
        ("the URL and the API stay", "the URL and the API stay"),
    ];
    for (said, wanted) in cases {
        assert_eq!(plain(said), wanted);
    }
    assert!(is_loud("pnpm!! not npm") && is_loud("we do NOT do that") && !is_loud("use the API"));
}

#[test]
fn a_word_of_stress_begins_no_sentence() {
    assert_eq!(
        sentences("you may not push to main. ever. open a PR"),
        ["you may not push to main. ever.", "open a PR"]
    );
    assert_eq!(sentences("pnpm!! not npm"), ["pnpm!! not npm"]);
    assert_eq!(plain("pnpm!! not npm"), "pnpm, not npm");
    assert_eq!(sentences("run `make a; make b` first. Then push"), ["run `make a; make b` first.", "Then push"]);
    assert_eq!(
        sentences("Use a.b, e.g. c. Not all of them are good."),
        ["Use a.b, e.g. c.", "Not all of them are good."]
    );
}

#[test]
fn what_only_leads_up_to_a_wish_is_cut() {
    let cases = [
        ("ok cool, one more thing: always use tabs", "always use tabs", false),
        ("hey, great work, but never push to main", "never push to main", false),
        ("One more thing for the future: put the newest on top", "put the newest on top", true),
        (
            "hey, small convention thing - branch names start with the ticket",
            "branch names start with the ticket",
            true,
        ),
        ("Nit, but a recurring one: acronyms are words", "acronyms are words", true),
        ("In general I want small PRs", "I want small PRs", true),
        ("for fucks sake how many times do i have to say it, we do not do that", "we do not do that", false),
        ("Let me be clear: production is off limits", "production is off limits", false),
        ("one thing I'd like you to remember: we pin versions", "we pin versions", true),
        ("In controllers, never call the database", "In controllers, never call the database", false),
        ("Commit messages: always in English", "Commit messages: always in English", false),
        ("use pnpm, please", "use pnpm", false),
        ("please remember: branches start from develop", "branches start from develop", true),
        ("Just a heads up: CI uses Postgres", "CI uses Postgres", false),
        ("no force pushes on shared branches", "no force pushes on shared branches", false),
    ];
    for (said, wanted, is_for_long) in cases {
        let cut = bare(said);
        assert_eq!((cut.text, cut.is_for_long), (wanted, is_for_long), "{said}");
    }
}

#[test]
fn what_is_asked_politely_is_an_order() {
    let cases = [
        ("could you always run the linter first?", "always run the linter first", false),
        ("Could you please not run prettier on everything?", "don't run prettier on everything", false),
        ("would you mind using the `Money` type for amounts?", "use the `Money` type for amounts", false),
        ("Would you mind not committing lock files?", "don't commit lock files", false),
        ("can we agree that you run the linter before you stop?", "run the linter before you stop", true),
        ("I'd appreciate it if you wrote the tests first", "write the tests first", false),
        ("It would be great if you could keep PRs small", "keep PRs small", false),
        ("i'd rather you didn't push", "don't push", false),
        ("I want you to ask before installing anything", "ask before installing anything", false),
        ("I don't want you to push", "don't push", false),
        ("why do you keep writing inline styles?", "stop writing inline styles", true),
        ("pnpm, not npm", "use pnpm, not npm", false),
    ];
    for (said, order, is_for_long) in cases {
        let asked = asked(said).unwrap_or_else(|| panic!("{said}"));
        assert_eq!((asked.order.as_str(), asked.is_for_long), (order, is_for_long), "{said}");
    }
    for said in ["can we use 3 attempts?", "why is it red?", "use pnpm", "would you mind?", "blue, not green"] {
        assert_eq!(asked(said), None, "{said}");
    }
}

proptest::proptest! {
    #[test]
    fn no_words_are_too_strange(text in ".{0,300}") {
        for sentence in sentences(&text) {
            let plain = plain(sentence);
            let _ = asked(bare(&plain).text);
        }
    }
}
