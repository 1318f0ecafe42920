use super::FailureCause;

fn name(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn causes_are_read_from_words() {
    let cases = [
        ("not_found", "ModuleNotFoundError: No module named 'asgiref'", FailureCause::Module(name("asgiref"))),
        ("not_found", "Error: Cannot find module './cart'", FailureCause::Code),
        ("not_found", "bash: line 1: jq: command not found", FailureCause::Program(name("jq"))),
        ("not_found", "zsh: command not found: jq", FailureCause::Program(name("jq"))),
        ("not_found", "/usr/bin/sh: 1: file: not found", FailureCause::Program(name("file"))),
        ("exception", "KeyError: 'DATABASE_URL'", FailureCause::Variable(name("DATABASE_URL"))),
        ("command", "FM_MAX_CONTEXT_CHARS is not defined", FailureCause::Name("FM_MAX_CONTEXT_CHARS".to_owned())),
        ("compile", "error: 'MAX_LEN' undefined (first use in this function)", FailureCause::Code),
        ("command", "listen EADDRINUSE: address already in use :::3000", FailureCause::Port(name("3000"))),
        ("network", "connect ECONNREFUSED 127.0.0.1:6379", FailureCause::Service),
        ("exception", "relation \"orders\" does not exist", FailureCause::Migration),
        ("exception", "FrozenInstanceError: cannot assign to field 'x'", FailureCause::Code),
        ("assertion", "AssertionError: expected 'unauthorized' to equal 'ok'", FailureCause::Code),
        ("command", "error: unexpected argument '--foo' found", FailureCause::Flag),
        ("context_window", "Exceeded model context window size", FailureCause::Room),
        ("api", "response exceeded the 32000 output token maximum, set MAX_OUTPUT_TOKENS", FailureCause::Length),
        ("edit", "String to replace not found in file.", FailureCause::Edit),
        ("command", "something odd", FailureCause::Unknown),
        ("test", "browserType.launch: Executable doesn't exist at ~/.cache/ms-playwright/chrome", FailureCause::Code),
        (
            "command",
            "browserType.launch: Executable doesn't exist at ~/.cache/ms-playwright/chrome",
            FailureCause::Unmade,
        ),
        ("command", "error: the build is not stable, target doesn't exist", FailureCause::Unknown),
        ("exception", "ERROR 1146: Table 'shop.orders' doesn't exist", FailureCause::Migration),
        ("command", "npm error Missing script: \"start\"", FailureCause::Target(name("start"))),
        ("command", "make: *** No rule to make target 'lint'.  Stop.", FailureCause::Target(name("lint"))),
        ("command", "make: *** No rule to make target 'a.h', needed by 'b.o'.  Stop.", FailureCause::Unknown),
        ("command", "could not find eslint.config.js, see the migration guide", FailureCause::Unknown),
        ("command", "fe_sendauth: no password supplied", FailureCause::Login),
    ];
    for (class, headline, wanted) in cases {
        assert_eq!(FailureCause::classify(class, headline), wanted, "{headline}");
    }
}

proptest::proptest! {
    #[test]
    fn no_headline_is_too_strange(class in "[a-z_]{0,12}", headline in ".{0,300}") {
        let _ = FailureCause::classify(&class, &headline);
    }
}
