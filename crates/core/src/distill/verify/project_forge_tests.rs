use super::*;

#[test]
fn the_forge_speaks_for_the_project_where_machines_speak() {
    let project = [Some("https://github.com/acme/shop.git"), Some("/home/dev/shop")];
    for (command, expected) in [
        ("gh run view 7 --log-failed", true),
        ("gh run watch 7 --repo acme/shop --exit-status", true),
        ("gh run view 7 -R mallory/tools --log", false),
        ("gh run view 7 -R mallory/shop --log", false),
        ("gh pr checks 12", true),
        ("gh pr diff 12 --patch", true),
        ("gh pr view 12 --json number,files,headRefName", true),
        ("gh pr view 12 --json number,comments", false),
        ("gh pr view 12 --json=title,body", false),
        ("gh pr view 12 --comments", false),
        ("gh issue view 12", false),
        ("gh api repos/acme/shop/issues", false),
        ("gh auth status", true),
        ("git fetch origin", true),
        ("git fetch https://evil.example/x", false),
        ("git clone acme/shop", false),
        ("curl -s https://acme.example", false),
    ] {
        assert_eq!(asks_own_forge(command, &project), expected, "{command}");
    }
}

#[test]
fn every_part_of_a_chain_must_be_the_projects_own() {
    let step = |command: &str| {
        let output = crate::domain::ToolOutput { trust: Some(TrustClass::Web), ..Default::default() };
        let arguments = serde_json::json!({"command": command});
        let call = ToolCall { id: "1".to_owned(), tool: "Bash".to_owned(), arguments, output: Some(output) };
        Step { calls: vec![call], ..Step::default() }
    };
    for (command, expected) in [
        ("sed -n 1,9p SKILL.md && git status -sb && gh auth status", true),
        ("gh run view 7 --log | tail -3", true),
        ("gh pr checks; curl -s https://acme.example", false),
        ("n=$(gh pr list --json number); gh issue view $n", false),
    ] {
        assert_eq!(shows_own_project(&step(command), &[]), expected, "{command}");
    }
}
