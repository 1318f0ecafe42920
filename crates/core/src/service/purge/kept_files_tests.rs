use super::*;
use crate::text::SearchedText;

fn places(root: &Path) -> PurgePlaces {
    PurgePlaces {
        memory: root.join("memory"),
        state: Some(root.join("state")),
        hud_file: Some(root.join("hud.jsonl")),
        recordings: Some(root.join("recordings")),
        progress: root.join("project/.openagents/progress.md"),
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn every_file_loses_what_goes_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let header = format!("{:<47}\n", "{\"feed\":1,\"base\":0}");
    let section =
        crate::ingest::LessonSection::render_section("s", &["- a heron".to_owned(), "- an egret".to_owned()], "\n");
    let notes = format!("# Notes\n\nheron of an agent\n\n{section}\n");
    for (name, text) in [
        ("memory/queue/new/a.json", "{\"note\":\"heron\"}\nseal\n"),
        ("memory/queue/dead/b.json", "{\"note\":\"egret\"}\n"),
        ("memory/queue/batch.log", "{\"a\":\"egret\"}\n{\"a\":\"heron\"}\n"),
        ("memory/hud/feed.jsonl", &format!("{header}{{\"a\":\"heron\"}}\n{{\"a\":\"egret\"}}\n")),
        ("memory/.tmpabc", "half a heron"),
        ("hud.jsonl", "{\"a\":\"heron\"}\n{\"a\":\"egret\"}\n"),
        ("recordings/1.json", "{\n \"a\": \"a heron\"\n}\n"),
        ("recordings/2.json", "{}"),
        ("state/hooks.log", "at noon: egret\nat one: heron\n"),
        ("state/spend/2026-01-01.jsonl", "{\"project\":\"heron\"}\n{\"project\":\"egret\"}\n"),
        ("state/init/x.json", "{\"text\":\"heron\"}"),
        ("state/machine.key", "heron"),
        ("project/.openagents/progress.md", &notes),
    ] {
        write(&root.join(name), text);
    }
    let places = places(root);
    let selection = ErasureSelection { text: SearchedText::new("HERON"), ..Default::default() };
    let mut plan = ErasurePlan::from_records(&[], &selection);
    plan_kept_files(&places, &selection, &mut plan).unwrap();
    assert_eq!(plan.counts.values().sum::<usize>(), 10, "{:?}", plan.counts);
    let plan: ErasurePlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    erase_kept_files(&places, &plan).unwrap();
    let read = |name: &str| fs::read_to_string(root.join(name)).ok();
    for (name, left) in [
        ("memory/queue/new/a.json", None),
        ("memory/queue/dead/b.json", Some("{\"note\":\"egret\"}\n".to_owned())),
        ("memory/queue/batch.log", Some("{\"a\":\"egret\"}\n".to_owned())),
        ("memory/hud/feed.jsonl", Some(format!("{header}{:13}\n{{\"a\":\"egret\"}}\n", ""))),
        ("memory/.tmpabc", None),
        ("hud.jsonl", Some("{\"a\":\"egret\"}\n".to_owned())),
        ("recordings/1.json", None),
        ("recordings/2.json", Some("{}".to_owned())),
        ("state/hooks.log", Some("at noon: egret\n".to_owned())),
        ("state/spend/2026-01-01.jsonl", Some("{\"project\":\"egret\"}\n".to_owned())),
        ("state/init/x.json", None),
        ("state/machine.key", Some("heron".to_owned())),
        ("project/.openagents/progress.md", Some(notes.replace("- a heron\n", ""))),
    ] {
        assert_eq!(read(name), left, "{name}");
    }
}
