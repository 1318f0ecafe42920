use super::ParsedCommandLine;
use super::is_verification;

#[test]
fn commands_that_check_work_are_known() {
    for command in [
        "cargo test",
        "cargo +nightly test --workspace",
        "cargo clippy --all-targets -- -D warnings",
        "cd /repo && cargo check 2>&1 | tail -20",
        "RUST_BACKTRACE=1 cargo nextest run foo",
        "timeout 60 cargo build --release",
        "timeout --signal=KILL 60s pytest -x",
        "sudo -E make test",
        "make -j8",
        "make -C build check",
        "bash -lc 'cd x && npm test'",
        "bash -lc cd codex-rs && cargo test --workspace",
        "zsh -c \"bun run typecheck\"",
        "npm run build",
        "npm run test:unit -- --watch=false",
        "pnpm lint",
        "pnpm -r test",
        "yarn typecheck",
        "yarn workspace web test",
        "bun test src/x.test.ts",
        "bun run test:container",
        "npx tsc --noEmit",
        "npx --yes eslint .",
        "python -m pytest tests/x.py -q",
        "python3 -m unittest discover",
        "python manage.py test app",
        "python test_thing.py",
        "python tests/runtests.py auth",
        "uv run pytest",
        "poetry run mypy src",
        "tox -e py311",
        "go test ./...",
        "go vet ./... && go build ./...",
        "ctest --output-on-failure",
        "cmake --build build",
        "dotnet test",
        "swift test",
        "bundle exec rspec spec/x_spec.rb",
        "vendor/bin/phpunit",
        "mix test",
        "./gradlew test --info",
        "mvn -q verify",
        "ruff check .",
        "./scripts/test",
        "./run_tests.sh fast",
        "source venv/bin/activate && pytest",
        "for i in 1 2 3; do cargo test flaky; done",
        "if cargo test; then echo ok; fi",
        "deno check main.ts",
        "gcc -O2 x.c -o x && ./x",
        "cat > x.py <<'EOF'\nprint(1)\nEOF\npytest x.py",
        "make 2>&1",
        "OUT=\"$(cargo test 2>&1)\"",
        "C:\\tools\\cargo.exe test",
        "(cd x && cargo test) | tail",
    ] {
        assert!(is_verification(command), "{command}");
    }
}

#[test]
fn other_commands_are_not() {
    for command in [
        "",
        "ls -la",
        "git commit -m 'cargo test passes now'",
        "echo cargo test",
        "grep -rn pytest .",
        "cat test_thing.py",
        "cargo run",
        "cargo add serde",
        "cargo --version",
        "npm install",
        "npm ci",
        "npm run dev",
        "bun install",
        "go run .",
        "go mod tidy",
        "python script.py",
        "python -c 'import pytest'",
        "make clean",
        "make install",
        "vim tests/x.rs",
        "cat <<'EOF' > notes\ncargo test\nEOF",
        "pip install pytest",
        "docker build-cache ls",
        "mkdir build",
        "rm -rf test",
        "pytest --version",
    ] {
        assert!(!is_verification(command), "{command}");
    }
}

#[test]
fn a_hidden_exit_code_is_seen() {
    for (command, hidden) in [
        ("cargo test", false),
        ("cd x && cargo test", false),
        ("cargo test | tail -5", true),
        ("cargo test 2>&1 | tail -5", true),
        ("set -o pipefail; cargo test | tail", false),
        ("cargo test || true", true),
        ("cargo test; echo done", true),
        ("cargo test &", false),
        ("cargo build && cargo test", false),
        ("cat log | tail", false),
        ("ls; pwd", false),
        ("bash -lc 'cargo test | tail'", true),
        ("bash -lc 'cargo test' | tail", true),
        ("echo 'a | b; c' && python x.py", false),
        ("python x.py\necho done", true),
        ("python - <<'E'\na | b; c\nE", false),
        ("git commit -m \"$(cat <<'E'\na \"b\" | c; d\nE\n)\"", false),
        ("OUT=$(cargo test | tail)", true),
        ("cargo test & sleep 1", true),
    ] {
        assert_eq!(ParsedCommandLine::parse(command).hides_failure(), hidden, "{command}");
    }
}

#[test]
fn reading_is_told_from_doing() {
    for (command, reads) in [
        ("cat x | head", true),
        ("cd /x && grep -n foo bar", true),
        ("git diff HEAD~1 | head -50", true),
        ("git -C x log", false),
        ("git push", false),
        ("sed -n '1,20p' x.rs", true),
        ("cargo test | grep FAILED", false),
        ("bash -lc \"rg -n 'error: ' src\"", true),
        ("python x.py", false),
        ("", false),
    ] {
        assert_eq!(ParsedCommandLine::parse(command).only_reads(), reads, "{command}");
    }
}
