use super::*;

fn check_refused(format: FileFormat, text: &str, expected: &str) {
    assert_eq!(parse_config_text(text, format).expect_err("must be refused"), expected, "{text:?}");
}

fn check_read(format: FileFormat, text: &str) {
    let table = parse_config_text(text, format).expect("must be read");
    let value = table.get("enabled").cloned().expect("the key must be there");
    assert!(!value.into_bool().expect("the value must be a boolean"), "{text:?}");
}

#[test]
fn a_syntax_error_names_line_and_column() {
    // The reason is the parser's and may change with it; the place may not.
    let check = |format: FileFormat, text: &str, place: &str| {
        let why = parse_config_text(text, format).expect_err("must be refused");
        let reason = why.strip_prefix(place).unwrap_or_else(|| panic!("{why} is not at {place}"));
        assert!(reason.len() > 3 && !reason.contains('\n') && !reason.contains(" at line "), "{why}");
    };
    check(FileFormat::Toml, "enabled = ", "is not valid TOML at line 1, column 11: ");
    check(FileFormat::Toml, "a = true\r\na = false", "is not valid TOML at line 2, column 1: ");
    check(FileFormat::Toml, "a = \"äö\" b", "is not valid TOML at line 1, column 10: ");
    check(FileFormat::Json, "{\n  \"a\": yes\n}", "is not valid JSON at line 2, column 8: ");
    check(FileFormat::Json, "{\"a\": 1", "is not valid JSON at line 1, column 7: ");
    check(FileFormat::Json, "", "is not valid JSON at line 1, column 0: ");
}

#[test]
fn a_syntax_error_never_quotes_the_line() {
    let why = parse_config_text("apiKey = \"s3cret\" s3cret", FileFormat::Toml).expect_err("must be refused");
    assert!(!why.contains("s3cret"), "{why}");
}

#[test]
fn what_parses_but_cannot_be_used_is_refused_too() {
    check_refused(FileFormat::Json, "[\"s3cret\"]", "must be a table of keys at its top level");
    check_refused(FileFormat::Json, "\"s3cret\"", "must be a table of keys at its top level");
    check_refused(
        FileFormat::Toml,
        "a = 99999999999999999999",
        "holds a number that cannot be read: number too large to fit in target type",
    );
}

#[test]
fn byte_order_marks_and_line_ends_of_any_system_are_fine() {
    check_read(FileFormat::Toml, "\u{feff}enabled = false\r\n\r\n[memory]\r\n");
    check_read(FileFormat::Json, "\u{feff}{\r\n\"enabled\": false}\r\n");
}
