use super::{CommandDifference, ComparableCommand};

#[test]
fn how_two_commands_differ() {
    let cases = [
        ("pytest -q", "pytest -q 2>&1 | tail -5", Some(CommandDifference::None)),
        ("pytest -q", "A=1 pytest -q", Some(CommandDifference::Before)),
        ("pytest -q", "export A=1 && pytest -q", Some(CommandDifference::Before)),
        ("gh pr create", "GH_TOKEN=$(cat ~/.gh) gh pr create", Some(CommandDifference::Before)),
        ("apt-get install imagemagick", "sudo apt-get install imagemagick", Some(CommandDifference::Before)),
        ("npm test", "cd web && npm test", Some(CommandDifference::Folder)),
        ("cd web && npm test", "npm test", Some(CommandDifference::None)),
        ("npm ci", "sleep 5 && npm ci", Some(CommandDifference::Wait)),
        ("npm install", "npm install --force", Some(CommandDifference::Flags)),
        ("npm install zod", "pnpm install zod", Some(CommandDifference::Program)),
        ("pytest", "python -m pytest", Some(CommandDifference::Program)),
        ("mvn test", "./mvnw test", Some(CommandDifference::Program)),
        ("./scripts/release.sh --dry", "bash scripts/release.sh --dry", Some(CommandDifference::Program)),
        ("npm test", "npm run lint", None),
        ("python -c 'x'", "python -c 'y'", None),
        ("", "ls", None),
    ];
    for (failed, worked, wanted) in cases {
        assert_eq!(
            ComparableCommand::parse(failed).compare_with(&ComparableCommand::parse(worked)),
            wanted,
            "{failed} / {worked}"
        );
    }
}

#[test]
fn what_stands_in_for_another_command() {
    let cases = [
        ("npm ci", "pnpm install --frozen-lockfile", Some(CommandDifference::Program)),
        ("npm ci", "npm install", Some(CommandDifference::Program)),
        ("pip install openpyxl", "uv add openpyxl", Some(CommandDifference::Program)),
        (
            "cargo test -p storage --all-features",
            "cargo test -p storage --features sqlite",
            Some(CommandDifference::Flags),
        ),
        ("helm upgrade web chart", "helm upgrade web chart --timeout 10m", Some(CommandDifference::Flags)),
        ("pytest -q tests", "pytest -q tests -k fast", None),
        ("pytest -q tests/a.py", "pytest -q tests/b.py", None),
        ("npm ci", "pnpm test", None),
        ("cargo test --quiet", "cargo check --quiet", None),
        ("make build", "make package", None),
        ("npm install zod", "pnpm add yup", None),
    ];
    for (failed, worked, wanted) in cases {
        assert_eq!(
            ComparableCommand::parse(failed).compare_loosely(&ComparableCommand::parse(worked)),
            wanted,
            "{failed} / {worked}"
        );
    }
    assert!(
        ComparableCommand::parse("convert a.png b.jpg").shares_object(&ComparableCommand::parse("magick a.png b.jpg"))
    );
    assert!(!ComparableCommand::parse("npm run build").shares_object(&ComparableCommand::parse("make build")));
}

#[test]
fn programs_in_the_words_of_a_command_look_or_edit() {
    let cases = [
        ("python3 - <<'EOF'\nimport re\nprint(open('a.py').read())\nEOF", true, false),
        ("python3 -c \"p.write_text(p.read_text().replace('1','2'))\"", true, true),
        ("node -e \"fs.writeFileSync('a.js','2')\"", true, true),
        ("bash -c 'python3 -c \"print(1)\"'", true, false),
        ("bash -lc 'sed -i s/a/b/ x.py'", false, true),
        ("bash -c 'npm ci'", false, false),
        ("python3 manage.py migrate", false, false),
    ];
    for (command, is_inline, edits) in cases {
        let line = ComparableCommand::parse(command);
        assert_eq!((line.is_inline, line.edits), (is_inline, edits), "{command}");
    }
    assert_eq!(ComparableCommand::parse("bash -c 'npm ci'").main_words(), ["npm", "ci"]);
}

#[test]
fn what_a_line_is_about() {
    assert_eq!(ComparableCommand::parse("rg Foo src").subject_words(), ["rg", "Foo", "src"]);
    assert_eq!(ComparableCommand::parse("cat a | npm test").subject_words(), ["npm", "test"]);
    assert!(ComparableCommand::parse("cd web && npm run").is_query());
    assert!(!ComparableCommand::parse("npm run && npm run dev").is_query());
    assert!(!ComparableCommand::parse("ls").is_query());
}

proptest::proptest! {
    #[test]
    fn no_command_is_too_strange(one in ".{0,200}", other in ".{0,200}") {
        let _ = ComparableCommand::parse(&one).compare_with(&ComparableCommand::parse(&other));
        let _ = ComparableCommand::parse(&one).compare_loosely(&ComparableCommand::parse(&other));
    }
}
