use serde_json::json;

use super::test_support::{Session, distilled, told};
use crate::context::ReflectionContext;
use crate::domain::{DropReason, Episode, MemoryCategory, ToolOutput};

fn failed(text: &str) -> ToolOutput {
    ToolOutput { text: text.to_owned(), failed: Some(true), ..ToolOutput::default() }
}

fn passed(text: &str) -> ToolOutput {
    ToolOutput { text: text.to_owned(), ..ToolOutput::default() }
}

/// One lesson is learned, and it says these words.
#[track_caller]
fn teaches(session: Session, category: MemoryCategory, words: &[&str]) {
    let distillate = session.distil();
    let text = told(&distillate);
    let [claim] = distillate.claims.as_slice() else { panic!("{} claims:\n{text}", distillate.claims.len()) };
    let said = format!("{} {}", claim.summary, claim.rule.as_deref().unwrap());
    for word in words {
        assert!(said.contains(word), "no {word:?} in:\n{text}");
    }
    assert_eq!(claim.category, category, "{text}");
    assert!(claim.rule.as_deref().unwrap().starts_with("IF ") && claim.rule.as_deref().unwrap().contains(" THEN "));
    assert!((0.3..=0.95).contains(&claim.importance.value()));
}

#[track_caller]
fn teaches_nothing(session: Session) {
    let distillate = session.distil();
    assert!(distillate.claims.is_empty(), "{}", told(&distillate));
}

/// A command fails, something is done, and the command passes.
fn mended(command: &str, error: &str, fix: &str) -> Session {
    Session::new("make it work")
        .fails(command, error)
        .passes("cat README.md", "# Shop")
        .passes(fix, "done")
        .passes(command, "ok, 12 passed")
}

#[test]
fn what_is_missing_around_the_code_is_a_lesson_with_its_fix() {
    use MemoryCategory::Infra;
    let cases: &[(&str, &str, &str, &[&str])] = &[
        (
            "cd /home/ada/shop && python -m pytest -q 2>&1 | tail -20",
            "E   ModuleNotFoundError: No module named 'freezegun'",
            "pip install freezegun",
            &["`python -m pytest -q` needs `freezegun`", "`pip install freezegun`"],
        ),
        (
            "npm test",
            "Error: Missing required environment variable: STRIPE_KEY",
            "cp .env.example .env",
            &["`STRIPE_KEY`", ".env"],
        ),
        (
            "npm run dev",
            "Error: listen EADDRINUSE: address already in use :::3000",
            "lsof -ti:3000 | xargs kill -9",
            &["Port 3000"],
        ),
        (
            "python manage.py test",
            "django.db.utils.OperationalError: no such table: shop_order",
            "python manage.py migrate",
            &["migrated database", "`python manage.py migrate`"],
        ),
        (
            "bundle exec rspec",
            "PG::UndefinedTable: ERROR:  relation \"orders\" does not exist",
            "bin/rails db:migrate RAILS_ENV=test",
            &["db:migrate"],
        ),
        (
            "git commit -m 'x'",
            "fatal: Unable to create '/home/ada/shop/.git/index.lock': File exists.",
            "rm -f .git/index.lock",
            &["index.lock"],
        ),
        (
            "go test ./...",
            "dial tcp 127.0.0.1:5432: connect: connection refused\nFAIL\tshop/db\t0.01s",
            "docker compose up -d postgres",
            &["service", "`docker compose up -d postgres`"],
        ),
        (
            "npm run build",
            "error engine \"node\" is incompatible with this module. Expected version \">=20\"",
            "nvm use 20",
            &["version", "`nvm use 20`"],
        ),
        (
            "cargo build",
            "error: package `clap v4.5` cannot be built because it requires rustc 1.74 or newer",
            "rustup update stable",
            &["rustup update"],
        ),
        (
            "./scripts/release.sh",
            "bash: ./scripts/release.sh: Permission denied",
            "chmod +x scripts/release.sh",
            &["chmod +x"],
        ),
        (
            "bundle exec rspec spec",
            "Could not find rack-3.0.8 in locally installed gems",
            "bundle install",
            &["`bundle install`"],
        ),
        (
            "cmake --build build",
            "fatal error: fmt/core.h: No such file or directory",
            "sudo apt-get install -y libfmt-dev",
            &["`fmt/core.h`", "libfmt-dev"],
        ),
        (
            "go build ./...",
            "internal/api/server.go:12:2: no required module provides package github.com/go-chi/chi/v5; to add it:",
            "go get github.com/go-chi/chi/v5",
            &["go get github.com/go-chi/chi/v5"],
        ),
        (
            "npm ci",
            "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.",
            "npm install",
            &["lock file", "`npm install`"],
        ),
        (
            "terraform plan",
            "Error: Backend initialization required, please run \"terraform init\"",
            "terraform init",
            &["`terraform init`"],
        ),
        (
            "mvn -q test",
            "[ERROR] Fatal error compiling: error: invalid target release: 21",
            "sdk use java 21-tem",
            &["sdk use java"],
        ),
        (
            "shellcheck run.sh",
            "bash: line 1: shellcheck: command not found",
            "brew install shellcheck",
            &["`shellcheck` is not installed", "brew install shellcheck"],
        ),
    ];
    for (command, error, fix, words) in cases {
        teaches(mended(command, error, fix), Infra, words);
    }
}

