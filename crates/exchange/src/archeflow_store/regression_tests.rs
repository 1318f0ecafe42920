use super::*;

#[test]
fn earlier_runs_stand_before_this_one() {
    let index = |runs: &[&str]| runs.iter().map(|run| format!("{{\"run_id\":\"{run}\"}}\n")).collect::<String>();
    for (runs, current, expected) in [
        (&[][..], "now", &[][..]),
        (&["now"], "now", &[]),
        (&["a", "b", "a", "now"], "now", &["a", "b"]),
        (&["a", "now", "b"], "now", &["a"]),
        (&["now", "a", "now"], "now", &["a"]),
        (&["a", "b"], "now", &["a", "b"]),
    ] {
        assert_eq!(list_earlier_runs(index(runs).as_bytes(), current), expected, "{runs:?}");
    }
}

#[test]
fn half_of_the_words_came_back() {
    let found = ["Something else", "Null check is missing", "Missing null check"];
    let regression = find_regression("Missing null check in API".into(), "r-1".into(), &found).unwrap();
    assert_eq!(
        regression.to_message(),
        "REGRESSION: \"Missing null check in API\" (fixed in r-1) reappeared as \"Null check is missing\""
    );
    assert_eq!(find_regression("alpha beta gamma".into(), "r-1".into(), &["alpha"]), None);
}
