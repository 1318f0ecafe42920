//! Projects with sessions, a queue full of them, and workers.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use archivist_core::domain::{Extra, ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::memory::postgres::{
    PostgresBankSettings, PostgresMemory, PostgresServer, PostgresServerSettings, migrate_schema,
};
use archivist_core::memory::{BankTenancy, MemoryService};
use archivist_core::service::{FleetQueue, Job, JobKind, JobUrgency};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::postgres_server::{Cluster, database};

/// Each is another matter: a command, what it says when it fails, and what helps.
const FAILURES: [(&str, &str, &str); 5] = [
    (
        "pytest tests/billing -q",
        "ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
        "docker compose up -d redis",
    ),
    ("npm run e2e", "Error: Cannot find module 'playwright'", "npm install playwright"),
    ("make docs", "make: mkdocs: command not found", "pip install mkdocs"),
    ("go generate ./...", "protoc: command not found", "apt-get install -y protobuf-compiler"),
    ("gradle build", "Unsupported class file major version 65", "sdk use java 21"),
];

/// How much there is to do.
pub(crate) struct Plan {
    pub(crate) jobs: usize,
    pub(crate) projects: usize,
}

/// How the queue stands.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) new: usize,
    pub(crate) claimed: usize,
    pub(crate) done: usize,
    pub(crate) dead: usize,
    pub(crate) attempts: usize,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) episodes: usize,
    pub(crate) lessons: usize,
    pub(crate) versions: usize,
    pub(crate) sightings: usize,
    /// Lessons that a project has more than once.
    pub(crate) twice: usize,
    /// Jobs whose session has no run.
    pub(crate) missing: usize,
}

pub(crate) struct Fleet {
    runtime: Runtime,
    home: TempDir,
    pub(crate) url: String,
    model: MockServer,
    workers: Vec<Child>,
    projects: usize,
    client: Option<Client>,
}

pub(crate) fn server(url: &str) -> Arc<PostgresServer> {
    PostgresServer::new(PostgresServerSettings {
        url: url.to_owned(),
        read_url: None,
        ca_file: None,
        connections: 8,
        statement_timeout: Duration::from_secs(600),
        patience: Duration::from_secs(60),
    })
}

