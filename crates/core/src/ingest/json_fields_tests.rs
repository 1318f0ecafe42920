use serde_json::json;

use super::*;

#[test]
fn moments_are_read_however_they_are_written() {
    let noon = "2026-03-04T12:00:00+00:00";
    let table = [
        (json!("2026-03-04T12:00:00Z"), noon),
        (json!("2026-03-04T13:00:00+01:00"), noon),
        (json!("2026-03-04T13:00:00+0100"), noon),
        (json!("2026-03-04 12:00:00"), noon),
        (json!("2026-03-04 12:00:00.000 +00:00"), noon),
        (json!("2026-03-04T12:00"), noon),
        (json!(" 2026-03-04T12:00:00.000000 "), noon),
        (json!("2026-03-04"), "2026-03-04T00:00:00+00:00"),
        (json!(1_772_625_600), noon),
        (json!(1_772_625_600_000_i64), noon),
        (json!(1_772_625_600.0), noon),
    ];
    for (written, meant) in table {
        assert_eq!(parse_time(&written).unwrap().to_rfc3339(), meant, "{written}");
    }
    for nonsense in [json!("soon"), json!(""), json!(null), json!(true), json!(1e300), json!([1]), json!("2026-13-40")]
    {
        assert_eq!(parse_time(&nonsense), None, "{nonsense}");
    }
}

#[test]
fn counts_may_be_floats_or_digits_but_not_nonsense() {
    let values = into_object(json!({"a": 7, "b": 7.0, "c": "7", "d": -1, "e": 1e30, "f": null, "g": "x", "h": true}));
    let read: Vec<Option<u64>> =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i"].iter().map(|key| get_count(&values, key)).collect();
    assert_eq!(read, [Some(7), Some(7), Some(7), None, None, None, None, None, None]);
    assert_eq!(get_integer(&values, "d"), Some(-1));
    assert_eq!(get_amount(&values, "b"), Some(7.0));
}

#[test]
fn words_come_out_of_any_content() {
    let table = [
        (json!(null), ""),
        (json!("plain"), "plain"),
        (json!([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]), "one\ntwo"),
        (json!([{"text": "no type"}, "bare", {"type": "image", "source": {}}]), "no type\nbare\n[image]"),
        (json!({"passed": false}), "{\"passed\":false}"),
        (json!(12), "12"),
        (json!([{"type": "text", "text": null}]), "{\"text\":null,\"type\":\"text\"}"),
    ];
    for (content, expected) in table {
        assert_eq!(content_text(content.clone()), expected, "{content}");
    }
}

#[test]
fn one_object_counts_as_a_list_of_one() {
    let mut values = into_object(json!({"one": {"a": 1}, "many": [1, 2], "none": "x"}));
    assert_eq!(take_array(&mut values, "one"), [json!({"a": 1})]);
    assert_eq!(take_array(&mut values, "many").len(), 2);
    assert!(take_array(&mut values, "none").is_empty() && take_array(&mut values, "missing").is_empty());
}

#[test]
fn a_name_is_shown_whole_or_not_at_all() {
    assert_eq!(bounded_kind_name("hologram"), "hologram");
    assert_eq!(bounded_kind_name(&"x".repeat(41)), "(too long for a name)");
}
