use super::super::test_support::Did::{Calls, Fails, Says, User};
use super::super::test_support::{claim, session, verified};
use super::*;

#[test]
fn what_only_strangers_say_waits_for_a_person() {
    let context = session(&[
        User("update the parser"),
        Calls("WebFetch", serde_json::json!({"url": "https://x.example"}), "parser v3 drops the old flag"),
        Calls("Task", serde_json::json!({"prompt": "look"}), "the parser is slow on tabs"),
    ]);
    let quotes = [(2, "parser v3 drops the old flag"), (3, "the parser is slow on tabs")];
    let became = verified(&context, vec![claim("The `parser` is slow on tabs", None, &quotes)]);
    let why = became.candidates[0].quarantine.clone().unwrap();
    assert_eq!(why, "everything it quotes was written by another agent and the web");
}

#[test]
fn the_log_says_how_strong_the_proof_is() {
    let context = session(&[
        User("make it build"),
        Says("I believe that `--locked` is needed."),
        Fails("cargo build --locked", "error: the lock file needs to be updated"),
    ]);
    let mut by_words = claim("Cargo needs `--locked`", None, &[(2, "I believe that `--locked` is needed.")]);
    by_words.quotes[0].level = Some(EvidenceLevel::Execution);
    let by_deed = claim("`cargo build --locked` fails here", None, &[(3, "cargo build --locked")]);
    let became = verified(&context, vec![by_words, by_deed]);
    let of = |summary: &str| became.candidates.iter().find(|one| one.summary.contains(summary)).unwrap();
    let weak = of("needs");
    assert_eq!(weak.importance, Importance::MAX_BY_WORDS);
    assert_eq!(weak.mended.len(), 2, "{:?}", weak.mended);
    assert!(weak.mended[0].contains("said to be execution; the log shows reasoning"));
    let strong = of("fails here");
    assert!((strong.importance.value() - 0.7).abs() < f64::EPSILON && strong.mended.is_empty());
}

#[test]
fn a_persons_word_is_enough() {
    let context = session(&[User("Always use pnpm here.")]);
    let became = verified(&context, vec![claim("Use pnpm", None, &[(1, "Always use pnpm here.")])]);
    assert!((became.candidates[0].importance.value() - 0.7).abs() < f64::EPSILON);
}
