use serde_json::Value;

use super::super::place::Place;
use super::super::{config_schema, find_trust_key};
use super::*;

/// The text keys that a project may set. Each of them that names a place or an identity has a rule.
const TEXTS_OF_A_PROJECT: [&str; 4] =
    ["memory.dir", "memory.globalDir", "project.key", "recall.budget.adversarialRoles"];

fn collect_texts(node: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(properties) = node.get("properties").and_then(Value::as_object) {
        for (name, child) in properties {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            collect_texts(child, &path, found);
        }
    } else if node["type"] == "string" && node.get("enum").is_none() && node["x-set-by"] != "user" {
        found.push(path.to_owned());
    }
}

#[test]
fn every_text_that_a_project_may_set_was_thought_of() {
    let mut found = Vec::new();
    collect_texts(&config_schema(), "", &mut found);
    assert_eq!(found, TEXTS_OF_A_PROJECT);
}

#[test]
fn the_memory_of_a_project_lies_inside_of_it() {
    for outside in ["/etc", "~", "~/.ssh", "..", "../other/.openagents/memory", "new/../../other", "./.."] {
        let place = Place::new().project(&format!("[memory]\ndir = \"{outside}\""));
        place.check_ignored(
            "`memory.dir` of a project must be a path inside of the project, without `..`, \
             found in project file project/.openagents/archivist.toml\n\
             hint: set it in the user file, with --memory-dir, or with ARCHIVIST__MEMORY__DIR",
        );
        assert_eq!(place.setting("memory.dir").1, "built-in default", "{outside}");
        assert_eq!(place.user("[memory]\ndir = \"mine\"").setting("memory.dir").0, "mine", "{outside}");
    }
    for inside in [".memory", "./notes/memory", "~user", "a..b"] {
        let place = Place::new().project(&format!("[memory]\ndir = \"{inside}\""));
        assert_eq!(place.setting("memory.dir").0, inside);
        place.check_ignored("");
    }
    // A person may name any place.
    assert_eq!(Place::new().user("[memory]\ndir = \"../here\"").setting("memory.dir").0, "../here");
    assert_eq!(Place::new().flag("memory.dir", "/there").setting("memory.dir").0, "/there");
}

#[test]
fn a_project_brings_no_lessons_that_hold_everywhere() {
    let place = Place::new().project_json("{\"archivist\": {\"memory\": {\"globalDir\": \".openagents/memory\"}}}");
    place.check_ignored(
        "a project may only switch `memory.globalDir` off, by \"\", \
         found in key `archivist` of project file project/.openagents/project.json\n\
         hint: set it in the user file, with --config, or with ARCHIVIST__MEMORY__GLOBAL_DIR",
    );
    assert_eq!(place.setting("memory.globalDir").1, "built-in default");
    assert_eq!(Place::new().project("memory.globalDir = \"\"").setting("memory.globalDir").0, "");
}

#[test]
fn a_repository_says_which_one_it_is_once_it_is_trusted() {
    let place = Place::new().project("[project]\nkey = \"example.org/bank\"");
    place.check_ignored(
        "`project.key` counts only in a repository that is trusted, \
         found in project file project/.openagents/archivist.toml\n\
         hint: `archivist trust` says that it is",
    );
    assert_eq!(place.setting("project.key").0, "");
    let trusted = TrustedRepositories::in_state_dir(place.request.environment.state_dir().as_deref());
    trusted.add(find_trust_key(&place.request.project_root).unwrap(), Default::default()).unwrap();
    assert_eq!(place.setting("project.key").0, "example.org/bank");
    place.check_ignored("");
}

#[test]
fn a_key_of_the_user_in_a_project_stops_nothing() {
    let place = Place::new().project("[recall]\ngate = 5\n[model]\nbaseUrl = \"http://example.org\"\nname = 5");
    assert_eq!(place.setting("recall.gate").0, 5);
    assert_eq!(place.setting("model.baseUrl").0, "");
    assert_eq!(place.loaded().ignored.len(), 2);
}

#[test]
#[cfg(unix)]
fn settings_behind_a_link_are_not_read() {
    let place = Place::new().file("elsewhere/archivist.toml", "recall.gate = 5");
    let openagents = place.request.project_root.join(".openagents");
    std::fs::create_dir_all(&place.request.project_root).unwrap();
    std::os::unix::fs::symlink(place.folder.path().join("elsewhere"), &openagents).unwrap();
    place.check_ignored(
        "the settings in project/.openagents/archivist.toml are not read, because project/.openagents is a symbolic \
         link\nhint: put a real file there, or name it with --config",
    );
    assert_eq!(place.setting("recall.gate").1, "built-in default");
    std::fs::remove_file(&openagents).unwrap();
    std::fs::create_dir(&openagents).unwrap();
    let target = place.folder.path().join("elsewhere/archivist.toml");
    std::os::unix::fs::symlink(target, openagents.join("archivist.toml")).unwrap();
    assert_eq!(place.setting("recall.gate").1, "built-in default");
    assert_eq!(place.loaded().ignored.len(), 1);
}
