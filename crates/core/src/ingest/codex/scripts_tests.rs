use serde_json::json;

use super::*;

fn calls(script: &str) -> Vec<(String, Value)> {
    read_script(script).calls.into_iter().map(|call| (call.tool, call.arguments)).collect()
}

#[test]
fn commands_are_read_out_of_their_literals() {
    let table = [
        (r#"const r = await tools.exec_command({cmd:"cargo test","workdir":"/x"}); text(r.output)"#, "cargo test"),
        (
            r#"await tools.exec_command({"cmd": "echo \"a\" \\ \u0041\x42\n'c'", 'workdir': '/x',})"#,
            "echo \"a\" \\ AB\n'c'",
        ),
        (r"await tools.exec_command({cmd: 'it\'s', workdir: '/x'})", "it's"),
        ("const dir = '/x';\nconst cmd = `ls ${dir}\nwc`\nawait tools.exec_command({cmd, workdir: dir})", "ls /x\nwc"),
        (r#"tools.exec_command({cmd: "a" + ' b' + 1, workdir: "/x"})"#, "a b1"),
        (r"tools.exec_command({cmd: String.raw`grep '\d' f`, workdir: '/x'})", r"grep '\d' f"),
        (
            r#"tools . exec_command( /* here */ { cmd: "ls", // there
            workdir: "/x", env: make({a: ["}"]}), tty: true } )"#,
            "ls",
        ),
        (r#"const hits = ALL.filter(x => /"tools.x(/.test(x)); tools.exec_command({cmd: "ls", workdir: "/x"})"#, "ls"),
        (r#"tools.exec_command({cmd: "\ud83d\ude00 \u{1F600}", workdir: "/x"})"#, "😀 😀"),
    ];
    for (script, command) in table {
        let read = calls(script);
        assert_eq!(read.len(), 1, "{script}");
        assert_eq!(
            (read[0].0.as_str(), &read[0].1["cmd"], &read[0].1["workdir"]),
            ("exec_command", &json!(command), &json!("/x")),
            "{script}"
        );
    }
}

#[test]
fn several_calls_and_other_tools_are_read() {
    let script = r#"const patch = "*** Begin Patch\n*** End Patch"; text(await tools.apply_patch(patch));
        const [a, b] = await Promise.all([tools.mcp__hub__fetch_pr({number: 7}), tools.web__run({open: [{ref_id: "x"}]})]);
        await tools.list_all();"#;
    assert_eq!(
        calls(script),
        [
            ("apply_patch".to_owned(), json!({"input": "*** Begin Patch\n*** End Patch"})),
            ("mcp__hub__fetch_pr".to_owned(), json!({"number": 7})),
            ("web__run".to_owned(), json!({"open": [{"ref_id": "x"}]})),
            ("list_all".to_owned(), json!({})),
        ]
    );
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    for script in [
        "",
        "text(ALL_TOOLS.map(x => x.name))",
        "ids.map(id => tools.exec_command({cmd: `show ${id}`}))",
        "const cmd = make(); tools.exec_command({cmd})",
        r#"const cmd = "a".repeat(3); tools.exec_command({cmd})"#,
        r#"tools.exec_command({cmd: dry ? "a" : "b"})"#,
        r#"tools.exec_command({cmd: "a"}); tools.exec_command({cmd: b})"#,
        r#"tools.exec_command({cmd: "a"#,
        r#"tools.exec_command({cmd: "\u12"})"#,
        r#"tools.exec_command("a", "b")"#,
        "tools.apply_patch(make())",
        r#"text("tools.exec_command({cmd: 1})")"#,
        r#"// tools.exec_command({cmd: "a"})"#,
        "tools.exec_command(",
        "`${",
    ] {
        assert_eq!(calls(script), [], "{script}");
    }
}

#[test]
fn hostile_scripts_end_soon() {
    let mut script = format!("const a0 = \"{}\";", "x".repeat(1000));
    for number in 1..60 {
        script.push_str(&format!("const a{number} = a{0} + a{0};", number - 1));
    }
    script.push_str("tools.exec_command({cmd: a59})");
    assert_eq!(calls(&script), []);
    let nested = "const a = {b: [".repeat(20_000);
    assert_eq!(calls(&nested), []);
    let slashes = "/[".repeat(MAX_SCRIPT_BYTES / 2);
    assert_eq!(calls(&slashes), []);
}

#[test]
fn what_a_script_prints_is_known() {
    let read =
        read_script("const r = await tools.x({}); text(r.output); if (r.session_id) text(`ID=${r.session_id}.`)");
    assert_eq!((read.prints_results, read.session_mark), (false, Some(("ID=".to_owned(), ".".to_owned()))));
    assert!(read_script("const r = await tools.x({}); text(JSON.stringify(r))").prints_results);
    assert!(read_script("const r = await tools.x({}); text(r)").prints_results);
    let two =
        r#"const [a, b] = await Promise.all([tools.x({}), tools.y({})]); text("A\n" + a.output + "\nB\n" + b.output)"#;
    assert_eq!(read_script(two).labels, ["A\n", "\nB\n"]);
}
