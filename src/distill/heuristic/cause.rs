//! What stands behind a failure, as far as its words tell.

use super::naming;
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
    /// A script or target that the project does not have.
    Target(Option<String>),
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
    /// A longer answer than the model gives.
    Length,
    /// A host that cannot be reached.
    Network,
    /// The code.
    Code,
    /// A text that was to be replaced was not there.
    Edit,
    /// What the sandbox of the agent forbids.
    Sandbox,
    /// Nobody knows.
    Unknown,
}

/// How services ask for patience, in lower case.
const LIMITS: &str =
    "toomanyrequests|too many requests|rate limit|rate-limit|ratelimit|secondary rate|quota exceeded|throttl";

/// How models say that an answer grew too long, in lower case.
const LENGTHS: &str = "output token maximum|output token limit|maximum output tokens|maximum output length";

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
        Wording::Target,
        "missing script|no rule to make target|unknown task|not found in root project|error command \"|couldn't find a script|\
        script not found|does not contain recipe|don't know how to build task|does not exist in this project|no such task|\
        couldn't find any command named|task not found",
    ),
    (
        Wording::Flag,
        "unknown option|unrecognized argument|unrecognized option|unexpected argument|\
        flag provided but not defined|no such option|invalid option|unknown flag|unknown argument|illegal option|\
        unknown shorthand flag|unrecognised option|bad flag|unknown command|unsupported option|no such command|\
        invalid choice|not a valid option|unknown cli|unknown arguments|is not a valid argument|\
        unknown parameter|unrecognized flag|no such subcommand|unrecognized subcommand|\
        unknown switch|required option|required flag|following arguments are required|following required arguments|unsupported flag|\
        cannot be used with",
    ),
    (
        Wording::Login,
        "401 unauthorized|403 forbidden|authentication|no password supplied|access denied for user|not logged in|could not read username|publickey|\
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
        module not found|couldn't find the config|couldn't find the plugin|run `bundle install`|could not find openssl|shared libraries|shared library",
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
        if any(LENGTHS, |words| lower.contains(words)) {
            return Self::Length;
        }
        if class == "timeout" && !lower.contains("lock") {
            return Self::Time;
        }
        if !matches!(class, "test" | "assertion" | "compile" | "lint") && any(LIMITS, |limit| lower.contains(limit)) {
            return Self::Patience;
        }
        if let Some(name) = naming::undefined(headline) {
            return Self::Name(name);
        }
        let is_absent = lower.contains("does not exist") || lower.contains("doesn't exist");
        if is_absent && lower.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "relation" | "table")) {
            return Self::Migration;
        }
        let is_told_by_compiler = matches!(class, "compile" | "lint") && !lower.contains("env");
        if let Some(name) = naming::upper_name(headline).filter(|_| !is_told_by_compiler).filter(|_| {
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
        // A guide to a new version is no migration of a database, and what a rule needs is no target of anybody's.
        let read = lower.replace("migration guide", "guide");
        let is_needed = lower.contains("needed by");
        let found = WORDINGS.iter().find(|(wording, wordings)| {
            any(wordings, |words| read.contains(words)) && !(*wording == Wording::Target && is_needed)
        });
        let of_words = found.map(|(wording, _)| Self::of_wording(*wording, headline, &lower));
        match of_words {
            Some(Self::Module(_)) if naming::is_of_project(headline) => Self::Code,
            // A test that fails speaks of what it tests.
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
            None => Self::of_class(class),
        }
    }

    fn of_wording(wording: Wording, headline: &str, lower: &str) -> Self {
        match wording {
            Wording::Lockfile => Self::Lockfile,
            Wording::Lock => Self::Lock,
            Wording::Port => Self::Port(naming::port(lower)),
            Wording::Migration => Self::Migration,
            Wording::Version => Self::Version,
            Wording::Target => Self::Target(naming::quoted(headline)),
            Wording::Flag => Self::Flag,
            Wording::Login => Self::Login,
            Wording::Service => Self::Service,
            Wording::Variable => Self::Variable(naming::upper_name(headline)),
            Wording::Folder => Self::Folder,
            Wording::Program => Self::Program(naming::program(headline)),
            Wording::Module => Self::Module(naming::module(headline)),
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

    /// Tells whether a message is how a system answers to what a sandbox does not allow.
    pub(super) fn is_forbidden(headline: &str) -> bool {
        let lower = headline.to_lowercase();
        lower.contains("operation not permitted") || lower.contains("read-only file system")
    }

    /// Whether the cause lies around the code and not in it.
    pub(super) fn is_around(&self) -> bool {
        !matches!(self, Self::Code | Self::Edit | Self::Unknown | Self::Name(_))
    }

    /// Whether it is a limit that somebody sets.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self, Self::Room | Self::Length | Self::Patience | Self::Time)
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
