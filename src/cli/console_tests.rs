use super::*;

const TERMINAL: Reader = Reader::Terminal(Some(80));

#[test]
fn colour_follows_the_flag_then_the_environment_then_the_reader() {
    check_paint(ColorChoice::Auto, TERMINAL, &[], Paint::Colour);
    check_paint(ColorChoice::Auto, Reader::Program, &[], Paint::Plain);
    check_paint(ColorChoice::Auto, TERMINAL, &[("NO_COLOR", "1")], Paint::Plain);
    check_paint(ColorChoice::Auto, TERMINAL, &[("NO_COLOR", "")], Paint::Colour);
    check_paint(ColorChoice::Auto, TERMINAL, &[("TERM", "dumb")], Paint::Plain);
    check_paint(ColorChoice::Always, Reader::Program, &[("NO_COLOR", "1")], Paint::Colour);
    check_paint(ColorChoice::Never, TERMINAL, &[], Paint::Plain);
}

#[test]
fn a_terminal_knows_its_width_better_than_the_environment() {
    check_columns(TERMINAL, &[("COLUMNS", "132")], 80);
    check_columns(Reader::Terminal(None), &[("COLUMNS", "132")], 132);
    check_columns(Reader::Program, &[("COLUMNS", "132")], 132);
    check_columns(Reader::Program, &[("COLUMNS", "0")], DEFAULT_COLUMNS);
    check_columns(Reader::Program, &[("COLUMNS", "many")], DEFAULT_COLUMNS);
    check_columns(Reader::Program, &[], DEFAULT_COLUMNS);
    check_columns(Reader::Program, &[("COLUMNS", "3")], FEWEST_COLUMNS);
}

fn check_paint(choice: ColorChoice, reader: Reader, environment: &[(&str, &str)], expected: Paint) {
    assert_eq!(Paint::of(choice, reader, &owned(environment)), expected);
}

fn check_columns(reader: Reader, environment: &[(&str, &str)], expected: usize) {
    assert_eq!(columns(reader, &owned(environment)), expected);
}

fn owned(environment: &[(&str, &str)]) -> Vec<(String, String)> {
    environment.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}
