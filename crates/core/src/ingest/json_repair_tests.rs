use std::io::Read;

use serde_json::Value;
use serde_json::json;

use super::JsonRepairReader;
use super::repair_value as mended_line;

/// Gives out so many bytes at a time.
struct Slowly<'b>(&'b [u8], usize);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len());
        self.0.read(&mut buffer[..length])
    }
}

fn mended(bytes: &[u8], at_a_time: usize) -> (String, Option<&'static str>) {
    let mut slowly = Slowly(bytes, at_a_time);
    let mut mended = JsonRepairReader::new(&mut slowly);
    let mut out = String::new();
    mended.read_to_string(&mut out).expect("text");
    (out, mended.repaired_flaw())
}

#[test]
fn what_is_json_stays_as_it_is() {
    let text = "{\"a\\\"b\": [1.5e3, null, true], \"N\": \"NaN \\\\\\u00e4\\ud83d\\ude00 ü😀\"}";
    for at_a_time in [1, 2, 3, 5, 1000] {
        assert_eq!(mended(text.as_bytes(), at_a_time), (text.to_owned(), None));
    }
}

#[test]
fn what_is_almost_json_becomes_json() {
    let cases: [(&[u8], Value); 9] = [
        (b"[NaN, 1]", json!([-5e-324, 1])),
        (b"[-Infinity,Infinity]", json!([-5e-324, 5e-324])),
        (b"{\"a\":\"x\ny\tz\"}", json!({"a": "x\ny\tz"})),
        (b"[\"\\ud83d\"]", json!(["\u{fffd}"])),
        (b"[\"\\ud83d\\ud83d\\ude00!\"]", json!(["\u{fffd}😀!"])),
        (b"[\"\\ude00\\n\"]", json!(["\u{fffd}\n"])),
        (b"[\"\\ud83dx\"]", json!(["\u{fffd}x"])),
        (b"[\"\xff\xc3\xa4\xc3\"]", json!(["\u{fffd}ä\u{fffd}"])),
        (b"\xef\xbb\xbf[1]", json!([1])),
    ];
    for (bytes, expected) in cases {
        for at_a_time in [1, 2, 3, 7, 1000] {
            let (text, _) = mended(bytes, at_a_time);
            assert_eq!(serde_json::from_str::<Value>(&text).expect(&text), expected, "{at_a_time} at a time");
        }
    }
}

#[test]
fn flaws_are_known() {
    assert_eq!(mended(b"[\"a\xffb\"]", 9).1, Some("not UTF-8"));
    assert_eq!(mended(b"[\"a\nb\"]", 9).1, Some("has a bare control character in a string"));
    assert_eq!(mended(b"[NaN]\n", 9).1, None);
}

#[test]
fn a_character_at_the_end_of_a_cut_log_is_no_trap() {
    assert_eq!(mended(b"[\"\xf0\x9f\x98", 2).0, "[\"\u{fffd}");
}

#[test]
fn a_refused_line_is_mended() {
    let cases: [(&[u8], Value); 7] = [
        (b"{\"a\":\"x \\ud83d\"}", json!({"a": "x \u{fffd}"})),
        (b"{\"a\":NaN,\"b\":1}", json!({"a": -5e-324, "b": 1})),
        (b"{\"a\":\"x\ty\"}", json!({"a": "x\ty"})),
        (b"{\"a\":\"caf\xe9\"}", json!({"a": "caf\u{fffd}"})),
        (b"\0\0{\"a\":1}\0", json!({"a": 1})),
        (b"{\"a\":1e999,\"b\":[-1.5e+400,2]}", json!({"a": 5e-324, "b": [5e-324, 2]})),
        (b"{\"a\":\n1e999\n}", json!({"a": 5e-324})),
    ];
    for (bytes, expected) in cases {
        assert!(serde_json::from_slice::<Value>(bytes).is_err());
        assert_eq!(mended_line(bytes).expect("mended"), expected, "{}", String::from_utf8_lossy(bytes));
    }
    let deep = format!("{{\"a\":1,\"b\":{}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(mended_line(deep.as_bytes()).expect("mended")["a"], 1);
}

#[test]
fn what_cannot_be_mended_stays_broken() {
    for text in ["", "hello", "{\"a\":", "{\"a\":\"x", "{\"a\" 1}", "NaN {"] {
        assert!(mended_line(text.as_bytes()).is_err(), "{text}");
    }
}
