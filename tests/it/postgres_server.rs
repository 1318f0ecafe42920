//! A real PostgreSQL for the tests: one that is there already, or one of their own in a temporary directory.
//!
//! `ARCHIVIST_TEST_POSTGRES_URL` names one that is there. Without it the server's programs are looked for, and one is
//! started on a free port of the loopback, as an unprivileged user where root is refused. It ends with the tests,
//! whatever becomes of them: a shell holds it that waits for its stdin to close.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Names a server that is there already.
const URL: &str = "ARCHIVIST_TEST_POSTGRES_URL";
/// The folder of the programs of a server that has the extension `vector`, beside the one that all tests share.
const VECTOR_PROGRAMS: &str = "ARCHIVIST_TEST_PGVECTOR_BIN";
/// Set where to have no server is a failure and not a reason to skip.
const REQUIRED: &str = "ARCHIVIST_REQUIRE_POSTGRES";

/// A server whose life is in the hands of a test.
#[derive(Debug)]
pub(crate) struct Cluster {
    directory: PathBuf,
    programs: PathBuf,
    pub(crate) port: u16,
    options: String,
    /// Ends the server when its stdin closes.
    _keeper: Child,
}

/// The address of the server that all tests share; `None`, and said so, where there is none.
pub(crate) fn shared() -> Option<&'static str> {
    static SHARED: OnceLock<Option<(String, Option<Cluster>)>> = OnceLock::new();
    let found = SHARED.get_or_init(|| {
        if let Some(url) = std::env::var(URL).ok().filter(|url| !url.is_empty()) {
            return Some((url, None));
        }
        let cluster = Cluster::start("-c fsync=off -c max_connections=300")?;
        Some((cluster.url("postgres"), Some(cluster)))
    });
    if found.is_none() {
        assert!(std::env::var_os(REQUIRED).is_none(), "{REQUIRED} is set, and there is no PostgreSQL to test with");
        eprintln!("skipped: there is no PostgreSQL; install the package postgresql, or set {URL}");
    }
    found.as_ref().map(|(url, _)| url.as_str())
}

/// The address of a server that offers the extension `vector`; `None`, and said so, where there is none.
pub(crate) async fn with_vector() -> Option<&'static str> {
    static STARTED: OnceLock<Option<(String, Cluster)>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        let programs = std::env::var_os(VECTOR_PROGRAMS).filter(|folder| !folder.is_empty())?;
        let cluster = Cluster::start_from(programs.into(), "-c fsync=off -c max_connections=100");
        Some((cluster.url("postgres"), cluster))
    });
    let url = started.as_ref().map(|(url, _)| url.as_str()).or_else(shared)?;
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
    tokio::spawn(connection);
    let offers =
        client.query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'", &[]).await.expect("a list");
    if offers.is_empty() {
        eprintln!(
            "skipped: no server offers the extension vector; {VECTOR_PROGRAMS} names the programs of one that does"
        );
        return None;
    }
    Some(url)
}

