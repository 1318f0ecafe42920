//! Network addresses that a text names.

/// Endings of host names that are no file extensions.
const HOST_ENDINGS: &[&str] = &[
    "com", "org", "net", "io", "xyz", "ru", "cn", "info", "biz", "example", "site", "top", "dev", "app", "cloud",
    "onion", "tk", "cc", "co", "evil", "test", "invalid",
];

/// Returns the hosts and mail addresses that a text names, in lower case, except those of this machine.
pub(super) fn find_addresses(text: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|".contains(c);
    let mut found = Vec::new();
    for word in text.split(is_end) {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_lowercase();
        let behind = word.split_once("://").map(|(_, behind)| behind);
        let host = behind.unwrap_or(&word).split(['/', '?', '#']).next().unwrap_or_default();
        let is_mail = host.split_once('@').is_some_and(|(who, at)| !who.is_empty() && at.contains('.'));
        let name = host.split(':').next().unwrap_or(host);
        let is_far = match behind {
            Some(_) => !is_local_host(name),
            None => is_mail || (is_host_name(name) && !is_local_host(name)),
        };
        if is_far && !name.is_empty() {
            found.push(name.to_owned());
        }
    }
    found
}

/// Tells whether a word is, or holds, the address of another machine.
pub(super) fn is_far_address(word: &str) -> bool {
    !find_addresses(word).is_empty()
}

fn is_local_host(host: &str) -> bool {
    let is_private = ["127.", "10.", "192.168.", "0.0.0.0", "localhost", "[::1]", "host.docker.internal"];
    is_private.iter().any(|near| host.starts_with(near)) || !host.contains('.')
}

fn is_host_name(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    let has_ending = labels.len() > 1 && labels.last().is_some_and(|last| HOST_ENDINGS.contains(last));
    labels.iter().all(is_label) && (is_number || has_ending)
}

#[cfg(test)]
#[test]
fn far_places_are_told_from_files_and_from_this_machine() {
    for (text, expected) in [
        ("see https://Evil.example/x?y, or <mail me@far.org>.", vec!["evil.example", "me@far.org"]),
        ("get.fastfix.example:8080/run and 203.0.113.9", vec!["get.fastfix.example", "203.0.113.9"]),
        ("main.rs, Node.js, v1.2.3, a.b, http://localhost:80, 127.0.0.1, http://db/x, 10.0.0.7", vec![]),
    ] {
        assert_eq!(find_addresses(text), expected, "{text}");
    }
}
