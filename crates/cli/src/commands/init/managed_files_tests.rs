use super::*;

#[test]
fn a_line_for_git_is_added_once_and_taken_out_without_a_trace() {
    for text in ["*.png binary\n", "*.png binary", "*.png binary\r\n", "a\r\nb", "\n", "# only\n\n"] {
        let (added, undo) = add_merge_line(text).unwrap();
        assert_eq!(add_merge_line(&added), None, "{text:?}");
        assert_eq!(remove_merge_line(&added), RemainingText::Text(text.to_owned()), "{text:?}");
        assert_eq!(crate::hooks::apply_splices(&added, &undo).as_deref(), Some(text));
    }
    assert_eq!(add_merge_line("").unwrap().0, format!("{MERGE}\n"));
    assert_eq!(remove_merge_line(&format!("{MERGE}\n")), RemainingText::Gone);
    assert_eq!(remove_merge_line(&format!("a\n  {MERGE}  \nb\n")), RemainingText::Text("a\nb\n".to_owned()));
    assert_eq!(remove_merge_line("a\n"), RemainingText::Same);
}

#[test]
fn a_configuration_is_never_touched() {
    assert_eq!(ManagedFile::Configuration.install_into(Some("x = 1\n"), "").unwrap(), None);
    assert_eq!(ManagedFile::Configuration.remove_from("x = 1\n", "").unwrap(), RemainingText::Same);
    assert_eq!(ManagedFile::Configuration.remove_from(CONFIGURATION, "").unwrap(), RemainingText::Gone);
}
