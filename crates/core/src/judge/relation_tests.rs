use super::*;
use crate::domain::{FacetValues, MemoryCategory, MemoryKind};
use crate::judge::LessonStatement;
use crate::text::WordSplitter;

const THRESHOLDS: SimilarityThresholds = SimilarityThresholds { same_above: 0.88, different_below: 0.4 };

fn kin_of(
    known: (&str, &str),
    new: (&str, &str),
    facets: (&FacetValues, &FacetValues),
    category: &MemoryCategory,
) -> JudgedRelation {
    let mut cutter = WordSplitter::default();
    let mut features = |(summary, rule): (&str, &str), facets: &FacetValues| {
        let rule = (!rule.is_empty()).then_some(rule);
        LessonFeatures::extract(
            &LessonStatement { summary, rule, tags: &[], facets, kind: &MemoryKind::Lesson, category },
            &mut cutter,
        )
    };
    let (known, new) = (features(known, facets.0), features(new, facets.1));
    relate_lessons(&new, &known, &WordFrequencies::default(), None, &THRESHOLDS).relation
}

fn check(known: (&str, &str), new: (&str, &str), expected: JudgedRelation) {
    let facets = FacetValues::default();
    let found = kin_of(known, new, (&facets, &facets), &MemoryCategory::Heuristic);
    assert_eq!(found, expected, "{known:?} / {new:?}");
}

const REDIS: (&str, &str) = (
    "Start redis with `docker compose up -d redis` before the billing tests",
    "IF running tests/billing THEN start redis",
);

#[test]
fn a_lesson_in_other_words_is_the_same() {
    check(REDIS, REDIS, JudgedRelation::Same);
    let reworded = (
        "Before the billing tests start redis: `docker compose up -d redis`",
        "IF you run tests/billing THEN start redis first",
    );
    check(REDIS, reworded, JudgedRelation::Same);
}

#[test]
fn a_lesson_that_says_more_refines() {
    let more = (
        "Start redis with `docker compose up -d redis` before the billing tests and wait until `redis-cli ping` answers, \
         because the container takes a while to load its snapshot",
        "IF running tests/billing THEN start redis and wait for the ping",
    );
    check(REDIS, more, JudgedRelation::Refines);
}

#[test]
fn a_changed_value_or_the_opposite_contradicts() {
    check(
        ("Postgres listens on port 5432", "IF connecting to Postgres THEN use port 5432"),
        ("Postgres listens on port 5433", "IF connecting to Postgres THEN use port 5433"),
        JudgedRelation::Contradicts,
    );
    check(
        ("Use `git pull --rebase` on release branches", "IF updating a release branch THEN pull with --rebase"),
        (
            "Never use `git pull --rebase` on release branches",
            "IF updating a release branch THEN do not pull with --rebase",
        ),
        JudgedRelation::Contradicts,
    );
}

#[test]
fn what_has_nothing_in_common_is_different() {
    check(REDIS, ("Money is stored as integer cents", ""), JudgedRelation::Different);
    check(("", ""), ("Money is stored as integer cents", ""), JudgedRelation::Different);
}

#[test]
fn lessons_on_two_tools_are_never_the_same() {
    let tool = |name: &str| FacetValues { tool: Some(name.to_owned()), ..FacetValues::default() };
    let kin = |one: &FacetValues, other: &FacetValues| kin_of(REDIS, REDIS, (one, other), &MemoryCategory::Heuristic);
    assert_eq!(kin(&tool("bash"), &tool("bash")), JudgedRelation::Same);
    assert_eq!(kin(&tool("bash"), &FacetValues::default()), JudgedRelation::Same);
    assert_eq!(kin(&tool("bash"), &tool("grep")), JudgedRelation::Similar);
}

#[test]
fn a_matter_that_may_be_settled_anew_is_not_the_same() {
    let (known, new) = (("We deploy the storefront with Capistrano", ""), ("We deploy the storefront with Kamal", ""));
    let facets = FacetValues::default();
    for category in [MemoryCategory::Decision, MemoryCategory::Preference] {
        let found = kin_of(known, new, (&facets, &facets), &category);
        assert!(!matches!(found, JudgedRelation::Same | JudgedRelation::Refines), "{found:?}");
    }
}

