//! The names that errors give: programs, packages, variables, ports.

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;

/// `X is not defined`, `name 'X' is not defined`, `undefined variable X`.
pub(super) fn undefined(headline: &str) -> Option<String> {
    let (before, _) = headline.split_once(" is not defined")?;
    let name = before.split_whitespace().last()?.trim_matches(['\'', '"', '`', '(', ')']);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
    (is_name && name.len() >= 2).then(|| name.to_owned())
}

/// A name like `DATABASE_URL`.
pub(super) fn upper_name(headline: &str) -> Option<String> {
    let words = headline.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .filter(|word| word.len() >= 4 && word.starts_with(|c: char| c.is_ascii_uppercase()))
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'))
        .find(|word| word.contains('_') && !word.starts_with("ERR_") && !word.starts_with("E_"))
        .map(str::to_owned)
}

pub(super) fn port(lower: &str) -> Option<String> {
    let mut numbers = lower.split(|c: char| !c.is_ascii_digit()).filter(|number| (2..=5).contains(&number.len()));
    numbers.rfind(|number| number.parse::<u32>().is_ok_and(|port| (80..65_536).contains(&port))).map(str::to_owned)
}

/// The program in `x: command not found` and its like.
pub(super) fn program(headline: &str) -> Option<String> {
    let lower = headline.to_lowercase();
    let before = ["command not found", ": not found", "is not recognized"].iter().find_map(|words| {
        let at = lower.find(words)?;
        headline.get(..at)
    });
    let name = match before {
        Some(before) if !before.trim_end_matches([':', ' ']).is_empty() => {
            before.trim_end_matches([':', ' ']).rsplit([' ', ':']).next()?
        }
        // zsh says it the other way round.
        Some(_) => headline.rsplit(": ").next()?,
        None => {
            return quoted(headline).or_else(|| {
                lower
                    .contains("spawn ")
                    .then(|| headline.split("spawn ").nth(1)?.split(' ').next().map(str::to_owned))
                    .flatten()
            });
        }
    };
    // A shell may say its own name and the line of the script first.
    let is_line = name.bytes().all(|byte| byte.is_ascii_digit());
    let name = if is_line || name.starts_with("zsh") { headline.rsplit(": ").next()? } else { name };
    let name = name.trim_matches(['\'', '"', '`', '.']);
    is_plain(name).then(|| name.to_owned())
}

/// How errors speak of what they miss, in lower case. Behind these words stands a module, which may lie in a package.
const BEFORE_MODULES: &[&str] = &[
    "no module named",
    "cannot find module providing package",
    "cannot find module",
    "cannot load such file",
    "cannot find package",
    "failed to resolve import",
    "can't resolve",
    "cannot resolve module",
    "unable to resolve module",
];

/// Behind these stands what is to be installed.
const BEFORE_PACKAGES: &[&str] = &[
    "provides package",
    "can't find crate for",
    "could not find gem",
    "package not found",
    "cannot find -l",
    "could not find package",
    "could not find",
    "couldn't find the config",
    "couldn't find the plugin",
];

/// The package that an error misses.
pub(super) fn module(headline: &str) -> Option<String> {
    let header = headline.split(": ").find(|piece| piece.ends_with(".h") || piece.ends_with(".hpp"));
    if let Some(header) = header.filter(|name| is_plain(name)) {
        return Some(header.to_owned());
    }
    let found = BEFORE_MODULES.iter().find_map(|words| behind(headline, words)).map(|name| package(&name).to_owned());
    let found = found.or_else(|| BEFORE_PACKAGES.iter().find_map(|words| behind(headline, words)));
    let of_dependency = || headline.split_once("dependency ").and_then(|(_, rest)| quoted(rest));
    found.or_else(of_dependency).or_else(|| quoted(headline))
}

/// Whether the module that an error misses is one of the project itself.
pub(super) fn is_of_project(headline: &str) -> bool {
    let named = BEFORE_MODULES.iter().find_map(|words| behind(headline, words));
    named.or_else(|| module(headline)).is_some_and(|name| {
        let is_installed = name.contains("/node_modules/") || name.contains("/site-packages/");
        !is_installed
            && (name.starts_with(['.', '/'])
                || name.starts_with("@/")
                || name.starts_with("~/")
                || name.starts_with("src/")
                || name.starts_with("src."))
    })
}

/// The name behind some words, if one stands there.
fn behind(headline: &str, words: &str) -> Option<String> {
    let at = headline.to_lowercase().find(words)?;
    let rest = headline.get(at + words.len()..)?.trim_start_matches([':', ' ', '-']);
    let name = rest.split(|c: char| c.is_whitespace() || ",;".contains(c)).next()?;
    let name = name.trim_matches(['\'', '"', '`', ':', ';', '(', ')']).trim_end_matches('.');
    is_plain(name).then(|| name.to_owned())
}

/// The package that a module lies in: `a.b.c` is of `a`, `@x/y/z` of `@x/y`, `lodash/fp` of `lodash`.
fn package(module: &str) -> &str {
    let module = ["/node_modules/", "/site-packages/"]
        .iter()
        .find_map(|folder| module.rsplit_once(folder))
        .map_or(module, |(_, inside)| inside);
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let slash = module.match_indices('/').nth(parts - 1).map_or(module.len(), |(at, _)| at);
    let head = module.get(..slash).unwrap_or(module);
    match head.contains('.') {
        // A host: the modules of Go are whole addresses.
        true if slash < module.len() => module,
        true => head.split('.').next().filter(|name| !name.is_empty()).unwrap_or(head),
        false => head,
    }
}

/// The first thing in quotes that is a name.
pub(super) fn quoted(headline: &str) -> Option<String> {
    let mut pieces = headline.split(['\'', '"', '`']);
    pieces.next();
    pieces.find(|piece| is_plain(piece)).map(str::to_owned)
}

fn is_plain(name: &str) -> bool {
    (1..=60).contains(&name.len())
        && name.chars().any(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "_-./@+$~".contains(c))
}
