//! Finds the URL of a repository's remote in the text of git's configuration file and normalises it. Pure.

/// The default ports of the schemes, which add nothing to a URL.
const USUAL_PORTS: [&str; 3] = ["22", "80", "443"];

/// Returns the URL of the remote `origin`, else of the first remote, in the text of a git configuration file.
pub(super) fn find_remote_url(config: &str) -> Option<String> {
    let mut first = None;
    let mut remote: Option<String> = None;
    for line in join_continued_lines(config) {
        let mut rest = line.trim();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((inside, behind)) = split_section_header(header) else {
                continue;
            };
            remote = parse_remote_name(&inside);
            rest = behind.trim();
        }
        let (Some(name), Some((key, value))) = (&remote, rest.split_once('=')) else {
            continue;
        };
        if !key.trim().eq_ignore_ascii_case("url") {
            continue;
        }
        let url = unquote_value(value);
        if name == "origin" {
            return Some(url);
        }
        first = first.or(Some(url));
    }
    first
}

/// Returns the remote as `host/path`: without scheme, user, password, usual port, query, and the ending `.git`. A local
/// repository is its absolute path. Returns `None` for a remote that is only valid here (a relative path, a remote
/// helper), and if an `@` is left over: the end of the credentials is then unclear, and they must not survive.
pub(super) fn normalise_remote_url(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => rest.split_at(rest.find('/')?),
        Some((_, rest)) => split_authority(rest)?,
        None if is_local_path(url) => ("", url),
        None => split_scp_address(url)?,
    };
    let host = strip_usual_port(host.rsplit('@').next().unwrap_or(host))?;
    let path = path.replace('\\', "/");
    let mut path = path.trim_end_matches('/');
    path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let path = path.trim_start_matches('/');
    let remote = format!("{}/{path}", host.to_lowercase());
    let is_clear = !path.is_empty() && !remote.contains('@') && !remote.contains(char::is_control);
    is_clear.then_some(remote)
}

/// Splits the text after `scheme://` into host (with its user) and path, without the query, which may hold tokens too.
fn split_authority(rest: &str) -> Option<(&str, &str)> {
    let (host, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = behind.split(['?', '#']).next().unwrap_or(behind);
    (!behind.contains('@')).then_some((host, path))
}

/// Returns true if a remote without a scheme is an absolute path on this machine, in Unix or Windows notation.
fn is_local_path(url: &str) -> bool {
    let mut letters = url.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('/'), _, _) => true,
        (Some(drive), Some(':'), Some('/' | '\\')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Splits `user@host:path` into host (with its user) and path; the host may be an address in brackets.
fn split_scp_address(url: &str) -> Option<(&str, &str)> {
    let authority_end = url.find('/').unwrap_or(url.len());
    let user_end = url.get(..authority_end)?.rfind('@').map_or(0, |at| at + 1);
    let host = url.get(user_end..)?;
    let address_end = if host.starts_with('[') { host.find(']')? } else { 0 };
    let colon = user_end + address_end + host.get(address_end..)?.find(':')?;
    let path = url.get(colon + 1..)?;
    // `./a:b` and `../a:b` are relative paths, and `helper::address` names a remote helper, not a host.
    if colon > authority_end || colon == user_end || path.starts_with(':') {
        return None;
    }
    Some((url.get(..colon)?, path))
}

/// Returns the host without a usual port, or `None` if the text after the colon is no port and may be a password.
fn strip_usual_port(host: &str) -> Option<&str> {
    match host.rsplit_once(':') {
        // A colon inside the brackets of an address does not start a port.
        Some((_, port)) if port.ends_with(']') => Some(host),
        Some((name, port)) if port.is_empty() || USUAL_PORTS.contains(&port) => Some(name),
        Some((_, port)) => port.bytes().all(|byte| byte.is_ascii_digit()).then_some(host),
        None => Some(host),
    }
}

/// Returns the logical lines of the file: a backslash at the end of a line continues it on the next one. Two
/// backslashes are an escaped one, and in a comment a backslash has no meaning.
fn join_continued_lines(config: &str) -> Vec<String> {
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

/// Splits a section header into the text in its brackets and the rest. A bracket inside quotes does not close it.
fn split_section_header(header: &str) -> Option<(String, &str)> {
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

/// Returns the remote that a section describes: `remote "name"`, or `remote.name` in the old syntax.
fn parse_remote_name(section: &str) -> Option<String> {
    let (kind, name) = section.split_once([' ', '\t', '.'])?;
    kind.eq_ignore_ascii_case("remote").then(|| name.trim().trim_matches('"').to_owned())
}

/// Returns a value without its quotes, its escapes and the comment after it.
fn unquote_value(value: &str) -> String {
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
#[path = "git_remote_tests.rs"]
mod tests;