impl Fleet {
    /// Makes the projects and asks for all their jobs.
    pub(crate) fn new(cluster: &Cluster, plan: &Plan) -> Self {
        let fleet = Self::empty(cluster, plan.projects);
        let asked = Arc::new(server(&fleet.url));
        fleet.runtime.block_on(async {
            let mut tasks = Vec::new();
            for lane in 0..8 {
                let jobs: Vec<(String, Job)> = (lane..plan.jobs).step_by(8).map(|number| fleet.job(number)).collect();
                let asked = Arc::clone(&asked);
                tasks.push(tokio::spawn(async move {
                    for (bank, job) in jobs {
                        FleetQueue::new(Arc::clone(&asked), bank).enqueue(&job, chrono::Utc::now()).await.unwrap();
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
        fleet
    }

    /// Makes the projects, with nothing to do in them yet.
    pub(crate) fn empty(cluster: &Cluster, projects: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let home = tempfile::tempdir().unwrap();
        let (url, model) = runtime.block_on(async {
            let url = database(&cluster.url("postgres"), "fleet").await;
            migrate_schema(&server(&url)).await.unwrap();
            let model = MockServer::builder().disable_request_recording().start().await;
            Mock::given(method("POST")).respond_with(answer).mount(&model).await;
            (url, model)
        });
        for project in 0..projects {
            let root = home.path().join(format!("p-{project:04}"));
            std::fs::create_dir_all(root.join(".openagents")).unwrap();
            std::fs::create_dir(root.join("logs")).unwrap();
            let key = format!("[project]\nkey = \"team/p-{project:04}\"\n");
            std::fs::write(root.join(".openagents/archivist.toml"), key).unwrap();
        }
        Self { runtime, home, url, model, workers: Vec::new(), projects, client: None }
    }

    /// The bank and the job of one session, whose log is written.
    pub(crate) fn job(&self, number: usize) -> (String, Job) {
        let (project, kind) = (number % self.projects, (number / self.projects) % FAILURES.len());
        let root = self.root(project);
        let session = format!("session-{number:06}");
        let path = root.join("logs").join(format!("{session}.jsonl"));
        let log = log(&session, number, &root, kind);
        std::fs::write(&path, &log).unwrap();
        let (scenario, session) = (ReflectionScenario::SessionComplete, SessionId::parse(&session).unwrap());
        let trigger = ReflectionTrigger {
            log_paths: vec![path.to_str().unwrap().to_owned()],
            ..ReflectionTrigger::new(scenario, root.to_str().unwrap(), session)
        };
        let job = Job {
            kind: JobKind::Reflect(trigger),
            agent: "generic".to_owned(),
            event: "session-end".to_owned(),
            urgency: JobUrgency::Over,
            log_bytes: Some(log.len() as u64),
            enqueued_at: chrono::Utc::now(),
            not_before: None,
            attempts: Vec::new(),
            extra: Extra::new(),
        };
        (format!("team/p-{project:04}"), job)
    }

    fn root(&self, project: usize) -> PathBuf {
        self.home.path().join(format!("p-{project:04}"))
    }

    pub(crate) fn start_worker(&mut self) {
        let mut worker = Command::new(env!("CARGO_BIN_EXE_archivist"));
        worker
            .args(["worker", "--all-projects", "--quiet"])
            .current_dir(self.root(0))
            .env_clear()
            .env("HOME", self.home.path())
            .env("ARCHIVIST__MEMORY__BACKEND", "postgres")
            .env("ARCHIVIST__MEMORY__GLOBAL_DIR", "")
            .env("ARCHIVIST_POSTGRES_URL", &self.url)
            .env("ARCHIVIST__WORKER__SETTLE_SECONDS", "0")
            .env("ARCHIVIST__WORKER__RETRY_SECONDS", "1")
            .env("ARCHIVIST__WORKER__LEASE_SECONDS", "20")
            .env("ARCHIVIST__WORKER__MAX_ATTEMPTS", "50")
            .env("ARCHIVIST__TRIGGERS__PATTERN_EPISODES", "1000")
            .env("ARCHIVIST__TRIGGERS__IMPORTANCE_SUM", "0")
            .env("ARCHIVIST__MODEL__BASE_URL", format!("{}/v1", self.model.uri()))
            .env("ARCHIVIST__MODEL__NAME", "tiny")
            .env("ARCHIVIST__MODEL__FORM", "text")
            .env("ARCHIVIST__MODEL__CAPS__TOKENS_PER_DAY", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        self.workers.push(worker.spawn().unwrap());
    }

    /// Kills one of the workers as it stands.
    pub(crate) fn kill_worker(&mut self, which: usize) {
        let at = which % self.workers.len();
        let mut worker = self.workers.swap_remove(at);
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    pub(crate) fn stop_workers(&mut self) {
        for mut worker in self.workers.drain(..) {
            // A worker that has nothing to do loses nothing.
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }

    fn row(&mut self, select: &str) -> Option<tokio_postgres::Row> {
        let (url, client) = (&self.url, &mut self.client);
        self.runtime.block_on(async {
            if client.as_ref().is_none_or(Client::is_closed) {
                let (fresh, connection) = tokio_postgres::connect(url, NoTls).await.ok()?;
                tokio::spawn(connection);
                *client = Some(fresh);
            }
            client.as_ref()?.query_one(select, &[]).await.ok()
        })
    }

    /// A number, once the server answers.
    pub(crate) fn number(&mut self, select: &str) -> i64 {
        loop {
            match self.row(select) {
                Some(row) => return row.get(0),
                None => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    /// How the queue stands; nothing is known while the server is away.
    pub(crate) fn counts(&mut self) -> Counts {
        let of = |place: u8| format!("(SELECT count(*) FROM archivist.jobs WHERE place = {place})");
        let select = format!(
            "SELECT {}, {}, {}, {}, (SELECT coalesce(sum(attempts), 0)::bigint FROM archivist.jobs)",
            of(0),
            of(1),
            of(3),
            of(2)
        );
        loop {
            if let Some(row) = self.row(&select) {
                let number = |at: usize| row.get::<_, i64>(at) as usize;
                let (new, claimed, done) = (number(0), number(1), number(2));
                return Counts { new, claimed, done, dead: number(3), attempts: number(4) };
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn kept(&mut self) -> Kept {
        let mut count = |what: &str| self.number(&format!("SELECT count(*) FROM {what}")) as usize;
        Kept {
            episodes: count("archivist.episodes"),
            lessons: count("archivist.lessons"),
            versions: count("archivist.revisions"),
            sightings: count("archivist.facts WHERE record LIKE '{\"fact\":\"sighting\"%'"),
            twice: count(
                "(SELECT l.bank, r.record::json->>'summary' FROM archivist.lessons l JOIN archivist.revisions r \
                 ON r.bank = l.bank AND r.lesson = l.id AND r.version = l.version GROUP BY 1, 2 HAVING count(*) > 1) t",
            ),
            missing: count(
                "archivist.jobs j WHERE NOT EXISTS (SELECT FROM archivist.episodes e WHERE e.bank = j.bank \
                 AND e.session = j.record::json->'kind'->'reflect'->>'sessionId')",
            ),
        }
    }

    /// What was said of jobs when they were done, and of how many.
    pub(crate) fn notes(&mut self) -> String {
        let select = "SELECT coalesce(string_agg(n || ' × ' || note, ', '), '') FROM (SELECT coalesce(note, '') AS note, \
             count(*) AS n FROM archivist.jobs GROUP BY 1 ORDER BY 2 DESC LIMIT 8) t";
        self.row(select).map(|row| row.get(0)).unwrap_or_default()
    }

    /// Every project met every failure.
    pub(crate) fn lessons_expected(&self) -> usize {
        self.projects * FAILURES.len()
    }

    /// What `doctor` finds in all banks.
    pub(crate) fn findings(&self) -> usize {
        let server = server(&self.url);
        let mut findings = 0;
        for project in 0..self.projects {
            let settings = PostgresBankSettings {
                bank: format!("team/p-{project:04}"),
                tenancy: BankTenancy::Own,
                global: None,
                max_record_bytes: 4 * 1024 * 1024,
            };
            let memory = PostgresMemory::open(Arc::clone(&server), settings);
            findings += self.runtime.block_on(memory.find_problems()).unwrap().len();
        }
        findings
    }

    pub(crate) fn forget_statements(&mut self) {
        self.number("SELECT 0::bigint FROM (SELECT 1) t");
        let client = self.client.as_ref().unwrap();
        self.runtime
            .block_on(
                client.batch_execute(
                    "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()",
                ),
            )
            .unwrap();
    }

    /// How many statements were carried out for the workers.
    pub(crate) fn statements(&mut self) -> i64 {
        self.number(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid \
             WHERE d.datname = current_database() AND query ILIKE '%archivist.%'",
        )
    }

    /// How often a second `pgbench` does as many statements, most of them reads of one row, one in four a write.
    pub(crate) fn pgbench(&mut self, cluster: &Cluster, clients: usize, statements: usize) -> f64 {
        self.number("SELECT 0::bigint FROM (SELECT 1) t");
        let client = self.client.as_ref().unwrap();
        self.runtime
            .block_on(client.batch_execute(
                "CREATE TABLE IF NOT EXISTS pgbench_rows (id bigint PRIMARY KEY, body text); \
                 INSERT INTO pgbench_rows SELECT n, repeat('x', 800) FROM generate_series(1, 20000) n \
                 ON CONFLICT DO NOTHING",
            ))
            .unwrap();
        let read = "\\set id random(1, 20000)\nSELECT body FROM pgbench_rows WHERE id = :id;\n";
        let write = "\\set id random(1, 20000)\nUPDATE pgbench_rows SET body = repeat('y', 800) WHERE id = :id;\n";
        let script: String = (0..statements).map(|n| if n % 4 == 3 { write } else { read }).collect();
        let path = self.home.path().join("pgbench.sql");
        std::fs::write(&path, script).unwrap();
        let database = self.url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
        let bench = cluster.program("pgbench");
        let output = Command::new(bench)
            .args([
                "-n",
                "-h",
                "127.0.0.1",
                "-p",
                &cluster.port.to_string(),
                "-U",
                "postgres",
                "-T",
                "8",
                "-M",
                "prepared",
            ])
            .args(["-c", &clients.to_string(), "-j", "2", "-f", path.to_str().unwrap(), &database])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let tps = told.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        tps.unwrap_or_else(|| panic!("pgbench says {told}{}", String::from_utf8_lossy(&output.stderr)))
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.stop_workers();
    }
}

/// The log of a session in the generic format.
fn log(session: &str, number: usize, root: &Path, kind: usize) -> String {
    let at = |minute: i64| {
        let moment = chrono::DateTime::from_timestamp(1_771_000_000 + (number as i64) * 60 + minute * 5, 0);
        moment.unwrap().to_rfc3339()
    };
    let call = |minute: i64, command: &str, exit: i32, output: &str| {
        let id = format!("c{minute}");
        [
            json!({"role": "assistant", "content": "", "timestamp": at(minute),
                   "tool_calls": [{"id": id, "name": "bash", "arguments": {"command": command}}]}),
            json!({"role": "tool", "tool_call_id": id, "exit_code": exit, "content": output, "timestamp": at(minute)}),
        ]
    };
    let (command, error, cure) = FAILURES[kind];
    let mut lines: Vec<Value> = vec![
        json!({"session": {"id": session, "agent": "helper", "model": "large-1", "directory": root}}),
        json!({"role": "user", "content": format!("Please make {} work.", matter(kind)), "timestamp": at(0)}),
    ];
    lines.extend(call(1, command, 1, error));
    lines.extend(call(2, cure, 0, "done"));
    lines.extend(call(3, command, 0, "ok, all passed"));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What a session is about. Only its own log says so: what failed stands also in the lessons that the model is shown.
fn matter(kind: usize) -> String {
    format!("matter-{kind}")
}

/// A model that sees what failed and says what helps.
fn answer(request: &Request) -> ResponseTemplate {
    let asked = String::from_utf8_lossy(&request.body);
    let met = FAILURES.iter().enumerate().find(|(kind, _)| asked.contains(&matter(*kind)));
    let candidates: Vec<Value> = met
        .map(|(_, (command, error, cure))| {
            json!({
                "summary": format!("`{command}` fails with \"{error}\" on a fresh machine; run `{cure}` first."),
                "rule": {"if": format!("`{command}` fails with \"{error}\""), "then": format!("run `{cure}`")},
                "detail": "", "category": "infra", "scope": "project", "tool": "", "provider": "", "component": "",
                "tags": ["setup"], "importance": 0.7, "importance_reason": "every fresh machine meets it",
                "quotes": [{"step": "t0.s2", "text": error}, {"step": "t0.s3", "text": cure}],
                "same_as": [],
            })
        })
        .into_iter()
        .collect();
    let content = json!({
        "outcome_summary": "It failed, and passed after the cure.", "what_worked": [], "what_failed": [],
        "key_decisions": [], "candidates": candidates,
    });
    ResponseTemplate::new(200).set_body_json(json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": content.to_string()}}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
    }))
}
