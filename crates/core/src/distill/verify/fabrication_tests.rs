//! Quotations made up by a generator: every true one is kept, every false one is not.

use super::super::test_support::Did::{Begin, Calls, Edits, Fails, Reads, Runs, Says, User};
use super::super::test_support::{Dice, known, session};
use super::*;
use crate::context::step_text;

/// Four sessions of several steps, some of several runs.
fn sessions() -> Vec<ReflectionContext> {
    let rust = session(&[
        User("The cart total is wrong for empty carts.\nPlease fix it, and keep the public API as it is."),
        Says("I look at the failing test first, then at the rounding in cart::total."),
        Fails(
            "cargo test -p cart",
            "   Compiling cart v0.3.1 (/home/dev/shop/cart)\r\nrunning 14 tests\r\ntest empty_cart_costs_nothing ... FAILED\r\ntest two_lines_add_up ... ok\r\n\r\n---- empty_cart_costs_nothing stdout ----\r\nthread 'empty_cart_costs_nothing' panicked at cart/src/total.rs:41:9:\r\nassertion `left == right` failed\r\n  left: 1\r\n right: 0\r\n",
        ),
        Edits("cart/src/total.rs", "let sum = lines.iter().fold(1, add);", "let sum = lines.iter().fold(0, add);"),
        Runs(
            "cargo test -p cart",
            "running 14 tests\ntest result: ok. 14 passed; 0 failed; 0 ignored; finished in 0.42s",
        ),
        Says("The fold began at one; it begins at zero now, and all fourteen tests pass."),
        User("Good. Next time run the whole workspace, not only the one crate."),
    ]);
    let web = session(&[
        User("Das Bezahlformular zeigt in Safari keine Umlaute: „Grüße“ wird zu „GrÃ¼Ã\u{9f}e“."),
        Fails(
            "pnpm vitest run checkout",
            "\tFAIL\tsrc/checkout/form.spec.ts > greets\n\tAssertionError: expected 'GrÃ¼' to be 'Grü'\n\t\tat src/checkout/form.spec.ts:22:17\n\n Test Files  1 failed (1)\n      Tests  1 failed | 8 passed (9)\n   Duration  1.81s",
        ),
        Reads("src/checkout/form.ts", "export function greet(name: string) {\n\treturn decode(name, 'latin1');\n}\n"),
        Edits("src/checkout/form.ts", "decode(name, 'latin1')", "decode(name, 'utf-8')"),
        Runs("pnpm vitest run checkout", " Test Files  1 passed (1)\n      Tests  9 passed (9)\n   Duration  1.66s"),
        Says("Die Namen wurden als Latin-1 gelesen; jetzt als UTF-8 — 日本語の名前も正しく表示されます。"),
    ]);
    let ops = session(&[
        User("Deploy the staging stack; the migration job keeps dying."),
        Fails(
            "kubectl logs job/migrate -n staging",
            "2026-11-16T09:12:01Z INFO  applying 0042_orders.sql\n2026-11-16T09:12:31Z ERROR canceling statement due to lock timeout\n2026-11-16T09:12:31Z ERROR canceling statement due to lock timeout\n2026-11-16T09:12:32Z FATAL job failed after 3 attempts",
        ),
        Says("Another session holds the lock on orders; I stop the reporting worker while the migration runs."),
        Runs("kubectl scale deploy/reporting --replicas=0 -n staging", "deployment.apps/reporting scaled"),
        Runs("kubectl create job --from=cronjob/migrate migrate-2 -n staging", "job.batch/migrate-2 created"),
        Runs(
            "kubectl logs job/migrate-2 -n staging",
            "2026-11-16T09:20:44Z INFO  applying 0042_orders.sql\n2026-11-16T09:20:47Z INFO  done in 3.1s",
        ),
        Begin,
        User("Check the dashboards of the reporting worker."),
        Calls(
            "mcp__grafana__query",
            serde_json::json!({"panel": 7}),
            "queue_depth 1842\nqueue_depth 1840\nqueue_depth 0",
        ),
        Says("The queue drains again once the worker is back."),
    ]);
    let python = session(&[
        User("mypy complains since we moved to Python 3.13, and CI is red."),
        Fails(
            "mypy src",
            "src/jobs/runner.py:88: error: Argument 1 to \"submit\" has incompatible type \"str\"; expected \"Job\"  [arg-type]\nsrc/jobs/runner.py:91: error: Argument 1 to \"submit\" has incompatible type \"str\"; expected \"Job\"  [arg-type]\nFound 2 errors in 1 file (checked 61 source files)",
        ),
        Says("submit() takes a Job since last week; the two callers still pass the name."),
        Edits("src/jobs/runner.py", "pool.submit(name)", "pool.submit(Job(name=name))"),
        Runs("mypy src", "Success: no issues found in 61 source files"),
    ]);
    let mut all = vec![rust, web, ops, python];
    for context in &mut all {
        context.existing_memories = vec![
            known("Run the whole workspace before you say that all tests pass in every crate."),
            known("Stop the reporting worker while a migration of the orders table runs."),
        ];
    }
    all
}

