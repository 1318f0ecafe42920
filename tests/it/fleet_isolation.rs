//! Two teams on one server, by every way in that there is: neither reads, nor changes, nor even guesses what the other has.
//!
//! Asked by a name of the other team's, the answer is, to the byte, the one to a name that nobody has.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;

use serde_json::{Value, json};

use crate::fleet_teams::{LAST_COUNT, Names, Team, Teams};
use crate::hud_terminal::Terminal;
use crate::mcp::words;
use crate::server::{Server, next_line};
use crate::support::{World, text};

/// What is seen of the own project in an answer. Where something must be there the test is able to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// Its word.
    Word,
    /// Figures, or nothing at all.
    Little,
}
use Shows::{Little, Word};

/// Every command that looks into the memory. Holes are filled with names, see [`Names::fill`]; `{log}` is the log of the
/// own session, `{note}` a file with words of whoever is asked for, `{out}` a folder that is not there yet.
const READS: &[(&[&str], Shows)] = &[
    (&["list"], Word),
    (&["list", "--all", "--json"], Word),
    (&["list", "--all", "--tag", "{word}"], Word),
    (&["show", "{lesson}"], Word),
    (&["show", "{lesson}", "--json"], Word),
    (&["show", "--task", "{task}", "--json"], Word),
    (&["why", "{lesson}", "--json"], Word),
    (&["history", "{lesson}", "--all", "--json"], Word),
    (&["episodes"], Word),
    (&["episodes", "--json"], Word),
    (&["episodes", "--session", "{session}", "--json"], Word),
    (&["episodes", "--task", "{task}", "--json"], Word),
    (&["recall", "the {word} gateway fails"], Word),
    (&["recall", "the {word} gateway fails", "--json", "--max", "20"], Word),
    (&["recall", "{word}", "--run", "again-{run}", "--style", "known-issues"], Word),
    (&["recall", "--task", "{task}", "--json"], Word),
    (&["effect"], Little),
    (&["effect", "{lesson}", "--json"], Word),
    (&["audit", "--json", "--examples", "50"], Little),
    (&["audit-check", "--run", "{run}", "--json"], Word),
    (&["import", "{note}", "--format", "markdown", "--dry-run"], Little),
    (&["export", "--format", "archeflow", "--out", "{out}"], Word),
    (&["export", "--format", "openagents", "--out", "{out}"], Word),
    (&["export", "--format", "claude-memory", "--out", "{out}"], Word),
    (&["export", "--format", "mem0", "--out", "{out}"], Word),
    (&["export", "--format", "claude-mem", "--out", "{out}"], Word),
    (&["export", "--format", "markdown", "--out", "{out}"], Word),
    (&["export", "--format", "jsonl", "--out", "{out}"], Word),
    (&["export", "--format", "store", "--out", "{out}"], Word),
    (&["export", "--format", "store", "--global", "--out", "{out}"], Little),
    (&["status"], Word),
    (&["status", "--json"], Word),
    (&["doctor"], Little),
    (&["doctor", "--json"], Little),
    (&["migrate", "--dry-run", "--json"], Little),
    (&["reflect", "--file", "{log}", "--again", "--dry-run", "--json"], Word),
    (&["reflect", "--session", "{session}", "--again", "--dry-run", "--json"], Word),
    (&["batch", "--days", "3650", "--dry-run", "--json"], Little),
    (&["hook", "generic", "session-start"], Word),
    // These may change the own project. That of the other is looked at when all is asked.
    (&["compact", "--json"], Little),
    (&["decay", "--run", "{run}", "--json"], Little),
    (&["feedback", "outcome", "--run", "{run}", "--passed", "false"], Little),
    (&["worker", "--once"], Little),
];

/// Every command that changes what it is told the name of.
const WRITES: &[&[&str]] = &[
    &["approve", "{waiting}"],
    &["reject", "{lesson}"],
    &["promote", "{lesson}"],
    &["forget", "{lesson}", "--reason", "not mine"],
    &["restore", "{lesson}", "--version", "1"],
    &["unmerge", "{lesson}"],
    &["purge", "{lesson}", "--yes"],
    &["feedback", "ignore", "{lesson}", "--run", "{run}"],
];

