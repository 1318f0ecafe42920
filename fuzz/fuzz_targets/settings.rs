#![no_main]

use archivist_core::config::{self, ConfigLoadRequest};

// A project's settings: in a file of its own, or among those of another program.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join(".openagents")).unwrap();
    let name = if choice % 2 == 0 { "archivist.toml" } else { "project.json" };
    std::fs::write(project.path().join(".openagents").join(name), bytes).unwrap();
    let request = ConfigLoadRequest { project_root: project.path().to_owned(), ..ConfigLoadRequest::default() };
    if let Err(error) = config::load_config(&request) {
        assert!(!error.to_string().is_empty(), "an error says nothing");
    }
});
