use std::collections::BTreeSet;
use std::path::Path as FilePath;

use super::*;

fn files(folder: &FilePath, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => files(&entry.path(), &format!("{name}/"), found),
            false => drop(found.insert(name)),
        }
    }
}

#[test]
fn every_part_of_the_panel_is_part_of_the_program() {
    let mut found = BTreeSet::new();
    files(&FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../web"), "", &mut found);
    let served: BTreeSet<String> =
        ASSETS.iter().map(|(name, _)| (*name).to_owned()).chain(["index.html".into()]).collect();
    assert_eq!(found, served);
}

#[test]
fn the_panel_asks_nobody_else_and_runs_nothing_that_is_written_into_the_page() {
    for (name, text) in ASSETS.iter().chain(&[("index.html", PAGE)]) {
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
            assert!(!text.contains(forbidden), "{name} has {forbidden}");
        }
        let foreign = ["http://", "https://"].iter().flat_map(|scheme| text.match_indices(scheme));
        let is_namespace = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with("http://www.w3.org/"));
        assert!(foreign.map(|(at, _)| at).all(is_namespace), "{name} names another server");
    }
}
