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
        ("api", "response exceeded the 32000 output token maximum, set MAX_OUTPUT_TOKENS", Cause::Length),
        ("edit", "String to replace not found in file.", Cause::Edit),
        ("command", "something odd", Cause::Unknown),
        ("test", "browserType.launch: Executable doesn't exist at ~/.cache/ms-playwright/chrome", Cause::Code),
        ("command", "browserType.launch: Executable doesn't exist at ~/.cache/ms-playwright/chrome", Cause::Unmade),
        ("command", "error: the build is not stable, target doesn't exist", Cause::Unknown),
        ("exception", "ERROR 1146: Table 'shop.orders' doesn't exist", Cause::Migration),
        ("command", "npm error Missing script: \"start\"", Cause::Target(name("start"))),
        ("command", "make: *** No rule to make target 'lint'.  Stop.", Cause::Target(name("lint"))),
        ("command", "make: *** No rule to make target 'a.h', needed by 'b.o'.  Stop.", Cause::Unknown),
        ("command", "could not find eslint.config.js, see the migration guide", Cause::Unknown),
        ("command", "fe_sendauth: no password supplied", Cause::Login),
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
