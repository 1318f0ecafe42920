//! What stands behind a failure, as far as its words tell.

use super::words::any;

#[cfg(test)]
#[path = "cause_tests.rs"]
mod tests;

/// Why something fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// A package that is not installed.
    Module(Option<String>),
    /// A program that is not installed.
    Program(Option<String>),
    /// A variable of the environment that is not set.
    Variable(Option<String>),
    /// A name that nobody defined.
    Name(String),
    /// A port that is taken.
    Port(Option<String>),
    /// A service that does not run, or cannot be reached.
    Service,
    /// A lock that somebody holds or left behind.
    Lock,
    /// A lock file that does not fit its manifest.
    Lockfile,
    /// A database that was not migrated.
    Migration,
    /// The wrong version of a language or tool.
    Version,
    /// A flag or argument that the program does not take.
    Flag,
    /// Not allowed.
    Permission,
    /// Not signed in.
    Login,
    /// The wrong folder.
    Folder,
    /// Something that must be made first.
    Unmade,
    /// Memory, disk or handles ran out.
    Resource,
    /// It took too long.
    Time,
    /// A service asks for patience.
    Patience,
    /// More text than the model takes.
    Room,
    /// A host that cannot be reached.
    Network,
    /// The code.
    Code,
    /// A text that was to be replaced was not there.
    Edit,
    /// Nobody knows.
    Unknown,
}

/// How services ask for patience, in lower case.
const LIMITS: &str =
    "toomanyrequests|too many requests|rate limit|rate-limit|ratelimit|secondary rate|quota exceeded|throttl";

/// What only passes on that something inside failed.
const OUTER: &str = "failed to solve|did not complete successfully|command failed|exited with|exit status|returned non-zero|\
    returned a non-zero|elifecycle|lifecycle script|process completed|error response from daemon|build failed|failed to build|\
    subprocess-exited-with-error|could not build wheels|exit code|task failed|execution failed for task|make: ***|make[|\
    failed to compute cache key|unexpected status";

/// What says more than that, in lower case, the more telling first.
const INNER: &str = "toomanyrequests|rate limit|no space left on device|out of memory|cannot allocate memory|command not found|\
    permission denied|authentication required|unauthorized|could not resolve host|temporary failure in name resolution|\
    connection refused|certificate|no matching manifest|exec format error|no matching distribution|eresolve|\
    could not find a version|unsupported engine";

/// Of a longer output only the end is searched.
const SEARCHED_LINES: usize = 80;

/// The line of an output that says why, where the headline only says that something inside failed.
pub(super) fn inner<'t>(output: &'t str, headline: &str) -> Option<&'t str> {
    let lower = headline.to_lowercase();
    if !any(OUTER, |outer| lower.contains(outer)) && !super::words::is_empty_talk(headline) {
        return None;
    }
    let lines: Vec<(&str, String)> = output
        .lines()
        .rev()
        .take(SEARCHED_LINES)
        .map(str::trim)
        .filter(|line| line.len() < 400 && *line != headline.trim())
        .map(|line| (line, line.to_lowercase()))
        .collect();
    INNER.split('|').find_map(|telling| lines.iter().find(|(_, lower)| lower.contains(telling))).map(|(line, _)| *line)
}

