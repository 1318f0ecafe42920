use super::{Difference, Line};

#[test]
fn how_two_commands_differ() {
    let cases = [
        ("pytest -q", "pytest -q 2>&1 | tail -5", Some(Difference::None)),
        ("pytest -q", "A=1 pytest -q", Some(Difference::Before)),
        ("pytest -q", "export A=1 && pytest -q", Some(Difference::Before)),
        ("gh pr create", "GH_TOKEN=$(cat ~/.gh) gh pr create", Some(Difference::Before)),
        ("apt-get install imagemagick", "sudo apt-get install imagemagick", Some(Difference::Before)),
        ("npm test", "cd web && npm test", Some(Difference::Folder)),
        ("cd web && npm test", "npm test", Some(Difference::None)),
        ("npm ci", "sleep 5 && npm ci", Some(Difference::Wait)),
        ("npm install", "npm install --force", Some(Difference::Flags)),
        ("npm install zod", "pnpm install zod", Some(Difference::Program)),
        ("pytest", "python -m pytest", Some(Difference::Program)),
        ("mvn test", "./mvnw test", Some(Difference::Program)),
        ("./scripts/release.sh --dry", "bash scripts/release.sh --dry", Some(Difference::Program)),
        ("npm test", "npm run lint", None),
        ("python -c 'x'", "python -c 'y'", None),
        ("", "ls", None),
    ];
    for (failed, worked, wanted) in cases {
        assert_eq!(Line::read(failed).difference(&Line::read(worked)), wanted, "{failed} / {worked}");
    }
}

#[test]
fn what_stands_in_for_another_command() {
    let cases = [
        ("npm ci", "pnpm install --frozen-lockfile", Some(Difference::Program)),
        ("npm ci", "npm install", Some(Difference::Program)),
        ("pip install openpyxl", "uv add openpyxl", Some(Difference::Program)),
        ("cargo test -p storage --all-features", "cargo test -p storage --features sqlite", Some(Difference::Flags)),
        ("helm upgrade web chart", "helm upgrade web chart --timeout 10m", Some(Difference::Flags)),
        ("pytest -q tests", "pytest -q tests -k fast", None),
        ("pytest -q tests/a.py", "pytest -q tests/b.py", None),
        ("npm ci", "pnpm test", None),
        ("cargo test --quiet", "cargo check --quiet", None),
        ("make build", "make package", None),
        ("npm install zod", "pnpm add yup", None),
    ];
    for (failed, worked, wanted) in cases {
        assert_eq!(Line::read(failed).stand_in(&Line::read(worked)), wanted, "{failed} / {worked}");
    }
    assert!(Line::read("convert a.png b.jpg").shares_object(&Line::read("magick a.png b.jpg")));
    assert!(!Line::read("npm run build").shares_object(&Line::read("make build")));
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
        let line = Line::read(command);
        assert_eq!((line.is_inline, line.edits), (is_inline, edits), "{command}");
    }
    assert_eq!(Line::read("bash -c 'npm ci'").main(), ["npm", "ci"]);
}

#[test]
fn what_a_line_is_about() {
    assert_eq!(Line::read("rg Foo src").subject(), ["rg", "Foo", "src"]);
    assert_eq!(Line::read("cat a | npm test").subject(), ["npm", "test"]);
    assert!(Line::read("cd web && npm run").asks());
    assert!(!Line::read("npm run && npm run dev").asks());
    assert!(!Line::read("ls").asks());
}

proptest::proptest! {
    #[test]
    fn no_command_is_too_strange(one in ".{0,200}", other in ".{0,200}") {
        let _ = Line::read(&one).difference(&Line::read(&other));
        let _ = Line::read(&one).stand_in(&Line::read(&other));
    }
}
