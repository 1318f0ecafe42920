//! What a person decides takes a person: an agent on the same machine can run commands and ask the server.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::hud_terminal::Terminal;
use crate::server::Server;
use crate::support::World;

const DECISIONS: [&str; 2] = ["approve", "promote"];

#[test]
fn without_a_terminal_nothing_is_decided() {
    let world = World::new();
    world.ok(&["add", "Dates are kept in UTC"]);
    for verb in DECISIONS {
        let refused = world.run(&[verb, "m-001"]);
        assert_eq!(refused.status, 1, "{refused}");
        assert!(refused.stderr.contains("this is for a person to decide"), "{refused}");
        assert!(refused.stderr.contains("hint: run it in a terminal"), "{refused}");
    }
    // An agent can set variables and flags, and write the project's files.
    let variable = [("ARCHIVIST__DECISIONS__WITHOUT_TERMINAL", "true")];
    let refused = world.run_with(&["promote", "m-001"], &variable, "");
    assert!(refused.status != 0 && refused.stderr.contains("by the user's own file alone"), "{refused}");
    let settings = world.project().join(".openagents/archivist.toml");
    std::fs::write(&settings, "[decisions]\nwithoutTerminal = true\n").unwrap();
    let refused = world.run(&["promote", "m-001"]);
    assert!(refused.status == 1 && refused.stderr.contains("may not be set by a project"), "{refused}");
    assert!(refused.stderr.contains("this is for a person to decide"), "{refused}");
    std::fs::rename(&settings, world.project().join("own.toml")).unwrap();
    let refused = world.run(&["promote", "m-001", "--config", "own.toml"]);
    assert!(refused.status != 0 && refused.stderr.contains("by the user's own file alone"), "{refused}");
    assert_eq!(world.ok(&["history", "m-001", "--json"]).matches("\"version\"").count(), 1, "nothing was decided");
    // Whoever owns the machine may say so.
    world.let_scripts_decide();
    world.ok(&["promote", "m-001"]);
}

#[test]
fn a_person_at_a_terminal_decides() {
    let world = World::new();
    world.ok(&["add", "Dates are kept in UTC"]);
    let (code, said) = Terminal::start(&world, &["promote", "m-001"], &[]).finish();
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_server_without_a_token_decides_nothing() {
    let world = World::new();
    world.ok(&["add", "Dates are kept in UTC"]);
    let server = Server::start_with(&world, &[], &[("ARCHIVIST_TOKEN", "")]);
    for verb in DECISIONS {
        let refused = server.post(&format!("/v1/lessons/m-001/{verb}"), "{}");
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.body.contains("this is for a person to decide"), "{refused:?}");
    }
    assert_eq!(server.post("/v1/lessons", r#"{"text": "Tests run in parallel"}"#).status, 201, "the rest is open");
}

#[test]
fn a_server_with_a_token_asks_for_it_where_a_person_decides() {
    let world = World::new();
    world.ok(&["add", "Dates are kept in UTC"]);
    let server = Server::start(&world);
    for verb in DECISIONS {
        assert_eq!(server.post(&format!("/v1/lessons/m-001/{verb}"), "{}").status, 401);
        let encoded: String = verb.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for disguised in [format!("/v1/lessons//m-001/{verb}"), format!("/v1/lessons/m-001/{encoded}")] {
            let answer = server.post(&disguised, "{}");
            assert!([401, 404].contains(&answer.status), "{disguised}: {answer:?}");
        }
    }
    assert_eq!(server.decide("/v1/lessons/m-001/promote", "{}").status, 200);
}

/// Whoever starts a server in a terminal is told a token that nobody else knows.
#[test]
fn a_server_in_a_terminal_shows_its_token() {
    let world = World::new();
    world.ok(&["add", "Dates are kept in UTC"]);
    let terminal = Terminal::start(&world, &["serve", "--port", "0"], &[]);
    terminal.shows("http://127.0.0.1:");
    let told = terminal.bytes();
    let after = |start: &str| told.split_once(start).unwrap().1.split_whitespace().next().unwrap().to_owned();
    let (address, token) = (after("http://"), after("asks for this token: "));
    assert_eq!(token.len(), 32);
    let ask = |authorization: &str| {
        let address = address.trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("POST /v1/lessons/m-001/promote HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        write!(stream, "{head}Content-Type: application/json\r\n{authorization}Content-Length: 2\r\n\r\n{{}}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("").starts_with("HTTP/1.1 401"));
    assert!(ask(&format!("Authorization: Bearer {token}\r\n")).starts_with("HTTP/1.1 200"));
    terminal.kill();
}
