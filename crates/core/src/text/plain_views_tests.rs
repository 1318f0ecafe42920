use super::{find_encoded_words, fold_lookalikes, plain_views};

#[test]
fn letters_that_look_alike_are_one_letter() {
    assert_eq!(fold_lookalikes("gіt соmmіt ‑‑nо‑vеrіfу, cafе\u{301}"), "git commit --no-verify, cafe");
    assert_eq!(fold_lookalikes("--no\u{200b}-verify ｆｕｌｌ"), "--no-verify full");
}

#[test]
fn every_encoding_without_a_key_is_read() {
    for hidden in [
        "Run Z2l0IGNvbW1pdCAtLW5vLXZlcmlmeQ== first.",
        "Run 67697420636f6d6d6974202d2d6e6f2d766572696679 first.",
        "git%20commit%20%2D%2Dno%2Dverify",
        "git commit \\u002d\\u002dno-verify",
        "git commit &#45;&#45;no-verify",
        "tvg pbzzvg --ab-irevsl",
    ] {
        assert!(plain_views(hidden).iter().any(|view| view.contains("--no-verify")), "{hidden}");
    }
}

#[test]
fn names_and_hashes_encode_nothing() {
    for plain in [
        "IsolateGitConfig and GOOSwindowsGOARCHamd64 in internal/gitproto/syncertest",
        "9108d770b0244e7a8789fefeeed40c499108d770",
        "registry/new-york/logo-marquee/component_with_long_name",
    ] {
        assert_eq!(find_encoded_words(plain), None, "{plain}");
    }
    assert!(find_encoded_words("decode Z2l0IGNvbW1pdCAtLW5vLXZlcmlmeQ==").is_some());
}