#[test]
fn where_each_advises_what_the_other_does_not_words_do_not_decide() {
    let check = |known: (&str, &str), new: (&str, &str)| {
        let facets = FacetValues::default();
        for (known, new) in [(known, new), (new, known)] {
            let found = kin_of(known, new, (&facets, &facets), &MemoryCategory::Decision);
            assert!(!matches!(found, JudgedRelation::Same | JudgedRelation::Refines), "{known:?} / {new:?}: {found:?}");
        }
    };
    check(
        ("Reports are sent by the billing team on Mondays", "IF a report is due THEN billing sends it"),
        ("Reports are sent by the platform team on Mondays", "IF a report is due THEN platform sends it"),
    );
    check(
        ("Publish the site to the bucket `docs`", "IF publishing THEN use the bucket docs"),
        ("Publish the site to the bucket `docs-eu`", "IF publishing THEN use the bucket docs-eu"),
    );
    check(
        ("A change needs one approval", "IF merging a change THEN get one approval"),
        ("A change needs three approvals", "IF merging a change THEN get three approvals"),
    );
    check(
        ("Colour is on by default; scripts turn it off with `--plain`", ""),
        ("Plain output is the default; people turn colour on with `--colour`", ""),
    );
}

#[test]
fn what_is_told_at_length_may_be_told_to_be_given_up() {
    let check = |known: (&str, &str), new: (&str, &str)| {
        let facets = FacetValues::default();
        let found = kin_of(known, new, (&facets, &facets), &MemoryCategory::Heuristic);
        assert!(!matches!(found, JudgedRelation::Same | JudgedRelation::Refines), "{known:?} / {new:?}: {found:?}");
    };
    check(
        ("Compile the thesis with pdflatex", "IF building the thesis THEN run pdflatex"),
        (
            "Compile the thesis with lualatex; pdflatex chokes on the fonts that the faculty asks for since the spring",
            "IF building the thesis THEN run lualatex",
        ),
    );
    check(
        ("Playbooks run as root", "IF running a playbook THEN become root"),
        (
            "Playbooks run as the `deploy` user; running them as root left files behind that nobody could clean up",
            "IF running a playbook THEN become deploy",
        ),
    );
    check(
        ("Meshes are exported in centimetres", "IF exporting a mesh THEN use centimetres"),
        (
            "Meshes are exported in metres: importing meshes exported in centimetres made every door too large",
            "IF exporting a mesh THEN use metres",
        ),
    );
    check(
        ("Load the data with `read.csv`", "IF loading survey data THEN use read.csv"),
        (
            "Loading the survey data with read.csv mangles the umlauts, take `readr::read_csv` with a locale",
            "IF loading survey data THEN use readr",
        ),
    );
}

#[test]
fn what_is_named_otherwise_is_not_made_one() {
    // One name within another, one address in the place of another.
    check(
        (
            "Move the camera in `_physics_process`, else it jitters",
            "IF moving the camera THEN do it in `_physics_process`",
        ),
        (
            "Move the camera in `_process`, in `_physics_process` it jitters",
            "IF moving the camera THEN do it in `_process`",
        ),
        JudgedRelation::Unsure,
    );
    check(
        ("The add-on is published from the account store@quill.example", ""),
        ("The add-on is published from the account apps@quill.example; the store@ account was closed", ""),
        JudgedRelation::Contradicts,
    );
    check(
        ("Release branches are cut on Tuesdays by the mobile team", ""),
        ("Release branches are cut on Thursdays by the mobile team", "IF a branch is due THEN cut it on Thursday"),
        JudgedRelation::Unsure,
    );
}

#[test]
fn another_order_is_not_made_one_where_order_matters() {
    check(
        (
            "When upgrading, update Angular first and TypeScript second",
            "IF upgrading THEN Angular first, TypeScript second",
        ),
        (
            "When upgrading, update TypeScript first and Angular second",
            "IF upgrading THEN TypeScript first, Angular second",
        ),
        JudgedRelation::Unsure,
    );
    check(
        ("In member NIGHT01, step SORT runs ahead of step MERGE", "IF editing NIGHT01 THEN keep SORT before MERGE"),
        ("In member NIGHT01, step MERGE runs ahead of step SORT", "IF editing NIGHT01 THEN keep MERGE before SORT"),
        JudgedRelation::Unsure,
    );
}

#[test]
fn what_is_advised_against_is_not_made_one_with_what_is_advised() {
    check(
        (
            "Invalid hook call: two copies of React; add React to `dependencies`",
            "IF invalid hook call THEN put React in dependencies",
        ),
        (
            "Invalid hook call: two copies of React; move React from `dependencies` to `peerDependencies`",
            "IF invalid hook call THEN put React in peerDependencies, not dependencies",
        ),
        JudgedRelation::Contradicts,
    );
}
