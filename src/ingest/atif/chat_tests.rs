use super::Chat;
use crate::domain::Speaker;

/// The speaker of a user step behind an agent's words.
fn speaker(agent: &str, user: &str) -> Speaker {
    let mut chat = Chat::default();
    chat.user("Count the lines.");
    chat.saw_agent(agent);
    chat.user(user)
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
        (COMMANDS, "<environment_context>\n<cwd>/home/dev</cwd>", Speaker::System),
        ("", "This session is being continued from a previous conversation that ran out", Speaker::System),
        ("", "[Request interrupted by user for tool use]", Speaker::System),
        ("", "You are picking up work from a previous AI agent on this task:", Speaker::System),
        ("", "Here are the answers the other agent provided.\n\n1. Yes", Speaker::OtherAgent),
    ] {
        assert_eq!(speaker(agent, user), expected, "{user}");
    }
}

#[test]
fn the_first_words_are_never_a_terminals() {
    assert_eq!(Chat::default().user("Current terminal state:\nroot@box:/app#\nWhat is wrong here?"), Speaker::User);
}

#[test]
fn where_results_have_a_place_terminals_do_not_speak() {
    let mut chat = Chat::default();
    chat.user("Go.");
    chat.saw_tools();
    chat.saw_agent(COMMANDS);
    assert_eq!(chat.user("root@box:/app# ls"), Speaker::User);
}

#[test]
fn long_and_wide_texts_are_no_trap() {
    assert_eq!(speaker(COMMANDS, &"ä".repeat(10_000)), Speaker::User);
    assert_eq!(speaker(COMMANDS, ""), Speaker::User);
}
