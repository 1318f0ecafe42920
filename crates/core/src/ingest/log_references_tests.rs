use std::fs;
use std::os::unix::fs::symlink;
use std::sync::OnceLock;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A trial with logs in it, and a secret beside it.
fn trial() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("job/trial__x1/agent/sub")).unwrap();
    fs::create_dir_all(root.join("job/trial__x1/verifier")).unwrap();
    for file in ["job/trial__x1/agent/main.json", "job/trial__x1/agent/next.json", "job/trial__x1/agent/sub/child.json"]
    {
        fs::write(root.join(file), "{}").unwrap();
    }
    fs::write(root.join("job/trial__x1/result.json"), "{}").unwrap();
    fs::write(root.join("job/secret.json"), "{}").unwrap();
    symlink(root.join("job/secret.json"), root.join("job/trial__x1/agent/out.json")).unwrap();
    symlink(root.join("job"), root.join("job/trial__x1/agent/up")).unwrap();
    symlink(root.join("job/trial__x1/agent/next.json"), root.join("job/trial__x1/agent/in.json")).unwrap();
    (folder, root.join("job/trial__x1"))
}

#[test]
fn references_stay_in_the_trial() {
    let (_folder, trial) = trial();
    let from = trial.join("agent/main.json");
    let check = |reference: &str, expected: Result<&str, LogReferenceError>| {
        let found = resolve_reference(&from, reference);
        assert_eq!(found, expected.map(|path| trial.join(path)), "{reference}");
    };
    let outside = || Err(LogReferenceError::Outside(trial.clone()));
    check("next.json", Ok("agent/next.json"));
    check(" ./sub/../next.json ", Ok("agent/next.json"));
    check("sub/child.json", Ok("agent/sub/child.json"));
    check("../result.json", Ok("result.json"));
    check("in.json", Ok("agent/next.json"));
    check(trial.join("agent/next.json").to_str().unwrap(), Ok("agent/next.json"));
    check("../../secret.json", outside());
    check("sub/../../../secret.json", outside());
    check("/etc/hostname", outside());
    check("/nowhere/at/all", outside());
    check("out.json", outside());
    check("up/secret.json", outside());
    check("", Err(LogReferenceError::Empty));
    check("a\0b", Err(LogReferenceError::Empty));
    check("https://example.com/next.json", Err(LogReferenceError::Url));
    check("s3://bucket/next.json", Err(LogReferenceError::Url));
    check("file:///etc/hostname", Err(LogReferenceError::Url));
    check("data:application/json,{}", Err(LogReferenceError::Url));
    check("gone.json", Err(LogReferenceError::Missing));
    check("sub", Err(LogReferenceError::NotAFile));
    check("main.json", Ok("agent/main.json"));
}

#[test]
fn elsewhere_references_stay_in_the_folder() {
    let (_folder, trial) = trial();
    let from = trial.join("result.json");
    assert_eq!(resolve_reference(&from, "agent/next.json"), Ok(trial.join("agent/next.json")));
    assert_eq!(resolve_reference(&from, "../secret.json"), Err(LogReferenceError::Outside(trial.clone())));
    assert_eq!(resolve_reference(Path::new("/nowhere/log.json"), "next.json"), Err(LogReferenceError::Missing));
}

#[test]
fn a_file_with_a_strange_name_can_be_read() {
    let (_folder, trial) = trial();
    fs::write(trial.join("agent/10:30 log.json"), "{}").unwrap();
    assert_eq!(
        resolve_reference(&trial.join("agent/main.json"), "./10:30 log.json"),
        Ok(trial.join("agent/10:30 log.json"))
    );
}

#[test]
fn a_trail_enters_each_file_once() {
    let (_folder, trial) = trial();
    let mut trail = ReferenceTrail::default();
    let main = trial.join("agent/main.json");
    assert_eq!(trail.enter_file(&main), Ok(()));
    assert_eq!(trail.follow_reference(&main, "main.json"), Err(LogReferenceError::Again));
    assert_eq!(trail.follow_reference(&main, "../../secret.json"), Err(LogReferenceError::Outside(trial.clone())));
    assert_eq!(trail.follow_reference(&main, "in.json"), Ok(trial.join("agent/next.json")));
    assert_eq!(trail.enter_file(&trial.join("agent/next.json")), Ok(()));
    assert_eq!(trail.enter_file(&trial.join("agent/in.json")), Err(LogReferenceError::Again));
    assert_eq!(trail.enter_file(&trial.join("agent/gone.json")), Err(LogReferenceError::Missing));
    assert_eq!(trail.follow_reference(&trial.join("agent/next.json"), "main.json"), Err(LogReferenceError::Again));
}

#[test]
fn a_trail_ends() {
    let folder = TempDir::new().unwrap();
    let file = |number: usize| {
        let path = folder.path().join(number.to_string());
        fs::write(&path, "").unwrap();
        path
    };
    let mut deep = ReferenceTrail::default();
    let end = (0..100).find_map(|number| {
        let from = file(number);
        let next = file(number + 1);
        assert_eq!(deep.enter_file(&from), Ok(()));
        deep.follow_reference(&from, next.file_name().unwrap().to_str().unwrap()).err().map(|why| (number, why))
    });
    assert_eq!(end, Some((MAX_DEPTH, LogReferenceError::TooDeep)));

    let mut wide = ReferenceTrail::default();
    let end = (0..1000).find_map(|number| wide.enter_file(&file(number)).err().map(|why| (number, why)));
    assert_eq!(end, Some((MAX_FILES, LogReferenceError::TooMany)));
}

static TRIAL: OnceLock<(TempDir, PathBuf)> = OnceLock::new();

proptest! {
    #[test]
    fn nothing_leads_out(
        parts in prop::collection::vec(
            prop::sample::select(vec!["..", ".", "", "agent", "sub", "up", "job", "trial", "next.json", "out.json", "in.json", "secret.json", "child.json", "result.json", "é"]),
            0..8,
        ),
        is_absolute in any::<bool>(),
        noise in ".{0,8}",
    ) {
        let (_, trial) = TRIAL.get_or_init(trial);
        let from = trial.join("agent/main.json");
        let start = if is_absolute { trial.to_str().unwrap().to_owned() + "/" } else { String::new() };
        for reference in [format!("{start}{}", parts.join("/")), format!("{start}{}{noise}", parts.join("/"))] {
            if let Ok(found) = resolve_reference(&from, &reference) {
                prop_assert!(found.starts_with(trial), "{} -> {:?}", reference, found);
                prop_assert!(found.canonicalize().unwrap() == found && found.is_file());
            }
        }
    }
}

#[test]
fn a_folder_that_is_only_called_agent_opens_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    fs::create_dir_all(home.join("agent")).unwrap();
    fs::create_dir_all(home.join("other")).unwrap();
    fs::write(home.join("agent/trajectory.json"), "{}").unwrap();
    fs::write(home.join("other/session.jsonl"), "{}").unwrap();
    let refused = resolve_reference(&home.join("agent/trajectory.json"), "../other/session.jsonl");
    assert_eq!(refused, Err(LogReferenceError::Outside(home.join("agent"))));
}
