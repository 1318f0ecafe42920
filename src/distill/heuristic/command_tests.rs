use super::{Difference, Line, shown};

#[test]
fn commands_read_well_in_a_sentence() {
    let cases = [
        ("cd /a/b && cargo test 2>&1 | tail -20", "cargo test"),
        ("npm test || true", "npm test"),
        ("make\n  all", "make all"),
        ("sleep 60 && npm ci", "npm ci"),
        ("a | b", "a | b"),
        ("echo `date`", "echo 'date'"),
    ];
    for (command, wanted) in cases {
        assert_eq!(shown(command), wanted);
    }
    assert!(shown(&"word ".repeat(100)).chars().count() <= 101);
}

#[test]
fn how_two_commands_differ() {
    let cases = [
        ("pytest -q", "pytest -q 2>&1 | tail -5", Some(Difference::None)),
        ("pytest -q", "A=1 pytest -q", Some(Difference::Before)),
        ("pytest -q", "export A=1 && pytest -q", Some(Difference::Before)),
        ("apt-get install imagemagick", "sudo apt-get install imagemagick", Some(Difference::Before)),
        ("npm test", "cd web && npm test", Some(Difference::Folder)),
        ("cd web && npm test", "npm test", Some(Difference::None)),
        ("npm ci", "sleep 5 && npm ci", Some(Difference::Wait)),
        ("npm install", "npm install --force", Some(Difference::Flags)),
        ("npm install zod", "pnpm install zod", Some(Difference::Program)),
        ("pytest", "python -m pytest", Some(Difference::Program)),
        ("mvn test", "./mvnw test", Some(Difference::Program)),
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

proptest::proptest! {
    #[test]
    fn no_command_is_too_strange(one in ".{0,200}", other in ".{0,200}") {
        let _ = Line::read(&one).difference(&Line::read(&other));
        let _ = Line::read(&one).stand_in(&Line::read(&other));
        let _ = shown(&one);
    }
}
