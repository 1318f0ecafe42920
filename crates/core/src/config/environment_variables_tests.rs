use super::*;

fn check_path(variable: &str, expected: Option<&str>) {
    assert_eq!(path_from_variable(variable).as_deref(), expected, "{variable}");
}

#[test]
fn a_variable_names_a_path_without_case_and_single_underscores() {
    check_path("ARCHIVIST__ENABLED", Some("enabled"));
    check_path("archivist__enabled", Some("enabled"));
    check_path("ARCHIVIST__MEMORY__LOCK_TIMEOUT_SECONDS", Some("memory.locktimeoutseconds"));
    check_path("ARCHIVIST__MEMORY__LOCKTIMEOUTSECONDS", Some("memory.locktimeoutseconds"));
    check_path("ARCHIVIST__memory__lockTimeoutSeconds", Some("memory.locktimeoutseconds"));
    check_path("ARCHIVIST__RECALL__HALF_LIFE_DAYS__LESSON", Some("recall.halflifedays.lesson"));
    check_path("ARCHIVIST__", Some(""));
}

#[test]
fn other_variables_are_not_ours() {
    for variable in ["ARCHIVIST_CORPUS", "ARCHIVIST", "ARCHIVIST_", "PATH", "", "MY_ARCHIVIST__ENABLED", "ÄRCHIVIST__X"]
    {
        check_path(variable, None);
    }
}

#[test]
fn a_key_has_one_readable_variable_that_names_it() {
    let check = |key: &str, expected: &str| {
        assert_eq!(variable_for_key(key), expected);
        assert_eq!(path_from_variable(expected), Some(normalise_name(key)));
    };
    check("enabled", "ARCHIVIST__ENABLED");
    check("memory.globalDir", "ARCHIVIST__MEMORY__GLOBAL_DIR");
    check("recall.halfLifeDays.lesson", "ARCHIVIST__RECALL__HALF_LIFE_DAYS__LESSON");
}