#[test]
fn another_way_of_doing_it_is_a_lesson() {
    use MemoryCategory::{Infra, TestStrategy, ToolUsage};
    let case = |failed: &str, error: &str, worked: &str| {
        Session::new("go").fails(failed, error).passes(worked, "ok, 12 passed")
    };
    let cases = [
        (
            case("npm test", "Error: DATABASE_URL is not set", "DATABASE_URL=sqlite://test.db npm test"),
            Infra,
            "run it with `DATABASE_URL=sqlite://test.db`",
        ),
        (
            case("python manage.py check", "bash: line 1: python: command not found", "python3 manage.py check"),
            Infra,
            "use `python3`",
        ),
        (
            case("docker compose up --detached", "unknown flag: --detached", "docker compose up --detach"),
            ToolUsage,
            "--detach",
        ),
        (
            case("npx eslint --ext .ts src", "Invalid option '--ext' - perhaps you meant '-c'?", "npx eslint src"),
            ToolUsage,
            "npx eslint src",
        ),
        (
            case(
                "npm install",
                "npm ERR! ERESOLVE unable to resolve dependency tree",
                "npm install --legacy-peer-deps",
            ),
            Infra,
            "--legacy-peer-deps",
        ),
        (
            case(
                "npm run build",
                "error engine \"node\" is incompatible with this module",
                "nvm use 20 && npm run build",
            ),
            Infra,
            "nvm use 20",
        ),
        (
            case("mvn test", "error: invalid target release: 21", "export JAVA_HOME=/usr/lib/jvm/java-21 && mvn test"),
            Infra,
            "JAVA_HOME=/usr/lib/jvm/java-21",
        ),
        (case("pytest -q", "bash: pytest: command not found", "uv run pytest -q"), Infra, "through `uv run`"),
        (
            case(
                "npm run build",
                "FATAL ERROR: JavaScript heap out of memory",
                "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
            ),
            Infra,
            "max-old-space",
        ),
        (
            case(
                "cargo test",
                "test db::insert ... FAILED\nassertion `left == right` failed\ntest result: FAILED. 3 passed; 1 failed",
                "cargo test -- --test-threads=1",
            ),
            TestStrategy,
            "--test-threads=1",
        ),
        (
            case(
                "npm test",
                "npm error Could not read package.json: Error: ENOENT: no such file or directory, open '/home/ada/shop/package.json'",
                "cd web && npm test",
            ),
            Infra,
            "in `web`",
        ),
        (
            case("make deploy", "ssh: connect to host: Connection refused", "VPN=1 make deploy"),
            Infra,
            "run it with `VPN=1`",
        ),
    ];
    for (session, category, word) in cases {
        teaches(session, category, &[word]);
    }
}

