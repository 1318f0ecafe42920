use super::*;

#[test]
fn in_haste_says_the_same_as_the_whole() {
    for words in [
        "hook claude-code session-end",
        "hook codex notify {} --now 2026-01-01T00:00:00Z",
        "hook --project /p claude-code stop -q --seed 7 -vv --color never",
        "hook",
        "hook claude-code",
        "hook claude-code stop a b",
        "hook --nonsense",
        "hook --help",
        "hook --version",
        "archeflow",
        "archeflow list",
        "archeflow help",
        "archeflow extract .archeflow/events/r1.jsonl",
        "archeflow list -q",
        "archeflow --project /p list",
        "archeflow inject code guardian --audit r1 --now 2026-01-01T00:00:00Z",
        "archeflow add -- --text",
        "archeflow --help",
        "-q hook claude-code stop",
        "help hook",
        "list",
        "",
    ] {
        let given: Vec<OsString> =
            std::iter::once("archivist").chain(words.split_whitespace()).map(OsString::from).collect();
        let told = |parsed: Result<CliArguments, clap::Error>| match parsed {
            Ok(arguments) => format!("{arguments:?}"),
            Err(stop) => stop.render().to_string(),
        };
        assert_eq!(told(CliArguments::parse_from(&given)), told(CliArguments::try_parse_from(&given)), "{words}");
    }
}
