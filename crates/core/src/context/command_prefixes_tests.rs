use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn what_only_wraps_a_command_is_left_out() {
    for (line, expected) in [
        ("A=1 sudo -E make test", "make test"),
        ("timeout --signal=KILL 60s pytest -x", "pytest -x"),
        ("if ! env -i B=2 cargo test", "cargo test"),
        ("command -v cargo", "command -v cargo"),
        ("command rm a", "rm a"),
        ("uv run pytest", "uv run pytest"),
        ("A=1", "A=1"),
        ("sudo", "sudo"),
    ] {
        assert_eq!(strip_wrappers(&words(line)), words(expected), "{line}");
    }
}

#[test]
fn runners_are_left_out_where_a_program_follows() {
    for (line, expected) in [
        ("npx --yes eslint .", "eslint ."),
        ("uv run python -m pytest -q", "pytest -q"),
        ("mise exec -- pkl format", "pkl format"),
        ("yarn add x", "yarn add x"),
        ("npx --version", "npx --version"),
        ("python -m", "python -m"),
    ] {
        assert_eq!(strip_runners(&words(line)), words(expected), "{line}");
    }
}

#[test]
fn the_script_of_a_shell_is_found() {
    for (given, expected) in [
        (&["bash", "-lc", "cd x && make"][..], Some("cd x && make")),
        (&["/bin/sh", "-e", "-c", "make test", "_", "a"], Some("make test")),
        (&["zsh", "-c", "make", "test"], Some("make test")),
        (&["bash", "run.sh"], None),
        (&["bash", "-c"], None),
        (&["python", "-c", "print(1)"], None),
    ] {
        let given: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(find_shell_script(&given).as_deref(), expected, "{given:?}");
    }
}
