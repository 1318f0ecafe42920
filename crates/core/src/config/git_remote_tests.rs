use proptest::prelude::*;

use super::*;

fn check(url: &str, expected: Option<&str>) {
    assert_eq!(normalise_remote_url(url).as_deref(), expected, "{url}");
}

#[test]
fn all_ways_to_write_a_remote_are_one() {
    for url in [
        "https://github.com/Owner/repo",
        "https://github.com/Owner/repo.git",
        "https://github.com/Owner/repo.git/",
        "https://GitHub.com/Owner/repo//",
        " https://github.com:443/Owner/repo ",
        "http://github.com:80/Owner/repo",
        "https://github.com:/Owner/repo",
        "https://me@github.com/Owner/repo",
        "https://me:s3cret@github.com/Owner/repo.git",
        "https://me:s3c:r@t@github.com/Owner/repo.git",
        "https://github.com/Owner/repo?access_token=s3cret#part",
        "ssh://git@github.com/Owner/repo.git",
        "ssh://git@github.com:22/Owner/repo.git",
        "git+ssh://git@github.com/Owner/repo.git",
        "git://github.com/Owner/repo.git",
        "git@github.com:Owner/repo.git",
        "git@github.com:/Owner/repo.git",
        "git@GITHUB.com:Owner/repo/",
        "github.com:Owner/repo",
        "me:s3cret@github.com:Owner/repo.git",
    ] {
        check(url, Some("github.com/Owner/repo"));
    }
}

#[test]
fn what_makes_a_difference_is_kept() {
    check("https://github.com/owner/repo", Some("github.com/owner/repo"));
    check("https://host:8443/owner/repo.git", Some("host:8443/owner/repo"));
    check("ssh://git@host:2222/~me/repo", Some("host:2222/~me/repo"));
    check("https://host/a/b/c/d.git", Some("host/a/b/c/d"));
    check("https://host/repo.github", Some("host/repo.github"));
    check("ssh://git@[2001:DB8::1]:22/repo.git", Some("[2001:db8::1]/repo"));
    check("git@[2001:db8::1]:owner/repo", Some("[2001:db8::1]/owner/repo"));
    check("https://[::1]/repo", Some("[::1]/repo"));
}

#[test]
fn a_local_repository_is_its_absolute_path() {
    check("/srv/git/repo.git", Some("/srv/git/repo"));
    check("file:///srv/git/repo.git/", Some("/srv/git/repo"));
    check("file://host/srv/repo", Some("host/srv/repo"));
    check("C:\\git\\repo.git", Some("/C:/git/repo"));
    check("c:/git/repo", Some("/c:/git/repo"));
    check("file:///C:/git/repo", Some("/C:/git/repo"));
}

#[test]
fn what_names_no_repository_elsewhere_is_nothing() {
    for url in [
        "",
        "/",
        ".git",
        "../other.git",
        "./a:b",
        "other",
        "a/b:c",
        ":path",
        "host:",
        "https://",
        "https://host",
        "https://host/.git",
        "ext::sh -c nothing",
        "codecommit::eu-west-1://me@repo",
        "file://",
        "a\u{0}b:c",
    ] {
        check(url, None);
    }
}

#[test]
fn unclear_credentials_are_not_guessed_at() {
    for url in [
        "https://me:s3/cret@host/owner/repo",
        "https://me:12/34@host/owner/repo",
        "https://me:s3?c/ret@host/owner/repo",
        "https://me:a/s3?cret@host/repo",
        "https://s3/cret@host/owner/repo",
        "https://me:s3cret/owner/repo",
        "me:s3/cret@host:owner/repo",
        "git@host:owner/repo@home",
    ] {
        check(url, None);
    }
}

#[test]
fn the_remote_is_read_as_git_reads_it() {
    let check = |config: &str, expected: Option<&str>| {
        assert_eq!(find_remote_url(config).as_deref(), expected, "{config}");
    };
    check("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://h/a\n\tfetch = +x\n", Some("https://h/a"));
    check("[remote \"up\"]\nurl = u\n[remote \"origin\"]\nurl = o\n", Some("o"));
    check("[remote \"up\"]\nurl = u\n[remote \"down\"]\nurl = d\n", Some("u"));
    check("[REMOTE \"origin\"]\r\n  URL=o\r\n", Some("o"));
    check("[remote \"origin\"] url = o", Some("o"));
    check("[remote.origin]\nurl = o", Some("o"));
    check("[remote \"origin\"]\nurl = one\nurl = two", Some("one"));
    check("[remote \"origin\"]\n# url = no\n; url = no\nurl = \"a;b\" # why", Some("a;b"));
    check("[remote \"origin\"]\nurl = https://h/\\\na", Some("https://h/a"));
    check("[remote \"origin\"]\n# comment \\\nurl = o", Some("o"));
    check("[core]\nworktree = C:\\\\x\\\\\n[remote \"origin\"]\nurl = o", Some("o"));
    check("[remote \"o]\\\"x\"]\nurl = odd", Some("odd"));
    check("[remote \"origin\"]\npushurl = p", None);
    check("[remotely \"origin\"]\nurl = no\n[branch \"main\"]\nurl = no\n[remote]\nurl = no", None);
    check("[broken\n[remote \"origin\"]\nurl = o", Some("o"));
    check("url = no", None);
    check("", None);
}

proptest! {
    #[test]
    fn no_credential_survives(
        scheme in "(https://|ssh://|git://|ftp://|)",
        user in "\\PC{0,8}",
        password in "\\PC{0,8}S3CRET\\PC{0,8}",
        host in "[a-z]{1,8}",
        separator in "[:/]",
    ) {
        if let Some(remote) = normalise_remote_url(&format!("{scheme}{user}:{password}@{host}{separator}owner/repo.git")) {
            prop_assert!(!remote.contains("S3CRET"), "{}", remote);
        }
    }

    #[test]
    fn any_text_is_answered(text in ".*") {
        let _ = find_remote_url(&text);
        if let Some(remote) = normalise_remote_url(&text) {
            prop_assert!(!remote.contains('@'));
        }
    }
}
