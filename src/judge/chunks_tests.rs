use super::*;

#[test]
fn words_numbers_and_marks_are_told_apart() {
    let check = |text: &str, expected: &[(&str, Shape)]| {
        let found: Vec<(String, Shape)> = chunks(text).into_iter().map(|chunk| (chunk.text, chunk.shape)).collect();
        let expected: Vec<(String, Shape)> =
            expected.iter().map(|(text, shape)| ((*text).to_owned(), *shape)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("Don't wait.", &[("dont", Shape::Word), ("wait", Shape::Word)]);
    check(
        "port 5432, node v20.1",
        &[("port", Shape::Word), ("5432", Shape::Number), ("node", Shape::Word), ("v20.1", Shape::Number)],
    );
    check(
        "run `make check` first",
        &[("run", Shape::Word), ("make", Shape::Mark), ("check", Shape::Mark), ("first", Shape::Word)],
    );
    check(
        "--no-cache in src/auth.rs (parseConfig)",
        &[("--no-cache", Shape::Mark), ("in", Shape::Word), ("src/auth.rs", Shape::Mark), ("parseconfig", Shape::Mark)],
    );
    check("", &[]);
    check("… — ```", &[]);
}

#[test]
fn a_clause_begins_behind_a_sign() {
    let begins: Vec<bool> = chunks("Wait, then go. Now").iter().map(|chunk| chunk.begins).collect();
    assert_eq!(begins, [true, true, false, true]);
}
