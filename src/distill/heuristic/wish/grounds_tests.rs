use super::super::standing::{Role, Spoken};

fn role(lower: &str) -> Role {
    Spoken::new(lower).role(&[], true)
}

#[test]
fn what_is_ruled_out_without_appeal_stands() {
    for lower in [
        "you're not allowed to push to main",
        "plain strings aren't allowed in components",
        "production credentials are off limits for you",
        "nothing in core/ may import from plugins/",
        "error messages must go through i18n",
        "you can't just bump major versions",
        "you shouldn't commit generated files",
        "reviews are non-negotiable for migrations",
        "strict typing please, no `any`, no `as unknown as`",
        "no emojis in code or commit messages",
        "don't edit the generated client",
        "the hooks are there for a reason, don't skip them",
        "don't open a pr without asking",
        "stop apologizing and stop writing readme files nobody asked for",
    ] {
        assert_eq!(role(lower), Role::Standing, "{lower}");
    }
}

#[test]
fn what_a_program_forbids_its_users_does_not_stand() {
    for lower in [
        "guests are not allowed to check out",
        "the user must go through the wizard",
        "you can't see the button on a phone",
        "you shouldn't change the button",
        "no rush, take your time with code",
        "no errors in the log",
    ] {
        assert_ne!(role(lower), Role::Standing, "{lower}");
    }
}

#[test]
fn what_every_session_makes_is_spoken_of_for_good() {
    for lower in [
        "keep your answers short",
        "all new tables need created_at and updated_at",
        "if a test is flaky, don't just rerun it",
        "this codebase is python 3.9, no match statements",
        "do not bump the version yourself, the release bot does that",
        "no breaking changes, ever",
        "use conventional commits",
        "keep pr descriptions to three sentences",
        "our linter forbids lodash",
        "in tests we use factories, not fixtures",
        "use yarn, this repo has a yarn.lock",
        "ci uses postgres 14, so avoid newer syntax",
        "all tests must pass before you merge",
        "write commit messages in english",
        "i want small prs",
        "a changelog entry for every change that users see",
        "the ci runs on node 18, so please only use apis available there",
        "just run the tests of the package you changed, always",
        "this project doesn't use semicolons, see .prettierrc",
        "this repo is tabs, not spaces",
        "named exports only, from here on",
        "when adding a column you also have to update schema.md",
        "if you add a dependency, ask first",
        "whenever you touch a .proto file you have to run buf generate",
    ] {
        assert_eq!(role(lower), Role::Standing, "{lower}");
    }
}

#[test]
fn what_people_have_or_need_is_no_custom() {
    for lower in [
        "we don't need the cache here, the result is tiny",
        "we don't have a staging database",
        "we never had trouble with it",
        "we don't know who calls it",
        "we don't care about the order",
        "i think we should rather not use kafka",
        "next time the job runs it should pick up where it left off, and never start from zero",
        "from now on the api returns 202 instead of 200, please adapt the client",
        "in the future we may split it",
        "when the user clicks cancel you must abort the request, always",
        "before you go on, run the tests",
        "squash the commits",
        "write tests for the parser",
        "the project is broken, not slow",
        "all tests pass",
        "the parser must never panic on bad input",
        "remove the todo, we never do that anyway",
        "all tests are green on my machine",
        "users must always confirm before deleting an account",
        "only the admin must see the export",
        "the api must not return deleted rows",
        "we always get a 500 when the cart is empty",
        "don't delete the test, fix it",
        "don't touch the tests, only the implementation",
        "don't add a new table, extend the existing one",
        "nobody knows why it is slow",
        "i always get the same message",
        "we're on the right track",
        "no more errors, great",
    ] {
        assert!(!matches!(role(lower), Role::Standing | Role::Lasting), "{lower}: {:?}", role(lower));
    }
}
