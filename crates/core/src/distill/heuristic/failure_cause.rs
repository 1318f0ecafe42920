//! The cause of a failure, as far as its error message tells.

use super::error_names;
use super::sentence_text::any_listed;

#[cfg(test)]
#[path = "failure_cause_tests.rs"]
mod tests;

/// The cause of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FailureCause {
    /// A package is not installed.
    Module(Option<String>),
    /// A program is not installed.
    Program(Option<String>),
    /// An environment variable is not set.
    Variable(Option<String>),
    /// A name is not defined.
    Name(String),
    /// A port is already in use.
    Port(Option<String>),
    /// A service does not run or cannot be reached.
    Service,
    /// A lock is held by another process or was left behind.
    Lock,
    /// A lock file does not match its manifest.
    Lockfile,
    /// A database was not migrated.
    Migration,
    /// A language or tool has the wrong version.
    Version,
    /// The program does not accept a flag or argument.
    Flag,
    /// The project does not have a script or target.
    Target(Option<String>),
    /// The operation is not allowed.
    Permission,
    /// The user is not signed in.
    Login,
    /// The command ran in the wrong folder.
    Folder,
    /// Something must be built or generated first.
    Unmade,
    /// Memory, disk space or file handles ran out.
    Resource,
    /// It exceeded its time limit.
    Time,
    /// A service limits the rate of calls.
    Patience,
    /// The input exceeds the model's context window.
    Room,
    /// The answer exceeds the model's output limit.
    Length,
    /// A host cannot be reached.
    Network,
    /// The code itself is wrong.
    Code,
    /// The text that an edit should replace was not found.
    Edit,
    /// The sandbox of the agent forbids it.
    Sandbox,
    /// The cause is not known.
    Unknown,
}

/// Phrases, in lower case, by which services report a rate limit.
const LIMITS: &str =
    "toomanyrequests|too many requests|rate limit|rate-limit|ratelimit|secondary rate|quota exceeded|throttl";

/// Phrases, in lower case, by which models report an answer that is too long.
const LENGTHS: &str = "output token maximum|output token limit|maximum output tokens|maximum output length";

