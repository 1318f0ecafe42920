use super::*;

const KEYS: [&str; 9] = [
    "enabled",
    "maxMemoriesPerRun",
    "memory.dir",
    "memory.globalDir",
    "memory.lockTimeoutSeconds",
    "memory.sync",
    "recall.weights.importance",
    "recall.weights.recency",
    "reflectOn.sessionSuccess",
];

fn check(wrong: &str, expected: Option<&str>) {
    assert_eq!(nearest_name(wrong, KEYS.into_iter()), expected, "{wrong}");
}

#[test]
fn slips_of_the_hand() {
    check("memory.synk", Some("memory.sync"));
    check("memroy.sync", Some("memory.sync"));
    check("memory.dri", Some("memory.dir"));
    check("enabeld", Some("enabled"));
    check("reflectOn.sesionSucess", Some("reflectOn.sessionSuccess"));
}

#[test]
fn names_of_other_tools() {
    check("max_memories_per_run", Some("maxMemoriesPerRun"));
    check("MAX-MEMORIES-PER-RUN", Some("maxMemoriesPerRun"));
    check("memory.global_dir", Some("memory.globalDir"));
}

#[test]
fn the_wrong_section() {
    check("lockTimeoutSeconds", Some("memory.lockTimeoutSeconds"));
    check("recall.lock_timeout_seconds", Some("memory.lockTimeoutSeconds"));
    check("weights.importance", Some("recall.weights.importance"));
    check("memory.enabled", Some("enabled"));
    check("recall.recenci", Some("recall.weights.recency"));
}

#[test]
fn nothing_is_better_than_a_guess() {
    check("colour", None);
    check("x", None);
    check("", None);
    assert_eq!(nearest_name("anything", std::iter::empty()), None);
}
