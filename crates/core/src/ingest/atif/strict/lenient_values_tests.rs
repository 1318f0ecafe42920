use serde_json::Value;
use serde_json::json;

use super::coerce_integer;
use super::coerce_number;
use super::is_flag;

#[test]
fn whole_numbers_may_be_written_in_many_ways() {
    let cases = [
        (json!(7), Some(7)),
        (json!(-1), Some(-1)),
        (json!(7.0), Some(7)),
        (json!(true), Some(1)),
        (json!("7"), Some(7)),
        (json!(" +07.00\n"), Some(7)),
        (json!("1_000"), Some(1000)),
        (json!("9".repeat(60)), Some(i128::MAX)),
        (json!(7.5), None),
        (json!(1e19), None),
        (json!("7."), None),
        (json!("7.5"), None),
        (json!("1__0"), None),
        (json!("1e3"), None),
        (json!(""), None),
        (json!("-"), None),
        (json!("١"), None),
        (json!(null), None),
        (json!([1]), None),
    ];
    for (value, expected) in cases {
        assert_eq!(coerce_integer(&value), expected, "{value}");
    }
}

#[test]
fn amounts_may_be_written_in_many_ways() {
    for value in [json!(1), json!(1.5), json!(false), json!(" 1.5 "), json!("1e400"), json!("nan"), json!("-Infinity")]
    {
        assert!(coerce_number(&value).is_some(), "{value}");
    }
    for value in [json!("1_0 "), json!("0x1"), json!(""), json!("e5"), json!({}), json!(null)] {
        assert!(coerce_number(&value).is_none(), "{value}");
    }
    assert_eq!(coerce_number(&json!("1_0.5")), Some(10.5));
}

#[test]
fn flags_may_be_words() {
    let yes: [Value; 8] =
        [json!(true), json!(0), json!(1.0), json!("true"), json!("OFF"), json!("y"), json!("No"), json!("1")];
    for value in yes {
        assert!(is_flag(&value), "{value}");
    }
    for value in [json!(2), json!(0.5), json!(" true "), json!(""), json!("maybe"), json!(null), json!([])] {
        assert!(!is_flag(&value), "{value}");
    }
}