#[test]
fn a_setting_that_was_edited_is_told_word_for_word() {
    let session = Session::new("go")
        .fails("docker compose up -d", "Error: port 5432 is already allocated")
        .edits("/home/ada/shop/docker-compose.yml", "5432:5432", "5433:5432")
        .passes("docker compose up -d", "Started");
    teaches(session, MemoryCategory::Infra, &["change `5432:5432` to `5433:5432` in `docker-compose.yml`"]);
}

#[test]
fn everyday_red_and_green_is_no_lesson() {
    const TEST: &str = "test parse ... FAILED\nassertion `left == right` failed\n  left: 3\n right: 4\ntest result: FAILED. 0 passed; 1 failed";
    let path = "/home/ada/shop/src/lib.rs";
    teaches_nothing(
        Session::new("add parse")
            .edits(path, "fn a() {}", "fn b() {}")
            .fails("cargo test", TEST)
            .edits(path, "fn b() {}", "fn c() {}")
            .passes("cargo test", "test result: ok. 4 passed; 0 failed"),
    );
    teaches_nothing(
        Session::new("add it")
            .fails("npx tsc --noEmit", "src/a.ts(3,1): error TS2304: Cannot find name 'foo'.")
            .edits("src/a.ts", "foo", "bar")
            .passes("npx tsc --noEmit", ""),
    );
    teaches_nothing(
        Session::new("split it")
            .fails("npm test", "Error: Cannot find module './cart' from 'src/app.test.ts'")
            .edits("src/app.ts", "a", "b")
            .passes("npm test", "Tests: 3 passed, 3 total"),
    );
    teaches_nothing(
        Session::new("lint")
            .fails("ruff check .", "src/a.py:1:1: F401 `os` imported but unused")
            .passes("ruff check . --fix", "All checks passed!")
            .passes("ruff check .", "All checks passed!"),
    );
    teaches_nothing(
        Session::new("fmt")
            .fails("cargo fmt --check", "Diff in src/lib.rs:1")
            .passes("cargo fmt", "")
            .passes("cargo fmt --check", ""),
    );
    teaches_nothing(
        Session::new("go")
            .fails("cargo test", TEST)
            .passes("python3 fix_imports.py", "rewrote 3 files")
            .passes("cargo test", "test result: ok. 4 passed; 0 failed"),
    );
    teaches_nothing(
        Session::new("go")
            .fails("cargo test", TEST)
            .passes("cat > src/lib.rs <<'EOF'\nfn c() {}\nEOF", "")
            .passes("cargo test", "test result: ok. 4 passed; 0 failed"),
    );
    teaches_nothing(
        Session::new("go").fails("cargo test", TEST).passes("cargo test other", "test result: ok. 1 passed; 0 failed"),
    );
}

