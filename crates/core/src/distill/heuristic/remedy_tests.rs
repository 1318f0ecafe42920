use super::super::action_timeline::ActionTimeline;
use super::super::command_comparison::CommandDifference;
use super::super::failure_cause::FailureCause;
use super::super::test_support::Session;
use super::{RemedyKind, find_remedy, is_settings_file};

fn how(session: Session) -> Option<RemedyKind> {
    let context = session.context(Vec::new());
    let timeline = ActionTimeline::from_context(&context);
    let at = timeline.actions.iter().position(|agent_action| agent_action.failure().is_some()).unwrap();
    let fault = timeline.actions[at].failure().unwrap();
    let cause = FailureCause::classify(fault.class, &fault.headline);
    find_remedy(&timeline, at, &cause).map(|remedy| remedy.how)
}

#[test]
fn the_deed_that_fits_the_cause_is_the_remedy() {
    let missing = "ModuleNotFoundError: No module named 'yaml'";
    let session = || Session::new("go").fails("pytest -q", missing);
    assert_eq!(
        how(session().passes("ls", "a").passes("pip install pyyaml", "ok").passes("pytest -q", "1 passed")),
        Some(RemedyKind::After(vec![2]))
    );
    let noisy =
        session().passes("./prepare-data", "ok").passes("pip install pyyaml", "ok").passes("pytest -q", "1 passed");
    assert_eq!(how(noisy), Some(RemedyKind::After(vec![2])));
    assert_eq!(
        how(session().edits("src/a.py", "import yaml", "").passes("pytest -q", "1 passed")),
        Some(RemedyKind::Code(vec![1]))
    );
    assert_eq!(how(session().passes("pip install pyyaml", "ok")), None);
    assert_eq!(how(session().passes("pytest -q", "1 passed")), Some(RemedyKind::Nothing));
}

#[test]
fn settings_are_told_from_code() {
    for path in [
        ".env",
        "a/package.json",
        "Cargo.toml",
        "docker-compose.yml",
        "Dockerfile",
        "vite.config.ts",
        ".nvmrc",
        "requirements-dev.txt",
    ] {
        assert!(is_settings_file(path), "{path}");
    }
    for path in ["src/main.rs", "a/app.ts", "README.md", "data.json"] {
        assert!(!is_settings_file(path), "{path}");
    }
}

#[test]
fn another_command_may_do_the_job() {
    let instead = |failed: &str, said: &str, worked: &str| {
        matches!(
            how(Session::new("go").fails(failed, said).passes("ls", "a").passes(worked, "ok")),
            Some(RemedyKind::Instead(..))
        )
    };
    let usage = "npm error The `npm ci` command can only install with an existing package-lock.json";
    assert!(instead("npm ci", usage, "pnpm install --frozen-lockfile"));
    assert!(instead("convert a.png b.jpg", "bash: convert: command not found", "magick a.png b.jpg"));
    assert!(instead("terraform apply", "error: blocked, use make plan and the pipeline", "make plan"));
    assert!(!instead("convert a.png b.jpg", "bash: convert: command not found", "apt-get install imagemagick"));
    assert!(!instead("node tool.js", "TypeError: x is not a function", "python3 other.py tool.js"));
    let later =
        Session::new("go").fails("npm ci", usage).edits("/home/ada/shop/a.ts", "a", "b").passes("pnpm install", "ok");
    assert_eq!(how(later), None);
}

#[test]
fn programs_in_words_mend_nothing() {
    let test = "FAILED tests/test_a.py::test_x - AssertionError: assert 1 == 2\n1 failed in 0.1s";
    let after = |fix: &str| {
        how(Session::new("go").fails("pytest -q", test).passes(fix, "").passes("pytest -q", "1 passed in 0.1s"))
    };
    assert_eq!(after("python3 -c \"p.write_text(p.read_text().replace('1','2'))\""), Some(RemedyKind::Code(vec![1])));
    assert_eq!(after("python3 - <<'EOF'\nopen('a.py', 'w').write('2')\nEOF"), Some(RemedyKind::Code(vec![1])));
    assert_eq!(after("bash -c 'sed -i s/1/2/ a.py'"), Some(RemedyKind::Code(vec![1])));
    assert_eq!(after("node -e 'console.log(1)'"), Some(RemedyKind::Nothing));
    let missing = "ModuleNotFoundError: No module named 'yaml'";
    let session = Session::new("go")
        .fails("pytest -q", missing)
        .passes("python3 -c 'import sys; print(sys.path, \"install\")'", "[]")
        .passes("pytest -q", "1 passed");
    assert_eq!(how(session), Some(RemedyKind::Nothing));
}

