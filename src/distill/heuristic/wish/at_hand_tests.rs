use super::super::standing::Spoken;

fn is_at_hand(lower: &str) -> bool {
    Spoken::new(lower).is_at_hand()
}

#[test]
fn what_is_tied_to_the_work_at_hand_is_known() {
    for lower in [
        "please use the logger instead of console.log in that function",
        "always show the price first on that page.",
        "use the existing helper for that instead of a new one",
        "don't run the tests now, the laptop is on battery",
        "don't use settimeout here, use the call we just added",
        "undo the change you just made",
        "remember to also update the download client while you're at it",
        "we switched to v2 of the api last week, update the client accordingly",
        "we never call it without a token so you can drop the null check",
        "all tests pass on my machine, so commit it and push",
        "i prefer option 2",
        "use the second variant, not the first",
        "go with the latter",
        "ask tom before you merge this",
        "merge it",
        "let's not do the refactor in this pr.",
        "only run the failing test until it's fixed",
        "the download client must stay as it is until thursday",
        "don't commit yet",
        "don't log errors there, throw them",
        "don't use settimeout here",
        "next time the job runs it should pick up where it left off",
    ] {
        assert!(is_at_hand(lower), "{lower}");
    }
}

#[test]
fn what_holds_for_the_project_is_not_at_hand() {
    for lower in [
        "from now on use pnpm",
        "we use uv now, not pip",
        "in this repo we never mock the database",
        "never write to that table by hand in this service",
        "for this kind of change add a changelog entry",
        "run the linter first",
        "never commit secrets, they belong in the vault",
        "don't edit generated code, regenerate it",
        "in future leave that out",
        "use uv here, not pip",
        "don't run migrations here",
        "we use bun here",
        "never push anything from here, the user does that",
    ] {
        assert!(!is_at_hand(lower), "{lower}");
    }
}
