//! Names of packages in commands that install or run them.

/// Programs that install packages, and the words after which their names follow.
const INSTALLERS: &[(&str, &str)] = &[
    ("pip pip3 pipx conda mamba gem brew apt apt-get apk dnf yum pacman port choco winget scoop", "install add -s"),
    ("npm pnpm yarn bun", "install i add dlx create"),
    ("uv poetry pdm rye", "add install"),
    ("cargo go composer dotnet opam nimble cabal stack luarocks", "install add get require package"),
    ("npx uvx bunx pnpx", ""),
];

/// Words after an installer that are no names.
const NO_PACKAGES: &[&str] = &["install", "add", "get", "require", "package", "pip", "pip3", "dlx", "python", "npm"];

/// Words that end the names after an installer.
const AFTER_PACKAGES: &[&str] = &[
    "and", "then", "first", "it", "the", "to", "for", "here", "from", "with", "instead", "again", "before", "passed",
    "once", "or", "is", "in", "of", "a", "&&", "", "fails", "failed", "on", "without", "by", "at", "as", "does", "did",
    "was", "not", "that", "which", "needs", "via", "into", "after", "but", "this",
];

/// The fewest characters of a name that is traced.
pub(super) const MIN_NAME: usize = 3;

/// The longest line that is read as a command.
const MAX_COMMAND_LINE: usize = 2000;

/// Returns the packages that the commands in a text install or run.
pub(super) fn find_packages(view: &str) -> impl Iterator<Item = String> {
    // Most lines of an output install nothing.
    const VERBS: &[&str] =
        &["install", " add ", " get ", " i ", " require ", " dlx ", "npx ", "uvx ", "bunx ", "pnpx ", "create"];
    let has_verb = |line: &&str| line.len() < MAX_COMMAND_LINE && VERBS.iter().any(|verb| line.contains(verb));
    view.lines().filter(has_verb).flat_map(find_packages_of_line).collect::<Vec<_>>().into_iter()
}

fn find_packages_of_line(line: &str) -> Vec<String> {
    let words: Vec<String> = line
        .split(|c: char| c.is_whitespace() || "`\"'()<>,;|&".contains(c))
        .map(|word| word.trim_end_matches(['.', ':', '!', '?']).to_lowercase())
        .collect();
    let mut packages = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let holds = |listed: &str| listed.split_whitespace().any(|known| known == word);
        let Some((_, verbs)) = INSTALLERS.iter().find(|(programs, _)| holds(programs)) else { continue };
        let rest = words.get(at + 1..).unwrap_or_default();
        let is_verb = |word: &String| verbs.split_whitespace().any(|verb| verb == word.as_str());
        let begin = match verbs.is_empty() {
            true => Some(0),
            false => rest.iter().take(4).position(is_verb).map(|verb| verb + 1),
        };
        let Some(begin) = begin else { continue };
        let mut is_value = false;
        for name in rest.get(begin..).unwrap_or_default().iter().take(8) {
            if AFTER_PACKAGES.contains(&name.as_str()) {
                break;
            }
            if name.starts_with('-') {
                is_value = matches!(name.as_str(), "-r" | "-e" | "-c" | "-t" | "--requirement" | "--prefix");
                continue;
            }
            if is_value || NO_PACKAGES.contains(&name.as_str()) {
                is_value = false;
                continue;
            }
            packages.extend(package_name(name));
        }
    }
    packages
}

/// Returns the name of a package without its version.
pub(super) fn package_name(word: &str) -> Option<String> {
    let (scope, rest) = word.split_at_checked(usize::from(word.starts_with('@'))).unwrap_or(("", word));
    let bare = rest.split(['=', '>', '<', '~', '^', '[', '@', '!']).next().unwrap_or(rest);
    let is_name = bare.len() >= MIN_NAME
        && bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':'))
        && bare.chars().any(char::is_alphabetic)
        && !bare.starts_with(['.', '/']);
    is_name.then(|| format!("{scope}{bare}"))
}
