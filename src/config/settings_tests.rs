use super::*;

fn memory(dir: &str, global_dir: &str) -> MemorySettings {
    MemorySettings {
        backend: Backend::Jsonl,
        dir: dir.to_owned(),
        global_dir: global_dir.to_owned(),
        sync: SyncMode::Durable,
        lock_timeout_seconds: 1,
        versions_kept: 1,
        max_line_bytes: 1024,
        fold_in_bytes: 1,
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
