//! The URL of a repository's remote: found in the text of git's own configuration file, and brought to the one form
//! that all ways of writing it share. Pure.

/// The ports that say nothing beyond the scheme.
const USUAL_PORTS: [&str; 3] = ["22", "80", "443"];

/// The URL of the remote `origin`, or of the first remote there is, in the text of a git configuration file.
pub(super) fn remote_url(config: &str) -> Option<String> {
    let mut first = None;
    let mut remote: Option<String> = None;
    for line in logical_lines(config) {
        let mut rest = line.trim();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((inside, behind)) = split_header(header) else {
                continue;
            };
            remote = remote_name(&inside);
            rest = behind.trim();
        }
        let (Some(name), Some((key, value))) = (&remote, rest.split_once('=')) else {
            continue;
        };
        if !key.trim().eq_ignore_ascii_case("url") {
            continue;
        }
        let url = plain_value(value);
        if name == "origin" {
            return Some(url);
        }
        first = first.or(Some(url));
    }
    first
}

/// The remote as `host/path`: without scheme, user, password, usual port, query, and the ending `.git`. A local
/// repository is its absolute path. `None` for what names no repository beyond this one (a relative path, a remote
/// helper), and where an `@` is left over: then it is not clear how far the credentials reach, and they must not
/// survive.
pub(super) fn normalised(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => rest.split_at(rest.find('/')?),
        Some((_, rest)) => split_authority(rest)?,
        None if is_local(url) => ("", url),
        None => split_scp(url)?,
    };
    let host = without_usual_port(host.rsplit('@').next().unwrap_or(host))?;
    let path = path.replace('\\', "/");
    let mut path = path.trim_end_matches('/');
    path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let path = path.trim_start_matches('/');
    let remote = format!("{}/{path}", host.to_lowercase());
    let is_clear = !path.is_empty() && !remote.contains('@') && !remote.contains(char::is_control);
    is_clear.then_some(remote)
}

/// The host (with the user before it) and the path of what follows `scheme://`, without the query, in which tokens are
/// handed over too.
fn split_authority(rest: &str) -> Option<(&str, &str)> {
    let (host, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = behind.split(['?', '#']).next().unwrap_or(behind);
    (!behind.contains('@')).then_some((host, path))
}

/// Whether a remote without a scheme is an absolute path on this machine, in the manner of Unix or of Windows.
fn is_local(url: &str) -> bool {
    let mut letters = url.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('/'), _, _) => true,
        (Some(drive), Some(':'), Some('/' | '\\')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// The host (with the user before it) and the path of `user@host:path`; the host may be an address in brackets.
fn split_scp(url: &str) -> Option<(&str, &str)> {
    let authority_end = url.find('/').unwrap_or(url.len());
    let user_end = url.get(..authority_end)?.rfind('@').map_or(0, |at| at + 1);
    let host = url.get(user_end..)?;
    let address_end = if host.starts_with('[') { host.find(']')? } else { 0 };
    let colon = user_end + address_end + host.get(address_end..)?.find(':')?;
    let path = url.get(colon + 1..)?;
    // `./a:b` and `../a:b` are relative paths, and `helper::address` is no address of ours.
    if colon > authority_end || colon == user_end || path.starts_with(':') {
        return None;
    }
    Some((url.get(..colon)?, path))
}

/// The host without a port that says nothing; `None` when what follows the colon is no port, but perhaps a password.
fn without_usual_port(host: &str) -> Option<&str> {
    match host.rsplit_once(':') {
        // A colon inside the brackets of an address begins no port.
        Some((_, port)) if port.ends_with(']') => Some(host),
        Some((name, port)) if port.is_empty() || USUAL_PORTS.contains(&port) => Some(name),
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()).then_some(host),
        None => Some(host),
    }
}

/// The lines of the file, where a backslash at the end of one goes on in the next. Two are an escaped one, and in a
/// comment it means nothing.
fn logical_lines(config: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = String::new();
    for line in config.lines() {
        let is_comment = open.is_empty() && line.trim_start().starts_with(['#', ';']);
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        match line.strip_suffix('\\') {
            Some(part) if backslashes % 2 == 1 && !is_comment => open.push_str(part),
            _ => {
                open.push_str(line);
                lines.push(std::mem::take(&mut open));
            }
        }
    }
    lines.push(open);
    lines
}

/// What stands in the brackets of a section header, and what follows them. A bracket inside quotes does not close it.
fn split_header(header: &str) -> Option<(String, &str)> {
    let mut inside = String::new();
    let mut is_quoted = false;
    let mut letters = header.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ']' if !is_quoted => return Some((inside, header.get(at + 1..)?)),
            '"' => {
                is_quoted = !is_quoted;
                inside.push(letter);
            }
            '\\' if is_quoted => inside.extend(letters.next().map(|(_, escaped)| escaped)),
            _ => inside.push(letter),
        }
    }
    None
}

/// The remote that a section is about: `remote "name"`, or in the old manner `remote.name`.
fn remote_name(section: &str) -> Option<String> {
    let (kind, name) = section.split_once([' ', '\t', '.'])?;
    kind.eq_ignore_ascii_case("remote").then(|| name.trim().trim_matches('"').to_owned())
}

/// A value without its quotes, its escapes and the comment behind it.
fn plain_value(value: &str) -> String {
    let mut plain = String::new();
    let mut is_quoted = false;
    let mut letters = value.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => plain.extend(letters.next()),
            _ => plain.push(letter),
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
