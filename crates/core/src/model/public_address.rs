//! The public form of an endpoint's address, for files and messages.

#[cfg(test)]
#[path = "public_address_tests.rs"]
mod tests;

/// Returns an endpoint's address without user, password, parameters and trailing slashes.
pub(super) fn public_address(endpoint: &str) -> String {
    let address = endpoint.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let host_at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(host_at).unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let colon = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{colon}{host}{path}").trim_end_matches('/').to_owned()
}
