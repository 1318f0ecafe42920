use proptest::prelude::*;

use super::*;

fn slots() -> SlotValues {
    SlotValues(BTreeMap::from([("port".to_owned(), "5433".to_owned()), ("name".to_owned(), "fox".to_owned())]))
}

#[test]
fn slots_are_filled_and_other_braces_are_left_alone() {
    let table = [
        ("", ""),
        ("plain", "plain"),
        ("{{port}}", "5433"),
        ("at {{name}}:{{port}}/", "at fox:5433/"),
        ("{port} {{ port }} {{}} {{Port}}", "{port} {{ port }} {{}} {{Port}}"),
        ("format!(\"{{{{{name}}}\")", "format!(\"{{{{{name}}}\")"),
        ("open {{port", "open {{port"),
    ];
    for (text, filled) in table {
        assert_eq!(slots().fill_text(text).as_deref(), Ok(filled), "{text}");
    }
}

#[test]
fn a_slot_that_is_not_there_is_an_error() {
    assert_eq!(slots().fill_text("a {{colour}}"), Err("it has no slot `colour`".to_owned()));
}

#[test]
fn nothing_comes_before_a_step_that_must_follow_at_once() {
    let book = ScenarioCatalog::open().unwrap();
    let mut woven = 0;
    for scenario in &book.scenarios {
        for seed in 0..8 {
            let lines = add_noise_steps(scenario, &book, &mut SeededRandom::new(&[&scenario.id, &seed.to_string()]));
            woven += lines.len() - scenario.lines.len() - 1;
            let own: Vec<String> = scenario.lines.iter().map(|line| format!("{line:?}")).collect();
            for pair in lines.windows(2).filter(|pair| pair[1].close) {
                assert!(own.contains(&format!("{:?}", pair[0])), "{}: {:?}", scenario.id, pair[0]);
            }
        }
    }
    assert!(woven > book.scenarios.len() * 8, "{woven}");
}

#[test]
fn time_goes_forward() {
    let book = ScenarioCatalog::open().unwrap();
    for scenario in &book.scenarios {
        let script = build_script(scenario, &book, &mut SeededRandom::new(&[&scenario.id])).unwrap();
        for pair in script.turns.windows(2) {
            assert!(pair[0].at_ms < pair[0].done_ms && pair[0].done_ms < pair[1].at_ms, "{}", scenario.id);
        }
    }
}

proptest! {
    #[test]
    fn text_without_slots_is_left_as_it_is(text in "[^{]{0,40}(\\{[^{]{0,20}){0,3}") {
        prop_assert_eq!(slots().fill_text(&text), Ok(text));
    }

    #[test]
    fn any_text_is_filled_or_refused(text in "[{}a-z ]{0,60}") {
        if let Ok(filled) = slots().fill_text(&text) {
            prop_assert!(!filled.contains("{{port}}"));
        }
    }

    #[test]
    fn a_choice_lies_between_its_bounds(name in ".{0,8}", least in 0..1000_u64, more in 0..1000_u64) {
        let drawn = SeededRandom::new(&[&name]).number_between(least, least + more);
        prop_assert!((least..=least + more).contains(&drawn));
    }
}