#[test]
fn what_asks_is_not_what_worked() {
    let usage = "Error: unknown flag: --fmt";
    let session = Session::new("go")
        .fails("atlasctl export --fmt csv", usage)
        .passes("atlasctl export --help", "--format string")
        .passes("atlasctl export --format csv", "wrote 3 rows");
    assert_eq!(how(session), Some(RemedyKind::Instead(CommandDifference::Flags, Vec::new())));
    let looks = |worked: &str| how(Session::new("go").fails("atlasctl export --fmt csv", usage).passes(worked, "ok"));
    assert_eq!(looks("atlasctl export --help"), None);
    assert_eq!(looks("atlasctl --version"), None);
    let less = Session::new("go").fails("atlasctl rows all --bad", "unknown flag: --bad").passes("atlasctl rows", "ok");
    assert_eq!(how(less), None);
}

#[test]
fn both_the_cure_and_the_other_command_are_told() {
    let missing = "Could not find rspec-rails-6.1.0 in locally installed gems (Bundler::GemNotFound)";
    let session = Session::new("go")
        .fails("rspec spec/models", missing)
        .passes("bundle install", "Bundle complete!")
        .passes("bundle exec rspec spec/models", "12 examples, 0 failures");
    assert_eq!(how(session), Some(RemedyKind::Instead(CommandDifference::Program, vec![1])));
    let session = Session::new("go")
        .fails("npm test", "sh: 1: jest: not found")
        .passes("npm ci", "added 800 packages")
        .passes("npm test --silent", "Tests: 5 passed, 5 total");
    assert_eq!(how(session), Some(RemedyKind::After(vec![1])));
}

#[test]
fn another_target_that_was_looked_up_stands_in_for_a_missing_one() {
    let other = |failed: &str, said: &str, list: (&str, &str), worked: &str| {
        how(Session::new("go").fails(failed, said).passes(list.0, list.1).passes(worked, "ok"))
    };
    let instead = Some(RemedyKind::Instead(CommandDifference::Program, Vec::new()));
    let no_rule = "make: *** No rule to make target 'lint'.  Stop.";
    let grep = ("grep -n '^[a-z]*:' Makefile", "3:check:\n9:style:");
    assert_eq!(other("make lint", no_rule, grep, "make style"), instead);
    let missing = "npm error Missing script: \"start\"";
    let package = ("cat package.json", "{\"scripts\":{\"dev\":\"vite\"}}");
    assert_eq!(other("npm start", missing, package, "npm run dev &"), instead);
    assert_eq!(other("npm start", missing, ("npm run", "Scripts available:\n  dev\n    vite"), "npm run dev"), instead);
    // Another job, a slip of the hand, another runner.
    assert_eq!(other("make lint", no_rule, grep, "make test"), None);
    let slip = "npm error Missing script: \"tset\"";
    let package = ("cat package.json", "{\"scripts\":{\"test\":\"vitest\"}}");
    assert_eq!(other("npm run tset", slip, package, "npm run test"), None);
    assert_eq!(other("npm run tset", slip, package, "make test"), None);
}

#[test]
fn a_program_that_looks_is_replaced_by_one_that_looks() {
    let look = |failed: &str, worked: &str| {
        let said = format!("bash: {}: command not found", failed.split(' ').next().unwrap());
        how(Session::new("go").fails(failed, &said).passes(worked, "src/a.ts:1: Foo"))
    };
    assert_eq!(
        look("rg Foo src", "grep -rn Foo src"),
        Some(RemedyKind::Instead(CommandDifference::Program, Vec::new()))
    );
    assert_eq!(look("rg Foo src", "ls"), None);
    assert_eq!(look("gerp Foo src", "grep Foo src"), None);
}

#[test]
fn settings_that_made_untouched_code_pass_are_the_cure() {
    const ERROR: &str = "FAIL src/esm.test.ts\n  SyntaxError: Cannot use import statement outside a module";
    let run = "npx jest src/esm.test.ts";
    let config = "/home/ada/shop/jest.config.js";
    let passes = "Tests: 2 passed, 2 total";
    let session =
        Session::new("go").fails(run, ERROR).edits(config, "transform: []", "transform: [1]").passes(run, passes);
    assert_eq!(how(session), Some(RemedyKind::After(vec![1])));
    let session = Session::new("go")
        .edits("/home/ada/shop/src/a.ts", "a", "b")
        .fails(run, ERROR)
        .edits(config, "transform: []", "transform: [1]")
        .passes(run, passes);
    assert_eq!(how(session), Some(RemedyKind::Code(vec![2])));
}
