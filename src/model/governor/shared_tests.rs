use super::*;
use crate::model::governor::money::Amount;

fn date() -> NaiveDate {
    noon().date_naive()
}

fn noon() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn line(number: u64, id: &str, tokens: u64) -> NumberedLine {
    let amount = Amount { prompt_tokens: tokens, completion_tokens: 0, micro_usd: 0 };
    let text = |word: &str| word.to_owned();
    let reserve =
        Reserve { id: id.to_owned(), at: noon(), project: text("p"), endpoint: text("e"), model: text("m"), amount };
    (number, written(&Entry::Reserve(reserve)).unwrap())
}

fn tokens(reading: &Reading) -> u128 {
    reading.day.total.tokens()
}

#[test]
fn only_what_was_added_is_read() {
    let mut reading = Reading::default();
    assert_eq!(reading.begin(date()), 0);
    assert!(reading.catch_up(date(), &[line(1, "a", 5), line(2, "b", 7)]));
    assert_eq!(reading.begin(date()), 2);
    assert!(reading.catch_up(date(), &[line(2, "b", 7), line(3, "c", 1)]));
    assert_eq!((tokens(&reading), reading.begin(date())), (13, 3));
    assert!(reading.catch_up(date(), &[line(3, "c", 1)]));
    assert_eq!((tokens(&reading), reading.day.calls), (13, 3));
}

#[test]
fn what_does_not_go_on_from_what_was_read_is_read_anew() {
    for strange in [vec![line(2, "x", 7), line(3, "c", 1)], vec![], vec![line(3, "c", 1)]] {
        let mut reading = Reading::default();
        assert_eq!(reading.begin(date()), 0);
        assert!(reading.catch_up(date(), &[line(1, "a", 5), line(2, "b", 7)]));
        assert!(!reading.catch_up(date(), &strange), "{strange:?}");
        assert_eq!((tokens(&reading), reading.begin(date())), (0, 0));
        assert!(reading.catch_up(date(), &[line(1, "a", 5), line(2, "x", 8)]));
        assert_eq!(tokens(&reading), 13);
    }
}

#[test]
fn another_day_begins_with_nothing() {
    let mut reading = Reading::default();
    assert_eq!(reading.begin(date()), 0);
    assert!(reading.catch_up(date(), &[line(1, "a", 5)]));
    let tomorrow = date().succ_opt().unwrap();
    assert!(!reading.catch_up(tomorrow, &[line(1, "b", 1)]), "lines of a day that was not asked for");
    assert_eq!(reading.begin(tomorrow), 0);
    assert_eq!(tokens(&reading), 0);
}

#[test]
fn who_comes_late_with_what_others_have_read_takes_nothing_away() {
    let mut reading = Reading::default();
    let today = NaiveDate::from_ymd_opt(2026, 11, 15).unwrap();
    assert_eq!(reading.begin(today), 0);
    let lines: Vec<NumberedLine> = (1..=4).map(|number| line(number, &format!("c{number}"), 10)).collect();
    assert!(reading.catch_up(today, &lines));
    let known = tokens(&reading);
    assert!(reading.catch_up(today, &lines[..2]), "they are known");
    assert_eq!((reading.begin(today), tokens(&reading)), (4, known));
    assert!(!reading.catch_up(today, &[]), "the last one is gone: another server has taken over");
    assert_eq!(reading.begin(today), 0);
}

/// A ledger in which midnight goes by while somebody waits for their turn, and whose connection breaks once.
#[derive(Debug, Default)]
struct Slow {
    written: Mutex<Vec<(NaiveDate, String)>>,
}

impl SharedLedger for Slow {
    fn place(&self) -> String {
        "nowhere".to_owned()
    }

    fn memo(&self) -> Arc<LedgerMemo> {
        Arc::default()
    }

    fn lines(&self, _: NaiveDate) -> Result<Vec<NumberedLine>, LedgerError> {
        Ok(Vec::new())
    }

    fn reserve(&self, id: &str, day: NaiveDate, decide: &Deciding<'_>) -> Result<(), LedgerError> {
        let Wish::Day(day) = decide(day, None) else { panic!("midnight went by unseen") };
        for attempt in 0..2 {
            assert_eq!(decide(day, None), Wish::ReadFrom(0));
            let Wish::Write(call) = decide(day, Some(&[])) else { panic!("nothing speaks against it") };
            assert!(call.line.contains(id) && call.at.date_naive() == day);
            if attempt == 1 {
                self.written.lock().unwrap().push((day, call.line));
            }
        }
        Ok(())
    }

    fn settle(&self, _: &str, _: NaiveDate, _: &str) -> Result<(), LedgerError> {
        Ok(())
    }
}

#[test]
fn the_day_is_the_one_on_which_it_is_written_and_what_is_tried_again_is_one_reservation() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let slow = Arc::new(Slow::default());
    let shared = Shared::new(Arc::clone(&slow) as Arc<dyn SharedLedger>);
    let asked = AtomicU32::new(0);
    let clock = || match asked.fetch_add(1, Ordering::Relaxed) {
        0 => "2026-11-15T23:59:59Z".parse().unwrap(),
        _ => "2026-11-16T00:00:00Z".parse().unwrap(),
    };
    let reserve = |at: Timestamp, id: String| {
        let (project, endpoint, model) = ("p".to_owned(), "e".to_owned(), "m".to_owned());
        Reserve { id, at, project, endpoint, model, amount: Amount::default() }
    };
    let (at, id) = shared.reserve(&clock, &|_, _| None, &reserve).unwrap().unwrap();
    assert_eq!(at.to_rfc3339(), "2026-11-16T00:00:00+00:00");
    let written = slow.written.lock().unwrap();
    assert!(written.len() == 1 && written[0].0 == date() && written[0].1.contains(&id), "{written:?}");
}