/// A stretch of a passage: from one word to a later one.
fn stretch(dice: &mut Dice, text: &str, words: usize) -> Option<String> {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|(at, c)| {
            !c.is_whitespace() && text.get(..*at).unwrap().chars().next_back().is_none_or(char::is_whitespace)
        })
        .map(|(at, _)| at)
        .collect();
    let first = dice.roll(starts.len());
    let start = *starts.get(first)?;
    let end = starts.get(first + words).copied().unwrap_or(text.len());
    let stretch = text.get(start..end)?.trim_end();
    (letter_weight(stretch) >= MIN_PROOF + 4).then(|| stretch.to_owned())
}

fn all_passages(context: &ReflectionContext) -> Vec<(StepReference, String)> {
    let mut all = Vec::new();
    for (trajectory, one) in context.trajectories.iter().enumerate() {
        for step in &one.steps {
            let place = StepReference { trajectory: u32::try_from(trajectory).unwrap(), step: step.number };
            all.extend(quotable_texts(step).into_iter().map(|passage| (place, passage.text.into_owned())));
        }
    }
    all
}

/// Whether the words stand in a step in any way that counts: the plain meaning of the rule, written another way.
fn stands(context: &ReflectionContext, place: StepReference, text: &str) -> bool {
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    all_passages(context).iter().any(|(at, passage)| *at == place && fold(passage).contains(&fold(text)))
}

fn is_kept(context: &ReflectionContext, place: StepReference, text: &str) -> bool {
    let cited = UncheckedQuote { place, text: text.to_owned(), level: None };
    let mut claim = super::super::test_support::claim("x", None, &[]);
    claim.quotes = vec![cited];
    match QuoteLookup::new(context, &PassedOnLines::default()).look_up_all(&claim) {
        Ok(found) => {
            for one in &found {
                let trajectory = &context.trajectories[usize::try_from(one.place.trajectory).unwrap()];
                let step = trajectory.steps.iter().find(|step| step.number == one.place.step).unwrap();
                let (start, end) = (usize::try_from(one.quote.start).unwrap(), usize::try_from(one.quote.end).unwrap());
                assert_eq!(step_text(step).get(start..end), Some(one.quote.text.as_str()));
            }
            true
        }
        Err(_) => false,
    }
}