#[test]
fn looking_around_is_no_lesson() {
    let nothing = ToolOutput { exit_code: Some(1), failed: Some(true), ..ToolOutput::default() };
    teaches_nothing(
        Session::new("look")
            .call("Bash", json!({"command": "grep -rn TODO src"}), nothing)
            .fails("cat docs/setup.md", "cat: docs/setup.md: No such file or directory")
            .fails("ls docs", "ls: cannot access 'docs': No such file or directory")
            .fails("ls doc", "ls: cannot access 'doc': No such file or directory")
            .call("Read", json!({"file_path": "/home/ada/shop/x.md"}), failed("File does not exist."))
            .call(
                "Edit",
                json!({"file_path": "/home/ada/shop/a.ts", "old_string": "a", "new_string": "b"}),
                failed("String to replace not found in file.\nString: a"),
            )
            .edits("/home/ada/shop/a.ts", "aa", "b")
            .fails("which fd", "")
            .passes("ls", "src"),
    );
    teaches_nothing(
        Session::new("push")
            .fails("git push", "error: failed to push some refs to 'origin'")
            .passes("git pull --rebase", "ok")
            .passes("git push", "ok"),
    );
    teaches_nothing(
        Session::new("copy")
            .fails("cp a b/c", "cp: cannot create regular file 'b/c': No such file or directory")
            .passes("mkdir -p b", "")
            .passes("cp a b/c", ""),
    );
    teaches_nothing(
        Session::new("once").fails("update_plan", "bash: line 1: update_plan: command not found").passes("ls", "src"),
    );
    teaches_nothing(
        Session::new("try")
            .fails("python3 -c 'import yaml'", "ModuleNotFoundError: No module named 'yaml'")
            .passes("python3 -c 'import json'", ""),
    );
}

#[test]
fn several_attempts_at_code_are_everyday_work() {
    const ERROR: &str = "error[E0502]: cannot borrow `cart` as mutable because it is also borrowed as immutable";
    let path = "/home/ada/shop/src/cart.rs";
    let session = Session::new("go")
        .fails("cargo build", ERROR)
        .edits(path, "let a = &cart;", "let a = &mut cart;")
        .fails("cargo build", ERROR)
        .edits(path, "let a = &mut cart;", "let b = &cart;")
        .fails("cargo build", ERROR)
        .edits(path, "let b = &cart;", "let b = cart.clone();")
        .passes("cargo build", "Finished");
    teaches_nothing(session);
}

#[test]
fn a_limit_is_a_habit_from_the_second_time_on() {
    const ERROR: &str = "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Number of requests has exceeded your rate limit\"}}";
    teaches_nothing(Session::new("go").agent("I will look around first.").api_error(ERROR).agent("done now"));
    let twice = Session::new("go")
        .agent("I will look around first.")
        .api_error(ERROR)
        .agent("going on")
        .api_error(ERROR)
        .agent("done");
    let claims = twice.claims();
    assert_eq!(claims.len(), 1);
    assert_eq!(
        (claims[0].category.clone(), claims[0].facets.provider.as_deref()),
        (MemoryCategory::ProviderQuirk, Some("claude-code"))
    );
    assert!(claims[0].rule.as_deref().unwrap().contains("slow down"), "{:?}", claims[0].rule);
}

#[test]
fn more_time_and_the_background_are_told() {
    let call = |timeout: u64, output: ToolOutput| ("npm run e2e", timeout, output);
    let session = [call(120_000, failed("Command timed out after 2m 0.0s")), call(600_000, passed("42 passed (5m)"))]
        .into_iter()
        .fold(Session::new("go"), |session, (command, timeout, output)| {
            session.call("Bash", json!({"command": command, "timeout": timeout}), output)
        });
    teaches(session, MemoryCategory::Infra, &["`npm run e2e`", "600 s"]);
    let session = Session::new("go").fails("npm run e2e", "Command timed out after 2m 0.0s").call(
        "Bash",
        json!({"command": "npm run e2e", "run_in_background": true}),
        passed("Command running in background with ID: b1"),
    );
    teaches(session, MemoryCategory::Infra, &["background"]);
}

#[test]
fn a_loop_that_ended_gives_one_lesson() {
    const ERROR: &str = "error: could not open lock on state: Resource temporarily unavailable";
    let looped =
        |session: Session| session.fails("pulumi up", ERROR).fails("pulumi up", ERROR).fails("pulumi up", ERROR);
    teaches_nothing(looped(Session::new("go")));
    let ended = looped(Session::new("go")).passes("pulumi cancel", "ok").passes("pulumi up", "ok");
    teaches(ended, MemoryCategory::ToolUsage, &["`pulumi cancel`"]);
}

