use super::*;

fn raw(lexemes: &[(&str, &[u16])]) -> Vec<u8> {
    let mut bytes = u32::try_from(lexemes.len()).unwrap().to_be_bytes().to_vec();
    for (lexeme, positions) in lexemes {
        bytes.extend(lexeme.as_bytes());
        bytes.push(0);
        bytes.extend(u16::try_from(positions.len()).unwrap().to_be_bytes());
        positions.iter().for_each(|position| bytes.extend(position.to_be_bytes()));
    }
    bytes
}

#[test]
fn words_stand_behind_the_number_of_their_bank() {
    let counts = BTreeMap::from([("bun".to_owned(), 2), ("it's".to_owned(), 1), ("a\\b".to_owned(), 3)]);
    let text = render_tsvector(7, &counts, ["tag slow test"].into_iter());
    assert_eq!(text, r"'7:a\\b':3 '7:bun':2 '7:it''s':1 '7#tag slow test':1 ");
    assert_eq!(
        (render_term_query(7, "it's"), render_topic_query(7, "tag x")),
        ("'7:it''s'".to_owned(), "'7#tag x'".to_owned())
    );
}

#[test]
fn what_the_server_cannot_hold_is_kept_otherwise() {
    assert_eq!(to_stored_term("a\0b"), "a\u{fffd}b");
    let long = "x".repeat(5000);
    assert_eq!(to_stored_term(&long).len(), 17);
    assert_ne!(to_stored_term(&long), to_stored_term(&"y".repeat(5000)));
    let terms = LessonTerms { counts: BTreeMap::from([("loud".to_owned(), 99_999)]), length: 99_999 };
    assert_eq!(count_stored_terms(&terms)["loud"], HIGHEST);
}

#[test]
fn a_vector_is_read_as_the_server_sends_it() {
    // The two highest bits of a position are its weight.
    let bytes =
        raw(&[("7:bun", &[2]), ("7#tag slow", &[1]), ("7:shard", &[0xC003, 9]), ("70:other", &[4]), ("7:bare", &[])]);
    let read: Vec<(&str, u32)> = TsVector(&bytes).term_counts(7).collect();
    assert_eq!(read, [("bun", 2), ("shard", 3), ("bare", 1)]);
}

#[test]
fn a_broken_vector_ends_early() {
    let bytes = raw(&[("7:bun", &[2]), ("7:shard", &[1])]);
    for length in 0..bytes.len() {
        assert!(TsVector(&bytes[..length]).term_counts(7).count() <= 2);
    }
}
