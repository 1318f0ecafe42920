use super::*;

#[test]
fn a_matter_is_the_same_by_three_telling_words() {
    let gold = "`hk` is not on PATH in Codex shells; run `mise run lint-fix` instead.";
    for (lesson, expected) in [
        ("`hk` is not on PATH here: run it as `mise x hk -- hk`.", true),
        ("Run the lint before committing.", false),
        ("Always fix the code first.", false),
    ] {
        assert_eq!(count_shared_words(lesson, gold) >= SHARED_WORDS, expected, "{lesson}");
    }
}
