use super::super::support::Tree;

fn header(session: &str, at: &str) -> String {
    format!(
        "{{\"sessionId\":\"{session}\",\"projectHash\":\"h\",\"startTime\":\"{at}\",\"kind\":\"main\"}}\n{{\"id\":\"1\",\"type\":\"user\"}}\n"
    )
}

#[test]
fn chats_of_the_project_in_both_forms() {
    let document = header("s-2", "2026-03-02T10:00:00Z")
        .replace("\"main\"}\n{\"id\":\"1\",\"type\":\"user\"}", "\"main\",\n\"messages\":[]}");
    Tree::new()
        .file("gemini/tmp/shop/.project_root", "ROOT/shop\n")
        .file("gemini/tmp/shop/chats/session-2026-03-01T10-00-aaaa.jsonl", &header("s-1", "2026-03-01T10:00:00Z"))
        .file("gemini/tmp/shop/chats/session-2026-03-01T10-00-aaaa.json", &header("s-1", "2026-03-01T10:00:00Z"))
        .file("gemini/tmp/shop/chats/session-2026-03-02T10-00-bbbb.json", &document)
        .file("gemini/tmp/shop/chats/s-1/sub.jsonl", &header("sub", "2026-03-01T10:10:00Z"))
        .file("gemini/tmp/shop/logs.json", "[]")
        .file("gemini/tmp/other/.project_root", "ROOT/other")
        .file("gemini/tmp/other/chats/session-2026-03-01T10-00-cccc.json", &header("s-3", "2026-03-01T10:00:00Z"))
        .file("gemini/tmp/0a1b2c/chats/session-2026-03-01T10-00-dddd.json", &header("s-4", "2026-03-01T10:00:00Z"))
        .check(&["s-1: session-2026-03-01T10-00-aaaa.jsonl + sub.jsonl", "s-2: session-2026-03-02T10-00-bbbb.json"]);
}
