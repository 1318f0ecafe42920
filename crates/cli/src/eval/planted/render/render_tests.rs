use super::super::session_script::{CallAction, ScriptedCall, TurnContent};
use super::*;

fn turn(does: TurnContent, at_ms: u64) -> ScriptTurn {
    ScriptTurn { does, mark: String::new(), at_ms, done_ms: at_ms + 500 }
}

fn script() -> SessionScript {
    let call = ScriptedCall { act: CallAction::Run("make".to_owned()), output: "no".to_owned(), exit: 2, fails: false };
    let agent = |call| TurnContent::Agent { text: "Trying.".to_owned(), thought: "Hm.".to_owned(), call };
    SessionScript {
        root: "/home/dev/fox".to_owned(),
        branch: "main".to_owned(),
        id: "00112233aabbccdd".to_owned(),
        turns: vec![
            turn(TurnContent::User("go".to_owned()), 1_768_204_800_000),
            turn(agent(Some(call)), 1_768_204_801_000),
            turn(TurnContent::Stop, 1_768_204_803_000),
            turn(TurnContent::User("on".to_owned()), 1_768_204_804_000),
            turn(agent(None), 1_768_204_805_000),
        ],
        expect: None,
    }
}

#[test]
fn steps_are_numbered_as_the_readers_number_them() {
    let table = [
        (ScenarioAgent::Claude, vec![1, 2, 2, 3, 4]),
        (ScenarioAgent::Codex, vec![3, 4, 4, 6, 7]),
        (ScenarioAgent::Gemini, vec![1, 2, 2, 3, 4]),
        (ScenarioAgent::Opencode, vec![1, 2, 2, 3, 4]),
        (ScenarioAgent::Atif, vec![1, 2, 3, 4, 5]),
    ];
    for (agent, steps) in table {
        assert_eq!(render_script(&script(), agent).steps, steps, "{agent:?}");
    }
}

#[test]
fn moments_and_names_look_like_those_of_agents() {
    assert_eq!(format_timestamp(1_768_204_800_000), "2026-01-12T08:00:00.000Z");
    assert_eq!(make_uuid(&script(), 12), "00112233-aabb-4ccd-8000-000000000012");
    assert_eq!(to_absolute_path(&script(), "src/a.rs"), "/home/dev/fox/src/a.rs");
    assert_eq!(to_absolute_path(&script(), "/etc/hosts"), "/etc/hosts");
}