/// Wordings, in lower case, the more telling first.
const WORDINGS: &[(Wording, &str)] = &[
    (
        Wording::Lockfile,
        "lockfile|lock file needs to be updated|--locked was passed|package-lock.json are in sync|\
        package.json and package-lock|poetry.lock|pnpm-lock|yarn.lock needs|frozen-lockfile|frozen lockfile|--frozen|gemfile.lock|go.sum|uv.lock",
    ),
    (
        Wording::Lock,
        ".lock': file exists|index.lock|could not get lock|unable to lock|lock file exists|is locked|\
        another git process|another process is|waiting for file lock|state lock|lock held|resource busy|\
        database is locked|already locked|stale lock|acquire lock|acquiring the state lock|pidfile|server.pid|\
        .pid already|already running",
    ),
    (
        Wording::Port,
        "eaddrinuse|address already in use|port is already|already allocated|is already in use|port in use|\
        is in use|only one usage of each socket",
    ),
    (
        Wording::Migration,
        "no such table|pending migration|unapplied migration|migrations are pending|migration|undefined table|\
        undefinedtable|p2021|does not exist in the current database|no such column|undefinedcolumn|\
        table or view not found|unknown column|er_no_such_table",
    ),
    (
        Wording::Version,
        "unsupported engine|engine \"node\" is incompatible|is incompatible with this module|ebadengine|\
        requires node|node version|node.js version|requires python|python version|requires a different python|\
        requires rustc|rustc version|unsupported class file|unsupportedclassversion|invalid target release|\
        invalid source release|requires go|go version|ruby version is|required version|minimum version|\
        is not supported by rustc|is too old|requires java|jdk version|toolchain|edition2024|requires cmake|\
        class file has wrong version|unsupported java|glibc_|but your gemfile specified|requires a peer|\
        wrong architecture|module version mismatch|node_module_version|was compiled against a different node.js|\
        cmake 3|err_require_esm|webidl|digital envelope routines",
    ),
    (
        Wording::Flag,
        "unknown option|unrecognized argument|unrecognized option|unexpected argument|\
        flag provided but not defined|no such option|invalid option|unknown flag|unknown argument|illegal option|\
        unknown shorthand flag|unrecognised option|bad flag|unknown command|unsupported option|no such command|\
        invalid choice|not a valid option|unknown cli|unknown arguments|is not a valid argument|\
        unknown parameter|unrecognized flag|no such subcommand|missing script|unrecognized subcommand|\
        unknown switch|unknown task|not found in root project|no rule to make target|error command \"|required option|\
        required flag|following arguments are required|following required arguments|unsupported flag|\
        cannot be used with",
    ),
    (
        Wording::Login,
        "401 unauthorized|403 forbidden|authentication|not logged in|could not read username|publickey|\
        invalid api key|credentials|no basic auth|unauthenticated|login required|expired token|token has expired|\
        denied: requested access|requires authentication|sso session|not authorized|unauthorized",
    ),
    (
        Wording::Service,
        "connection refused|econnrefused|is the server running|cannot connect to the docker daemon|\
        could not connect to|couldn't connect to|can't connect to|connectionrefused|failed to connect to|\
        connection to server|no brokers available|is the docker daemon running|connect econn|error connecting",
    ),
    (
        Wording::Variable,
        "environment variable|env var|must be set|is not set|not set in|missing env|required env|is unset|\
        unbound variable|process.env|is required but not set|missing required config",
    ),
    (
        Wording::Folder,
        "could not find `cargo.toml`|not a git repository|no package.json|cannot find main module|\
        go.mod file not found|no makefile found|no targets specified|could not read package.json|\
        no such file or directory, open 'package.json'|package.json'|no pyproject.toml|could not locate gemfile|\
        does not contain a gradle build|there is no pom|no pom|no configuration file provided|no such project|\
        can't find a suitable configuration file",
    ),
    (
        Wording::Program,
        "command not found|: not found|is not recognized as|executable file not found|no such program|\
        could not find executable",
    ),
    (
        Wording::Module,
        "no module named|locally installed gems|.h: no such file|.hpp: no such file|cannot find module|cannot find package|modulenotfound|no required module provides|\
        could not resolve dependency|cannot load such file|could not find gem|can't resolve|\
        failed to resolve import|is not in std|could not find package|package not found|unable to find package|\
        could not find a version|dependency|bundler::gemnotfound|missing dependencies|can't find crate|\
        not installed|no such module|cannot find -l|class not found|classnotfound|node_modules missing|\
        err_module_not_found|please install|pkg-config|library not found|\
        could not find a package configuration file|command failed: npm install|missing packages|\
        module not found|run `bundle install`|could not find openssl|shared libraries|shared library",
    ),
    (
        Wording::Unmade,
        "did you run|have you run|please run|you need to run|must be built|needs to be generated|\
        not been generated|not been built|not initialized|initialization required|not initialised|\
        has not been initialized|is not a terraform|did not initialize|out of date|not up to date|\
        needs to be built|executable doesn't exist|is stale|no such image|not been compiled|missing generated|\
        needs to be initialized|submodule|not configured|improperlyconfigured|schema.prisma|uncommitted generated",
    ),
    (
        Wording::Permission,
        "permission denied|eacces|operation not permitted|eperm|access denied|access is denied|permissionerror|\
        read-only file system",
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wording {
    Lockfile,
    Lock,
    Port,
    Migration,
    Version,
    Flag,
    Login,
    Service,
    Variable,
    Folder,
    Program,
    Module,
    Unmade,
    Permission,
}

impl Cause {
    /// Reads the cause from a failure's class and words.
    pub(super) fn read(class: &str, headline: &str) -> Self {
        match class {
            "context_window" => return Self::Room,
            "rate_limit" => return Self::Patience,
            "edit" => return Self::Edit,
            _ => {}
        }
        let lower = headline.to_lowercase();
        if class == "timeout" && !lower.contains("lock") {
            return Self::Time;
        }
        if !matches!(class, "test" | "assertion" | "compile" | "lint") && any(LIMITS, |limit| lower.contains(limit)) {
            return Self::Patience;
        }
        if let Some(name) = undefined(headline) {
            return Self::Name(name);
        }
        let is_relation = lower.contains("does not exist") && (lower.contains("relation ") || lower.contains("table "));
        let is_missing_table = lower.contains("table") && lower.contains("doesn't exist");
        if is_relation || is_missing_table {
            return Self::Migration;
        }
        let is_told_by_compiler = matches!(class, "compile" | "lint") && !lower.contains("env");
        if let Some(name) = upper_name(headline).filter(|_| !is_told_by_compiler).filter(|_| {
            [
                "keyerror",
                "missing",
                "not set",
                "must be set",
                "undefined",
                "required",
                "not found",
                "unset",
                "empty",
                "not defined",
                "not provided",
                "environment",
            ]
            .iter()
            .any(|word| lower.contains(word))
        }) {
            return Self::Variable(Some(name));
        }
        let found = WORDINGS.iter().find(|(_, wordings)| any(wordings, |wording| lower.contains(wording)));
        let of_words = found.map(|(wording, _)| Self::of_wording(*wording, headline, &lower));
        match of_words {
            Some(Self::Module(Some(name))) if is_own(&name) => Self::Code,
            // A test that fails speaks of what it tests.
            Some(
                Self::Unmade
                | Self::Flag
                | Self::Folder
                | Self::Login
                | Self::Permission
                | Self::Version
                | Self::Lockfile,
            ) if matches!(class, "assertion" | "lint" | "test") => Self::Code,
            Some(cause) => cause,
            None => Self::of_class(class),
        }
    }

    fn of_wording(wording: Wording, headline: &str, lower: &str) -> Self {
        match wording {
            Wording::Lockfile => Self::Lockfile,
            Wording::Lock => Self::Lock,
            Wording::Port => Self::Port(port(lower)),
            Wording::Migration => Self::Migration,
            Wording::Version => Self::Version,
            Wording::Flag => Self::Flag,
            Wording::Login => Self::Login,
            Wording::Service => Self::Service,
            Wording::Variable => Self::Variable(upper_name(headline)),
            Wording::Folder => Self::Folder,
            Wording::Program => Self::Program(program(headline)),
            Wording::Module => Self::Module(named(headline)),
            Wording::Unmade => Self::Unmade,
            Wording::Permission => Self::Permission,
        }
    }

    fn of_class(class: &str) -> Self {
        match class {
            "network" => Self::Network,
            "resource" => Self::Resource,
            "permission" => Self::Permission,
            "compile" | "test" | "lint" | "assertion" | "exception" => Self::Code,
            _ => Self::Unknown,
        }
    }

    /// Whether the cause lies around the code and not in it.
    pub(super) fn is_around(&self) -> bool {
        !matches!(self, Self::Code | Self::Edit | Self::Unknown | Self::Name(_))
    }

    /// Whether it is a limit that somebody sets.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self, Self::Room | Self::Patience | Self::Time)
    }

    /// Words that a command which does something about it has one of.
    pub(super) fn cures(&self) -> &'static str {
        match self {
            Self::Module(_) | Self::Program(_) | Self::Lockfile => {
                "install| add|sync|npm ci|npm i |go get|restore|bundle|tidy|download|setup|bootstrap|update|lock|vendor|brew|\
                apt|pip|require|deps|enable|activate|build|make"
            }
            Self::Variable(_) => "export|.env|env |set |config|source|direnv|secret",
            Self::Port(_) => "kill|fuser|stop|down|lsof|rm ",
            Self::Service | Self::Network => {
                "start| up|run -d|serve|service|systemctl|docker|redis-server|pg_ctl|postgres|mongod| dev|restart|proxy|\
                registry|minikube|colima|emulator|compose|launch"
            }
            Self::Lock => "rm |unlock|kill|clean|remove|stop|prune",
            Self::Migration => {
                "migrat|db:|schema|alembic|prisma|flyway|upgrade|seed|sqlx|diesel|goose|db push|ecto|syncdb"
            }
            Self::Version => {
                "nvm|fnm|pyenv|rustup|asdf|sdk |volta|toolchain|mise|rbenv|java_home|install|switch|upgrade|\
                update|rebuild|corepack|jenv|override|rvm"
            }
            Self::Permission => "chmod|chown|sudo|usermod|chgrp|setfacl",
            Self::Login => "login|auth|token|ssh-add|credential|configure|sso",
            Self::Unmade | Self::Folder => "generate|gen|build|init|prepare|codegen|compile|make|install|update|run",
            Self::Resource => "prune|clean|rm |docker system|ulimit|cache",
            Self::Patience => "sleep|wait",
            Self::Time | Self::Room | Self::Flag | Self::Name(_) | Self::Code | Self::Edit | Self::Unknown => "",
        }
    }
}

