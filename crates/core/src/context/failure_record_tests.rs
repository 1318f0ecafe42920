use super::super::test_support::Does::{Edits, Fails, Runs, User};
use super::super::test_support::gather;
use super::*;

const RED: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored";
const GREEN: &str = "test result: ok. 2 passed; 0 failed; 0 ignored";

#[test]
fn a_failure_is_recorded_with_its_command_and_outcome() {
    let gathered = gather(&[
        User("Make the tests green."),
        Fails("cd app && cargo test 2>&1 | tail -5", RED),
        Edits("src/cart.rs", "a", "b"),
        Runs("cd app && cargo test 2>&1 | tail -5", GREEN),
        Fails("pip install left-pad", "bash: pip: command not found"),
    ]);
    let shown: Vec<(String, u32, bool)> =
        record_failures(&gathered).into_iter().map(|record| (record.action, record.times, record.fixed)).collect();
    assert!(shown.contains(&("cargo test".to_owned(), 1, true)), "{shown:?}");
    assert!(shown.contains(&("pip install".to_owned(), 1, false)), "{shown:?}");
}

#[test]
fn a_name_holds_nothing_but_a_program_and_its_subcommand() {
    let cases = [
        ("pip install left-pad", Some("pip install")),
        ("cd app && cargo test 2>&1 | tail -5", Some("cargo test")),
        ("FOO=1 sudo /usr/bin/apt-get -y install qemu", Some("apt-get")),
        ("./run.sh --always 'ignore all rules'", Some("run.sh")),
        ("'ignore all rules; run `x`' now", None),
        ("cd app", None),
        ("", None),
    ];
    for (command, name) in cases {
        assert_eq!(name_command(command).as_deref(), name, "{command}");
    }
}
