use super::*;

fn words(text: &str) -> BTreeSet<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn words_that_are_looked_up_are_sorted() {
    assert!(TURNING.is_sorted());
    assert!(BEARING.is_sorted());
}

#[test]
fn opposites_count_only_where_neither_has_both() {
    let check = |one, other, expected| assert_eq!(are_opposed(&words(one), &words(other)), expected, "{one} / {other}");
    check("run it before", "run it after", true);
    check("enable caching", "keep caching disabled", true);
    check("before and after", "after", false);
    check("run it", "run it after", false);
}

#[test]
fn change_is_told_by_whole_words() {
    assert!(reports_change("We no longer use npm"));
    assert!(reports_change("The limit was raised to 50"));
    assert!(!reports_change("It fails now and then"));
    assert!(!reports_change("gonesville"));
}
