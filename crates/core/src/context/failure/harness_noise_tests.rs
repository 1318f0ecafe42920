use super::is_harness_rule;

#[test]
fn rules_of_the_harness_are_noise() {
    for headline in [
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
        "<tool_use_error>InputValidationError: Edit failed due to the following issue:",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "The user doesn\u{2019}t want to take this action right now.",
        "Claude requested permissions to write to /x, but you haven't granted it yet.",
        "Permission to use Bash with command rm has been denied.",
        "[Request interrupted by user for tool use]",
        "aborted by user after 3.2s",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error></tool_use_error>",
        "Error: No such tool available: Foo",
        "File content (31000 tokens) exceeds maximum allowed tokens (25000).",
        "exec_command failed: rejected by user",
    ] {
        assert!(is_harness_rule(headline), "{headline}");
    }
}

#[test]
fn facts_about_the_project_are_not() {
    for headline in [
        "error[E0382]: use of moved value",
        "ENOSPC: no space left on device, write",
        "String to replace not found in file.",
        "<tool_use_error>File does not exist.</tool_use_error>",
        "bash: ./x.sh: Permission denied",
        "npm ERR! Missing script: \"test\"",
        "Command timed out after 2m 0.0s",
        "KeyError: 'user'",
    ] {
        assert!(!is_harness_rule(headline), "{headline}");
    }
}
