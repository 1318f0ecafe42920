use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

use super::*;

fn squeezed(text: &[u8], piece: usize) -> (Vec<u8>, TruncationCount) {
    let mut squeeze = JsonTruncator::new();
    let mut out = Vec::new();
    for chunk in text.chunks(piece.max(1)) {
        squeeze.feed_bytes(chunk, &mut out);
    }
    (out, squeeze.cut_amount())
}

fn parsed(text: &str) -> (Value, TruncationCount) {
    let (out, cut) = squeezed(text.as_bytes(), 4096);
    (serde_json::from_slice(&out).unwrap(), cut)
}

#[test]
fn a_long_string_keeps_its_beginning_and_its_end() {
    let middle = "x".repeat(3_000_000);
    let (value, cut) = parsed(&json!({"a": format!("first {middle} last"), "b": 1}).to_string());
    let text = value["a"].as_str().unwrap();
    assert!(text.starts_with("first xxx") && text.ends_with("xxx last"), "{} bytes", text.len());
    assert!(text.len() < 4 * KEPT_BYTES);
    assert!(text.contains(&TruncationCount::truncation_marker(cut.bytes)));
    assert_eq!((cut.values, value["b"].as_i64()), (1, Some(1)));
    assert_eq!(
        text.len() as u64 + cut.bytes,
        3_000_011 + TruncationCount::truncation_marker(cut.bytes).len() as u64 + 2
    );
}

#[test]
fn a_cut_goes_through_no_character_and_no_escape() {
    for unit in ["ü", "😀", "\\u00e9", "\\ud83d\\ude00", "\\n", "\\\\", "\\\""] {
        for shift in [0, 1, 5, 11] {
            let text = format!("{{\"a\":\"{}{}\"}}", "x".repeat(shift), unit.repeat(120_000));
            let (out, cut) = squeezed(text.as_bytes(), 65_521);
            let value: Value = serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{unit} {shift}: {error}"));
            assert!(!value["a"].as_str().unwrap().contains('\u{fffd}'));
            assert_eq!(cut.values, 1);
        }
    }
}

#[test]
fn a_long_array_of_numbers_keeps_its_beginning() {
    let ids: Vec<u64> = (0..200_000).collect();
    let (value, cut) = parsed(&json!({"ids": ids, "logprobs": [[0.1, -2.5e-3], [1.0]], "after": "yes"}).to_string());
    let kept = value["ids"].as_array().unwrap();
    assert!(kept.len() > 1000 && kept.len() < 10_000, "{}", kept.len());
    assert_eq!(kept[1000], 1000);
    assert_eq!(value["after"], "yes");
    assert_eq!(value["logprobs"], json!([[0.1, -2.5e-3], [1.0]]));
    assert_eq!(cut.values, 1);
}

#[test]
fn what_follows_a_long_run_of_numbers_stays() {
    let numbers = "1,".repeat(20_000);
    for (tail, last) in
        [("{\"a\":1}", json!({"a": 1})), ("\"end\"", json!("end")), ("[7]", json!([7])), ("true", json!(true))]
    {
        let (value, _) = parsed(&format!("[{numbers}{tail}]"));
        assert_eq!(value.as_array().unwrap().last(), Some(&last), "{tail}");
    }
}

fn squeezed_document(text: &str) -> (Value, TruncationCount) {
    let mut squeeze = JsonTruncator::for_document();
    let mut out = Vec::new();
    text.as_bytes().chunks(5000).for_each(|chunk| squeeze.feed_bytes(chunk, &mut out));
    (serde_json::from_slice(&out).unwrap(), squeeze.cut_amount())
}

#[test]
fn arrays_of_anything_keep_their_beginning() {
    let rows = ["{\"t\":\"a\",\"b\":[97]}", "\"abc\"", "[1]", "null", "{}", "[[{}]]", "\"]},\\\"\""];
    for row in rows {
        let many = vec![row; 5_000_000 / row.len()].join(",");
        let text = format!("{{\"a\":{{\"rows\":[{many}]}},\"c\":[{{\"d\":1}},{{\"d\":2}}],\"e\":\"f\"}}");
        for (value, cut) in [parsed(&text), squeezed_document(&text)] {
            let kept = value["a"]["rows"].as_array().unwrap().len();
            assert!(kept > 1000 && kept < 300_000, "{row}: {kept}");
            assert_eq!(value["c"], json!([{"d": 1}, {"d": 2}]), "{row}");
            assert_eq!((value["e"].as_str(), cut.values), (Some("f"), 1), "{row}");
            assert!(cut.bytes > 100_000);
        }
    }
}

