use super::identify_family;
use super::mask_message;
use proptest::prelude::*;

#[test]
fn messages_that_differ_by_run_are_one() {
    for (one, other) in [
        // Paths and places.
        ("/home/a/x.rs:12:5: expected `;`", "src/x.rs:80:1: expected `;`"),
        ("error in ./src/x.rs:3", "error in /build/work/src/x.rs:44"),
        (r"C:\Users\a\x.ts(3,4): error TS2345: no", r"D:\b\x.ts(13,40): error TS2345: no"),
        ("File \"/a/b/c.py\", line 3, in f", "File \"/z/c.py\", line 99, in f"),
        ("cannot open ~/a/config.toml", "cannot open /srv/b/config.toml"),
        ("at f (file:///a/cli.js:1:2)", "at f (file:///b/c/cli.js:300:15)"),
        ("FAILED tests/unit/test_a.py::test_x - no", "FAILED test_a.py::test_x - no"),
        ("make: *** [/a/Makefile:12: all] Error 2", "make: *** [/b/Makefile:40: all] Error 2"),
        ("bash: line 1: foo: command not found", "bash: line 27: foo: command not found"),
        // Temporary names.
        ("open '/tmp/tmpab12cd.py' failed", "open '/tmp/tmpzz98yx.py' failed"),
        ("rm: /tmp/build-4821/: busy", "rm: /tmp/build-99/: busy"),
        ("no /var/folders/x1/T/abc123def/out", "no /var/folders/y9/T/zzz999aaa/other"),
        ("tmp8x_k2jda not there", "tmpq1w2e3r4 not there"),
        // Addresses, ids, hashes.
        ("object at 0x7f1234567890", "object at 0x55deadbeef00"),
        ("commit a1b2c3d4 is gone", "commit 0f9e8d7c6b is gone"),
        ("request req_011CabcD9xYz42 failed", "request req_019ZyxwA1bCd77 failed"),
        ("session 11111111-2222-3333-4444-555555555555", "session aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"),
        ("traj-miuuqszg-iz61c6 lost", "traj-miuuqszg-h1f9m2 lost"),
        ("blob 9f86d081884c7d659a2feaa0c55ad015", "blob 2c26b46b68ffc68ff99b453c1d304134"),
        // Numbers.
        ("port 8080 in use", "port 8081 in use"),
        ("bind: address already in use :::3000", "bind: address already in use :::3001"),
        ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.0.0.7:5433"),
        ("timed out after 120s", "timed out after 1.5s"),
        ("timed out after 2m 0.0s", "timed out after 45s"),
        ("used 512MB of 1GiB", "used 3.5GB of 8GiB"),
        ("87% done, failed", "3.5% done, failed"),
        ("found 1 error in 3 files", "found 2 errors in 1 file"),
        ("2 failed, 3 passed in 0.12s", "1 failed, 30 passed in 4.00s"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "prompt is too long: 199,999 tokens > 180,000 maximum"),
        ("[2025-01-01 12:00:00] ERROR no", "[2026-11-16T05:09:25.123Z] ERROR no"),
        ("12:30:01 no", "08:15:59.123 no"),
        ("timed out after 30s", "timed out after 60 seconds"),
        ("request req_011CPabcDEF failed", "request req_022XYzzzQQQ failed"),
        ("retry 3/5", "retry 4/5"),
        ("worker pid 4821 died", "worker pid 77 died"),
        ("needs version 1.2.3", "needs version 10.0"),
        ("GET http://localhost:8080/a/b?id=3 refused", "GET http://localhost:9000/c refused"),
        ("list index 12 of 7", "list index 3 of 1"),
        ("-12 is too small", "-7 is too small"),
        // Colours, wrappers, spaces.
        ("\u{1b}[31merror\u{1b}[0m[E0382]: use of moved value", "error[E0382]: use of moved value"),
        ("outcome: error - X is not defined", "X is not defined"),
        ("Error: Cannot find module 'x'", "Cannot find module 'x'"),
        ("<tool_use_error>no</tool_use_error>", "no"),
        ("  too   many\tspaces ", "too many spaces"),
        ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} broken", "link broken"),
    ] {
        assert_eq!(mask_message(one), mask_message(other));
        assert_eq!(identify_family("Bash", "command", one), identify_family("Bash", "command", other));
    }
}