#[test]
fn waiting_that_helped_is_a_heuristic() {
    let session = Session::new("go")
        .fails(
            "npm ci --silent",
            "npm error network request to https://registry.example.org/zod failed, reason: ECONNRESET",
        )
        .passes("sleep 30 && npm ci --silent", "added 300 packages");
    teaches(session, MemoryCategory::Heuristic, &["wait a little"]);
}

#[test]
fn a_flaky_test_is_named() {
    const FAIL: &str = "FAIL src/cart.test.ts\n  ● cart › adds items concurrently\n\n    expect(received).toBe(expected)\n\nTests: 1 failed, 11 passed, 12 total";
    let session = Session::new("run").fails("npm test", FAIL).passes("npm test", "Tests: 12 passed, 12 total");
    teaches(
        session,
        MemoryCategory::TestStrategy,
        &["`cart › adds items concurrently`", "flaky", "run it again by itself"],
    );
}

#[test]
fn a_test_that_fails_in_one_of_several_runs_is_flaky() {
    const FAIL: &str = "test cart::adds ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed";
    const PASS: &str = "test result: ok. 4 passed; 0 failed";
    let session = Session::default()
        .run("r1", "success")
        .passes("cargo test", PASS)
        .run("r2", "failed")
        .fails("cargo test", FAIL)
        .run("r3", "success")
        .passes("cargo test", PASS);
    let claims = session.claims();
    assert_eq!(claims.len(), 1, "{claims:?}");
    assert_eq!(claims[0].category, MemoryCategory::TestStrategy);
    assert_eq!(claims[0].episodes.len(), 3);
}

fn known_from(context: &ReflectionContext) -> Vec<Episode> {
    let mut earlier = context.episode.clone();
    earlier.id = crate::domain::EpisodeId::for_session("shop", "earlier");
    earlier.session_id = crate::domain::SessionId::parse("earlier").unwrap();
    vec![earlier]
}

#[test]
fn a_remedy_known_from_an_earlier_run_is_one_lesson_with_both() {
    let unmended = || {
        Session::new("go")
            .fails("make e2e", "Error: browser closed unexpectedly while loading checkout")
            .agent("I could not get it to run, so I leave it.")
    };
    let episodes = known_from(&unmended().context(Vec::new()));
    // That nothing mended it, twice, is a fact and no lesson.
    assert!(distilled(&unmended().context(episodes)).claims.is_empty());
    let session = || mended("make e2e", "Error: No module named 'selenium'", "pip install selenium");
    let episodes = known_from(&session().context(Vec::new()));
    let distillate = distilled(&session().context(episodes.clone()));
    let [claim] = distillate.claims.as_slice() else { panic!("{}", told(&distillate)) };
    assert!(claim.episodes.contains(&episodes[0].id) && claim.episodes.len() == 2);
    let detail = claim.detail.as_deref().unwrap();
    assert!(detail.contains("in an earlier run too"), "{detail}");
}

#[test]
fn more_than_five_lessons_are_too_many() {
    let mut session = Session::new("go");
    for name in ["ant", "bee", "cat", "dog", "elk", "fox", "gnu"] {
        session = session
            .fails(&format!("./run {name}"), &format!("Error: No module named '{name}'"))
            .passes(&format!("pip install {name}"), "ok")
            .passes(&format!("./run {name}"), "ok");
    }
    let distillate = session.distil();
    assert_eq!(distillate.claims.len(), 5);
    assert_eq!(distillate.dropped.iter().filter(|one| one.why == DropReason::TooMany).count(), 2);
}

#[test]
fn one_failure_after_another_is_told_for_itself() {
    let session = Session::new("go")
        .fails("pytest -q", "ModuleNotFoundError: No module named 'freezegun'")
        .passes("pip install freezegun", "ok")
        .fails("pytest -q", "sqlalchemy.exc.OperationalError: no such table: orders")
        .passes("alembic upgrade head", "ok")
        .passes("pytest -q", "12 passed");
    let claims = session.claims();
    let summaries: Vec<&str> = claims.iter().map(|claim| claim.summary.as_str()).collect();
    assert_eq!(claims.len(), 2, "{summaries:?}");
    assert!(summaries[0].contains("freezegun") && summaries[1].contains("alembic"), "{summaries:?}");
}

