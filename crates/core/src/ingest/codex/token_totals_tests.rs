use serde_json::json;

use super::*;

/// Totals and the last request, each as input, cached and output.
type Counts = (Option<(u64, u64, u64)>, Option<(u64, u64, u64)>);

fn own(counts: &[(TokenCountOwner, Counts)]) -> Option<(u64, u64, u64)> {
    let mut meter = CodexTokenMeter::default();
    for (owner, (total, last)) in counts {
        let write = |(input, cached, output): (u64, u64, u64)| json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output});
        let info = json!({"total_token_usage": total.map(write), "last_token_usage": last.map(write)});
        meter.record_count(json_fields::into_object(info), *owner);
    }
    let own = meter.own_usage()?;
    Some((own.prompt_tokens?, own.cached_tokens?, own.completion_tokens?))
}

#[test]
fn totals_are_cumulative_and_repetitions_count_once() {
    use TokenCountOwner::{Fork, Parent, This};
    let all = |input, cached, output| Some((input, cached, output));
    for (counts, expected) in [
        (vec![(This, (all(10, 1, 2), all(10, 1, 2))), (This, (all(30, 5, 6), all(20, 4, 4)))], all(30, 5, 6)),
        (
            vec![(This, (all(10, 1, 2), None)), (This, (all(10, 1, 2), None)), (This, (all(15, 1, 3), None))],
            all(15, 1, 3),
        ),
        // The parent's totals are not this session's.
        (vec![(Parent, (all(1000, 100, 200), None)), (Fork, (all(1600, 300, 450), None))], all(600, 200, 250)),
        (
            vec![
                (Parent, (all(9, 0, 1), None)),
                (Parent, (all(1000, 100, 200), None)),
                (Fork, (all(1000, 100, 200), None)),
            ],
            None,
        ),
        // The parent's records are elsewhere.
        (vec![(Fork, (all(5000, 0, 500), all(40, 0, 4))), (Fork, (all(5050, 0, 505), all(50, 0, 5)))], all(90, 0, 9)),
        // A subagent that copied its parent and counts from zero.
        (vec![(Parent, (all(5000, 0, 500), None)), (Fork, (all(40, 0, 4), all(40, 0, 4)))], all(40, 0, 4)),
        // A count that began anew may be larger at once.
        (vec![(This, (all(100, 0, 10), all(100, 0, 10))), (This, (all(150, 0, 12), all(150, 0, 12)))], all(250, 0, 22)),
        (vec![(This, (all(150, 0, 12), all(150, 0, 12))), (This, (all(150, 0, 12), all(150, 0, 12)))], all(150, 0, 12)),
        // No totals at all.
        (vec![(This, (None, all(7, 0, 1))), (This, (None, all(7, 0, 1))), (This, (None, all(8, 0, 1)))], all(15, 0, 2)),
        (vec![(This, (None, None))], None),
    ] {
        assert_eq!(own(&counts), expected, "{counts:?}");
    }
}

#[test]
fn strange_counts_do_no_harm() {
    for info in [json!({"total_token_usage": {"input_tokens": -3}}), json!({"last_token_usage": 4}), json!({})] {
        let mut meter = CodexTokenMeter::default();
        assert_eq!(meter.record_count(json_fields::into_object(info), TokenCountOwner::This), None);
        assert_eq!(meter.own_usage(), None);
    }
}
