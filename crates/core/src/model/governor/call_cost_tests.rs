use std::time::Duration;

use super::*;
use crate::domain::TokenUsage;
use crate::model::Finish;

const SIZE: CallSize =
    CallSize { expected_prompt: 90, whole_prompt: 100, at_most: CallTokens { prompt: 400, completion: 50 } };

fn tokens(prompt: u64, completion: u64) -> CallTokens {
    CallTokens { prompt, completion }
}

/// The bill for an answer of five words with this usage.
fn bill(prompt_tokens: Option<u64>, completion_tokens: Option<u64>) -> CallCost {
    let usage = TokenUsage { prompt_tokens, completion_tokens, ..TokenUsage::default() };
    let text = "one two three four five".to_owned();
    CallCost::from_answer(&SIZE, &Ok(ModelReply { text, calls: vec![], finish: Finish::Stop, usage }))
}

#[test]
fn an_endpoint_is_believed_between_our_count_and_the_reservation() {
    let max = u64::MAX;
    // said, counted, billed, claimed
    let cases = [
        ((None, None), (100, 5), (100, 5), None),
        ((Some(120), Some(7)), (120, 7), (120, 7), None),
        ((Some(400), Some(50)), (400, 50), (400, 50), None),
        ((Some(95), Some(7)), (100, 7), (95, 7), Some((95, 7))),
        ((Some(0), Some(0)), (100, 5), (0, 0), Some((0, 0))),
        ((Some(120), None), (120, 5), (120, 5), None),
        ((None, Some(9)), (100, 9), (100, 9), None),
        ((Some(401), Some(7)), (400, 7), (400, 7), Some((401, 7))),
        ((Some(120), Some(51)), (120, 50), (120, 50), Some((120, 51))),
        ((Some(max), Some(max)), (400, 50), (400, 50), Some((max, max))),
        ((Some(max), None), (400, 5), (400, 5), Some((max, 5))),
    ];
    for ((prompt, completion), counted, billed, claimed) in cases {
        let expected = CallCost::Known {
            counted: tokens(counted.0, counted.1),
            billed: tokens(billed.0, billed.1),
            claimed: claimed.map(|(prompt, completion)| tokens(prompt, completion)),
        };
        assert_eq!(bill(prompt, completion), expected, "{prompt:?} {completion:?}");
    }
}

#[test]
fn only_more_than_the_reservation_is_too_much() {
    let most = SIZE.at_most;
    for (claimed, expected) in
        [((400, 50), false), ((0, 0), false), ((401, 0), true), ((0, 51), true), ((u64::MAX, u64::MAX), true)]
    {
        assert_eq!(exceeds_maximum(&tokens(claimed.0, claimed.1), &most), expected, "{claimed:?}");
    }
}

#[test]
fn a_long_answer_without_usage_is_no_claim() {
    let reply =
        ModelReply { text: "word ".repeat(500), calls: vec![], finish: Finish::Stop, usage: TokenUsage::default() };
    for usage in [TokenUsage::default(), TokenUsage { prompt_tokens: Some(120), ..TokenUsage::default() }] {
        let CallCost::Known { counted, claimed, .. } =
            CallCost::from_answer(&SIZE, &Ok(ModelReply { usage, ..reply.clone() }))
        else {
            panic!("the answer was not billed");
        };
        assert_eq!((counted.completion, claimed), (50, None));
    }
}

#[test]
fn an_error_is_free_only_where_that_is_certain() {
    let said = || "no".to_owned();
    let free = CallCost::Known { counted: tokens(0, 0), billed: tokens(0, 0), claimed: None };
    let partly = CallCost::Known { counted: tokens(100, 7), billed: tokens(100, 7), claimed: None };
    let read = CallCost::Known { counted: tokens(100, 0), billed: tokens(100, 0), claimed: None };
    let cases = [
        (ModelError::Misconfigured { why: said() }, free),
        (ModelError::Refused { why: said() }, free),
        (ModelError::Resting { failures: 3, for_: Duration::ZERO }, free),
        (ModelError::NotRecorded { key: said() }, free),
        (ModelError::Unauthorized { status: 401, said: said() }, free),
        (ModelError::NotFound { said: said() }, free),
        (ModelError::BadRequest { status: 400, said: said() }, free),
        (ModelError::RateLimited { retry_after: None, said: said() }, free),
        (ModelError::TooLong { said: said() }, free),
        (ModelError::Declined { said: said(), written: 0 }, read),
        (ModelError::Declined { said: said(), written: 7 }, partly),
        (ModelError::Unreachable { said: said() }, free),
        (ModelError::Server { status: 500, retry_after: None, said: said() }, CallCost::Unknown),
        (ModelError::Connection { said: said() }, CallCost::Unknown),
        (ModelError::TimedOut { after: Duration::ZERO }, CallCost::Unknown),
        (ModelError::Oversized { max_bytes: 1 }, CallCost::Unknown),
        (ModelError::Unreadable { why: said() }, CallCost::Unknown),
    ];
    for (error, expected) in cases {
        assert_eq!(CallCost::from_answer(&SIZE, &Err(error.clone())), expected, "{error}");
    }
}
