use super::*;

#[test]
fn an_agent_is_answered_in_its_own_form() {
    let check =
        |agent, event, expected: &str| assert_eq!(render_answer(agent, event, "one\ntwo"), expected, "{agent} {event}");
    let start = r#"{"hookSpecificOutput":{"additionalContext":"one\ntwo","hookEventName":"SessionStart"}}"#;
    let prompt = r#"{"hookSpecificOutput":{"additionalContext":"one\ntwo","hookEventName":"UserPromptSubmit"}}"#;
    let before = r#"{"hookSpecificOutput":{"additionalContext":"one\ntwo","hookEventName":"BeforeAgent"}}"#;
    for agent in [HookAgent::ClaudeCode, HookAgent::Codex] {
        check(agent, "session-start", start);
        check(agent, "SessionStart", start);
        check(agent, "prompt-submit", prompt);
    }
    check(HookAgent::Gemini, "session-start", start);
    check(HookAgent::Gemini, "before-agent", before);
    check(HookAgent::Gemini, "prompt-submit", before);
    check(HookAgent::Generic, "session-start", "one\ntwo");
    check(HookAgent::Generic, "prompt-submit", "one\ntwo");
    for agent in HookAgent::ALL {
        for event in
            ["stop", "session-end", "pre-compact", "subagent-stop", "notify", "AfterAgent", "complete", "x", ""]
        {
            check(agent, event, "");
        }
        assert_eq!(render_answer(agent, "session-start", " \n"), "");
    }
}
