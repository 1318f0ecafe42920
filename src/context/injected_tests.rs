use super::*;

#[test]
fn lessons_that_were_given_are_taken_out() {
    let table = [
        ("before\nafter", "before\nafter", 0),
        ("before\n### Project Lessons\n\n1. Use rg\n2. Run tests\n\nafter\n", "before\nafter\n", 1),
        ("## Known Issues (from past runs)\n- x [seen 3x, run]\n- y\nafter", "after", 1),
        ("a\n<archivist-lessons date=\"2026\">\n- use rg\nfree text\n</archivist-lessons>\nb", "a\nb", 1),
        ("<archivist-lessons>x</archivist-lessons>\nb", "b", 1),
        ("### Project Lessons\n\n1. a\n### Project Lessons\n\n1. b\n", "", 2),
        ("a <archivist-lessons never closed", "a <archivist-lessons never closed", 0),
        ("<archivist-lessons>\nnever closed", "", 1),
        ("we talk about ### Project Lessons here", "we talk about ### Project Lessons here", 0),
    ];
    for (text, expected, blocks) in table {
        let (stripped, count) = strip(text);
        assert_eq!((stripped.as_ref(), count), (expected, blocks), "{text}");
    }
}
