use super::*;

#[test]
fn an_address_is_told_without_secrets() {
    let cases = [
        ("http://127.0.0.1:8089/v1", "http://127.0.0.1:8089/v1"),
        ("https://user:pass@host/v1?key=sk-1#x", "https://host/v1"),
        ("https://user:p@ss@host", "https://host"),
        ("https://host/a@b/v1", "https://host/a@b/v1"),
        ("local", "local"),
        ("", ""),
    ];
    for (address, shown) in cases {
        assert_eq!(public_address(address), shown);
    }
}
