//! Two teams that share a server and nothing else: each with a role, a project, and words that nobody else has.

use std::sync::Arc;

use archivist_core::domain::{HudMessage, ReflectionScenario};
use archivist_core::memory::postgres::{EventFeed, NewEvent, PostgresServer, migrate_schema};
use archivist_core::service::FleetQueue;
use serde_json::{Value, json};
use tokio_postgres::{Client, NoTls};

use crate::mcp::Agent;
use crate::postgres_server::{database, shared, unique};
use crate::samples::{at, job};
use crate::server;
use crate::sessions::{Met, lines};
use crate::stores::server_at;
use crate::support::{Output, World, text};

/// As long as the words of the teams, and in nobody's memory.
const NOBODY: &str = "ultraochrepit";

/// How many lessons the last message of a bank tells of: whoever heard it has heard all before it.
pub(crate) const LAST_COUNT: u64 = 4711;

/// What things are called, in commands and in paths.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) word: String,
    pub(crate) lesson: String,
    /// One that waits in quarantine.
    pub(crate) waiting: String,
    pub(crate) episode: String,
    pub(crate) session: String,
    pub(crate) run: String,
    pub(crate) task: String,
}

impl Names {
    fn of(word: &str, lesson: &str, waiting: &str, episode: &str) -> Self {
        Self {
            word: word.to_owned(),
            lesson: lesson.to_owned(),
            waiting: waiting.to_owned(),
            episode: episode.to_owned(),
            session: format!("session-{word}"),
            run: format!("run-{word}"),
            task: format!("task-{word}"),
        }
    }

    /// What nobody ever called anything.
    pub(crate) fn of_nobody() -> Self {
        Self::of(NOBODY, "mem-00000000000000000000000000", "mem-00000000000000000000000001", "ep-0000000000000000")
    }

    fn pairs(&self) -> [(&'static str, &str); 7] {
        [
            ("{lesson}", &self.lesson),
            ("{waiting}", &self.waiting),
            ("{episode}", &self.episode),
            ("{session}", &self.session),
            ("{run}", &self.run),
            ("{task}", &self.task),
            ("{word}", &self.word),
        ]
    }

    /// The text with these names where it leaves room for them.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.pairs().into_iter().fold(text.to_owned(), |text, (hole, name)| text.replace(hole, name))
    }

    /// What was answered to somebody who asked by these names, without what they brought along themselves.
    pub(crate) fn strip(&self, answer: &str) -> String {
        self.pairs().into_iter().fold(answer.to_owned(), |text, (hole, name)| text.replace(name, hole))
    }
}

/// A team, its machine and its project.
#[derive(Debug)]
pub(crate) struct Team {
    pub(crate) world: World,
    pub(crate) names: Names,
    pub(crate) role: String,
    pub(crate) key: String,
    pub(crate) url: String,
    /// Whatever tells an answer to be of this team's project.
    pub(crate) marks: Vec<String>,
}

/// Two of them in one database.
pub(crate) struct Teams {
    pub(crate) red: Team,
    pub(crate) blue: Team,
    owner: String,
}

impl Teams {
    /// Both let in by the owner, with everything in their banks that a bank can hold.
    pub(crate) fn new(row_security: &str) -> Option<Self> {
        let owner = wait(database(shared()?, "teams"));
        wait(migrate_schema(&server_at(&owner))).unwrap();
        let team = |word: &str, seed: &str| {
            let team = Team::new(&owner, word);
            team.fill(&owner, seed);
            team.known(&owner)
        };
        let teams = Self { red: team("vermilionquay", "11"), blue: team("ceruleanmoors", "22"), owner };
        run_as(&teams.red.world, &teams.owner, &teams.red.key, &["migrate", "--row-security", row_security]);
        Some(teams)
    }

