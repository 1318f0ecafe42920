use super::{find_run_target, installs_packages, is_inline_program, is_preparation, is_query_command, is_typo};

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_only_asks_mends_nothing() {
    for command in [
        "atlasctl export --help",
        "node -v",
        "npm run",
        "make help",
        "docker ps",
        "docker compose ps",
        "kubectl get pods",
        "npm ls react",
        "pip show black",
        "aws ec2 describe-instances",
        "gh pr view 3",
        "lsof -i :3000",
        "systemctl status redis",
        "curl -s localhost:3100/health",
        "npx playwright --version",
        "pytest --collect-only",
        "go env",
        "go env -json",
    ] {
        assert!(is_query_command(&words(command)), "{command}");
    }
    for command in [
        "npm run dev",
        "make lint",
        "docker compose up -d",
        "docker run list",
        "kubectl apply -f a.yaml",
        "curl -X POST localhost:3100",
        "curl -fsSL https://a.example/x -o x",
        "aws sso login",
        "git lfs pull",
        "go env -w GOPRIVATE=git.example.org",
        "poetry env use python3.12",
        "",
    ] {
        assert!(!is_query_command(&words(command)), "{command}");
    }
}

#[test]
fn a_checker_may_be_told_to_make_ready() {
    for command in
        ["npx playwright install chromium", "playwright codegen", "jest --init", "npx cypress open", "tsc --init"]
    {
        assert!(is_preparation(&words(command)), "{command}");
    }
    for command in ["npx playwright test", "mvn install", "make install", "jest src", "cypress run", "eslint"] {
        assert!(!is_preparation(&words(command)), "{command}");
    }
}

#[test]
fn package_managers_fetch() {
    for command in [
        "npm ci",
        "npm install zod",
        "pip install -r a.txt",
        "python3 -m pip install x",
        "uv sync",
        "apt-get -y install jq",
        "uv pip install x",
        "cargo update",
        "yarn",
    ] {
        assert!(installs_packages(&words(command)), "{command}");
    }
    for command in ["npm test", "cargo build", "go test ./...", "pip", "make install", "curl x"] {
        assert!(!installs_packages(&words(command)), "{command}");
    }
}

#[test]
fn targets_are_named() {
    let cases = [
        ("npm run lint", Some(("npm", "lint"))),
        ("npm start", Some(("npm", "start"))),
        ("yarn typecheck", Some(("yarn", "typecheck"))),
        ("make -j4 CC=gcc style", Some(("make", "style"))),
        ("./gradlew ktlint", Some(("gradlew", "ktlint"))),
        ("npm install", None),
        ("pnpm add zod", None),
        ("cargo test", None),
        ("make", None),
    ];
    for (command, wanted) in cases {
        assert_eq!(find_run_target(&words(command)), wanted, "{command}");
    }
}

#[test]
fn programs_in_words_are_known() {
    for command in
        ["python3 -", "python3", "python -c x", "node -e x", "uv run python -c x", "perl -ne x", "deno eval x"]
    {
        assert!(is_inline_program(&words(command)), "{command}");
    }
    for command in ["python3 a.py", "python -m pytest -c x", "node --test", "npx tsc -p .", "psql"] {
        assert!(!is_inline_program(&words(command)), "{command}");
    }
}

#[test]
fn a_slip_of_the_hand_is_no_other_word() {
    for (one, other) in
        [("tset", "test"), ("biuld", "build"), ("lnit", "lint"), ("tests", "test"), ("typechek", "typecheck")]
    {
        assert!(is_typo(one, other), "{one} {other}");
    }
    for (one, other) in
        [("typecheck", "check-types"), ("lint", "style"), ("start", "dev"), ("test", "test"), ("build", "build:prod")]
    {
        assert!(!is_typo(one, other), "{one} {other}");
    }
}

proptest::proptest! {
    #[test]
    fn no_words_are_too_strange(line in ".{0,120}", other in ".{0,60}") {
        let line = words(&line);
        let _ = (is_query_command(&line), is_preparation(&line), installs_packages(&line), find_run_target(&line), is_inline_program(&line));
        let _ = line.first().map(|word| is_typo(word, &other));
    }
}
