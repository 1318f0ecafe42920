use super::AtifSpeakerDetector;
use crate::domain::Speaker;

/// The speaker of a user step behind an agent's words.
fn speaker(agent: &str, user: &str) -> Speaker {
    let mut chat = AtifSpeakerDetector::default();
    chat.detect_speaker("Count the lines.");
    chat.note_agent_text(agent);
    chat.detect_speaker(user)
}

const COMMANDS: &str = r#"{"analysis": "…", "commands": [{"keystrokes": "ls\n"}]}"#;

#[test]
fn terminals_are_told_from_people() {
    for (agent, user, expected) in [
        (COMMANDS, "New Terminal Output:\n\nroot@box:/app# ls\n", Speaker::Tool),
        ("I am done.", "New Terminal Output:\n\n", Speaker::Tool),
        ("I am done.", "\n Current terminal state:\nroot@box:/app#", Speaker::Tool),
        (COMMANDS, "Previous response had warnings:\n- extra text\n\nNew Terminal Output:\nx", Speaker::Tool),
        (COMMANDS, "root@3787da61-4f40:/workspace# ls\na b", Speaker::Tool),
        (COMMANDS, "a b c\n(venv) dev@box:~/shop$ \n\n", Speaker::Tool),
        ("```bash\nls\n```", "dev@box:~$ ls", Speaker::Tool),
        ("I am done.", "root@box:/app# ls\nWhy did you run this?", Speaker::User),
        (COMMANDS, "Please mail dev@shop.example: it costs $5", Speaker::User),
        (COMMANDS, "What does `New Terminal Output:` mean?", Speaker::User),
        (COMMANDS, "No, don't touch that file.", Speaker::User),
        (COMMANDS, "Previous response had parsing errors:\nERROR", Speaker::System),
        (COMMANDS, "<environment_context>\n<cwd>/home/dev</cwd>\n</environment_context>", Speaker::System),
        ("", "This session is being continued from a previous conversation that ran out", Speaker::System),
        ("", "[Request interrupted by user for tool use]", Speaker::System),
        ("", "You are picking up work from a previous AI agent on this task:", Speaker::System),
        ("", "Here are the answers the other agent provided.\n\n1. Yes", Speaker::OtherAgent),
    ] {
        assert_eq!(speaker(agent, user), expected, "{user}");
    }
}

#[test]
fn harnesses_are_told_from_people() {
    for (text, expected) in [
        ("Stop hook feedback:\n[lint.sh]: run it", Speaker::System),
        ("Base directory for this skill: /home/dev/.claude/skills/deploy", Speaker::System),
        ("<task-notification>\n<task-id>1</task-id>\n</task-notification>", Speaker::System),
        ("<ide_opened_file>a.rs</ide_opened_file>", Speaker::System),
        ("<bash-input>ls</bash-input>", Speaker::System),
        ("<bash-stdout>a.rs</bash-stdout>", Speaker::Tool),
        ("<local-command-stdout></local-command-stdout>", Speaker::System),
        ("<skill>\n<name>deploy</name>\n</skill>", Speaker::System),
        ("<user_shell_command>\n<command>ls</command>\n</user_shell_command>", Speaker::Tool),
        ("Another language model started to solve this problem and produced a summary", Speaker::System),
        ("# AGENTS.md instructions for /home/dev/shop", Speaker::System),
        ("<teammate-message teammate_id=\"lead\">go on</teammate-message>", Speaker::OtherAgent),
        ("<system-reminder>\nMind.\n</system-reminder>", Speaker::System),
        ("<system-reminder>\nMind.\n</system-reminder>\nPlease fix the login bug", Speaker::User),
        ("<command-name>/fix</command-name>\n<command-args></command-args>", Speaker::System),
        ("<command-name>/fix</command-name>\n<command-args>please fix login</command-args>", Speaker::User),
        ("[Request interrupted by user]\nNo, the other file.", Speaker::User),
        ("<pr_description>\nFix the sum.\n</pr_description>", Speaker::User),
    ] {
        assert_eq!(AtifSpeakerDetector::default().detect_speaker(text), expected, "{text}");
    }
}

#[test]
fn the_first_words_are_never_a_terminals() {
    assert_eq!(
        AtifSpeakerDetector::default().detect_speaker("Current terminal state:\nroot@box:/app#\nWhat is wrong here?"),
        Speaker::User
    );
}

#[test]
fn where_results_have_a_place_terminals_do_not_speak() {
    let mut chat = AtifSpeakerDetector::default();
    chat.detect_speaker("Go.");
    chat.note_tools();
    chat.note_agent_text(COMMANDS);
    assert_eq!(chat.detect_speaker("root@box:/app# ls"), Speaker::User);
}

#[test]
fn long_and_wide_texts_are_no_trap() {
    assert_eq!(speaker(COMMANDS, &"ä".repeat(10_000)), Speaker::User);
    assert_eq!(speaker(COMMANDS, ""), Speaker::User);
}