#[test]
fn true_quotations_are_kept_and_false_ones_are_not() {
    let sessions = sessions();
    let mut dice = Dice(16);
    let mut kept = std::collections::BTreeMap::<&str, (u32, u32)>::new();
    let mut rejected = std::collections::BTreeMap::<&str, (u32, u32)>::new();
    for round in 0..900 {
        let context = dice.pick(&sessions);
        let all = all_passages(context);
        let (place, passage) = dice.pick(&all).clone();
        let words = 3 + dice.roll(14);
        let Some(text) = stretch(&mut dice, &passage, words) else { continue };
        let folded = text.split_whitespace().collect::<Vec<_>>();
        let (is_true, how, text, place) = match round % 12 {
            0 => (true, "verbatim", text, place),
            1 => (true, "wrapped anew", folded.join("\n    "), place),
            2 if folded.len() >= 6 => {
                let (head, tail) = (folded[..folded.len() / 3].join(" "), folded[folded.len() - 2..].join(" "));
                if letter_weight(&head).max(letter_weight(&tail)) < MIN_PROOF {
                    continue;
                }
                (
                    true,
                    "with something left out",
                    format!("{head} {} {tail}", dice.pick(&["…", "...", "[…]", "[...]"])),
                    place,
                )
            }
            3 => (true, "in quotation marks", format!("`{text}`"), place),
            4 => (true, "long", passage.clone(), place),
            5 => {
                let made_up = [
                    "the linker ran out of disk space",
                    "expected struct `Invoice`, found `Order`",
                    "port 9443 is taken by nginx",
                ];
                (false, "invented", (*dice.pick(&made_up)).to_owned(), place)
            }
            6 => {
                let mut changed: Vec<String> = folded.iter().map(|word| (*word).to_owned()).collect();
                let at = dice.roll(changed.len());
                changed[at] = "quagga".to_owned();
                (false, "one word changed", changed.join(" "), place)
            }
            7 => {
                let step = if place.step > 1 { place.step - 1 } else { place.step + 1 };
                (false, "shifted by a step", text, StepReference { step, ..place })
            }
            8 => {
                let mut other = folded.clone();
                other.reverse();
                (false, "said with other words", format!("basically {}", other.join(" ")), place)
            }
            9 => {
                let (_, other) = dice.pick(&all).clone();
                let Some(more) = stretch(&mut dice, &other, words) else { continue };
                (false, "stitched from two passages", format!("{text} … {more}"), place)
            }
            10 => {
                let changed: String = text
                    .chars()
                    .flat_map(|c| if c.is_lowercase() { c.to_uppercase().collect::<Vec<_>>() } else { vec![c] })
                    .collect();
                (false, "in capitals", changed, place)
            }
            _ => (false, "a known lesson", context.existing_memories[dice.roll(2)].summary.clone(), place),
        };
        // By chance a false quotation may be a true one.
        let marks = ["…", "...", "[…]", "[...]"];
        if !is_true
            && (stands(context, place, &text)
                || marks.iter().any(|mark| text.split(mark).all(|part| stands(context, place, part))))
        {
            continue;
        }
        let is_echo = is_true
            && context
                .existing_memories
                .iter()
                .any(|one| overlaps_lesson(&normalize_words(&one.summary), &normalize_words(&text)));
        if is_true && (letter_weight(&text) < MIN_PROOF || is_echo) {
            continue;
        }
        let (tally, is_right) =
            (if is_true { &mut kept } else { &mut rejected }, is_kept(context, place, &text) == is_true);
        let (right, count) = tally.entry(how).or_default();
        *right += u32::from(is_right);
        *count += 1;
        assert!(is_right, "{how}: {text:?} at {place:?}");
    }
    let sum =
        |tally: &std::collections::BTreeMap<&str, (u32, u32)>| tally.values().map(|(_, count)| count).sum::<u32>();
    println!("true quotations kept: {kept:?}\nfalse quotations rejected: {rejected:?}");
    assert!(sum(&kept) >= 150 && sum(&rejected) >= 150, "{} and {}", sum(&kept), sum(&rejected));
    assert!(kept.len() == 5 && rejected.len() == 7);
}

#[test]
fn what_a_session_was_given_by_us_cannot_be_quoted() {
    let given = "<archivist-lessons>\nAlways rebuild the index after a merge of two banks.\n</archivist-lessons>\n";
    let context = session(&[
        User(&format!("{given}Fix the index, please.")),
        Runs("cat notes", &format!("before\n{given}after")),
    ]);
    for step in [1, 2] {
        let place = StepReference { trajectory: 0, step };
        assert!(!is_kept(&context, place, "Always rebuild the index after a merge of two banks."));
    }
    assert!(is_kept(&context, StepReference { trajectory: 0, step: 1 }, "Fix the index, please."));
}
