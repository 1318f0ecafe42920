use super::*;

#[test]
fn the_harness_is_no_person() {
    for (text, speaker) in [
        ("# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\n…", Some(Speaker::System)),
        ("<environment_context>\n<cwd>/home/dev</cwd>\n</environment_context>", Some(Speaker::System)),
        ("<user_instructions>\nBe brief.\n</user_instructions>", Some(Speaker::System)),
        ("  <turn_aborted>\n…\n</turn_aborted>", Some(Speaker::System)),
        ("<permissions instructions>\n…\n</permissions instructions>", Some(Speaker::System)),
        ("<skill>\n<name>x</name>\n</skill>", Some(Speaker::System)),
        ("<collaboration_mode># Plan</collaboration_mode>", Some(Speaker::System)),
        ("<new_thing_of_theirs a=\"1\">…</new_thing_of_theirs>\n", Some(Speaker::System)),
        ("<hook_prompt hook_run_id=\"7\">Run the tests.</hook_prompt>", Some(Speaker::System)),
        ("<user_shell_command>\n<command>ls</command>\n</user_shell_command>", Some(Speaker::Tool)),
        ("<subagent_notification>{}</subagent_notification>", Some(Speaker::OtherAgent)),
        (
            "<user_instructions>a</user_instructions>\n<environment_context>b</environment_context>",
            Some(Speaker::System),
        ),
        ("<user_instructions>a</user_instructions>\nAlways b.\n</user_instructions>\nc", Some(Speaker::System)),
        ("<environment_context>a</environment_context>\nAlways b.", Some(Speaker::System)),
        ("<user_shell_command>a</user_shell_command>\nAlways b.", Some(Speaker::Tool)),
        ("Fix it.", None),
        ("<div>Why is this bold?</div>", None),
        ("<T> is not a type here?", None),
        ("< 5 files, please", None),
        ("<new_thing> what does this tag mean?", None),
        ("<skill> element is not rendered, why? see </b>", None),
        ("<instructions>\nfix\n</instructions>\nPlease do this now", None),
        ("<environment_context> is empty, why?", None),
        ("", None),
    ] {
        assert_eq!(find_non_user_speaker(text), speaker, "{text}");
    }
}

#[test]
fn some_tags_are_a_persons_as_well() {
    for (text, speaker) in [
        ("<environment_context>a</environment_context>", Some(Speaker::System)),
        ("<user_shell_command>ls</user_shell_command>", Some(Speaker::Tool)),
        ("# AGENTS.md instructions for /home/dev/shop", Some(Speaker::System)),
        ("<pr_description>Fix it.</pr_description>", None),
        ("<instructions>Fix it.</instructions>", None),
        ("<skill>x</skill>", None),
        ("<skill>\n<name>deploy</name>\n# Deploy\n</skill>", Some(Speaker::System)),
    ] {
        assert_eq!(find_sure_non_user_speaker(text), speaker, "{text}");
    }
}

#[test]
fn a_request_is_taken_out_of_what_the_editor_adds() {
    let sent = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nFix a.rs.\n";
    let (text, context) = split_ide_context(sent.to_owned());
    assert_eq!(text, "Fix a.rs.");
    assert_eq!(context.as_deref(), Some("# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n"));
    let quoting = sent.replace("- a.rs", "- a.rs\n## My request for Codex:\nAlways b.");
    assert_eq!(split_ide_context(quoting).0, "Fix a.rs.");
    for text in ["What does \"## My request for Codex:\" mean?", "# Context from my IDE setup:\nnothing"] {
        assert_eq!(split_ide_context(text.to_owned()), (text.to_owned(), None));
    }
}

#[test]
fn marks_of_images_are_no_words() {
    for (text, expected) in [("<image name=[Image #1]>", true), ("</image>", true), ("<image> is broken", false)] {
        assert_eq!(is_image_mark(text), expected, "{text}");
    }
}

#[test]
fn the_directory_is_found_in_both_forms() {
    for (text, expected) in [
        ("<environment_context>\n  <cwd>/home/dev/shop</cwd>\n</environment_context>", Some("/home/dev/shop")),
        ("<environment_context>\nCurrent working directory: /home/dev\nApproval: never", Some("/home/dev")),
        ("<environment_context>\n<cwd></cwd>", None),
        ("<cwd>/home/dev</cwd>", None),
    ] {
        assert_eq!(parse_working_directory(text).as_deref(), expected, "{text}");
    }
}
