use super::{any_listed, capitalize_first, cut_to_length, is_uninformative, shorten_error, shorten_paths};

#[test]
fn an_error_is_brought_to_its_telling_part() {
    let cases = [
        ("outcome: error - FM_MAX_CONTEXT_CHARS is not defined", "FM_MAX_CONTEXT_CHARS is not defined"),
        ("E   ModuleNotFoundError: No module named 'x'", "No module named 'x'"),
        ("bash: line 1: jq: command not found", "jq: command not found"),
        ("/usr/bin/python3: No module named pytest", "No module named pytest"),
        ("npm ERR! ERESOLVE unable to resolve", "ERESOLVE unable to resolve"),
        ("django.db.utils.OperationalError: no such table: x", "OperationalError: no such table: x"),
        ("src/db.ts(3,10): error TS2305: no `x`", "TS2305: no 'x'"),
        ("thread 'db::insert' panicked at src/db.rs:4: database is locked", "database is locked"),
        ("2025-01-02T10:11:12Z ERROR connection lost", "connection lost"),
        ("API Error: 429 {\"error\":{\"message\":\"Slow down please\"}}", "Slow down please"),
        ("Error: EACCES: permission denied, mkdir '/home/ada/deep/app/x'", "EACCES: permission denied, mkdir 'app/x'"),
        ("error", "error"),
        ("", ""),
    ];
    for (headline, wanted) in cases {
        assert_eq!(shorten_error(headline), wanted, "{headline}");
    }
}

#[test]
fn headlines_without_content_are_known() {
    for talk in [
        "outcome: failure",
        "Exit code 1",
        "exit status 2",
        "command failed",
        "FAILED",
        "3 failed, 9 passed in 0.3s",
        "no output",
        "Process exited with code 1",
        "make: *** [all] Error 2",
        "1 error",
    ] {
        assert!(is_uninformative(talk), "{talk}");
    }
    for word in
        ["FM_MAX_CONTEXT_CHARS is not defined", "no such table: orders", "Permission denied", "command not found: jq"]
    {
        assert!(!is_uninformative(word), "{word}");
    }
}

#[test]
fn paths_are_short_and_texts_end_between_words() {
    let folder = Some("/home/ada/shop");
    assert_eq!(shorten_paths("cd /home/ada/shop/web && ls '/home/ada/shop'", folder), "cd web && ls '.'");
    assert_eq!(shorten_paths("open /Users/bob/x/y/z.py:3", folder), "open y/z.py:3");
    assert_eq!(
        shorten_paths("JAVA_HOME=/usr/lib/jvm/java-21/bin https://a.b/c/d/e/f", folder),
        "JAVA_HOME=/usr/lib/jvm/java-21/bin https://a.b/c/d/e/f"
    );
    assert_eq!(cut_to_length("one two three", 9), "one two…");
    assert_eq!(cut_to_length("ünïcödé", 3), "ünï…");
    assert!(!any_listed("", |_| true));
}

#[test]
fn only_words_get_a_capital() {
    for (text, wanted) in [
        ("use tabs", "Use tabs"),
        ("don't", "Don't"),
        ("src/gen is generated", "src/gen is generated"),
        ("pnpm only", "pnpm only"),
        ("camelCase names", "camelCase names"),
        ("`x` fails", "`x` fails"),
        ("--no-verify is out", "--no-verify is out"),
        ("", ""),
    ] {
        assert_eq!(capitalize_first(text), wanted);
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange(text in ".{0,400}") {
        let _ = shorten_error(&text);
        let _ = shorten_paths(&text, Some("/a/b"));
        let _ = is_uninformative(&text);
        proptest::prop_assert!(cut_to_length(&text, 20).chars().count() <= 21);
    }
}
