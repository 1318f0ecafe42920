use super::identify_error;
use crate::redact::Redactor;

const OUTPUT: &str = "collected 3 items\n\nE   ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\n1 failed in 0.12s\n";

#[test]
fn the_same_failure_has_the_same_family_whatever_changes_from_run_to_run() {
    let redactor = Redactor::new();
    let one = identify_error(None, OUTPUT, &redactor).unwrap();
    assert!(one.headline.contains("ConnectionError"), "{one:?}");
    let later = identify_error(Some("shell"), &OUTPUT.replace("0.12s", "3.4s"), &redactor).unwrap();
    assert_eq!(one.family, later.family);
    let other = identify_error(None, "ModuleNotFoundError: No module named 'yaml'", &redactor).unwrap();
    assert_ne!(one.family, other.family);
}

#[test]
fn a_secret_on_the_screen_is_not_told() {
    let output = "fatal: could not read from https://bob:hunter2hunter2@git.example.com/x.git\n";
    let said = identify_error(None, output, &Redactor::new()).unwrap().headline;
    assert!(!said.contains("hunter2"), "{said}");
}
