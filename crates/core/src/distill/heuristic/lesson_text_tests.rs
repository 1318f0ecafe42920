use super::super::test_support::Session;

/// The summary and the rule of the one lesson that is learned.
#[track_caller]
fn told(session: Session) -> String {
    let claims = session.claims();
    let [claim] = claims.as_slice() else { panic!("{} claims: {claims:?}", claims.len()) };
    format!("{} {}", claim.summary, claim.rule.as_deref().unwrap())
}

#[test]
fn secrets_are_asked_for_by_name() {
    let said = told(
        Session::new("go")
            .fails("pytest tests/db -q", "E   OperationalError: fe_sendauth: no password supplied")
            .passes("PGPASSWORD=hunter2hunter2 pytest tests/db -q", "8 passed in 1.0s"),
    );
    assert!(said.contains("needs `PGPASSWORD` to be set") && said.contains("THEN set `PGPASSWORD` first"), "{said}");
    assert!(!said.contains("hunter2") && !said.contains("redacted"), "{said}");
}

#[test]
fn commands_outside_the_project_can_still_be_run() {
    let run = "/home/ada/.local/share/tools/bench-7/run.sh";
    let said = told(
        Session::new("go")
            .fails(run, &format!("{run}: line 3: BENCH_DATA: unbound variable"))
            .passes(&format!("BENCH_DATA=/home/ada/data/bench {run}"), "ok"),
    );
    assert!(
        said.contains("run it with `BENCH_DATA=~/data/bench`")
            && said.contains("`~/.local/share/tools/bench-7/run.sh`"),
        "{said}"
    );
}

#[test]
fn the_cure_and_the_other_command_are_told_in_order() {
    let said = told(
        Session::new("go")
            .fails("rspec spec/models", "Could not find rspec-rails-6.1.0 in locally installed gems")
            .passes("bundle install", "Bundle complete!")
            .passes("bundle exec rspec spec/models", "12 examples, 0 failures"),
    );
    assert!(said.contains("run `bundle install`, then `bundle exec rspec spec/models` instead"), "{said}");
}

#[test]
fn a_file_that_was_written_by_a_command_is_told_by_its_name() {
    let said = told(
        Session::new("go")
            .fails("npm test", "Error: DATABASE_URL is not set")
            .passes("cat > .env <<'EOF'\nDATABASE_URL=sqlite://test.db\nEOF", "")
            .passes("npm test", "Tests: 5 passed, 5 total"),
    );
    assert!(said.contains("write `.env` first"), "{said}");
}

#[test]
fn a_lock_that_is_held_asks_for_patience() {
    let said = told(
        Session::new("go")
            .fails(
                "sudo apt-get install -y jq",
                "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812",
            )
            .passes("sleep 60", "")
            .passes("sudo apt-get install -y jq", "Setting up jq"),
    );
    assert!(said.contains("lock held by another process") && said.contains("wait a little"), "{said}");
    assert!(!said.contains("812"), "{said}");
}

#[test]
fn the_difference_is_told_and_not_two_commands() {
    let cases = [
        (
            "hk install && git status",
            "zsh:1: command not found: hk",
            "mise x hk -- hk install && git status",
            "through `mise x hk --`",
        ),
        ("python tools/a.py --x 1", "zsh:1: command not found: python", "python3 tools/a.py --x 1", "use `python3`"),
        (
            "go test ./... 2>&1 | grep -v ok | tail -5",
            "error: failed to write commit object: gpg failed",
            "export GIT_CONFIG_GLOBAL=/dev/null; go test ./... 2>&1 | grep -v ok | tail -5",
            "`go test ./...` fails here",
        ),
    ];
    for (failed, error, worked, told) in cases {
        let claims = Session::new("go").fails(failed, error).passes(worked, "ok").claims();
        let [claim] = claims.as_slice() else { panic!("{failed}: {} claims", claims.len()) };
        assert!(claim.summary.contains(told), "{}", claim.summary);
        assert!(!claim.summary.contains("tail") && !claim.summary.contains("git status"), "{}", claim.summary);
    }
}

#[test]
fn a_missing_program_is_one_lesson_whoever_called_it() {
    let lacks = |command: &str| {
        let lines: Vec<&str> = vec!["bash: file: command not found"; 3];
        let session = lines.into_iter().fold(Session::new("go"), |session, error| session.fails(command, error));
        told(session)
    };
    let said = lacks("file a.bin");
    assert!(said.starts_with("`file` is not installed here, and nothing in the log mended it."), "{said}");
    assert_eq!(said, lacks("file -b --mime b.dat && wc -c b.dat"));
}

#[test]
fn to_look_in_another_way_is_no_remedy() {
    let session = Session::new("go").fails("file a.bin", "bash: file: command not found");
    let claims = session.passes("head -c 200 a.bin", "MZ").passes("ls -la a.bin", "a.bin").claims();
    assert!(claims.is_empty(), "{claims:?}");
}
