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
