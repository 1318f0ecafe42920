use axum::http::Request;

use super::*;

fn local(token: Option<&str>, writes: WriteAccess) -> AccessPolicy {
    AccessPolicy::new("127.0.0.1".parse().unwrap(), &["Archive.Example".to_owned()], token, writes).unwrap()
}

fn check(access: &AccessPolicy, wanted: Permission, headers: &[(&str, &str)]) -> u16 {
    let mut request = Request::builder().uri("/v1/lessons");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    match access.check_request(&parts, wanted) {
        Ok(()) => 200,
        Err(problem) => axum::response::IntoResponse::into_response(problem).status().as_u16(),
    }
}

#[test]
fn a_server_answers_to_its_own_names_only() {
    let access = local(None, WriteAccess::Open);
    for (host, expected) in [
        ("localhost", 200),
        ("LOCALHOST:7000", 200),
        ("127.0.0.1:7000", 200),
        ("[::1]:7000", 200),
        ("localhost.", 200),
        ("archive.example", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 400),
        ("evil.example@localhost", 400),
        ("", 400),
        ("local host", 400),
    ] {
        assert_eq!(check(&access, Permission::Read, &[("host", host)]), expected, "{host}");
    }
    assert_eq!(check(&access, Permission::Read, &[]), 400, "without a name");
    assert_eq!(check(&access, Permission::Read, &[("host", "localhost"), ("host", "evil.example")]), 400, "with two");
}

#[test]
fn pages_of_other_servers_may_not_ask() {
    let access = local(None, WriteAccess::Open);
    for (origin, expected) in [
        ("http://localhost:7000", 200),
        ("https://localhost:7000", 200),
        ("http://localhost:7001", 403),
        ("http://127.0.0.1:7000", 403),
        ("http://evil.example", 403),
        ("http://localhost:7000.evil.example", 403),
        ("httpss://localhost:7000", 403),
        ("file://localhost:7000", 403),
        ("null", 403),
        ("", 403),
    ] {
        let headers = [("host", "localhost:7000"), ("origin", origin)];
        assert_eq!(check(&access, Permission::Read, &headers), expected, "{origin}");
    }
    let from = |site| [("host", "localhost:7000"), ("sec-fetch-site", site)];
    assert_eq!(check(&access, Permission::Read, &from("cross-site")), 403);
    assert_eq!(check(&access, Permission::Read, &from("same-origin")), 200);
}

#[test]
fn tokens_are_asked_for_where_they_are_needed() {
    let bearer = |token| [("host", "localhost"), ("authorization", token)];
    let none = [("host", "localhost")];
    let access = local(Some("secret"), WriteAccess::Token);
    assert_eq!(check(&access, Permission::Read, &none), 200);
    assert_eq!(check(&access, Permission::Write, &none), 401);
    assert_eq!(check(&access, Permission::Write, &bearer("Bearer secret")), 200);
    assert_eq!(check(&access, Permission::Write, &bearer("bearer secret")), 200);
    for wrong in ["Bearer Secret", "Bearer secre", "Bearer secrets", "Bearer", "Bearer ", "Basic secret", "secret"] {
        assert_eq!(check(&access, Permission::Write, &bearer(wrong)), 401, "{wrong}");
    }
    let access = local(None, WriteAccess::Closed);
    assert_eq!(check(&access, Permission::Write, &none), 403);
    let access = AccessPolicy::new("10.0.0.1".parse().unwrap(), &[], Some("secret"), WriteAccess::Open).unwrap();
    let reached = [("host", "10.0.0.1:80")];
    assert_eq!(check(&access, Permission::Public, &reached), 200);
    assert_eq!(check(&access, Permission::Read, &reached), 401);
    assert_eq!(check(&access, Permission::Write, &reached), 401);
    assert_eq!(access.write_access(), WriteAccess::Token);
}

#[test]
fn what_a_person_decides_needs_a_token_that_a_person_knows() {
    let bearer = |token| [("host", "localhost"), ("authorization", token)];
    let none = [("host", "localhost")];
    let access = local(None, WriteAccess::Open);
    assert_eq!(check(&access, Permission::Decide, &none), 403);
    assert_eq!(check(&access, Permission::Decide, &bearer("Bearer ")), 403);
    let access = access.with_decision_token("shown");
    assert_eq!(check(&access, Permission::Write, &none), 200, "what anybody may write stays open");
    for access in [access, local(Some("shown"), WriteAccess::Open), local(Some("shown"), WriteAccess::Token)] {
        assert_eq!(check(&access, Permission::Decide, &none), 401);
        assert_eq!(check(&access, Permission::Decide, &bearer("Bearer guessed")), 401);
        assert_eq!(check(&access, Permission::Decide, &bearer("Bearer shown")), 200);
    }
    let access = local(Some("shown"), WriteAccess::Closed);
    assert_eq!(check(&access, Permission::Decide, &bearer("Bearer shown")), 403);
}

#[test]
fn a_server_that_others_can_reach_has_a_token() {
    let refused = |address: &str, token, writes| {
        AccessPolicy::new(address.parse().unwrap(), &[], token, writes).unwrap_err().to_string()
    };
    assert_eq!(refused("0.0.0.0", None, WriteAccess::Open), "a token is needed for an address that others can reach");
    assert_eq!(refused("::", Some(" "), WriteAccess::Open), "a token is needed for an address that others can reach");
    assert_eq!(refused("::1", None, WriteAccess::Token), "a token is needed for `serve.writes = \"token\"`");
}

#[test]
fn a_request_ends_in_one_place() {
    let access = local(None, WriteAccess::Open);
    let with = |more: &[(&'static str, &'static str)]| {
        let headers: Vec<(&str, &str)> = [("host", "localhost")].into_iter().chain(more.iter().copied()).collect();
        check(&access, Permission::Read, &headers)
    };
    assert_eq!(with(&[("content-length", "3")]), 200);
    assert_eq!(with(&[("content-length", "3"), ("content-length", "3")]), 400);
    for coding in ["chunked", "gzip, chunked", "xchunked"] {
        assert_eq!(with(&[("transfer-encoding", coding)]), 411, "{coding}");
        assert_eq!(with(&[("content-length", "3"), ("transfer-encoding", coding)]), 411, "{coding}");
    }
}