/// Phrases, in lower case, that identify a cause; the more specific ones come first.
const WORDINGS: &[(CauseWording, &str)] = &[
    (
        CauseWording::Lockfile,
        "lockfile|lock file needs to be updated|--locked was passed|package-lock.json are in sync|\
        package.json and package-lock|poetry.lock|pnpm-lock|yarn.lock needs|frozen-lockfile|frozen lockfile|--frozen|gemfile.lock|go.sum|uv.lock",
    ),
    (
        CauseWording::Lock,
        ".lock': file exists|index.lock|could not get lock|unable to lock|lock file exists|is locked|\
        another git process|another process is|waiting for file lock|state lock|lock held|resource busy|\
        database is locked|already locked|stale lock|acquire lock|acquiring the state lock|pidfile|server.pid|\
        .pid already|already running",
    ),
    (
        CauseWording::Port,
        "eaddrinuse|address already in use|port is already|already allocated|is already in use|port in use|\
        is in use|only one usage of each socket",
    ),
    (
        CauseWording::Migration,
        "no such table|pending migration|unapplied migration|migrations are pending|migration|undefined table|\
        undefinedtable|p2021|does not exist in the current database|no such column|undefinedcolumn|\
        table or view not found|unknown column|er_no_such_table",
    ),
    (
        CauseWording::Version,
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
        CauseWording::Target,
        "missing script|no rule to make target|unknown task|not found in root project|error command \"|couldn't find a script|\
        script not found|does not contain recipe|don't know how to build task|does not exist in this project|no such task|\
        couldn't find any command named|task not found",
    ),
    (
        CauseWording::Flag,
        "unknown option|unrecognized argument|unrecognized option|unexpected argument|\
        flag provided but not defined|no such option|invalid option|unknown flag|unknown argument|illegal option|\
        unknown shorthand flag|unrecognised option|bad flag|unknown command|unsupported option|no such command|\
        invalid choice|not a valid option|unknown cli|unknown arguments|is not a valid argument|\
        unknown parameter|unrecognized flag|no such subcommand|unrecognized subcommand|\
        unknown switch|required option|required flag|following arguments are required|following required arguments|unsupported flag|\
        cannot be used with",
    ),
    (
        CauseWording::Login,
        "401 unauthorized|403 forbidden|authentication|no password supplied|access denied for user|not logged in|could not read username|publickey|\
        invalid api key|credentials|no basic auth|unauthenticated|login required|expired token|token has expired|\
        denied: requested access|requires authentication|sso session|not authorized|unauthorized",
    ),
    (
        CauseWording::Service,
        "connection refused|econnrefused|is the server running|cannot connect to the docker daemon|\
        could not connect to|couldn't connect to|can't connect to|connectionrefused|failed to connect to|\
        connection to server|no brokers available|is the docker daemon running|connect econn|error connecting",
    ),
    (
        CauseWording::Variable,
        "environment variable|env var|must be set|is not set|not set in|missing env|required env|is unset|\
        unbound variable|process.env|is required but not set|missing required config",
    ),
    (
        CauseWording::Folder,
        "could not find `cargo.toml`|not a git repository|no package.json|cannot find main module|\
        go.mod file not found|no makefile found|no targets specified|could not read package.json|\
        no such file or directory, open 'package.json'|package.json'|no pyproject.toml|could not locate gemfile|\
        does not contain a gradle build|there is no pom|no pom|no configuration file provided|no such project|\
        can't find a suitable configuration file",
    ),
    (
        CauseWording::Program,
        "command not found|: not found|is not recognized as|executable file not found|no such program|\
        could not find executable",
    ),
    (
        CauseWording::Module,
        "no module named|locally installed gems|.h: no such file|.hpp: no such file|cannot find module|cannot find package|modulenotfound|no required module provides|\
        could not resolve dependency|cannot load such file|could not find gem|can't resolve|\
        failed to resolve import|is not in std|could not find package|package not found|unable to find package|\
        could not find a version|dependency|bundler::gemnotfound|missing dependencies|can't find crate|\
        not installed|no such module|cannot find -l|class not found|classnotfound|node_modules missing|\
        err_module_not_found|please install|pkg-config|library not found|\
        could not find a package configuration file|command failed: npm install|missing packages|\
        module not found|couldn't find the config|couldn't find the plugin|run `bundle install`|could not find openssl|shared libraries|shared library",
    ),
    (
        CauseWording::Unmade,
        "did you run|have you run|please run|you need to run|must be built|needs to be generated|\
        not been generated|not been built|not initialized|initialization required|not initialised|\
        has not been initialized|is not a terraform|did not initialize|out of date|not up to date|\
        needs to be built|executable doesn't exist|is stale|no such image|not been compiled|missing generated|\
        needs to be initialized|submodule|not configured|improperlyconfigured|schema.prisma|uncommitted generated",
    ),
    (
        CauseWording::Permission,
        "permission denied|eacces|operation not permitted|eperm|access denied|access is denied|permissionerror|\
        read-only file system",
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CauseWording {
    Lockfile,
    Lock,
    Port,
    Migration,
    Version,
    Target,
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

impl FailureCause {
    /// Classifies the cause of a failure by its error class and its headline.
    pub(super) fn classify(class: &str, headline: &str) -> Self {
        match class {
            "context_window" => return Self::Room,
            "rate_limit" => return Self::Patience,
            "edit" => return Self::Edit,
            _ => {}
        }
        let lower = headline.to_lowercase();
        if any_listed(LENGTHS, |words| lower.contains(words)) {
            return Self::Length;
        }
        if class == "timeout" && !lower.contains("lock") {
            return Self::Time;
        }
        if !matches!(class, "test" | "assertion" | "compile" | "lint")
            && any_listed(LIMITS, |limit| lower.contains(limit))
        {
            return Self::Patience;
        }
        if let Some(name) = error_names::find_undefined_name(headline) {
            return Self::Name(name);
        }
        let is_absent = lower.contains("does not exist") || lower.contains("doesn't exist");
        if is_absent && lower.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "relation" | "table")) {
            return Self::Migration;
        }
        let is_told_by_compiler = matches!(class, "compile" | "lint") && !lower.contains("env");
        if let Some(name) = error_names::find_uppercase_name(headline).filter(|_| !is_told_by_compiler).filter(|_| {
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
        // A "migration guide" is no database migration, and what a make rule needs is no missing target.
        let read = lower.replace("migration guide", "guide");
        let is_needed = lower.contains("needed by");
        let found = WORDINGS.iter().find(|(wording, wordings)| {
            any_listed(wordings, |words| read.contains(words)) && !(*wording == CauseWording::Target && is_needed)
        });
        let of_words = found.map(|(wording, _)| Self::from_wording(*wording, headline, &lower));
        match of_words {
            Some(Self::Module(_)) if error_names::misses_project_module(headline) => Self::Code,
            // The message of a failing test describes what it tests, not its environment.
            Some(
                Self::Unmade
                | Self::Flag
                | Self::Target(_)
                | Self::Folder
                | Self::Login
                | Self::Permission
                | Self::Version
                | Self::Lockfile,
            ) if matches!(class, "assertion" | "lint" | "test") => Self::Code,
            Some(cause) => cause,
            None => Self::from_error_class(class),
        }
    }

    fn from_wording(wording: CauseWording, headline: &str, lower: &str) -> Self {
        match wording {
            CauseWording::Lockfile => Self::Lockfile,
            CauseWording::Lock => Self::Lock,
            CauseWording::Port => Self::Port(error_names::find_port(lower)),
            CauseWording::Migration => Self::Migration,
            CauseWording::Version => Self::Version,
            CauseWording::Target => Self::Target(error_names::first_quoted_name(headline)),
            CauseWording::Flag => Self::Flag,
            CauseWording::Login => Self::Login,
            CauseWording::Service => Self::Service,
            CauseWording::Variable => Self::Variable(error_names::find_uppercase_name(headline)),
            CauseWording::Folder => Self::Folder,
            CauseWording::Program => Self::Program(error_names::find_missing_program(headline)),
            CauseWording::Module => Self::Module(error_names::find_missing_package(headline)),
            CauseWording::Unmade => Self::Unmade,
            CauseWording::Permission => Self::Permission,
        }
    }

    fn from_error_class(class: &str) -> Self {
        match class {
            "network" => Self::Network,
            "resource" => Self::Resource,
            "permission" => Self::Permission,
            "compile" | "test" | "lint" | "assertion" | "exception" => Self::Code,
            _ => Self::Unknown,
        }
    }

    /// Tells whether a message is how an operating system reports what a sandbox forbids.
    pub(super) fn is_sandbox_denial(headline: &str) -> bool {
        let lower = headline.to_lowercase();
        lower.contains("operation not permitted") || lower.contains("read-only file system")
    }

    /// Tells whether the cause lies in the environment and not in the code.
    pub(super) fn is_environmental(&self) -> bool {
        !matches!(self, Self::Code | Self::Edit | Self::Unknown | Self::Name(_))
    }

    /// Tells whether the cause is a limit that somebody else sets.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self, Self::Room | Self::Length | Self::Patience | Self::Time)
    }

    /// Returns words, separated by `|`, one of which a command that addresses the cause contains.
    pub(super) fn remedy_words(&self) -> &'static str {
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
            Self::Time
            | Self::Room
            | Self::Length
            | Self::Flag
            | Self::Target(_)
            | Self::Name(_)
            | Self::Code
            | Self::Edit
            | Self::Sandbox
            | Self::Unknown => "",
        }
    }
}
