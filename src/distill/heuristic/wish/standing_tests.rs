use super::{Role, Spoken};

fn role(lower: &str) -> Role {
    Spoken::new(lower).role(&[], true)
}

#[test]
fn customs_of_a_project_stand() {
    for lower in [
        "tests here hit the real postgres in docker",
        "secrets never go into values.yaml",
        "the tests must not touch the network, use the recorded responses",
        "dates are always stored in utc",
        "patches go to patches/ and get applied by the build",
        "feature branches are named <ticket>-<slug> here",
        "every endpoint needs an entry in openapi.yaml",
        "before you open a pr, run make check",
        "we ship everything behind a flag",
        "it's pnpm in this repo",
        "no force pushes on shared branches, please",
        "deploys i do myself",
        "keep commits small",
        "use the logger, not console.log",
        "don't apply terraform from your machine, applies run in the pipeline only",
    ] {
        assert_eq!(role(lower), Role::Standing, "{lower}");
    }
}

#[test]
fn what_only_points_holds_for_its_neighbour() {
    for lower in [
        "remember that for every migration.",
        "that is how we keep versions the same for everybody, so stick to it in future.",
        "keep that in mind for other tests as well",
        "same for all other pages",
        "this goes for every repo of ours",
        "amend it please, and think of it next time",
    ] {
        assert_eq!(role(lower), Role::Lasting, "{lower}");
    }
}

#[test]
fn what_is_about_this_one_time_does_not_stand() {
    for lower in [
        "no tests needed",
        "no errors now, ship it",
        "the tests fail on my machine with a different error",
        "all tests are green here, thanks",
        "the migration has a typo in the index name",
        "every time i open the page the tests run twice",
        "don't rename the function, just move it",
        "the discount is never applied to shipping",
        "never wrap it on mobile, and keep it dark",
        "the button should never be visible here",
        "could you update the docs?",
        "we need a second endpoint",
        "maybe tests should always run in docker",
    ] {
        assert!(!matches!(role(lower), Role::Standing | Role::Lasting), "{lower}: {:?}", role(lower));
    }
}

proptest::proptest! {
    #[test]
    fn no_sentence_is_too_strange(text in ".{0,300}") {
        let lower = text.to_lowercase();
        let _ = Spoken::new(&lower).role(&[], true);
    }
}
