use super::*;

#[test]
fn what_is_too_long_is_said_to_be() {
    let lines = |number: usize| vec!["a line"; number].join("\n");
    assert_eq!(describe_excess_length("Use pnpm."), None);
    assert_eq!(describe_excess_length(&"ä".repeat(MAX_CHARACTERS)), None);
    assert_eq!(describe_excess_length(&"ä".repeat(MAX_CHARACTERS + 1)).as_deref(), Some("1201 characters"));
    assert_eq!(describe_excess_length(&lines(MAX_LINES)), None);
    assert_eq!(describe_excess_length(&lines(MAX_LINES + 1)).as_deref(), Some("13 lines"));
}

#[test]
fn blank_lines_and_blanks_around_do_not_count() {
    let apart = ["a line"; MAX_LINES].join("\n\n\n");
    assert_eq!(describe_excess_length(&format!("\n\n{apart}\n{}", " ".repeat(2 * MAX_CHARACTERS))), None);
}
