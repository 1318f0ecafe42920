//! Where a display is.

use std::fmt;

use http::Uri;

use crate::hud::HudError;

/// The address of a display. Shown, it keeps its query and its password to itself.
pub(super) struct Address {
    uri: Uri,
    host: String,
    port: u16,
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self, HudError> {
        let refused = |why: &str| HudError::Address { address: shown(text), why: why.to_owned() };
        let uri: Uri = text.trim().parse().map_err(|error: http::uri::InvalidUri| refused(&error.to_string()))?;
        match uri.scheme_str() {
            Some("ws") => {}
            Some("wss") => return Err(HudError::Encrypted { address: shown(text) }),
            _ => return Err(refused("it begins with ws://")),
        }
        // The system wants to know an IPv6 address without its brackets.
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(refused("it names no machine"));
        }
        let port = uri.port_u16().unwrap_or(80);
        Ok(Self { uri, host, port })
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(super) fn host_and_port(&self) -> (String, u16) {
        (self.host.clone(), self.port)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.uri.to_string()))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Scheme, machine and path, whatever else was given.
fn shown(text: &str) -> String {
    const SHOWN_CHARACTERS: usize = 120;
    let open = text.trim().split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = open.split_once("://").map_or(("", open), |(scheme, rest)| (scheme, rest));
    let rest = rest.rsplit('@').next().unwrap_or_default();
    let between = if scheme.is_empty() { "" } else { "://" };
    let whole = format!("{scheme}{between}{rest}");
    whole.chars().filter(|c| !c.is_control()).take(SHOWN_CHARACTERS).collect()
}
