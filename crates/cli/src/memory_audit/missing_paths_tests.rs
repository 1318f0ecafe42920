use super::*;

fn check(text: &str, expected: Option<&str>) {
    let is_there = |path: &str| ["src/lib.rs", "docs/setup.md", "Makefile"].contains(&path);
    assert_eq!(find_missing_path(text, &is_there).as_deref(), expected, "{text}");
}

#[test]
fn a_file_that_is_not_there_is_found() {
    check("The parser in src/text/parser.rs panics on blanks", Some("src/text/parser.rs"));
    check("See `src/lib.rs` and `src/lost.rs:12`", Some("src/lost.rs"));
    check("Tests are in (tests/e2e/login.ts).", Some("tests/e2e/login.ts"));
    check("Keep `tsconfig.json` strict", Some("tsconfig.json"));
    // Only the sentence that speaks of it is taken out.
    check("src/a.rs was removed. The rest is in src/b.rs", Some("src/b.rs"));
}

#[test]
fn what_is_there_or_no_file_of_the_project_is_left_alone() {
    for text in [
        "Read docs/setup.md before src/lib.rs",
        "No file at all",
        "Read https://example.org/docs/setup.html",
        "Node.js and/or Deno",
        "src/old.rs was removed",
        "Create src/fresh.rs for that",
        "The build writes dist/app/main.js",
        "Edit /etc/hosts.txt and ~/.config/app.toml",
        "",
    ] {
        check(text, None);
    }
}