/// A name that nothing else in the server has.
pub(crate) fn unique(stem: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{stem}_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Talks to a database behind the program's back.
pub(crate) async fn sql(url: &str, statements: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
    let talk = tokio::spawn(connection);
    client.batch_execute(statements).await.expect("an answer");
    drop(client);
    talk.await.expect("a task").expect("an end");
}

/// Makes a database of its own on the server of this address, and gives the address of that.
pub(crate) async fn database(url: &str, stem: &str) -> String {
    let name = unique(stem);
    sql(url, &format!("CREATE DATABASE {name}")).await;
    let (before, behind) = url.split_once("://").expect("an address");
    let (host, rest) = behind.split_once('/').expect("a database in the address");
    let options = rest.split_once('?').map(|(_, options)| format!("?{options}")).unwrap_or_default();
    format!("{before}://{host}/{name}{options}")
}

impl Cluster {
    /// Starts a server with these options; `None` where its programs are not installed.
    pub(crate) fn start(options: &str) -> Option<Self> {
        Some(Self::start_from(programs()?, options))
    }

    /// The same with the programs of this folder.
    pub(crate) fn start_from(programs: PathBuf, options: &str) -> Self {
        let initdb = programs.join("initdb");
        let words = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
        let cluster = Self::make(programs, options, &[&[text(&initdb)], &words[..]].concat());
        cluster.run(&[]);
        cluster
    }

    /// A copy that follows this one, and calls itself by this name.
    pub(crate) fn standby(&self, name: &str) -> Self {
        let port = self.port.to_string();
        let backup = self.programs.join("pg_basebackup");
        let words = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        let options = format!("{} -c cluster_name={name}", self.options);
        let cluster = Self::make(self.programs.clone(), &options, &[&[text(&backup)], &words[..]].concat());
        cluster.run(&[]);
        cluster
    }

    /// A server whose files this command makes.
    fn make(programs: PathBuf, options: &str, command: &[&str]) -> Self {
        let directory = tempfile::Builder::new().prefix("archivist-pg-").tempdir().expect("a directory").keep();
        let (data, control) = (directory.join("data"), programs.join("pg_ctl"));
        let script = "trap '' INT TERM HUP\n\
             control=$1 data=$2 directory=$3; shift 3\n\
             \"$@\" -D \"$data\" >/dev/null || exit 1\n\
             echo made; read ignored; \"$control\" -D \"$data\" -m immediate stop >/dev/null 2>&1; rm -rf \"$directory\"";
        let words = ["sh", "-c", script, "keeper", text(&control), text(&data), text(&directory)];
        let mut keeper = unprivileged(&directory, &[&words[..], command].concat());
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
        let mut said = String::new();
        BufReader::new(keeper.stdout.take().expect("a pipe")).read_line(&mut said).expect("a word");
        assert_eq!(said.trim(), "made", "{command:?} failed");
        Self { directory, programs, port: free_port(), options: options.to_owned(), _keeper: keeper }
    }

    /// Puts a file beside its data that nobody else may read, and says where it is.
    pub(crate) fn keep(&self, name: &str, content: &str) -> String {
        let path = self.directory.join(name);
        let words = ["sh", "-c", "umask 077; printf %s \"$1\" > \"$2\"", "keep", content, text(&path)];
        assert!(unprivileged(&self.directory, &words).status().expect("a shell").success());
        text(&path).to_owned()
    }

    /// Makes a server of its own of a standby.
    pub(crate) fn promote(&self) {
        self.control(&["-w", "-t", "60", "promote"]);
    }

    /// The address of one of its databases.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Where one of its programs is: beside the others, or on the path.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        Some(self.programs.join(name)).filter(|path| path.is_file()).unwrap_or_else(|| name.into())
    }

    /// Lets it run, with these options beside its own.
    pub(crate) fn run(&self, more: &[&str]) {
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 {} {}",
            self.port,
            text(&self.directory),
            self.options,
            more.join(" ")
        );
        let log = self.directory.join("log");
        self.control(&["-w", "-t", "60", "-l", text(&log), "-o", &options, "start"]);
    }

    /// Stops it as a power cut would.
    pub(crate) fn crash(&self) {
        self.control(&["-m", "immediate", "-w", "stop"]);
    }

    fn control(&self, arguments: &[&str]) {
        let program = self.programs.join("pg_ctl");
        let data = self.directory.join("data");
        let words: Vec<&str> =
            [text(&program), "-D", text(&data)].into_iter().chain(arguments.iter().copied()).collect();
        let done = unprivileged(&self.directory, &words).stdin(Stdio::null()).stdout(Stdio::null()).status();
        let log = std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        assert!(done.expect("pg_ctl runs").success(), "pg_ctl {arguments:?} failed:\n{log}");
    }
}

/// A port that nobody has, from below those that the system gives to whoever calls: while a server is down, nobody else
/// must come by its port.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(31);
    loop {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        let port = 20_000 + u16::try_from(number).expect("a small number");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A command as somebody whom the server lets run it.
fn unprivileged(directory: &Path, words: &[&str]) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0);
    if !is_root {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(directory);
        return command;
    }
    let has = |user: &str| Command::new("id").args(["-u", user]).output().is_ok_and(|id| id.status.success());
    let user = if has("postgres") { "postgres" } else { "nobody" };
    let owned = Command::new("chown").args([user, text(directory)]).status();
    assert!(owned.expect("chown runs").success(), "the directory could not be given to {user}");
    let mut command = Command::new("runuser");
    command.args(["-u", user, "--"]).args(words).current_dir(directory);
    command
}

/// Where the server's programs are. Debian keeps them off the path.
fn programs() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    places.sort();
    places.reverse();
    let place = std::env::split_paths(&on_path).chain(places).find(|place| place.join("initdb").is_file())?;
    // On the path there may be links to some of them; all of them are together where those lead.
    let initdb = place.join("initdb").canonicalize().ok()?;
    initdb.parent().filter(|place| place.join("pg_ctl").is_file()).map(Path::to_owned).or(Some(place))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}