/// A module of the project itself.
fn is_own(name: &str) -> bool {
    name.starts_with(['.', '/'])
        || name.starts_with("@/")
        || name.starts_with("~/")
        || name.starts_with("src/")
        || name.starts_with("src.")
}

/// `X is not defined`, `name 'X' is not defined`, `undefined variable X`.
fn undefined(headline: &str) -> Option<String> {
    let (before, _) = headline.split_once(" is not defined")?;
    let name = before.split_whitespace().last()?.trim_matches(['\'', '"', '`', '(', ')']);
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
    (is_name && name.len() >= 2).then(|| name.to_owned())
}

/// A name like `DATABASE_URL`.
fn upper_name(headline: &str) -> Option<String> {
    let words = headline.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .filter(|word| word.len() >= 4 && word.starts_with(|c: char| c.is_ascii_uppercase()))
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'))
        .find(|word| word.contains('_') && !word.starts_with("ERR_") && !word.starts_with("E_"))
        .map(str::to_owned)
}

fn port(lower: &str) -> Option<String> {
    let mut numbers = lower.split(|c: char| !c.is_ascii_digit()).filter(|number| (2..=5).contains(&number.len()));
    numbers.rfind(|number| number.parse::<u32>().is_ok_and(|port| (80..65_536).contains(&port))).map(str::to_owned)
}

