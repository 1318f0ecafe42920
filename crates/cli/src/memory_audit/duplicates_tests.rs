use super::*;

const THRESHOLDS: SimilarityThresholds = SimilarityThresholds { same_above: 0.88, different_below: 0.3 };

fn copied(texts: &[&str]) -> Vec<Option<DuplicateMatch>> {
    let entry = |text: &&str| AuditEntry {
        name: String::new(),
        text: (*text).to_owned(),
        at: None,
        used: None,
        is_retired: false,
    };
    let entries: Vec<AuditEntry> = texts.iter().map(entry).collect();
    find_duplicates(&entries.iter().collect::<Vec<_>>(), &THRESHOLDS)
}

#[test]
fn the_same_words_are_the_same_whatever_their_case_and_blanks() {
    let found = copied(&["Use pnpm here", "use  PNPM\n here ", "Use pnpm there", "Use pnpm here"]);
    assert_eq!(found.first(), Some(&None));
    assert_eq!(found.get(1), Some(&Some(DuplicateMatch::Exactly(0))));
    assert_eq!(found.get(3), Some(&Some(DuplicateMatch::Exactly(0))));
}

#[test]
fn other_words_for_the_same_are_found() {
    for (one, other) in [
        (
            "The order worker must be stopped before the queue is drained by hand, or messages are taken twice.",
            "The order worker has to be stopped before draining the queue by hand, otherwise messages get taken twice.",
        ),
        (
            "Playwright needs `--no-sandbox` in the container, otherwise Chromium exits with code 133.",
            "Playwright needs the flag `--no-sandbox` inside the container, or Chromium exits with code 133.",
        ),
        (
            "Use `uv sync` and not `pip install` here; pip leaves the lock file behind the code.",
            "Use `uv sync`, not `pip install`, in this project: pip leaves the lock file behind the code.",
        ),
    ] {
        let found = copied(&[one, "Feature flags are read once at start.", other]);
        assert_eq!(found, [None, None, Some(DuplicateMatch::Nearly(0))], "{other}");
    }
}

#[test]
fn other_matters_in_much_the_same_words_are_not() {
    for (one, other) in [
        ("The dev server listens on port 8080.", "The metrics server listens on port 9090."),
        ("Run `make itest` after changing a migration.", "Run `make snapshots` after changing a template."),
        ("Use npm and not pnpm in this repository.", "Use pnpm and not npm in this repository."),
        ("Always squash commits before merging.", "Never squash commits before merging."),
        (
            "Squash merge pull requests",
            "Squash commits when merging a branch into `develop`\nIF merging into develop THEN squash",
        ),
        (
            "The build fails on Mondays\nIF the cache is cold THEN warm it with `make warm`",
            "The build fails on Mondays\nIF the licence server is down THEN call the vendor",
        ),
        (
            "Set memory limits on the pods",
            "Sidekiq memory bloat: set MALLOC_ARENA_MAX=2 in the Procfile\nIF Sidekiq bloats THEN MALLOC_ARENA_MAX=2",
        ),
    ] {
        assert_eq!(copied(&[one, other]), [None, None], "{other}");
    }
}

#[test]
fn what_repeats_a_repetition_repeats_the_original() {
    let one = "The order worker must be stopped before the queue is drained by hand, or messages are taken twice.";
    let two = "The order worker has to be stopped before draining the queue by hand, or messages are taken twice.";
    let found = copied(&[one, two, two, one]);
    assert_eq!(
        found,
        [None, Some(DuplicateMatch::Nearly(0)), Some(DuplicateMatch::Exactly(1)), Some(DuplicateMatch::Exactly(0))]
    );
}

#[test]
fn many_entries_are_not_held_against_each_other_in_pairs() {
    // Two thousand notes of one shape; all pairs would be two million.
    let words = ["amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty"];
    let word = |at: usize| words.get(at % 10).copied().unwrap_or_default();
    let texts: Vec<String> = (0..2_000)
        .map(|n| {
            format!(
                "The {} service {n} keeps its {} in the {} of shard {}",
                word(n),
                word(n / 10),
                word(n / 100),
                n / 7
            )
        })
        .collect();
    let blocks =
        RareWordIndex::new(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &mut WordSplitter::default());
    let mut kept = RareWordIndex { holders: blocks.holders.clone(), ..blocks };
    let mut held = 0;
    for at in 0..texts.len() {
        held += kept.find_candidates(at).len();
        kept.add_original(at);
    }
    assert!(held <= texts.len() * MAX_HELD, "{held}");
}
