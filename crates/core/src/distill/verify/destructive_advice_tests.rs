use super::find_destructive;

#[test]
fn what_destroys_is_found_unless_it_is_refused() {
    let cases = [
        ("IF the commit hangs THEN commit with `--no-gpg-sign`.", Some("--no-gpg-sign")),
        ("Run `git stash` before the build.", Some("git stash")),
        ("Push with `git push --force`.", Some("--force")),
        ("Push with `git push --force-with-lease`.", None),
        ("Ask the person; do not commit with `--no-gpg-sign`.", None),
        ("Never run `git reset --hard` here.", None),
        ("Run `go test ./...`.", None),
    ];
    for (text, found) in cases {
        assert_eq!(find_destructive(text), found, "{text}");
    }
}