/// The program in `x: command not found` and its like.
fn program(headline: &str) -> Option<String> {
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
    let name = if name.is_empty() || name.starts_with("zsh") { headline.rsplit(": ").next()? } else { name };
    let name = name.trim_matches(['\'', '"', '`', '.']);
    is_plain(name).then(|| name.to_owned())
}

/// The package that an error names.
fn named(headline: &str) -> Option<String> {
    let behind = |words: &str| {
        let at = headline.to_lowercase().find(words)?;
        let rest = headline.get(at + words.len()..)?.trim_start_matches([':', ' ', '-']);
        rest.split(|c: char| c.is_whitespace() || ",;".contains(c))
            .next()
            .map(|word| word.trim_matches(['\'', '"', '`', '.', ':', ';']).to_owned())
    };
    let header = headline.split(": ").find(|piece| piece.ends_with(".h") || piece.ends_with(".hpp"));
    if let Some(header) = header.filter(|name| is_plain(name)) {
        return Some(header.to_owned());
    }
    let found = [
        "no module named",
        "cannot find module",
        "cannot load such file",
        "provides package",
        "cannot find package",
        "can't find crate for",
        "could not find gem",
        "failed to resolve import",
        "can't resolve",
        "package not found",
        "cannot find -l",
        "could not find package",
        "could not find",
    ]
    .iter()
    .find_map(|words| behind(words).filter(|name| is_plain(name)));
    found.or_else(|| quoted(headline))
}

/// The first thing in quotes that is a name.
fn quoted(headline: &str) -> Option<String> {
    let mut pieces = headline.split(['\'', '"', '`']);
    pieces.next();
    pieces.find(|piece| is_plain(piece)).map(str::to_owned)
}

fn is_plain(name: &str) -> bool {
    (1..=60).contains(&name.len())
        && name.chars().any(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "_-./@+$~".contains(c))
}
