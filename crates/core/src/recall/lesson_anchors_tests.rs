use proptest::prelude::*;

use super::*;
use crate::domain::MemoryId;

fn lesson(summary: &str) -> AgentMemory {
    AgentMemory::new(MemoryId::parse("a").unwrap(), "2026-01-01T00:00:00Z".parse().unwrap(), summary)
}

fn check(summary: &str, expected: &[LessonAnchor]) {
    assert_eq!(find_lesson_anchors(&lesson(summary)), expected, "{summary}");
}

fn path(path: &str) -> LessonAnchor {
    LessonAnchor::Path(path.to_owned())
}

#[test]
fn files_of_the_project_are_named_by_their_paths() {
    check("The parser in src/text/tokens.rs panics on blanks", &[path("src/text/tokens.rs")]);
    check(
        "See `src/a.ts:12:5`, `./scripts/seed.sh` and (docs/setup.md).",
        &[path("src/a.ts"), path("scripts/seed.sh"), path("docs/setup.md")],
    );
    check("Keep `tsconfig.json` strict", &[path("tsconfig.json")]);
    check("Tests live in `tests/it/`", &[path("tests/it")]);
    check("src/a.rs and src/a.rs again", &[path("src/a.rs")]);
}

#[test]
fn what_may_be_something_else_is_not_named() {
    for summary in [
        "Use TCP/IP and/or client/server here",
        "Node.js and Next.js differ",
        "Read https://example.org/docs/setup.md first",
        "Read docs.rs/serde/index.html first",
        "Edit ~/.config/app/config.toml or /etc/app/config.toml",
        "Match `src/**/*.rs` and `src/{a,b}.ts`",
        "Put it at path/to/file.rs, foo/bar.rs or src/example.rs",
        "The bundle is in dist/app/main.js and target/debug/x.json",
        "Load .env.local and node_modules/x/index.js",
        "Climb to ../other/x.rs",
        "Write <file>.rs or $DIR/x.rs",
        "an `unclosed code src/",
        "`--workspace` builds all; run `cargo test`",
    ] {
        check(summary, &[]);
    }
}

#[test]
fn what_a_lesson_calls_missing_is_not_looked_for() {
    check("error: src/gone.rs: No such file or directory", &[]);
    check("Create src/routes/a.ts before the router starts", &[]);
    check("src/old.rs was renamed to src/young.rs", &[]);
    check("The generator writes src/schema.ts", &[]);
}

#[test]
fn scripts_and_targets_are_named_by_who_runs_them() {
    check("Always run `npm run typecheck` before a commit", &[LessonAnchor::Script("typecheck".to_owned())]);
    check("bun run test:unit is faster", &[LessonAnchor::Script("test:unit".to_owned())]);
    check("Run `make lint`", &[LessonAnchor::Target("lint".to_owned())]);
    check("make sure that npm can run anything", &[]);
    check("Run `npm run <script>`", &[]);
}

#[test]
fn names_of_the_code_stand_in_code_spans() {
    check(
        "`fit_lines` must not call `MemoryBank` or `readConfig()`",
        &[
            LessonAnchor::Symbol("fit_lines".to_owned()),
            LessonAnchor::Symbol("MemoryBank".to_owned()),
            LessonAnchor::Symbol("readConfig".to_owned()),
        ],
    );
    check("`DATABASE_URL`, `true`, `Vec` and fit_lines are none", &[]);
}

#[test]
fn a_lesson_that_holds_everywhere_names_nothing_here() {
    let mut memory = lesson("Keep `tsconfig.json` strict");
    memory.scope = MemoryScope::Global;
    assert_eq!(find_lesson_anchors(&memory), []);
}

proptest! {
    #[test]
    fn no_anchor_leads_out_of_the_project(summary in "[a-z./`~*$<>: \\PC]{0,80}") {
        for anchor in find_lesson_anchors(&lesson(&summary)) {
            if let LessonAnchor::Path(path) = &anchor {
                prop_assert!(!path.starts_with(['/', '~']) && !path.split('/').any(|part| matches!(part, "" | "." | "..")));
            }
        }
    }
}
