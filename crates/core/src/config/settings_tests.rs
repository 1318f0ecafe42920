use super::*;

fn memory(dir: &str, global_dir: &str) -> MemorySettings {
    MemorySettings {
        backend: MemoryBackend::Jsonl,
        dir: dir.to_owned(),
        global_dir: global_dir.to_owned(),
        sync: SyncMode::Durable,
        lock_timeout_seconds: 1,
        versions_kept: 1,
        max_line_bytes: 1024,
        fold_in_bytes: 1,
        postgres: crate::config::load_config(&crate::config::ConfigLoadRequest::default())
            .unwrap()
            .config
            .memory
            .postgres,
    }
}

#[test]
fn configured_paths_start_at_the_project_or_at_home() {
    let check = |dir: &str, home: Option<&str>, expected: Option<&str>| {
        let found = memory("x", dir).global_path(Path::new("/p"), home.map(Path::new));
        assert_eq!(found.as_deref(), expected.map(Path::new), "{dir}");
        if let Some(expected) = expected {
            let found = memory(dir, "").project_path(Path::new("/p"), home.map(Path::new));
            assert_eq!(found, Path::new(expected), "{dir}");
        }
    };
    check(".openagents/memory", Some("/h"), Some("/p/.openagents/memory"));
    check("/var/memory", Some("/h"), Some("/var/memory"));
    check("~/memory", Some("/h"), Some("/h/memory"));
    check("~", Some("/h"), Some("/h/"));
    check("~other/memory", Some("/h"), Some("/p/~other/memory"));
    check("~/memory", None, None);
    check("", Some("/h"), None);
}

#[test]
fn homes_of_agents_are_set_or_their_own() {
    let check = |set: &str, variable: Option<&str>, home: Option<&str>, expected: Option<&str>| {
        let variable = |name: &str| Some((name.to_owned(), variable?.to_owned()));
        let environment = ProcessEnvironment {
            home: home.map(PathBuf::from),
            variables: [variable("CLAUDE_CONFIG_DIR"), variable("CODEX_HOME")].into_iter().flatten().collect(),
            current_dir: "/here".into(),
        };
        let settings =
            SourceSettings { claude_home: set.to_owned(), codex_home: set.to_owned(), gemini_home: set.to_owned() };
        let homes = settings.agent_homes(Path::new("/p"), &environment);
        let named = |name: &str| expected.map(|expected| PathBuf::from(expected.replace("NAME", name)));
        assert_eq!((homes.claude, homes.codex), (named("claude"), named("codex")), "{set:?} {home:?}");
    };
    check("", None, Some("/h"), Some("/h/.NAME"));
    check("", None, None, None);
    check("", Some(""), Some("/h"), Some("/h/.NAME"));
    check("", Some("/set/by/agent"), Some("/h"), Some("/set/by/agent"));
    check("", Some("/set/by/agent"), None, Some("/set/by/agent"));
    check("", Some("agent"), Some("/h"), Some("/here/agent"));
    check("/set/here", Some("/set/by/agent"), Some("/h"), Some("/set/here"));
    check("~/set/here", Some("/set/by/agent"), Some("/h"), Some("/h/set/here"));
    check("set/here", None, Some("/h"), Some("/p/set/here"));
    check("~/set/here", Some("/set/by/agent"), None, None);

    let gemini = |set: &str| {
        let environment = ProcessEnvironment { home: Some("/h".into()), ..ProcessEnvironment::default() };
        let settings =
            SourceSettings { claude_home: String::new(), codex_home: String::new(), gemini_home: set.to_owned() };
        settings.agent_homes(Path::new("/p"), &environment).gemini
    };
    assert_eq!((gemini(""), gemini("/set")), (Some("/h/.gemini".into()), Some("/set".into())));
}
