use super::*;

fn scenario(text: &str) -> Result<PlantedScenario, toml::de::Error> {
    let head = "id = \"x\"\nstack = \"go\"\nhalf = \"dev\"\norder = \"do it\"\n";
    toml::from_str(&format!("{head}{text}"))
}

#[test]
fn a_scenario_must_expect_something_exactly_if_it_is_planted() {
    let step = "[[step]]\nsay = \"done\"\n";
    let expect = "[expect]\nmention = [[\"a\"]]\n";
    let table = [
        ("kind = \"routine\"\n", "", true),
        ("kind = \"routine\"\n", expect, false),
        ("kind = \"fixed\"\n", "", false),
        ("kind = \"fixed\"\n", expect, true),
        ("kind = \"fixed\"\n", "[expect]\nmention = []\n", false),
        ("kind = \"fixed\"\n", "[expect]\nmention = [[]]\n", false),
        ("kind = \"fixed\"\n", "[expect]\nmention = [[\"a\"]]\nproof = [\"nowhere\"]\n", false),
    ];
    for (kind, expect, is_right) in table {
        let scenario = scenario(&format!("{kind}{step}{expect}")).unwrap();
        assert_eq!(scenario.check_consistency().is_ok(), is_right, "{kind}{expect}");
    }
}

#[test]
fn words_that_nobody_knows_are_refused() {
    assert!(scenario("kind = \"fixed\"\nsteps = []\n").is_err());
    assert!(scenario("kind = \"mended\"\n[[step]]\nsay = \"a\"\n").is_err());
}

#[test]
fn an_error_of_a_provider_is_not_written_where_there_is_no_place_for_it() {
    let with = scenario("kind = \"routine\"\n[[step]]\nprovider = 429\nout = \"slow down\"\n").unwrap();
    let without = scenario("kind = \"routine\"\n[[step]]\nsay = \"a\"\n").unwrap();
    assert!(!with.possible_agents().contains(&ScenarioAgent::Atif));
    assert_eq!(without.possible_agents(), ScenarioAgent::ALL);
}

#[test]
fn every_category_and_signal_is_a_known_word() {
    for scenario in ScenarioCatalog::open().unwrap().scenarios {
        for kind in scenario.shows.iter().chain(&scenario.hides) {
            assert!(SignalKind::parse(kind.as_str()).is_ok(), "{}: {kind}", scenario.id);
        }
        for category in scenario.expect.iter().flat_map(|expect| &expect.category) {
            assert!(MemoryCategory::parse(category.as_str()).is_ok(), "{}: {category}", scenario.id);
        }
    }
}

#[test]
fn no_slot_of_a_scenario_is_idle() {
    let book = ScenarioCatalog::open().unwrap();
    for scenario in &book.scenarios {
        let text = format!("{scenario:?}");
        for slot in scenario.slots.keys() {
            assert!(text.contains(&format!("{{{{{slot}}}}}")), "{}: {slot}", scenario.id);
        }
    }
}

#[test]
fn quiet_steps_are_quiet() {
    for noise in ScenarioCatalog::open().unwrap().noise {
        let line = &noise.line;
        assert!(line.edit.is_empty() && line.write.is_empty() && line.user.is_empty(), "{line:?}");
        assert!(line.exit == 0 && !line.fails && !line.stop && line.provider == 0, "{line:?}");
    }
}
