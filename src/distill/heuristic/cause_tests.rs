use super::Cause;

fn name(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn causes_are_read_from_words() {
    let cases = [
        ("not_found", "ModuleNotFoundError: No module named 'asgiref'", Cause::Module(name("asgiref"))),
        ("not_found", "Error: Cannot find module './cart'", Cause::Code),
        ("not_found", "bash: line 1: jq: command not found", Cause::Program(name("jq"))),
        ("not_found", "zsh: command not found: jq", Cause::Program(name("jq"))),
        ("not_found", "/usr/bin/sh: 1: file: not found", Cause::Program(name("file"))),
        ("exception", "KeyError: 'DATABASE_URL'", Cause::Variable(name("DATABASE_URL"))),
        ("command", "FM_MAX_CONTEXT_CHARS is not defined", Cause::Name("FM_MAX_CONTEXT_CHARS".to_owned())),
        ("compile", "error: 'MAX_LEN' undefined (first use in this function)", Cause::Code),
        ("command", "listen EADDRINUSE: address already in use :::3000", Cause::Port(name("3000"))),
        ("network", "connect ECONNREFUSED 127.0.0.1:6379", Cause::Service),
        ("exception", "relation \"orders\" does not exist", Cause::Migration),
        ("exception", "FrozenInstanceError: cannot assign to field 'x'", Cause::Code),
        ("assertion", "AssertionError: expected 'unauthorized' to equal 'ok'", Cause::Code),
        ("command", "error: unexpected argument '--foo' found", Cause::Flag),
        ("context_window", "Exceeded model context window size", Cause::Room),
        ("edit", "String to replace not found in file.", Cause::Edit),
        ("command", "something odd", Cause::Unknown),
    ];
    for (class, headline, wanted) in cases {
        assert_eq!(Cause::read(class, headline), wanted, "{headline}");
    }
}

proptest::proptest! {
    #[test]
    fn no_headline_is_too_strange(class in "[a-z_]{0,12}", headline in ".{0,300}") {
        let _ = Cause::read(&class, &headline);
    }
}

#[test]
fn the_inner_line_tells_more_than_the_outer() {
    let output = "ERROR: failed to solve: node:22: unexpected status: 429 Too Many Requests\ntoomanyrequests: You have reached your pull rate limit.";
    let outer = output.lines().next().unwrap();
    let inner = super::inner(output, outer).unwrap();
    assert_eq!(inner, "toomanyrequests: You have reached your pull rate limit.");
    assert_eq!(super::Cause::read("command", inner), super::Cause::Patience);
    assert_eq!(super::inner(output, "TypeError: x is not a function"), None);
}
