use super::*;

use super::super::place::Place;

#[test]
fn each_layer_lies_over_the_one_before() {
    let mut place = Place::new();
    let check = |place: &Place, value: u64, origin: &str| {
        assert_eq!(place.setting("memory.versionsKept"), (value.into(), origin.to_owned()));
        assert_eq!(u64::from(place.loaded().config.memory.versions_kept), value);
    };
    check(&place, 10, "built-in default");
    place = place.user("[memory]\nversionsKept = 1");
    check(&place, 1, "user file home/.config/archivist/config.toml");
    place = place.project("memory.versionsKept = 2");
    check(&place, 2, "project file project/.openagents/archivist.toml");
    place = place.project_json(r#"{"name": 7, "archivist": {"memory": {"versionsKept": 3}}}"#);
    check(&place, 3, "key `archivist` of project file project/.openagents/project.json");
    place = place.file("given.toml", "memory = { versionsKept = 4 }").given("given.toml");
    check(&place, 4, "given file given.toml");
    place = place.variable("ARCHIVIST__MEMORY__VERSIONS_KEPT", "5");
    check(&place, 5, "environment variable ARCHIVIST__MEMORY__VERSIONS_KEPT");
    place = place.flag("memory.versionsKept", "6").flag("memory.versionsKept", "7");
    check(&place, 7, "command-line flag for memory.versionsKept");
}

#[test]
fn a_layer_changes_only_what_it_names() {
    let place = Place::new().user("[recall.weights]\nrecency = 1").project("[recall]\ngate = 5");
    let recall = place.loaded().config.recall;
    assert_eq!((recall.weights.importance, recall.weights.recency, recall.gate), (0.4, 1.0, 5));
    let set = place.loaded().values.iter().filter(|setting| setting.origin != SettingOrigin::Default).count();
    assert_eq!(set, 2);
}

#[test]
fn values_are_listed_by_key() {
    let keys: Vec<String> = Place::new().loaded().values.into_iter().map(|setting| setting.key).collect();
    assert!(keys.is_sorted() && keys.contains(&"reflectOn.healerInvocation".to_owned()), "{keys:?}");
}

#[test]
fn files_may_be_absent_empty_or_from_any_system() {
    let enabled = |place: Place| place.loaded().config.archivist.enabled;
    assert!(enabled(Place::new().user("").project("").project_json("{}")));
    assert!(enabled(Place::new().project("[memory]\n[recall.weights]\n")));
    assert!(enabled(Place::new().project_json(r#"{"archivist": null, "other": [1]}"#)));
    assert!(enabled(Place::new().file("project/.openagents", "a file, not a directory")));
    assert!(!enabled(Place::new().project("\u{feff}enabled = false\r\n")));
    assert!(!enabled(Place::new().project_json("\u{feff}{\"archivist\": {\"enabled\": false}}\r\n")));
    assert!(!enabled(Place::new().file("c.JSON", r#"{"enabled": false}"#).given("c.JSON")));
}

#[test]
fn the_user_file_may_be_elsewhere() {
    let elsewhere = |place: Place| place.file("xdg/archivist/config.toml", "enabled = false").user("recall.gate = 7");
    let place = elsewhere(Place::new());
    let xdg = place.folder.path().join("xdg").display().to_string();
    let config = place.variable("XDG_CONFIG_HOME", &xdg).loaded().config;
    assert_eq!((config.archivist.enabled, config.recall.gate), (false, 20));
    for ignored in ["", "xdg"] {
        let config = elsewhere(Place::new()).variable("XDG_CONFIG_HOME", ignored).loaded().config;
        assert_eq!((config.archivist.enabled, config.recall.gate), (true, 7));
    }
    let mut homeless = elsewhere(Place::new());
    homeless.request.environment.home = None;
    assert_eq!(homeless.loaded().config.recall.gate, 20);
}

#[test]
fn variables_are_read_in_the_type_of_their_key() {
    let place = Place::new()
        .variable("ARCHIVIST__ENABLED", "false")
        .variable("ARCHIVIST__REFLECT_ON__SESSION_SUCCESS", "0")
        .variable("ARCHIVIST__MEMORY__LOCKTIMEOUTSECONDS", "9")
        .variable("archivist__memory__dir", "12")
        .variable("ARCHIVIST__MEMORY__GLOBAL_DIR", "")
        .variable("ARCHIVIST__RECALL__FLOOR", "1");
    let config = place.loaded().config;
    assert!(!config.archivist.enabled && !config.archivist.reflect_on.session_success);
    assert_eq!((config.memory.lock_timeout_seconds, config.recall.floor), (9, 1.0));
    assert_eq!((config.memory.dir.as_str(), config.memory.global_dir.as_str()), ("12", ""));
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_the_nearest_key() {
    Place::new().project("memory.synk = \"lazy\"").check_error(
        "unknown key `memory.synk` in project file project/.openagents/archivist.toml\nhint: did you mean `memory.sync`?",
    );
    Place::new().project_json(r#"{"archivist": {"lockTimeoutSeconds": 1}}"#).check_error(
        "unknown key `lockTimeoutSeconds` in key `archivist` of project file project/.openagents/project.json\n\
         hint: did you mean `memory.lockTimeoutSeconds`?",
    );
    Place::new().variable("ARCHIVIST__MEMORY__GLOBALDIRS", "s3cret").check_error(
        "unknown key `memory.globaldirs` in environment variable ARCHIVIST__MEMORY__GLOBALDIRS\n\
         hint: did you mean `ARCHIVIST__MEMORY__GLOBAL_DIR`?",
    );
    Place::new().flag("max_memories_per_run", "1").check_error(
        "unknown key `max_memories_per_run` in command-line flag for max_memories_per_run\n\
         hint: did you mean `maxMemoriesPerRun`?",
    );
    Place::new().user("[\"col\\nour\"]\n").check_error(
        "unknown key `col\\nour` in user file home/.config/archivist/config.toml\n\
         hint: `archivist config show` lists every key",
    );
    Place::new().user("\"memory.dir\" = \"x\"").check_error(
        "unknown key `memory.dir` in user file home/.config/archivist/config.toml: it has a dot in its name\n\
         hint: put `dir` into the section `memory`",
    );
}

#[test]
fn a_section_is_not_a_value_and_a_value_is_no_section() {
    Place::new().user("memory = 5\nenabled.x = 1").check_error(
        "`enabled` must be true or false, found a section in user file home/.config/archivist/config.toml\n\
         `memory` must be a section with keys of its own, found a whole number in user file home/.config/archivist/config.toml",
    );
    Place::new().variable("ARCHIVIST__MEMORY", "x").flag("recall", "x").check_error(
        "`memory` must be a section with keys of its own, found a string in environment variable ARCHIVIST__MEMORY\n\
         `recall` must be a section with keys of its own, found a string in command-line flag for recall",
    );
    Place::new().project_json(r#"{"archivist": [1]}"#).check_error(
        "`archivist` must be a section with keys of its own, found a list \
         in key `archivist` of project file project/.openagents/project.json",
    );
}

#[test]
fn all_problems_of_all_layers_are_told_at_once() {
    Place::new()
        .user("enabled = ")
        .project("enabled = 1\nrecall.gate = 0\n[memroy]\nsync = \"lazy\"\n")
        .project_json("{\"archivist\"}")
        .variable("ARCHIVIST__RECALL__FLOOR", "2")
        .given("absent.toml")
        .check_error(
            "user file home/.config/archivist/config.toml is not valid TOML at line 1, column 11: \
             string values must be quoted, expected literal string\n\
             `enabled` must be true or false, found the whole number 1 in project file project/.openagents/archivist.toml\n\
             unknown key `memroy.sync` in project file project/.openagents/archivist.toml\n\
             hint: did you mean `memory.sync`?\n\
             `recall.gate` must be a whole number from 1 to 10000, found the whole number 0 \
             in project file project/.openagents/archivist.toml\n\
             project file project/.openagents/project.json is not valid JSON at line 1, column 13: expected `:`\n\
             cannot read given file absent.toml: No such file or directory (os error 2)\n\
             `recall.floor` must be a number from 0 to 1, found the number 2.0 in environment variable ARCHIVIST__RECALL__FLOOR",
        );
}

#[test]
fn two_variables_for_one_key_are_one_too_many() {
    Place::new()
        .variable("ARCHIVIST__RECALL__MAX_RESULTS", "1")
        .variable("ARCHIVIST__RECALL__MAXRESULTS", "2")
        .check_error(
            "environment variables ARCHIVIST__RECALL__MAXRESULTS and ARCHIVIST__RECALL__MAX_RESULTS \
             both set `recall.maxResults`\nhint: unset one of them",
        );
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    Place::new().file("project/.openagents/archivist.toml", b"a = \"\xff\"").check_error(
        "project file project/.openagents/archivist.toml is not UTF-8 text\nhint: save it with the encoding UTF-8",
    );
}

#[test]
fn no_project_decides_where_lessons_are_sent_or_with_whose_key() {
    for (key, variable) in
        [("baseUrl", "BASE_URL"), ("model", "MODEL"), ("keyVariable", "KEY_VARIABLE"), ("keyFile", "KEY_FILE")]
    {
        Place::new().project(&format!("[embeddings]\n{key} = \"x\"")).check_ignored(&format!(
            "`embeddings.{key}` may not be set by a project, found in project file project/.openagents/archivist.toml\n\
             hint: set it in the user file, with --config, or with ARCHIVIST__EMBEDDINGS__{variable}"
        ));
    }
}

#[test]
fn an_embeddings_endpoint_needs_a_model_and_a_key_file_its_whole_path() {
    let user = "[embeddings]\nbaseUrl = \"http://127.0.0.1:11434/v1\"";
    Place::new().user(user).check_error(
        "`embeddings.baseUrl` must be set together with `embeddings.model`, which is empty, \
         found in user file home/.config/archivist/config.toml\n\
         hint: set it to an embedding model that the endpoint knows, such as \"nomic-embed-text\"",
    );
    Place::new().user(&format!("{user}\nmodel = \"small\"\nkeyFile = \"key\"")).check_error(
        "`embeddings.keyFile` must be an absolute path, or begin with ~/ where HOME is set, \
         found in user file home/.config/archivist/config.toml\n\
         hint: give the path in full",
    );
}
