use super::{deed, is_deed};

#[test]
fn deeds_are_known_in_every_form() {
    for word in ["use", "using", "used", "committed", "formatting", "pushes", "writes", "stored", "wrote", "ran"] {
        assert!(is_deed(word), "{word}");
    }
    for word in ["blue", "header", "sing", "", "ed"] {
        assert!(!is_deed(word), "{word}");
    }
    assert_eq!(deed("using").as_deref(), Some("use"));
    assert_eq!(deed("committing").as_deref(), Some("commit"));
    assert_eq!(deed("wrote").as_deref(), Some("write"));
}
