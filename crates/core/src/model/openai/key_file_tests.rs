use secrecy::ExposeSecret;

use super::*;

fn read(content: &[u8]) -> Result<SecretString, KeyFileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, content).unwrap();
    read_key_file(&path)
}

#[test]
fn space_around_a_key_is_left_out() {
    for content in ["sk-1234", "sk-1234\n", "\r\n  sk-1234\t\r\n\r\n", "\u{FEFF}sk-1234\n"] {
        assert_eq!(read(content.as_bytes()).unwrap().expose_secret(), "sk-1234", "{content:?}");
    }
    assert_eq!(read(&b"k".repeat(16 * 1024)).unwrap().expose_secret().len(), 16 * 1024);
}

#[test]
fn what_is_no_key_is_refused_without_repeating_it() {
    let long = b"hunter2".repeat(10_000);
    let cases: [(&[u8], &str); 7] = [
        (b"", "Empty"),
        (b" \n\t", "Empty"),
        (b"hunter2\nhunter3", "ManyLines"),
        (b"hunter2\rhunter3", "ManyLines"),
        (b"hunter2\xff", "NoText"),
        (b"hunter2\0", "NoText"),
        (&long, "TooLong"),
    ];
    for (content, expected) in cases {
        let error = read(content).unwrap_err();
        assert!(format!("{error:?}").starts_with(expected), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("hunter"), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = read_key_file(Path::new("/nowhere/key")).unwrap_err();
    assert!(matches!(error, KeyFileError::Unreadable { .. }));
    assert!(error.to_string().contains("/nowhere/key"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_used_all_the_same() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "sk-1234").unwrap();
    for mode in [0o644, 0o600] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(read_key_file(&path).unwrap().expose_secret(), "sk-1234");
    }
}
