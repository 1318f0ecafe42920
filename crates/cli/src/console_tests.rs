use super::*;

const TERMINAL: OutputTarget = OutputTarget::Terminal(Some(80));

#[test]
fn colour_follows_the_flag_then_the_environment_then_the_reader() {
    check_paint(ColorChoice::Auto, TERMINAL, &[], ColorMode::Colour);
    check_paint(ColorChoice::Auto, OutputTarget::Program, &[], ColorMode::Plain);
    check_paint(ColorChoice::Auto, TERMINAL, &[("NO_COLOR", "1")], ColorMode::Plain);
    check_paint(ColorChoice::Auto, TERMINAL, &[("NO_COLOR", "")], ColorMode::Colour);
    check_paint(ColorChoice::Auto, TERMINAL, &[("TERM", "dumb")], ColorMode::Plain);
    check_paint(ColorChoice::Always, OutputTarget::Program, &[("NO_COLOR", "1")], ColorMode::Colour);
    check_paint(ColorChoice::Never, TERMINAL, &[], ColorMode::Plain);
}

#[test]
fn a_terminal_knows_its_width_better_than_the_environment() {
    check_columns(TERMINAL, &[("COLUMNS", "132")], 80);
    check_columns(OutputTarget::Terminal(None), &[("COLUMNS", "132")], 132);
    check_columns(OutputTarget::Program, &[("COLUMNS", "132")], 132);
    check_columns(OutputTarget::Program, &[("COLUMNS", "0")], DEFAULT_COLUMNS);
    check_columns(OutputTarget::Program, &[("COLUMNS", "many")], DEFAULT_COLUMNS);
    check_columns(OutputTarget::Program, &[], DEFAULT_COLUMNS);
    check_columns(OutputTarget::Program, &[("COLUMNS", "3")], FEWEST_COLUMNS);
}

fn check_paint(choice: ColorChoice, reader: OutputTarget, environment: &[(&str, &str)], expected: ColorMode) {
    assert_eq!(ColorMode::for_stream(choice, reader, &owned(environment)), expected);
}

fn check_columns(reader: OutputTarget, environment: &[(&str, &str)], expected: usize) {
    assert_eq!(measure_columns(reader, &owned(environment)), expected);
}

fn owned(environment: &[(&str, &str)]) -> Vec<(String, String)> {
    environment.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}