#[test]
fn different_errors_stay_different() {
    for (one, other) in [
        ("error[E0382]: x", "error[E0499]: x"),
        ("FM_MAX_CONTEXT_CHARS is not defined", "OTHER is not defined"),
        ("error TS2345: x", "error TS2322: x"),
        ("Exit code 1", "Exit code 127"),
        ("exit status 2", "exit status 1"),
        ("make: *** [all] Error 2", "make: *** [all] Error 1"),
        ("HTTP 404", "HTTP 500"),
        ("Request failed with status code 401", "Request failed with status code 429"),
        ("test a::parses ... FAILED", "test a::prints ... FAILED"),
        ("--- FAIL: TestA (0.00s)", "--- FAIL: TestB (0.00s)"),
        ("FAILED tests/a.py::test_1 - no", "FAILED tests/a.py::test_2 - no"),
        ("test_utf8_input failed", "test_utf16_input failed"),
        ("ORA-00942: no table", "ORA-00001: unique"),
        ("bash: cargo: command not found", "bash: bun: command not found"),
        ("No module named 'pytz'", "No module named 'asgiref'"),
        ("cannot find src/a.rs", "cannot find src/b.rs"),
        ("Cannot find module '@scope/one'", "Cannot find module '@scope/two'"),
        ("expected i32, found u64", "expected i64, found u64"),
        ("Could not resolve host: a.example.com", "Could not resolve host: b.example.com"),
        ("killed by signal 9", "killed by signal 11"),
        ("x86_64-unknown-linux-gnu missing", "aarch64-apple-darwin missing"),
        ("sha256sum: no", "md5sum: no"),
        ("template not found", "tempo not found"),
        ("tmp_dir is unset", "tmp_file is unset"),
        ("merge conflict in origin/main", "merge conflict in origin/dev"),
    ] {
        assert_ne!(mask_message(one), mask_message(other));
    }
}

#[test]
fn the_tool_and_the_class_count_but_shells_are_one() {
    assert_ne!(identify_family("Bash", "test", "x"), identify_family("Bash", "compile", "x"));
    assert_ne!(identify_family("Edit", "edit", "x"), identify_family("Bash", "edit", "x"));
    assert_eq!(identify_family("Bash", "test", "x"), identify_family("exec_command", "test", "x"));
    assert_ne!(identify_family("a", "bc", "x"), identify_family("ab", "c", "x"));
}

#[test]
fn masks_are_readable() {
    for (message, expected) in [
        ("error[E0382]: use of moved value: `x`", "error[E0382]: use of moved value: `x`"),
        ("/home/a/x.rs:12:5: expected `;`", "x.rs: expected `;`"),
        (
            "Foundation Models request failed: Exceeded model context window size",
            "Foundation Models request failed: Exceeded model context window size",
        ),
        ("thread 'tests::a' panicked at src/x.rs:1:2:", "thread 'tests::a' panicked at x.rs:"),
        ("curl: (6) Could not resolve host: x.com", "curl: (<n>) Could not resolve host: x.com"),
        ("", ""),
    ] {
        assert_eq!(mask_message(message), expected);
    }
}

const TEMPLATES: &[&str] = &[
    "{path}: No such file or directory",
    "panicked at {path}:{n}:{n}: index out of bounds",
    "{path}({n},{n}): error TS2345: no overload",
    "object at {addr} was freed {time} ago by {path}",
    "timed out after {dur} at {time} ({addr})",
    "{colour}error[E0382]{off}: use of moved value --> {path}:{n}:{n}",
    "[{time}] ERROR worker {n}: lost {id} on port {n}",
];

#[derive(Debug, Clone)]
struct Values {
    directory: String,
    number: u32,
    address: u64,
    time: (u8, u8, u8),
    duration: u16,
    id: u128,
    colour: u8,
}

fn values() -> impl Strategy<Value = Values> {
    let directory = prop::collection::vec("[a-z][a-z_]{0,8}", 1..5).prop_map(|parts| format!("/{}/", parts.join("/")));
    let directory = directory.prop_filter("temporary", |path| !path.contains("/tmp/") && !path.contains("/private/"));
    (directory, 1..100_000_u32, any::<u64>(), (0..24_u8, 0..60_u8, 0..60_u8), any::<u16>(), any::<u128>(), 30..38_u8)
        .prop_map(|(directory, number, address, time, duration, id, colour)| Values {
            directory,
            number,
            address,
            time,
            duration,
            id,
            colour,
        })
}

fn filled(template: &str, values: &Values) -> String {
    let (high, low) = (values.id >> 64, values.id & u128::from(u64::MAX));
    let id = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    );
    template
        .replace("{path}", &format!("{}server.rs", values.directory))
        .replace("{n}", &values.number.to_string())
        .replace("{addr}", &format!("{:#x}", values.address))
        .replace("{time}", &format!("2025-12-05T{:02}:{:02}:{:02}Z", values.time.0, values.time.1, values.time.2))
        .replace("{dur}", &format!("{}ms", values.duration))
        .replace("{id}", &id)
        .replace("{colour}", &format!("\u{1b}[{}m", values.colour))
        .replace("{off}", "\u{1b}[0m")
}

proptest! {
    #[test]
    fn masking_is_idempotent(text in any::<String>()) {
        let once = mask_message(&text);
        prop_assert_eq!(mask_message(&once), once);
    }

    #[test]
    fn masking_is_idempotent_on_lookalikes(text in "([a-fA-FtmpeE0-9/:.,_<>n~@#%+ \\\\-]|error: |/tmp/|\\.rs|::|://|0x|\u{1b}\\[|ms){0,40}") {
        let once = mask_message(&text);
        prop_assert_eq!(mask_message(&once), once);
    }

    #[test]
    fn a_family_survives_what_changes(template in prop::sample::select(TEMPLATES), one in values(), other in values()) {
        let (one, other) = (filled(template, &one), filled(template, &other));
        prop_assert_eq!(mask_message(&one), mask_message(&other));
        prop_assert_eq!(identify_family("Bash", "command", &one), identify_family("shell", "command", &other));
    }
}