    /// Everything that the server holds of a team's project, in short.
    pub(crate) fn state(&self, team: &Team) -> Vec<(String, Option<String>)> {
        wait(async {
            let client = client(&self.owner).await;
            let bank = number(&client, &team.key).await;
            let select = "SELECT c.table_name::text FROM information_schema.columns c \
                 WHERE c.table_schema = 'archivist' AND c.column_name = 'bank' ORDER BY 1";
            let mut state: Vec<(String, Option<String>)> = Vec::new();
            for row in client.query(select, &[]).await.unwrap() {
                let table: String = row.get(0);
                let sum = format!(
                    "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM archivist.{table} t WHERE bank = $1"
                );
                state.push((table, client.query_one(&sum, &[&bank]).await.unwrap().get(0)));
            }
            assert!(state.iter().filter(|(_, sum)| sum.is_some()).count() > 8, "hardly anything is there: {state:?}");
            state
        })
    }

    /// Takes the roles off the server again.
    pub(crate) fn part(self) {
        let (red, blue) = (&self.red.role, &self.blue.role);
        let statements = format!("DROP OWNED BY {red}, {blue}; DROP ROLE {red}, {blue}");
        wait(async { client(&self.owner).await.batch_execute(&statements).await }).unwrap();
    }
}

impl Team {
    fn new(owner: &str, word: &str) -> Self {
        let role = unique(&format!("team_{word}"));
        wait(async { client(owner).await.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'x'")).await })
            .unwrap();
        let (before, behind) = owner.split_once("://").unwrap();
        let host = behind.split_once('@').map_or(behind, |(_, host)| host);
        let world = World::new();
        world.let_scripts_decide();
        let team = Self {
            world,
            names: Names::of(word, "", "", ""),
            url: format!("{before}://{role}:x@{host}"),
            role,
            key: format!("project-{word}"),
            marks: Vec::new(),
        };
        run_as(&team.world, owner, &team.key, &["migrate", "--grant", &team.role]);
        team
    }

    /// A stranger's machine: another role in this team's project.
    pub(crate) fn entered_by(&self, stranger: &Self) -> Self {
        let world = World::new();
        world.let_scripts_decide();
        Self {
            world,
            names: Names::of_nobody(),
            role: stranger.role.clone(),
            key: self.key.clone(),
            url: stranger.url.clone(),
            marks: Vec::new(),
        }
    }

    pub(crate) fn variables(&self) -> [(&str, &str); 4] {
        variables(&self.url, &self.key)
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Output {
        self.world.run_with(arguments, &self.variables(), input)
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, "");
        assert_eq!(output.status, 0, "{arguments:?} failed:\n{output}");
        output.stdout
    }

    pub(crate) fn agent(&self) -> Agent {
        Agent::with(&self.world, &["mcp"], &self.variables())
    }

    pub(crate) fn serve(&self) -> server::Server {
        server::Server::start_with(&self.world, &[], &self.variables())
    }

    pub(crate) fn server(&self) -> Arc<PostgresServer> {
        server_at(&self.url)
    }

    /// Tells its displays of so many new lessons.
    pub(crate) fn tell(&self, count: u64) {
        let message = HudMessage::ArchivistMemoriesAdded { count, scenario: ReflectionScenario::Manual, ts: at() };
        let event = NewEvent { key: count.to_string(), record: serde_json::to_string(&message).unwrap() };
        wait(EventFeed::new(self.server(), &self.key).append_events(&[event])).unwrap();
    }

    /// Where the log of its session lies.
    pub(crate) fn log(&self) -> std::path::PathBuf {
        self.world.project().join(".openagents/sessions").join(format!("{}.jsonl", self.names.session))
    }

    /// Asserts that nothing in an answer is of another team's project.
    pub(crate) fn hears_nothing_of(&self, other: &Self, asked: &str, answer: &str) {
        for mark in &other.marks {
            assert!(!answer.contains(mark.as_str()), "{} learns of {mark} by {asked}:\n{answer}", self.role);
        }
    }

    /// A lesson by hand, one of the same id as the other team's, one from a session, one in quarantine; a run that was
    /// given some and how it went; a job that waits; and what was told of all this.
    fn fill(&self, owner: &str, seed: &str) {
        let Names { word, session, run, task, .. } = &self.names;
        let summary = format!("Restart the {word} gateway before its tests");
        let flags = ["--kind", "lesson", "--tag", word, "--task", task, "--seed", seed];
        self.ok(&[&["add", &summary], &flags[..]].concat());
        self.ok(&["add", &format!("We call it {word} here, nothing else"), "--seed", "99"]);
        let log = self.log();
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        let lines = lines(session, 1, &self.world.project(), Met::Failure(0));
        let lines: Vec<String> = lines.iter().map(|line| line.to_string().replace("billing", word)).collect();
        std::fs::write(&log, lines.join("\n") + "\n").unwrap();
        self.ok(&["reflect", "--file", text(&log), "--task", task, "--seed", seed]);
        let given = self.ok(&["recall", &format!("the {word} gateway fails"), "--run", run]);
        assert!(given.contains(word.as_str()), "{given}");
        self.ok(&["feedback", "ignore", "m-002", "--run", run]);
        let mut agent = Agent::with(&self.world, &["mcp", "--seed", seed], &self.variables());
        let kept = agent.call("record_lesson", json!({"text": format!("Somebody says {word} is slow")}));
        assert_eq!(kept["structuredContent"]["state"], "quarantined", "{kept}");
        self.tell(LAST_COUNT);
        wait(async {
            let queue = FleetQueue::new(self.server(), &self.key);
            queue.enqueue(&job(&format!("waiting-{word}"), 1), at()).await.unwrap();
            let client = client(owner).await;
            let bank = number(&client, &self.key).await;
            for (table, least) in [("events", 3_i64), ("facts", 3), ("jobs", 1), ("episodes", 1), ("lessons", 4)] {
                let count = format!("SELECT count(*) FROM archivist.{table} WHERE bank = $1");
                let count: i64 = client.query_one(&count, &[&bank]).await.unwrap().get(0);
                assert!(count >= least, "{count} {table}");
            }
        });
    }

    /// The same with its names and its marks, once everything is there.
    fn known(mut self, owner: &str) -> Self {
        let lessons: Value = serde_json::from_str(&self.ok(&["list", "--all", "--json"])).unwrap();
        let called = |summary: &str| {
            let found =
                lessons.as_array().unwrap().iter().find(|one| one["summary"].as_str().unwrap().contains(summary));
            found.unwrap_or_else(|| panic!("{summary}: {lessons}"))["id"].as_str().unwrap().to_owned()
        };
        let (lesson, waiting) = (called("Restart the"), called("Somebody says"));
        wait(async {
            let client = client(owner).await;
            let bank = number(&client, &self.key).await;
            let select = "SELECT id FROM archivist.episodes WHERE bank = $1";
            let episode: String = client.query_one(select, &[&bank]).await.unwrap().get(0);
            let select = "SELECT channel FROM archivist.banks WHERE bank = $1";
            let channel: String = client.query_one(select, &[&bank]).await.unwrap().get(0);
            self.names = Names::of(&self.names.word, &lesson, &waiting, &episode);
            self.marks = vec![self.names.word.clone(), lesson, waiting, called("pytest"), episode, channel];
        });
        self.marks.push(text(&self.world.home()).to_owned());
        self
    }
}

fn variables<'a>(url: &'a str, key: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("ARCHIVIST__MEMORY__BACKEND", "postgres"),
        ("ARCHIVIST_POSTGRES_URL", url),
        ("ARCHIVIST__PROJECT__KEY", key),
        ("ARCHIVIST__HOOKS__START_WORKER", "false"),
    ]
}

fn run_as(world: &World, url: &str, key: &str, arguments: &[&str]) {
    let output = world.run_with(arguments, &variables(url, key), "");
    assert_eq!(output.status, 0, "{arguments:?} failed:\n{output}");
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn number(client: &Client, key: &str) -> i64 {
    client.query_one("SELECT bank FROM archivist.banks WHERE key = $1", &[&key]).await.unwrap().get(0)
}

/// Waits for something in a test that otherwise waits for processes.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
