use super::*;

fn key(folder: &Path) -> MachineKey {
    MachineKey::in_state_dir(Some(folder))
}

#[test]
fn what_one_process_seals_another_recognizes() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("archivist");
    let seal = key(&folder).seal_bytes(SealPurpose::Job, b"a job").unwrap();
    assert_eq!(seal.as_str().len(), SEAL_DIGITS);
    let other = key(&folder);
    assert!(other.is_sealed(SealPurpose::Job, b"a job", seal.as_str()).unwrap());
    assert!(!other.is_sealed(SealPurpose::Job, b"another job", seal.as_str()).unwrap());
    assert!(!other.is_sealed(SealPurpose::MemoryFolder, b"a job", seal.as_str()).unwrap());
    assert!(!other.is_sealed(SealPurpose::Job, b"a job", "not hexadecimal").unwrap());
}

#[test]
fn the_seal_of_another_machine_is_worth_nothing() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let seal = key(theirs.path()).seal_bytes(SealPurpose::Job, b"a job").unwrap();
    assert!(!key(ours.path()).is_sealed(SealPurpose::Job, b"a job", seal.as_str()).unwrap());
    assert!(std::fs::read_dir(ours.path()).unwrap().next().is_none(), "looking at a seal creates no key");
}

#[test]
fn the_first_of_many_writers_makes_the_key() {
    let state = tempfile::tempdir().unwrap();
    let seals: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| key(state.path()).seal_bytes(SealPurpose::Job, b"one").unwrap().as_str().to_owned())
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert!(seals.iter().all(|seal| *seal == seals[0]), "{seals:?}");
    let names: Vec<_> = std::fs::read_dir(state.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [KEY_FILE], "no draft is left behind");
}

#[test]
fn without_a_state_directory_nothing_is_sealed() {
    let nowhere = MachineKey::in_state_dir(None);
    assert!(matches!(nowhere.seal_bytes(SealPurpose::Job, b"a job"), Err(MachineKeyError::NoStateDir)));
    assert!(!nowhere.is_sealed(SealPurpose::Job, b"a job", &"0".repeat(SEAL_DIGITS)).unwrap());
}

#[test]
#[cfg(unix)]
fn only_the_owner_may_read_the_key_and_no_link_stands_for_it() {
    use std::os::unix::fs::PermissionsExt;
    let state = tempfile::tempdir().unwrap();
    key(state.path()).seal_bytes(SealPurpose::Job, b"a job").unwrap();
    let path = state.path().join(KEY_FILE);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(key(state.path()).seal_bytes(SealPurpose::Job, b"a job"), Err(MachineKeyError::Unfit { .. })));

    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&path, elsewhere.path().join(KEY_FILE)).unwrap();
    assert!(key(elsewhere.path()).seal_bytes(SealPurpose::Job, b"a job").is_err());
}

#[test]
fn a_file_of_another_length_is_no_key() {
    for length in [0, KEY_BYTES - 1, KEY_BYTES + 1] {
        let state = tempfile::tempdir().unwrap();
        let mut file = tempfile::NamedTempFile::new_in(state.path()).unwrap();
        file.write_all(&vec![7; length]).unwrap();
        file.persist(state.path().join(KEY_FILE)).unwrap();
        assert!(key(state.path()).seal_bytes(SealPurpose::Job, b"a job").is_err(), "{length} bytes");
    }
}