#[test]
fn objects_of_very_many_keys_keep_their_beginning() {
    let many: Vec<String> = (0..100_000).map(|n| format!("\"key{n}\":{{\"a\":1}}")).collect();
    let (value, cut) = parsed(&format!("{{\"map\":{{{}}},\"after\":1}}", many.join(",")));
    let kept = value["map"].as_object().unwrap().len();
    assert!(kept > 1000 && kept < 10_000, "{kept}");
    assert_eq!((value["after"].as_i64(), cut.values), (Some(1), 1));
}

#[test]
fn heavy_objects_in_objects_end_somewhere() {
    let inner: Vec<String> = (0..1000).map(|n| format!("\"k{n}\":{{}}")).collect();
    let outer: Vec<String> = (0..1000).map(|n| format!("\"o{n}\":{{{}}}", inner.join(","))).collect();
    let text = format!("{{\"a\":{{\"b\":{{{}}},\"c\":2}},\"after\":1}}", outer.join(","));
    let (out, _) = squeezed(text.as_bytes(), 4096);
    let value: Value = serde_json::from_slice(&out).unwrap();
    assert!(out.len() < 500_000, "{}", out.len());
    assert_eq!((value["a"]["c"].as_i64(), value["after"].as_i64()), (Some(2), Some(1)));
}

#[test]
fn the_steps_of_a_document_all_stay_and_each_is_bounded() {
    let step = format!("{{\"message\":\"{}\",\"metrics\":{{\"n\":1}}}}", "m".repeat(40_000));
    let heavy = format!("{{\"logprobs\":[{}{{}}],\"metrics\":{{\"n\":1}}}}", "{\"t\":1},".repeat(200_000));
    let steps = [vec![step.as_str(); 400], vec![heavy.as_str(); 3]].concat().join(",");
    for text in [
        format!("{{\"steps\":[{steps}],\"extra\":{{\"steps\":[1]}}}}"),
        format!("[{{\"steps\":[{steps}],\"extra\":{{\"steps\":[1]}}}}]"),
        format!("{{\"subagent_trajectories\":[{{\"steps\":[{steps}],\"extra\":{{\"steps\":[1]}}}}]}}"),
    ] {
        let (value, cut) = squeezed_document(&text);
        let document = if value.is_array() { &value[0] } else { &value };
        let document = document.get("subagent_trajectories").map_or(document, |embedded| &embedded[0]);
        let steps = document["steps"].as_array().unwrap();
        assert_eq!((steps.len(), cut.values), (403, 3));
        assert!(steps.iter().all(|step| step["metrics"]["n"] == 1));
        assert!(steps[402]["logprobs"].as_array().unwrap().len() < 20_000);
        assert_eq!(document["extra"], json!({"steps": [1]}));
    }
}

#[test]
fn what_is_nested_too_deep_becomes_null() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!("{{\"deep\":{}1{},\"after\":1}}", open.repeat(3000), close.repeat(3000));
        let (value, cut) = parsed(&text);
        assert_eq!((value["after"].as_i64(), cut.values), (Some(1), 1));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..8).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_short_passes_unchanged(value in any_json(), piece in 1usize..64) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let (out, cut) = squeezed(text.as_bytes(), piece);
            prop_assert_eq!(String::from_utf8(out).unwrap(), text);
            prop_assert_eq!(cut, TruncationCount::default());
        }
    }

    #[test]
    fn the_size_of_pieces_does_not_matter(bytes in prop::collection::vec(any::<u8>(), 0..2000), piece in 1usize..100) {
        prop_assert_eq!(squeezed(&bytes, piece), squeezed(&bytes, usize::MAX));
    }
}
