use super::{contains_secret, find_heredoc_target, find_secret_variables, relativize_paths, shorten_command};

#[test]
fn commands_read_well_in_a_sentence() {
    let cases = [
        ("cd /a/b && cargo test 2>&1 | tail -20", "cargo test"),
        ("npm test || true", "npm test"),
        ("make\n  all", "make all"),
        ("sleep 60 && npm ci", "npm ci"),
        ("a | b", "a | b"),
        ("cd 'a && b' && (make; x) 2>&1 | tail -3", "(make; x)"),
        ("rg 'x | head' src 2>/dev/null; echo $?", "rg 'x | head' src"),
        ("make test &", "make test &"),
        ("echo `date`", "echo 'date'"),
    ];
    for (command, wanted) in cases {
        assert_eq!(shorten_command(command), wanted);
    }
    assert!(shorten_command(&"word ".repeat(100)).chars().count() <= 101);
}

#[test]
fn paths_still_lead_where_they_led() {
    let cases = [
        ("/home/ada/shop/bin/run -c /home/ada/shop/a.toml", "bin/run -c a.toml"),
        ("ls /home/ada/shop", "ls ."),
        ("ls /home/ada/shopping/list", "ls ~/shopping/list"),
        ("DATA=/home/ada/data/big /home/ada/.local/bin/bench", "DATA=~/data/big ~/.local/bin/bench"),
        ("JAVA_HOME=/usr/lib/jvm/java-21/x ./gradlew", "JAVA_HOME=/usr/lib/jvm/java-21/x ./gradlew"),
        ("cp /srv/data/a/b/c/d.json .", "cp /srv/data/a/b/c/d.json ."),
        ("curl http://a.example/home/x", "curl http://a.example/home/x"),
        ("PATH=/home/ada/go/bin:/root/bin:$PATH x", "PATH=~/go/bin:/root/bin:$PATH x"),
        ("docker run -v /Users/ada/x:/data i", "docker run -v ~/x:/data i"),
        ("cat '/home/ada/shop/a b.md'", "cat 'a b.md'"),
    ];
    for (command, wanted) in cases {
        assert_eq!(relativize_paths(command, "/home/ada/shop/"), wanted);
    }
}

#[test]
fn secrets_are_named_and_not_told() {
    assert_eq!(find_secret_variables("PGPASSWORD=[redacted:password:1a] X=1 pytest"), ["PGPASSWORD"]);
    assert_eq!(find_secret_variables("export API_KEY=\"[redacted:key:1a]\" && make"), ["API_KEY"]);
    assert!(find_secret_variables("make").is_empty());
    assert!(contains_secret("curl -H 'Authorization: Bearer [redacted:token:1a]' x"));
    assert!(!contains_secret("API_KEY=[redacted:key:1a] make"));
}

#[test]
fn what_a_command_writes_is_known() {
    assert_eq!(find_heredoc_target("cat > .env <<'EOF'\nA=1\nEOF"), Some(".env"));
    assert_eq!(find_heredoc_target("cat <<EOF >> config/a.toml\nx\nEOF"), Some("config/a.toml"));
    assert_eq!(find_heredoc_target("tee -a hosts <<EOF\nx\nEOF"), Some("hosts"));
    assert_eq!(find_heredoc_target("python3 - <<EOF\nx > 3\nEOF"), None);
    assert_eq!(find_heredoc_target("cat <<EOF | sudo tee -a /etc/hosts\nx\nEOF"), Some("/etc/hosts"));
    assert_eq!(find_heredoc_target("git commit -m \"$(cat <<EOF\na > b\nEOF\n)\""), None);
    assert_eq!(find_heredoc_target("echo a > b"), None);
}

proptest::proptest! {
    #[test]
    fn no_command_is_too_strange(command in ".{0,200}", folder in ".{0,20}") {
        let _ = (shorten_command(&command), relativize_paths(&command, &folder), find_secret_variables(&command), contains_secret(&command), find_heredoc_target(&command));
    }
}
