use super::*;

#[test]
fn looking_is_told_from_doing() {
    for look in [
        "ls -la",
        "cat a | grep b",
        "git status && git log",
        "sed -n 1,5p a.rs",
        "cd x && pwd",
        "rg foo 2>/dev/null",
        "grep x y 2>&1",
        "env A=1 cat x",
        "git -C /p log",
        "find . -name '*.rs' | xargs grep x",
        "bash -c 'ls && cat a'",
        "for f in a b; do cat a; done",
        "echo \"$(date) $(cat a | wc -l)\"",
        "diff <(sort a) <(sort b)",
        "A=$(cat b) && echo \"$A\"",
        "command -v cargo",
        "type a.txt 2>nul",
        "",
    ] {
        assert!(is_read_only_command(look), "{look}");
    }
    for agent_action in [
        "rm a",
        "sed -i s/a/b/ c",
        "echo x > y",
        "git checkout a",
        "npm install",
        "cat a | tee b",
        "ls; make",
        "cat x > y 2>&1",
        "env A=1 python manage.py migrate",
        "find . -name a -delete",
        "find . -exec sed -i s/1/2/ {} +",
        "git branch -D old",
        "git -C /p checkout a",
        "echo \"$(rm a)\"",
        "cat $(python get.py)",
        "bash -c 'rm a'",
        "ls | xargs rm",
        "cat > a.py <<'E'\nls\nE",
        "echo \"${A:-$(rm a)}\"",
        "echo $(($(rm a) + 1))",
        "diff <(sort a) <(python b.py)",
        "(cat a; ls) > b",
        "ls (rm a)",
    ] {
        assert!(!is_read_only_command(agent_action), "{agent_action}");
    }
}

#[test]
fn a_change_is_all_but_looks_and_pure_checks() {
    let table = [
        ("pytest", true, false),
        ("cd a && pytest -q 2>&1 | tail -5", true, false),
        ("ruff check --fix .", true, true),
        ("npm run lint:fix", true, true),
        ("jest -u", true, true),
        ("prettier --check .", true, false),
        ("prettier --write .", true, true),
        ("cargo fmt", true, true),
        ("cargo fmt --check", true, false),
        ("python fix.py && ruff check .", true, true),
        ("pytest > log", true, true),
        ("gh pr view 3", true, false),
        ("gh pr merge 3", true, true),
        ("unknown-program", true, true),
        ("unknown-program", false, false),
        ("cd a && unknown-program | tail", false, false),
        ("sed -i s/1/2/ a.py; cargo nope", false, true),
        ("python fix.py && pytest", false, true),
        ("pytest && ls", false, false),
        ("bash -c 'sed -i s/1/2/ a.py; cargo nope'", false, true),
        ("unknown-program $(pwd)", false, false),
        ("unknown-program $(python fix.py)", false, true),
        ("A=$(python fix.py)", false, false),
    ];
    for (command, has_passed, expected) in table {
        assert_eq!(may_change(command, has_passed), expected, "{command} {has_passed}");
    }
}

#[test]
fn git_is_read_past_its_own_flags() {
    let parts = parse_shell_commands("git -C /p -c a=b --no-pager checkout -- f");
    let git = parse_git_command(parts[0].command_words()).unwrap();
    assert_eq!((git.folder, git.verb), (Some("/p"), "checkout"));
    assert!(git.has_flag("--"));
    assert_eq!(git.operands().collect::<Vec<_>>(), ["f"]);
}

proptest::proptest! {
    #[test]
    fn any_command_is_taken_apart(command in "[a-z '\"|&;<>()`$\\\\#\n=*/.é-]{0,80}") {
        let mut words = parse_shell_commands(&command);
        words.retain(|part| part.command_words().is_empty() && !part.writes && part.words.is_empty());
        proptest::prop_assert!(words.is_empty());
        is_read_only_command(&command);
        may_change(&command, true);
        may_change(&command, false);
        super::super::command_key(&command, None);
        super::super::split_leading_cd(&command);
    }
}
