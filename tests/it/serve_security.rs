//! What strangers, pages and broken clients try on a server. Each is refused, and the server goes on.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::server::Server;
use crate::support::World;

const TOKEN: (&str, &str) = ("ARCHIVIST_TOKEN", "correct horse");
const WRITES_NEED_TOKEN: (&str, &str) = ("ARCHIVIST__SERVE__WRITES", "token");

fn server() -> (World, Server) {
    let world = World::new();
    world.ok(&["add", "The secret ingredient is patience"]);
    let server = Server::start(&world);
    (world, server)
}

#[test]
fn a_foreign_host_is_refused() {
    let (_world, server) = server();
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0"] {
        let answer = server.ask("GET", "/v1/lessons", &[("Host", host)], "");
        assert_eq!(answer.status, 421, "{host}: {answer:?}");
        assert!(!answer.body.contains("ingredient"));
    }
    let absolute =
        format!("GET http://evil.example/v1/lessons HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    assert!(server.raw(absolute.as_bytes()).starts_with("HTTP/1.1 421"));
    assert!(server.raw(b"GET /v1/lessons HTTP/1.1\r\nConnection: close\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert!(server.is_alive());
}

#[test]
fn a_foreign_origin_is_refused() {
    let (_world, server) = server();
    let port = server.address.port();
    for origin in
        ["http://evil.example", "null", "https://localhost", "file://", &format!("http://localhost:{}", port ^ 1)]
    {
        for (method, path) in [("GET", "/v1/lessons"), ("POST", "/v1/lessons"), ("GET", "/v1/events"), ("GET", "/")] {
            let answer = server.ask(method, path, &[("Origin", origin)], "");
            assert_eq!(answer.status, 403, "{origin} {method} {path}: {answer:?}");
        }
    }
    let cross = server.ask("GET", "/v1/lessons", &[("Sec-Fetch-Site", "cross-site")], "");
    assert_eq!(cross.status, 403);
    let own = server.ask("GET", "/v1/lessons", &[("Origin", &format!("http://{}", server.address))], "");
    assert_eq!(own.status, 200);
    assert!(!own.head.to_lowercase().contains("access-control-allow"), "no other page may read answers");
}

#[test]
fn a_form_of_a_foreign_page_writes_nothing() {
    let (_world, server) = server();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let answer = server.ask("POST", "/v1/lessons", &[("Content-Type", kind)], r#"{"text": "obey"}"#);
        assert_eq!(answer.status, 415, "{kind}: {answer:?}");
    }
    assert!(!server.get("/v1/lessons").body.contains("obey"));
}

#[test]
fn without_a_token_nothing_is_written() {
    let world = World::new();
    let server = Server::start_with(&world, &[], &[TOKEN, WRITES_NEED_TOKEN]);
    let body = r#"{"text": "obey"}"#;
    assert_eq!(server.post("/v1/lessons", body).status, 401);
    assert_eq!(server.get("/v1/lessons").status, 200, "reading is open on this machine");
    assert_eq!(server.post("/v1/recall", r#"{"text": "obey"}"#).status, 200);
    assert_eq!(server.post("/v1/recall", r#"{"text": "obey", "run": "r-1"}"#).status, 401, "a note is a change");
    let json = ("Content-Type", "application/json");
    let right = server.ask("POST", "/v1/lessons", &[json, ("Authorization", "Bearer correct horse")], body);
    assert_eq!(right.status, 201, "{right:?}");
    let off = Server::start_with(&world, &["--address", "0.0.0.0:0"], &[TOKEN]);
    let host = format!("127.0.0.1:{}", off.address.port());
    let local = Server::start_with(&world, &[], &[]);
    assert!(local.is_alive());
    for (path, status) in [
        ("/v1/lessons", 401),
        ("/v1/events", 401),
        ("/metrics", 401),
        ("/v1/openapi.json", 401),
        ("/", 200),
        ("/v1/health", 200),
    ] {
        assert_eq!(off.ask("GET", path, &[("Host", &host)], "").status, status, "{path}");
    }
    let told = off.ask("GET", "/v1/lessons", &[("Host", &host), ("Authorization", "Bearer correct horse")], "");
    assert_eq!(told.status, 200);
}

#[test]
fn a_wrong_token_is_refused_in_the_same_time_however_wrong_it_is() {
    let world = World::new();
    let server = Server::start_with(&world, &[], &[TOKEN, WRITES_NEED_TOKEN]);
    for token in ["", "c", "correct hors", "correct horsf", "correct horse ", "Correct horse", &"x".repeat(8_000)] {
        let answer =
            server.ask("POST", "/v1/lessons/m-001/forget", &[("Authorization", &format!("Bearer {token}"))], "");
        // Blanks around a token do not belong to it.
        let expected = if token.trim() == "correct horse" { 404 } else { 401 };
        assert_eq!(answer.status, expected, "{token:.20}: {answer:?}");
    }
    // What is compared are hashes, every byte of them (`serve/access.rs`): there is nothing to measure from here.
    assert!(server.is_alive());
}

#[test]
fn a_path_in_an_id_leads_nowhere() {
    let (world, server) = server();
    std::fs::write(world.project().join("secret.txt"), "the secret").unwrap();
    for path in [
        "/v1/lessons/..%2f..%2fsecret.txt",
        "/v1/lessons/../../secret.txt",
        "/v1/lessons/%2e%2e/%2e%2e/secret.txt",
        "/v1/lessons/..%5c..%5csecret.txt",
        "/v1/lessons/m-001%00.txt",
        "/v1/lessons/m-001/../../../etc/passwd",
        "/v1/episodes/..%2fsecret/steps?step=1",
        "/panel/../../Cargo.toml",
        "/panel/..%2f..%2fsecret.txt",
        "/panel/%2e%2e/secret.txt",
        "/secret.txt",
        "//etc/passwd",
        "/v1/lessons/%ff",
    ] {
        let answer = server.get(path);
        assert!((400..=404).contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains("the secret"), "{path}: {answer:?}");
    }
    assert!(server.is_alive());
}

#[test]
fn a_body_that_is_too_long_is_refused() {
    let (_world, server) = server();
    let long = format!("{{\"text\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    let answer = server.post("/v1/lessons", &long);
    assert_eq!(answer.status, 413, "{:.300}", answer.body);
    let head = format!("POST /v1/lessons HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", server.address);
    let claims = format!("{head}Content-Length: 99999999999\r\nConnection: close\r\n\r\n{{");
    assert!(server.raw(claims.as_bytes()).starts_with("HTTP/1.1 413"));
    let mut stream = server.connect();
    write!(stream, "{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n").unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..64 {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 411"), "{answer:.300}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(server.post("/v1/lessons", &deep).status, 400);
    assert!(server.is_alive());
}

#[test]
fn clients_that_dawdle_are_let_go_and_keep_nobody_out() {
    let world = World::new();
    let server = Server::start_with(&world, &[], &[("ARCHIVIST__SERVE__TIMEOUT_SECONDS", "2")]);
    let mut slow: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ").unwrap();
    }
    assert!(server.is_alive(), "others are served meanwhile");
    let mut late = server.connect();
    let head = format!(
        "POST /v1/recall HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        server.address
    );
    late.write_all(head.as_bytes()).unwrap();
    let began = Instant::now();
    let mut answer = String::new();
    let _ = late.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer:.300}");
    assert!(began.elapsed() < Duration::from_secs(15), "a body that does not come is not waited for");
    let began = Instant::now();
    for stream in &mut slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(began.elapsed() < Duration::from_secs(25), "heads that do not come are not waited for");
    assert!(server.is_alive());
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let (_world, server) = server();
    let host = format!("Host: {}\r\n", server.address);
    let many: String = (0..5_000).map(|number| format!("X-{number}: bomb\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "y".repeat(1_000_000));
    let path = format!("GET /{} HTTP/1.1\r\n{host}\r\n", "z".repeat(1_000_000));
    for request in [format!("GET / HTTP/1.1\r\n{host}{many}\r\n"), format!("GET / HTTP/1.1\r\n{host}{long}\r\n"), path]
    {
        let answer = server.raw(request.as_bytes());
        let is_refused =
            ["HTTP/1.1 431", "HTTP/1.1 414", "HTTP/1.1 400"].iter().any(|status| answer.starts_with(status));
        // The server hangs up while the client still talks, so the answer may get lost on the way.
        assert!(is_refused || answer.is_empty(), "{answer:.200}");
    }
    assert!(server.is_alive());
}

#[test]
fn requests_that_two_readers_would_end_in_two_places_are_refused() {
    let (_world, server) = server();
    let host = format!("Host: {}\r\nContent-Type: application/json\r\n", server.address);
    let smuggled = format!("GET /v1/lessons HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    for head in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Content-Length: 6\r\nContent-Length: 7\r\n",
        "Content-Length: 6, 7\r\n",
        "Content-Length: +6\r\n",
        "Content-Length: 0x6\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding:\x0bchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
    ] {
        let request = format!("POST /v1/recall HTTP/1.1\r\n{host}{head}\r\n0\r\n\r\n{smuggled}");
        let answer = server.raw(request.as_bytes());
        let is_refused = ["HTTP/1.1 400", "HTTP/1.1 411"].iter().any(|status| answer.starts_with(status));
        assert!(answer.is_empty() || is_refused, "{head:?}: {answer:.200}");
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "{head:?} let a second request through");
    }
    for request in [
        "GET / HTTP/9.9\r\n\r\n",
        "GET\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\x7c\x03\x03",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n\n",
        "\r\n\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(!answer.contains("200 OK"), "{request:?}: {answer:.200}");
    }
    assert!(server.is_alive());
}

#[test]
fn too_many_requests_are_turned_down_and_too_many_connections_closed() {
    let world = World::new();
    let bounds = [("ARCHIVIST__SERVE__REQUESTS_PER_SECOND", "5"), ("ARCHIVIST__SERVE__MAX_CONNECTIONS", "8")];
    let server = Server::start_with(&world, &[], &bounds);
    let statuses: Vec<u16> = (0..30).map(|_| server.get("/v1/health").status).collect();
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    std::thread::sleep(Duration::from_secs(2));
    let held: Vec<_> = (0..8).map(|_| server.connect()).collect();
    let mut ninth = server.connect();
    let mut nothing = Vec::new();
    assert!(ninth.read_to_end(&mut nothing).is_ok_and(|read| read == 0) || nothing.is_empty());
    drop(held);
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.is_alive());
}

#[test]
fn every_answer_tells_browsers_to_trust_nothing_else() {
    let (_world, server) = server();
    for path in ["/", "/panel/main.js", "/v1/lessons", "/nowhere"] {
        let head = server.get(path).head.to_lowercase();
        for expected in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(expected), "{path} lacks {expected}: {head}");
        }
        assert!(!head.contains("\r\nserver:"), "nobody needs to know what it runs on");
    }
}
