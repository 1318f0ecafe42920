use super::{Remark, core, own_sentences, with_company};
use crate::distill::heuristic::wish::standing::Role;

fn roles(text: &str) -> Vec<Role> {
    own_sentences(text).into_iter().map(|said| Remark::of(said, &[], true).role).collect()
}

/// The sentences that a wish is told in.
fn told(text: &str) -> Vec<&str> {
    let said = own_sentences(text);
    let remarks: Vec<Remark<'_>> = said.iter().map(|said| Remark::of(said, &[], true)).collect();
    let Some(core) = core(&remarks) else { return Vec::new() };
    with_company(&remarks, core).into_iter().map(|at| said[at]).collect()
}

#[test]
fn a_sentence_that_carries_a_wish_on_is_told_with_it() {
    let cases: &[(&str, &[&str])] = &[
        (
            "Bump the dependencies apart from features. We always do that in a separate commit.",
            &["Bump the dependencies apart from features.", "We always do that in a separate commit."],
        ),
        (
            "Our releases are named after rivers, and they carry no dates. Rename this one and keep to it from here on.",
            &["Our releases are named after rivers, and they carry no dates."],
        ),
        (
            "Secrets go in Vault. Never in .env files that are checked in.",
            &["Secrets go in Vault.", "Never in .env files that are checked in."],
        ),
        (
            "you're not allowed to push to main. ever. open a PR",
            &["you're not allowed to push to main. ever.", "open a PR"],
        ),
        (
            "let errors bubble up, the handler deals with them. that's true for all endpoints",
            &["let errors bubble up, the handler deals with them."],
        ),
        (
            "It would be better to always return a Result rather than throwing. All of our services do that.",
            &["It would be better to always return a Result rather than throwing."],
        ),
        (
            "It's fine this time, but going forward tests come first.",
            &["It's fine this time, but going forward tests come first."],
        ),
        ("Never push to main. Could you redo it?", &["Never push to main."]),
    ];
    for (text, wanted) in cases {
        assert_eq!(told(text), *wanted, "{text}");
    }
}

#[test]
fn polite_questions_stand_if_they_last() {
    for text in [
        "could you always run the linter first?",
        "Would you mind asking me before you push from now on?",
        "Can we agree that you run the linter before you stop?",
        "I'd appreciate it if you ran the linter every time",
        "could you write commit messages in English?",
        "One small request going forward: could you keep the messages below 60 characters?",
    ] {
        assert_eq!(roles(text), [Role::Standing], "{text}");
    }
    for text in ["could you update the docs?", "Can you always keep it this short?", "can we use 3 instead of 5?"] {
        assert!(!roles(text).contains(&Role::Standing), "{text}");
    }
}

#[test]
fn pages_of_others_are_nobodys_words() {
    assert!(own_sentences("Here:\n\nClients must always send a header. Never reply with 204.").is_empty());
    assert_eq!(own_sentences("Please remember:\n- never push"), ["Please remember:", "- never push"]);
    assert_eq!(own_sentences("> quoted\n```\nfenced\n```\nmine"), ["mine"]);
}