#[test]
fn importance_follows_what_was_lost() {
    let fixed = mended("make", "error: No module named 'x1y'", "pip install x1y").claims()[0].importance;
    let failing = || {
        (0..4).fold(Session::new("go"), |session, _| {
            session.fails("make all", "error: No module named 'x1y'").edits("src/a.py", "a", "b")
        })
    };
    let unmended = failing().claims()[0].importance;
    let repeated = failing().passes("pip install x1y", "ok").passes("make all", "ok").claims()[0].importance;
    let preference =
        Session::new("go").passes("npm install zod", "ok").user("use pnpm, not npm").claims()[0].importance;
    assert!(
        repeated > fixed && fixed > unmended && unmended > preference,
        "{repeated} {fixed} {unmended} {preference}"
    );
}

#[test]
fn the_account_has_all_four_parts() {
    let reflection = mended("npm test", "Error: DATABASE_URL is not set", "cp .env.example .env")
        .user("No, use the test database instead.")
        .distil()
        .reflection;
    assert!(reflection.outcome.contains("make it work"));
    assert!(
        !reflection.worked.is_empty() && !reflection.failed.is_empty() && !reflection.decisions.is_empty(),
        "{reflection:?}"
    );
}

#[test]
fn nothing_happened_and_nothing_is_learned() {
    let distillate = Session::default().distil();
    assert!(distillate.claims.is_empty() && distillate.dropped.is_empty());
}

#[test]
fn what_a_person_cleared_is_left_to_the_person() {
    const ERROR: &str = "error: vault is locked\n\nfatal: failed to write commit object";
    let blocked = || Session::new("go").fails("git commit -m 'a: b'", ERROR).fails("git commit -m 'a: b'", ERROR);
    let asked = blocked().user("it is unlocked now").passes("git status; git commit -m 'a: b'", "[main 1a2b3c4] a: b");
    teaches(asked, MemoryCategory::Infra, &["`git commit` failed again and again (vault is locked", "ask the person"]);
    // Nobody was asked, or something was done.
    teaches_nothing(blocked().passes("git commit -m 'a: b'", "[main 1a2b3c4] a: b"));
    teaches_nothing(
        blocked()
            .user("it is unlocked now")
            .edits("/home/ada/shop/src/a.rs", "a", "b")
            .passes("git commit -m 'a: b'", "[main 1a2b3c4] a: b"),
    );
}

#[test]
fn what_a_sandbox_forbids_is_not_the_fault_of_the_code() {
    const ERROR: &str = "panic: listen tcp6 [::1]:0: bind: operation not permitted\nFAIL shop/cart 0.1s";
    let boxed = || Session::new("go").system("You work in a sandbox without network.");
    teaches(boxed().fails("go test ./...", ERROR), MemoryCategory::Infra, &["sandbox", "`go test ./...`"]);
    teaches_nothing(Session::new("go").fails("go test ./...", ERROR));
    let cached = boxed()
        .fails("go vet ./...", "open /home/ada/.cache/go/1: operation not permitted")
        .passes("GOCACHE=/tmp/go go vet ./...", "");
    teaches(cached, MemoryCategory::Infra, &["`go vet ./...` fails here", "run it with `GOCACHE=/tmp/go`"]);
}

#[test]
fn what_throws_work_away_is_no_remedy() {
    for remedy in ["git stash", "git checkout -- .", "git reset --hard HEAD~1"] {
        teaches_nothing(
            Session::new("go")
                .fails("npm run build", "error: could not open lock on state: Resource temporarily unavailable")
                .passes(remedy, "ok")
                .passes("npm run build", "ok"),
        );
    }
}
