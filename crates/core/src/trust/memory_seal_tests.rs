use super::*;

use MemoryFolderOrigin::{Elsewhere, NoRecords, ThisMachine};

struct Machine {
    state: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { state: tempfile::tempdir().unwrap() }
    }

    fn folder(&self, directory: &Path) -> MemoryFolder {
        MemoryFolder::new(directory, MachineKey::in_state_dir(Some(self.state.path())))
    }
}

fn write_lesson(directory: &Path) {
    std::fs::write(directory.join("lessons.jsonl"), "{}\n").unwrap();
}

#[test]
fn a_memory_that_began_here_is_known() {
    let (machine, memory) = (Machine::new(), tempfile::tempdir().unwrap());
    let folder = machine.folder(memory.path());
    assert_eq!(folder.find_origin(), NoRecords);
    folder.seal_before_first_record().unwrap();
    assert_eq!(folder.find_origin(), NoRecords);
    write_lesson(memory.path());
    assert_eq!(folder.find_origin(), ThisMachine);
    assert_eq!(Machine::new().folder(memory.path()).find_origin(), Elsewhere, "another machine");
}

#[test]
fn records_are_never_sealed_afterwards() {
    for name in RECORDS {
        let (machine, memory) = (Machine::new(), tempfile::tempdir().unwrap());
        match name {
            "index" => std::fs::create_dir(memory.path().join(name)).unwrap(),
            file => std::fs::write(memory.path().join(file), "{}\n").unwrap(),
        }
        let folder = machine.folder(memory.path());
        folder.seal_before_first_record().unwrap();
        assert_eq!(folder.find_origin(), Elsewhere, "{name}");
    }
}

#[test]
fn a_moved_or_copied_memory_comes_from_elsewhere() {
    let (machine, root) = (Machine::new(), tempfile::tempdir().unwrap());
    let (before, after) = (root.path().join("before"), root.path().join("after"));
    std::fs::create_dir(&before).unwrap();
    machine.folder(&before).seal_before_first_record().unwrap();
    write_lesson(&before);
    std::fs::rename(&before, &after).unwrap();
    assert_eq!(machine.folder(&after).find_origin(), Elsewhere);
    std::fs::rename(&after, &before).unwrap();
    assert_eq!(machine.folder(&before).find_origin(), ThisMachine);
}

#[test]
fn a_made_up_seal_is_none() {
    let (machine, memory) = (Machine::new(), tempfile::tempdir().unwrap());
    let folder = machine.folder(memory.path());
    folder.seal_before_first_record().unwrap();
    write_lesson(memory.path());
    let seal = memory.path().join(SEAL_FILE);
    let valid = std::fs::read_to_string(&seal).unwrap();
    for made_up in ["", "\n", &"0".repeat(SEAL_DIGITS), &valid.replacen(char::is_alphanumeric, "", 1), "\u{0}"] {
        std::fs::write(&seal, made_up).unwrap();
        assert_eq!(folder.find_origin(), Elsewhere, "{made_up:?}");
    }
    std::fs::write(&seal, &valid).unwrap();
    assert_eq!(folder.find_origin(), ThisMachine);
}

#[test]
#[cfg(unix)]
fn a_link_to_a_seal_is_none() {
    let (machine, memory) = (Machine::new(), tempfile::tempdir().unwrap());
    let folder = machine.folder(memory.path());
    folder.seal_before_first_record().unwrap();
    write_lesson(memory.path());
    let seal = memory.path().join(SEAL_FILE);
    std::fs::rename(&seal, memory.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(memory.path().join("moved"), &seal).unwrap();
    assert_eq!(folder.find_origin(), Elsewhere);
}
