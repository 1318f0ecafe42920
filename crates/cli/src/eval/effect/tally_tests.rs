use super::super::simulation::{CLASSES, SimulatedLessonResult, SimulationResult, SimulationSettings};
use super::{tally_coverage, tally_holdout, tally_rules, tally_spread};

/// A game in which our rule retired lessons of these classes after so many runs, or did not.
fn played(fates: &[(usize, Option<u64>)]) -> SimulationResult {
    let fate = |&(class, ours): &(usize, Option<u64>)| SimulatedLessonResult {
        class: &CLASSES[class],
        retired: [ours, Some(1), None],
        covered: [None, Some(true), Some(ours.is_none())],
    };
    SimulationResult { game: SimulationSettings { seed: 1, holdout: 0.1 }, fates: fates.iter().map(fate).collect() }
}

#[test]
fn retirement_is_told_by_what_part_of_a_class_is_gone() {
    let one = played(&[(4, Some(30)), (4, Some(10)), (4, None), (2, None)]);
    let rows = tally_rules(&one);
    let row = rows.iter().find(|row| row.rule == "archivist" && row.class == "harms by 0.20").unwrap();
    assert_eq!((row.lessons, row.retired, row.kept, row.half_after, row.most_after), (3, 2, 1, Some(30), None));
    let row = rows.iter().find(|row| row.rule == "archivist" && row.class == "does nothing").unwrap();
    assert_eq!((row.lessons, row.retired, row.half_after), (1, 0, None));
    assert_eq!(rows.len(), 15);
    assert!((tally_holdout(&one).harmful_retired - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn intervals_that_were_not_there_are_not_counted() {
    let all = [played(&[(4, Some(30)), (2, None)]), played(&[(2, None)])];
    let rows = tally_coverage(&all);
    assert_eq!((rows[0].intervals, rows[1].intervals, rows[2].intervals), (0, 3, 3));
    assert_eq!(rows[0].covered, None);
    assert_eq!(rows[1].covered, Some(1.0));
}

#[test]
fn figures_vary_from_game_to_game() {
    let rows = tally_spread(&[played(&[(4, Some(30)), (2, None)]), played(&[(4, None), (2, None)])]);
    assert_eq!((rows[0].rule, rows[0].figure), ("archivist", "harmful"));
    assert_eq!((rows[0].least, rows[0].mean, rows[0].most), (0.0, 0.5, 1.0));
    assert_eq!(rows.len(), 9);
}