/// Commands that are not asked here, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("add", "writes to the own project; the teams are made with it"),
    ("hud", "asked in a terminal below"),
    ("serve", "asked over HTTP below"),
    ("mcp", "asked by an agent below"),
    ("demo", "works in a temporary project of its own"),
    ("init", "changes the settings of agents"),
    ("trust", "is about repositories on this machine, and not about what a server holds"),
    ("inspect", "reads logs that it is handed"),
    ("archeflow", "keeps files below the project"),
    ("config", "shows settings"),
    ("prompt", "shows files of the program"),
    ("eval", "measures the program against data of its own"),
    ("completions", "writes a script"),
    ("man", "writes manual pages"),
    ("help", "writes help"),
];

#[test]
fn every_command_is_asked_or_has_a_reason() {
    let help = World::new().ok(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed: BTreeSet<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    let reads = READS.iter().map(|(words, _)| words[0]);
    let asked: BTreeSet<&str> =
        reads.chain(WRITES.iter().map(|words| words[0])).chain(ELSEWHERE.iter().map(|(verb, _)| *verb)).collect();
    assert_eq!(listed, asked, "a new command must say here how two projects are kept apart by it");
}

#[test]
fn two_teams_that_the_program_keeps_apart_see_nothing_of_each_other() {
    let Some(teams) = Teams::new("off") else { return };
    apart_by_every_way(&teams);
    // A project is only a name as long as the server does not ask who names it.
    let seen = teams.blue.entered_by(&teams.red).ok(&["list"]);
    assert!(seen.contains(&teams.blue.names.word), "{seen}");
    teams.part();
}

#[test]
fn two_teams_that_the_server_keeps_apart_see_nothing_of_each_other_even_in_the_others_place() {
    let Some(teams) = Teams::new("on") else { return };
    apart_by_every_way(&teams);
    for (stranger, team) in [(&teams.red, &teams.blue), (&teams.blue, &teams.red)] {
        let before = teams.state(team);
        intrudes(&team.entered_by(stranger), team);
        stranger.run(&["worker", "--once", "--all-projects"], "");
        assert_eq!(teams.state(team), before, "{} changed what is not its own", stranger.role);
    }
    teams.part();
}

fn apart_by_every_way(teams: &Teams) {
    for (team, other, count) in [(&teams.red, &teams.blue, LAST_COUNT + 1), (&teams.blue, &teams.red, LAST_COUNT + 3)] {
        // First, while nobody has brought names of the other's along: whoever asks for a session is told of it, too.
        listens(team, other, count);
        let before = teams.state(other);
        looks(team, other);
        reads(team, other);
        asks_over_http(team, other);
        asks_as_an_agent(team, other);
        writes(team, other);
        assert_eq!(teams.state(other), before, "{} changed what is not its own", team.role);
    }
}

/// Runs a command with these names in it, and gives all that can be read of it.
fn told(team: &Team, names: &Names, words: &[&str]) -> (i32, String) {
    let (note, out) = (team.world.home().join("note.md"), team.world.home().join("out"));
    std::fs::write(&note, names.fill("- Restart the {word} gateway before its tests\n")).unwrap();
    let words: Vec<String> = words
        .iter()
        .map(|word| names.fill(word))
        .map(|word| word.replace("{log}", text(&team.log())).replace("{note}", text(&note)))
        .map(|word| word.replace("{out}", text(&out)))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let input = names.fill(r#"{"sessionId": "start-{session}", "prompt": "the {word} gateway"}"#);
    let output = team.run(&words, &input);
    let mut answer = output.to_string();
    answer.push_str(&written(&out));
    (output.status, answer)
}

/// Everything in a file or a folder, which is then gone.
fn written(path: &Path) -> String {
    if path.is_file() {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        std::fs::remove_file(path).unwrap();
        return text;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return String::new() };
    let found =
        entries.map(|entry| entry.unwrap().path()).map(|path| text(&path).to_owned() + &written(&path)).collect();
    std::fs::remove_dir_all(path).unwrap();
    found
}

/// Whether the answer depends on a name at all.
fn has_hole(words: &[&str]) -> bool {
    let nobody = Names::of_nobody();
    words.iter().any(|word| nobody.fill(word) != *word || *word == "{note}")
}

fn reads(team: &Team, other: &Team) {
    for (words, shows) in READS {
        let (status, own) = told(team, &team.names, words);
        assert_eq!(status, 0, "{words:?}: {own}");
        assert!(*shows == Little || own.contains(&team.names.word), "{words:?} shows nothing: {own}");
        team.hears_nothing_of(other, &words.join(" "), &own);
        if has_hole(words) {
            let (_, foreign) = told(team, &other.names, words);
            let foreign = other.names.strip(&foreign);
            team.hears_nothing_of(other, &words.join(" "), &foreign);
            let nobody = Names::of_nobody();
            let (_, missing) = told(team, &nobody, words);
            assert_eq!(foreign, nobody.strip(&missing), "{words:?} tells that a name is somebody's");
        }
    }
}

fn writes(team: &Team, other: &Team) {
    for words in WRITES {
        let (foreign_status, foreign) = told(team, &other.names, words);
        let nobody = Names::of_nobody();
        let (_, missing) = told(team, &nobody, words);
        assert_eq!(foreign_status, 1, "{words:?}: {foreign}");
        assert_eq!(other.names.strip(&foreign), nobody.strip(&missing), "{words:?}");
    }
}

/// Somebody whom the server does not let in asks for everything by its true name.
fn intrudes(intruder: &Team, team: &Team) {
    for words in READS.iter().map(|(words, _)| *words).chain(WRITES.iter().copied()) {
        // There is no log of the team's on the machine of somebody else.
        if words.contains(&"{log}") {
            continue;
        }
        let (_, answer) = told(intruder, &team.names, words);
        let answer = team.names.strip(&answer.replace(&team.key, "KEY"));
        intruder.hears_nothing_of(team, &words.join(" "), &answer);
    }
    let refused = intruder.run(&["add", "I was here"], "");
    assert_eq!(refused.status, 1, "{refused}");
    assert!(refused.stderr.contains("this user may not do that"), "{refused}");
    let server = intruder.serve();
    for path in paths(&server, "get") {
        let answer = server.get(&team.names.fill(&path));
        let answer = team.names.strip(&format!("{answer:?}").replace(&team.key, "KEY"));
        intruder.hears_nothing_of(team, &path, &answer);
    }
}

/// The paths of a method as the server describes them, with holes for names; streams are listened to elsewhere.
fn paths(server: &Server, method: &str) -> Vec<String> {
    let described = server.get("/v1/openapi.json").json();
    let mut paths = Vec::new();
    for (path, operations) in described["paths"].as_object().unwrap() {
        let Some(operation) = operations.get(method).filter(|_| !path.starts_with("/v1/events")) else { continue };
        let path = match path.split('/').nth(2) {
            Some("lessons") if path.ends_with("/approve") => path.replace("{id}", "{waiting}"),
            Some("lessons") => path.replace("{id}", "{lesson}"),
            Some("episodes") => path.replace("{id}", "{episode}"),
            _ => path.clone(),
        };
        assert!(!path.contains("{id}"), "say what {path} names");
        let queries = operation["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query");
        let queries: Vec<&Value> = queries.collect();
        for query in &queries {
            match query["name"].as_str().unwrap() {
                name @ ("session" | "task") => paths.push(format!("{path}?{name}={{{name}}}")),
                name @ ("tag" | "text") => paths.push(format!("{path}?{name}={{word}}")),
                "step" => paths.push(format!("{path}?step=2&around=9")),
                "which" => paths.push(format!("{path}?which=all")),
                name => assert!(query["required"] != true, "say what {name} of {path} is"),
            }
        }
        if !queries.iter().any(|query| query["required"] == true) {
            paths.push(path);
        }
    }
    paths
}

fn asks_over_http(team: &Team, other: &Team) {
    let server = team.serve();
    let nobody = Names::of_nobody();
    let mut shown = 0;
    let undescribed = ["/metrics", "/", "/v1/openapi.json"].map(str::to_owned);
    for path in paths(&server, "get").into_iter().chain(undescribed) {
        let own = server.get(&team.names.fill(&path));
        assert_eq!(own.status, 200, "{path}: {own:?}");
        shown += usize::from(own.body.contains(&team.names.word));
        team.hears_nothing_of(other, &path, &own.body);
        if !path.contains('{') {
            continue;
        }
        assert!(own.body.contains(&team.names.word), "{path} shows nothing: {own:?}");
        let (foreign, missing) = (server.get(&other.names.fill(&path)), server.get(&nobody.fill(&path)));
        let foreign_body = other.names.strip(&foreign.body);
        team.hears_nothing_of(other, &path, &foreign_body);
        assert_eq!((foreign.status, &*foreign_body), (missing.status, &*nobody.strip(&missing.body)), "{path}");
        assert!(path.contains('?') || foreign.status == 404, "{path}: {foreign:?}");
    }
    assert!(shown > 8, "only {shown} paths show anything");
    for path in paths(&server, "post").into_iter().filter(|path| path.contains('{')) {
        let body = if path.ends_with("/restore") { r#"{"version": 1}"# } else { "{}" };
        let answer = server.decide(&other.names.fill(&path), body);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    for (path, body) in [
        ("/v1/recall", r#"{"text": "the {word} gateway fails", "max": 20}"#),
        ("/v1/recall", r#"{"task": "{task}", "max": 20}"#),
        ("/v1/feedback", r#"{"verdict": "ignore", "lessons": ["{lesson}"], "run": "{run}"}"#),
        ("/v1/reflect", r#"{"session": "{session}", "wait": true}"#),
    ] {
        let (own, foreign, missing) = (
            server.post(path, &team.names.fill(body)),
            server.post(path, &other.names.fill(body)),
            server.post(path, &nobody.fill(body)),
        );
        assert_eq!(own.status, 200, "{path} {body}: {own:?}");
        assert!(own.body.contains(&team.names.word) || path != "/v1/recall", "{path} {body} shows nothing: {own:?}");
        team.hears_nothing_of(other, path, &own.body);
        let foreign_body = other.names.strip(&foreign.body);
        team.hears_nothing_of(other, path, &foreign_body);
        assert_eq!((foreign.status, &*foreign_body), (missing.status, &*nobody.strip(&missing.body)), "{path} {body}");
    }
}

/// Hears everything that was ever told in the own project, and nothing else. The two numbers from `count` on tell the
/// messages apart that are told meanwhile.
fn listens(team: &Team, other: &Team, count: u64) {
    let server = team.serve();
    let mut stream = server.listen("/v1/events?after=0");
    let (mut heard, mut line, last) = (String::new(), String::new(), format!(":{LAST_COUNT},"));
    while !line.contains(&last) {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        heard.push_str(&line);
    }
    assert!(heard.contains(&team.names.word), "{heard}");
    team.hears_nothing_of(other, "/v1/events", &heard);
    let url = format!("ws://{}/v1/events/socket?after=0", server.address);
    let (mut socket, _) = tokio_tungstenite::tungstenite::client(url, server.connect()).unwrap();
    let mut heard = String::new();
    while !heard.contains(&last) {
        heard.push_str(socket.read().unwrap().to_text().unwrap());
    }
    assert!(heard.contains(&team.names.word), "{heard}");
    team.hears_nothing_of(other, "/v1/events/socket", &heard);
    // Nor is what the other team tells from now on, before the next of one's own.
    other.tell(count);
    team.tell(count + 1);
    let (theirs, ours) = (format!(":{count},"), format!(":{},", count + 1));
    let mut heard = String::new();
    while !heard.contains(&ours) {
        heard = next_line(&mut stream, "data:");
        assert!(!heard.contains(&theirs), "{heard}");
    }
}

fn asks_as_an_agent(team: &Team, other: &Team) {
    let mut agent = team.agent();
    let nobody = Names::of_nobody();
    let tools = agent.ask("tools/list", json!({}));
    for tool in tools["tools"].as_array().unwrap() {
        let tool = tool["name"].as_str().unwrap();
        let arguments = match tool {
            "recall" => r#"{"text": "the {word} gateway fails", "max": 20}"#,
            "why" => r#"{"lesson": "{lesson}"}"#,
            "feedback" => r#"{"verdict": "ignore", "lessons": ["{lesson}"], "run": "{run}"}"#,
            "reflect_session" => r#"{"session": "{session}", "wait": true}"#,
            // It writes to the own project, and says what it wrote.
            "record_lesson" => continue,
            unknown => panic!("say how {unknown} is asked"),
        };
        let mut call = |names: &Names| {
            let answer = agent.call(tool, serde_json::from_str(&names.fill(arguments)).unwrap());
            (words(&answer), answer.to_string())
        };
        let (said, own) = call(&team.names);
        assert!(!said.starts_with("refused"), "{tool}: {own}");
        assert!(own.contains(&team.names.word) || tool == "reflect_session", "{tool} shows nothing: {own}");
        team.hears_nothing_of(other, tool, &own);
        let (foreign, missing) = (other.names.strip(&call(&other.names).1), nobody.strip(&call(&nobody).1));
        team.hears_nothing_of(other, tool, &foreign);
        assert_eq!(foreign, missing, "{tool}");
    }
    let listed = agent.ask("resources/list", json!({})).to_string();
    assert!(listed.contains(&team.names.word), "{listed}");
    team.hears_nothing_of(other, "resources/list", &listed);
    let templates = agent.ask("resources/templates/list", json!({}));
    for template in templates["resourceTemplates"].as_array().unwrap() {
        let uri = template["uriTemplate"].as_str().unwrap();
        let uri = uri.replace("{id}", &format!("{{{}}}", template["name"].as_str().unwrap()));
        let mut read = |names: &Names| agent.ask("resources/read", json!({"uri": names.fill(&uri)})).to_string();
        let own = read(&team.names);
        assert!(own.contains(&team.names.word), "{uri} shows nothing: {own}");
        team.hears_nothing_of(other, &uri, &own);
        let (foreign, missing) = (other.names.strip(&read(&other.names)), nobody.strip(&read(&nobody)));
        assert!(foreign.contains("-32002"), "{uri}: {foreign}");
        assert_eq!(foreign, missing, "{uri}");
    }
    let prompts = agent.ask("prompts/list", json!({}));
    for prompt in prompts["prompts"].as_array().unwrap() {
        let mut get = |names: &Names| {
            let task = names.fill("the {word} gateway fails");
            agent.ask("prompts/get", json!({"name": prompt["name"], "arguments": {"task": task}})).to_string()
        };
        let own = get(&team.names);
        assert!(own.contains(&team.names.word), "{prompt} shows nothing: {own}");
        team.hears_nothing_of(other, "prompts/get", &own);
        assert_eq!(get(&other.names), get(&nobody), "{prompt}");
    }
    assert_eq!(agent.ends().0, 0);
}

/// Sees every list of the display in the terminal, and nothing of anybody else in any of them.
fn looks(team: &Team, other: &Team) {
    let mut terminal = Terminal::open(&team.world, &team.variables());
    // Lessons, sessions, quarantine and the queue, each with something of its own.
    for (list, shown) in [("1", "gateway"), ("2", "pytest"), ("3", "Somebody says"), ("4", "waiting-")] {
        terminal.press(list);
        terminal.shows(shown);
    }
    terminal.press("q");
    assert!(terminal.bytes().contains(&team.names.word));
    team.hears_nothing_of(other, "hud", &terminal.bytes());
}
