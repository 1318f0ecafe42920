use super::split_lines;

fn check(piece: &[u8], expected: &[(u64, &[u8])]) {
    let found: Vec<_> = split_lines(piece, 10).map(|line| (line.start - 10, line.bytes)).collect();
    assert_eq!(found, expected);
}

#[test]
fn lines_as_they_are_found() {
    check(b"", &[]);
    check(b"\n\n", &[]);
    check(b"{}\n{}\n", &[(0, b"{}"), (3, b"{}")]);
    check(b"{}\r\n{}", &[(0, b"{}"), (4, b"{}")]);
    check(b"\xEF\xBB\xBF{}\n", &[(3, b"{}")]);
    check(b"\0\0{}\0\n\0\0\0", &[(2, b"{}")]);
    check(b"{}\nhalf a li", &[(0, b"{}"), (3, b"half a li")]);
}
