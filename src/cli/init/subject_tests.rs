use super::*;

#[test]
fn a_line_for_git_is_added_once_and_taken_out_without_a_trace() {
    for text in ["*.png binary\n", "*.png binary", "*.png binary\r\n", "a\r\nb", "\n", "# only\n\n"] {
        let (added, undo) = with_line(text).unwrap();
        assert_eq!(with_line(&added), None, "{text:?}");
        assert_eq!(without_line(&added), After::Text(text.to_owned()), "{text:?}");
        assert_eq!(crate::hooks::spliced(&added, &undo).as_deref(), Some(text));
    }
    assert_eq!(with_line("").unwrap().0, format!("{MERGE}\n"));
    assert_eq!(without_line(&format!("{MERGE}\n")), After::Gone);
    assert_eq!(without_line(&format!("a\n  {MERGE}  \nb\n")), After::Text("a\nb\n".to_owned()));
    assert_eq!(without_line("a\n"), After::Same);
}

#[test]
fn a_configuration_is_never_touched() {
    assert_eq!(Subject::Configuration.install(Some("x = 1\n"), "").unwrap(), None);
    assert_eq!(Subject::Configuration.remove("x = 1\n", "").unwrap(), After::Same);
    assert_eq!(Subject::Configuration.remove(CONFIGURATION, "").unwrap(), After::Gone);
}
