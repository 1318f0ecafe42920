use super::*;

#[test]
fn words_numbers_and_marks_are_told_apart() {
    let check = |text: &str, expected: &[(&str, ChunkShape)]| {
        let found: Vec<(String, ChunkShape)> =
            split_chunks(text).into_iter().map(|chunk| (chunk.text, chunk.shape)).collect();
        let expected: Vec<(String, ChunkShape)> =
            expected.iter().map(|(text, shape)| ((*text).to_owned(), *shape)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("Don't wait.", &[("dont", ChunkShape::Word), ("wait", ChunkShape::Word)]);
    check(
        "port 5432, node v20.1",
        &[
            ("port", ChunkShape::Word),
            ("5432", ChunkShape::Number),
            ("node", ChunkShape::Word),
            ("v20.1", ChunkShape::Number),
        ],
    );
    check(
        "run `make check` first",
        &[
            ("run", ChunkShape::Word),
            ("make", ChunkShape::Mark),
            ("check", ChunkShape::Mark),
            ("first", ChunkShape::Word),
        ],
    );
    check(
        "--no-cache in src/auth.rs (parseConfig)",
        &[
            ("--no-cache", ChunkShape::Mark),
            ("in", ChunkShape::Word),
            ("src/auth.rs", ChunkShape::Mark),
            ("parseconfig", ChunkShape::Mark),
        ],
    );
    check("", &[]);
    check("… — ```", &[]);
}

#[test]
fn a_clause_begins_behind_a_sign() {
    let begins: Vec<bool> = split_chunks("Wait, then go. Now").iter().map(|chunk| chunk.begins).collect();
    assert_eq!(begins, [true, true, false, true]);
}
