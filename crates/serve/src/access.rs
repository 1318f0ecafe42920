//! Access control, decided from the head of a request before any of its content is trusted.
//!
//! A web page can make a visitor's browser send requests here, under a host name that the page's owner resolves to this
//! machine. So a request must use one of the server's own names, and a browser must report that the page came from
//! here.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderName, Method, StatusCode, header};

use super::problem_response::HttpProblem;

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;

/// The names that mean this machine everywhere.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The rules for who may read and who may write.
#[derive(Debug, Clone)]
pub struct AccessPolicy {
    names: Vec<String>,
    /// The hash of the token, which is compared in constant time.
    token: Option<blake3::Hash>,
    /// The hash of the token that decisions need.
    decision_token: Option<blake3::Hash>,
    writes: WriteAccess,
    reads: ReadAccess,
}

/// The clients that may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteAccess {
    /// Every client that may read.
    Open,
    /// Clients with the token.
    Token,
    /// No client at all.
    Closed,
}

impl WriteAccess {
    /// Returns the name of the setting.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Token => "token",
            Self::Closed => "closed",
        }
    }
}

/// The clients that may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadAccess {
    Open,
    Token,
}

/// The permission that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// Access to public pages: the empty panel and the health check.
    Public,
    Read,
    Write,
    /// What only a person decides. An agent on the same machine may read and write, and does not know the token.
    Decide,
}

impl AccessPolicy {
    /// Creates the policy of a server at this address, with these additional names and this token. A server that other
    /// machines can reach needs a token.
    pub fn new(
        address: IpAddr,
        names: &[String],
        token: Option<&str>,
        writes: WriteAccess,
    ) -> Result<Self, MissingTokenError> {
        let is_local = address.is_loopback();
        let token = token.map(str::trim).filter(|token| !token.is_empty());
        if token.is_none() && !is_local {
            return Err(MissingTokenError { needed_for: "an address that others can reach" });
        }
        if token.is_none() && writes == WriteAccess::Token {
            return Err(MissingTokenError { needed_for: "`serve.writes = \"token\"`" });
        }
        let own = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let names = LOCAL_NAMES.map(str::to_owned).into_iter().chain([own]).chain(names.iter().cloned());
        Ok(Self {
            names: names.map(|name| name.to_ascii_lowercase()).collect(),
            token: token.map(|token| blake3::hash(token.as_bytes())),
            decision_token: token.map(|token| blake3::hash(token.as_bytes())),
            writes,
            reads: if is_local { ReadAccess::Open } else { ReadAccess::Token },
        })
    }

    /// Makes this the token of decisions, for a server that has none. It is shown to the person who starts the server.
    #[must_use]
    pub fn with_decision_token(self, token: &str) -> Self {
        Self { decision_token: Some(blake3::hash(token.as_bytes())), ..self }
    }

    /// Returns true if decisions are possible: there is a token that a person can know.
    pub fn has_decision_token(&self) -> bool {
        self.decision_token.is_some()
    }

    /// Returns the effective rule for writes, so that clients can know it beforehand.
    pub fn write_access(&self) -> WriteAccess {
        match (self.writes, self.reads) {
            (WriteAccess::Open, ReadAccess::Token) => WriteAccess::Token,
            (writes, _) => writes,
        }
    }

    /// Checks that a request has the permission it needs.
    pub(super) fn check_request(&self, request: &Parts, wanted: Permission) -> Result<(), HttpProblem> {
        check_body_framing(request)?;
        let host = self.check_host(request)?;
        self.check_origin(request, &host)?;
        let needs_token = match wanted {
            Permission::Public => false,
            Permission::Read => self.reads == ReadAccess::Token,
            Permission::Write | Permission::Decide if self.writes == WriteAccess::Closed => {
                return Err(HttpProblem::new(StatusCode::FORBIDDEN, "this server changes nothing")
                    .with_hint("`serve.writes` says so; use the command line"));
            }
            Permission::Write => self.write_access() == WriteAccess::Token,
            Permission::Decide if !self.has_decision_token() => {
                return Err(HttpProblem::new(StatusCode::FORBIDDEN, "this is for a person to decide")
                    .with_hint("decide at a terminal, or name a token in `serve.tokenFile`"));
            }
            Permission::Decide => return check_token(request, self.decision_token),
        };
        if needs_token { check_token(request, self.token) } else { Ok(()) }
    }

    /// Returns the host name of the request, if it is one of the server's own.
    fn check_host(&self, request: &Parts) -> Result<Authority, HttpProblem> {
        let mut named = request.headers.get_all(header::HOST).iter();
        let host = match (named.next(), named.next()) {
            (Some(host), None) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
            _ => None,
        };
        let host = host.filter(|host| !host.as_str().contains('@'));
        let host =
            host.ok_or_else(|| HttpProblem::bad_request("a request must have one Host header that makes sense"))?;
        let is_ours = |authority: &Authority| self.is_own_name(authority.host());
        if !is_ours(&host) || !request.uri.authority().is_none_or(is_ours) {
            return Err(HttpProblem::new(
                StatusCode::MISDIRECTED_REQUEST,
                format!("{} is not served here", host.host()),
            )
            .with_hint("add the name to `serve.names` if this server goes by it"));
        }
        Ok(host)
    }

    /// Refuses requests that a browser sends for a page of another server.
    fn check_origin(&self, request: &Parts, host: &Authority) -> Result<(), HttpProblem> {
        let foreign = || Err(HttpProblem::new(StatusCode::FORBIDDEN, "pages of other servers may not ask here"));
        if request.headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site") {
            return foreign();
        }
        for origin in request.headers.get_all(header::ORIGIN) {
            let page = origin.to_str().ok().and_then(|origin| {
                origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?.parse::<Authority>().ok()
            });
            // Another port of this machine is another server.
            if !page.is_some_and(|page| page.as_str().eq_ignore_ascii_case(host.as_str())) {
                return foreign();
            }
        }
        Ok(())
    }

    fn is_own_name(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name.trim_end_matches('.')))
    }
}

fn check_token(request: &Parts, known: Option<blake3::Hash>) -> Result<(), HttpProblem> {
    let given = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    // All bytes of two hashes of equal length are compared, so that the time reveals nothing.
    let is_right = |token: &str| known.is_some_and(|known| known == blake3::hash(token.as_bytes()));
    match given {
        Some(token) if is_right(token) => Ok(()),
        Some(_) => Err(HttpProblem::new(StatusCode::UNAUTHORIZED, "the token is wrong")),
        None => Err(HttpProblem::new(StatusCode::UNAUTHORIZED, "a token is needed")
            .with_hint("send it as `Authorization: Bearer TOKEN`")),
    }
}

/// Returns true if a method only reads.
pub(super) fn is_read_method(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Refuses a request whose length two readers might understand differently. A length next to a chunked body has been
/// dropped by now, so that a chunked body may be half of a contradiction: it is refused as well.
fn check_body_framing(request: &Parts) -> Result<(), HttpProblem> {
    if request.headers.contains_key(header::TRANSFER_ENCODING) {
        return Err(HttpProblem::new(StatusCode::LENGTH_REQUIRED, "a body in chunks is not taken")
            .with_hint("send the body in one piece, with its length in `Content-Length`"));
    }
    if request.headers.get_all(header::CONTENT_LENGTH).iter().count() > 1 {
        return Err(HttpProblem::bad_request("the length of the request is given twice"));
    }
    Ok(())
}

/// The error of a server that needs a token and has none.
#[derive(Debug, thiserror::Error)]
#[error("a token is needed for {needed_for}")]
pub struct MissingTokenError {
    needed_for: &'static str,
}
