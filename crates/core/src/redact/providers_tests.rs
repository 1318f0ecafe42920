use super::super::Redactor;
use super::table::{PROVIDERS, SecretTokenPattern, TokenCharacterSet, TokenRequirement};

/// A tail that proves a row: as long as it must be, as random as keys are, made anew so that no scanner finds it here.
fn proof(provider: &SecretTokenPattern) -> String {
    let letters: &[u8] = match provider.set {
        TokenCharacterSet::Hex => b"3f9a1c0b5d7e8264",
        TokenCharacterSet::Upper => b"7K2QW9XB4ND8RT5M",
        _ => b"a7Kq2Wz9xB4nD8rT5mYc3",
    };
    let mut state = 7usize;
    let tail: String = (0..provider.min)
        .map(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
            char::from(letters[(state >> 8) % letters.len()])
        })
        .collect();
    format!("{}{tail}", provider.prefix)
}

#[test]
fn every_row_is_proved() {
    let redactor = Redactor::new();
    for provider in PROVIDERS {
        let token = proof(provider);
        let text = format!("see {token} there");
        let found = redactor.redact(&text).found;
        assert_eq!(found.len(), 1, "{} {token}", provider.kind);
        assert_eq!(text.get(found[0].span.clone()).unwrap_or_default(), token, "{}", provider.kind);
    }
}

#[test]
fn every_row_leaves_something_alone() {
    let redactor = Redactor::new();
    for provider in PROVIDERS {
        let short = format!("see {} there", provider.prefix);
        assert!(redactor.redact(&short).found.is_empty(), "{short}");
        let inside = format!("see q{} there", proof(provider));
        assert!(
            redactor
                .redact(&inside)
                .found
                .iter()
                .all(|finding| finding.kind != provider.kind || provider.prefix.len() < 3),
            "{inside}"
        );
        if !matches!(provider.look, TokenRequirement::Any | TokenRequirement::Masked) {
            let masked = format!("see {}{} there", provider.prefix, "x".repeat(provider.min));
            assert!(redactor.redact(&masked).found.is_empty(), "{masked}");
        }
        if provider.look == TokenRequirement::Random {
            let name =
                format!("see {}{} there", provider.prefix, "SomeLongNameInCode".repeat(20).split_at(provider.min).0);
            assert!(redactor.redact(&name).found.is_empty(), "{name}");
        }
    }
}

fn check(text: &str, kind: &str) {
    let found = Redactor::new().redact(text).found;
    let kinds: Vec<&str> = found.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, if kind.is_empty() { vec![] } else { vec![kind] }, "{text}");
}

#[test]
fn shapes_without_a_prefix() {
    let head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    check(&format!("{head}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpM"), "jwt");
    check(&format!("{head}.eyJzdWIiOiIxMjM0NTY3ODkwIn0"), "jwt");
    check(head, "");
    check("eyes.are.eyes.and.eyelashes", "");
    check(&format!("{}-us12", "343ea45721923ed956e2b38c31db76aa"), "mailchimp-key");
    check(&format!("{}-al12", "343ea45721923ed956e2b38c31db76aa"), "");
    check(&format!("MTk4NjIyNDgzNDcxOTI1MjQ4.{}.ZnCjm1XVW7vRze4b7Cq4se7kKWs", "Cl2FMQ"), "discord-token");
    check("MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ", "");
    check(&format!("facebook 1308742762612587|{}", "rhoK1cbv0DOU_RTX_87O4MkX7AI"), "numbered-token");
    check(&format!("1/1308742762612587:{}", "2de9b473b86ad096fd52cddc76eae2cb"), "numbered-token");
    check(&format!("1308742762612587:{}", "2de9b473b86ad096fd52cddc76eae2cb"), "");
    check(&format!("64ced81017msh{}jsn244cb5319c0a", "966749db50aa3e6p1b63bb"), "rapidapi-key");
    check("0123456789msh", "");
}

#[test]
fn unknown_providers_are_known_by_what_they_say() {
    check(&format!("acme_sk_{}", "a7Kq2Wz9xB4nD8rT5mYc3P"), "prefixed-token");
    check(&format!("acme_id_{}", "a7Kq2Wz9xB4nD8rT5mYc3P"), "");
    check("api-3f9a1c0b5d7e8f6a4b2c1d0e9f8a7b6c.js", "");
    check("access_token_is_refreshed_by_the_middleware_2", "");
}

#[test]
fn escapes_before_a_token_are_not_part_of_it() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    check(&format!("x\\n{token}"), "github-token");
    check(&format!("q%3D{token}"), "github-token");
}
