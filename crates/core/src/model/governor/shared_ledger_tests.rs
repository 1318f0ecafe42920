use super::*;
use crate::model::governor::money::CallAmount;

fn date() -> NaiveDate {
    noon().date_naive()
}

fn noon() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn line(number: u64, id: &str, tokens: u64) -> NumberedLine {
    let amount = CallAmount { prompt_tokens: tokens, completion_tokens: 0, micro_usd: 0 };
    let text = |word: &str| word.to_owned();
    let reserve = ReservationEntry {
        id: id.to_owned(),
        at: noon(),
        project: text("p"),
        endpoint: text("e"),
        model: text("m"),
        amount,
    };
    (number, encode_entry(&SpendLedgerEntry::Reserve(reserve)).unwrap())
}

fn tokens(reading: &SharedReadState) -> u128 {
    reading.day.total.total_tokens()
}

#[test]
fn only_what_was_added_is_read() {
    let mut reading = SharedReadState::default();
    assert_eq!(reading.first_line_to_read(date()), 0);
    assert!(reading.catch_up(date(), &[line(1, "a", 5), line(2, "b", 7)]));
    assert_eq!(reading.first_line_to_read(date()), 2);
    assert!(reading.catch_up(date(), &[line(2, "b", 7), line(3, "c", 1)]));
    assert_eq!((tokens(&reading), reading.first_line_to_read(date())), (13, 3));
    assert!(reading.catch_up(date(), &[line(3, "c", 1)]));
    assert_eq!((tokens(&reading), reading.day.calls), (13, 3));
}

#[test]
fn what_does_not_go_on_from_what_was_read_is_read_anew() {
    for strange in [vec![line(2, "x", 7), line(3, "c", 1)], vec![], vec![line(3, "c", 1)]] {
        let mut reading = SharedReadState::default();
        assert_eq!(reading.first_line_to_read(date()), 0);
        assert!(reading.catch_up(date(), &[line(1, "a", 5), line(2, "b", 7)]));
        assert!(!reading.catch_up(date(), &strange), "{strange:?}");
        assert_eq!((tokens(&reading), reading.first_line_to_read(date())), (0, 0));
        assert!(reading.catch_up(date(), &[line(1, "a", 5), line(2, "x", 8)]));
        assert_eq!(tokens(&reading), 13);
    }
}

#[test]
fn another_day_begins_with_nothing() {
    let mut reading = SharedReadState::default();
    assert_eq!(reading.first_line_to_read(date()), 0);
    assert!(reading.catch_up(date(), &[line(1, "a", 5)]));
    let tomorrow = date().succ_opt().unwrap();
    assert!(!reading.catch_up(tomorrow, &[line(1, "b", 1)]), "lines of a day that was not asked for");
    assert_eq!(reading.first_line_to_read(tomorrow), 0);
    assert_eq!(tokens(&reading), 0);
}

#[test]
fn who_comes_late_with_what_others_have_read_takes_nothing_away() {
    let mut reading = SharedReadState::default();
    let today = NaiveDate::from_ymd_opt(2026, 11, 15).unwrap();
    assert_eq!(reading.first_line_to_read(today), 0);
    let lines: Vec<NumberedLine> = (1..=4).map(|number| line(number, &format!("c{number}"), 10)).collect();
    assert!(reading.catch_up(today, &lines));
    let known = tokens(&reading);
    assert!(reading.catch_up(today, &lines[..2]), "they are known");
    assert_eq!((reading.first_line_to_read(today), tokens(&reading)), (4, known));
    assert!(!reading.catch_up(today, &[]), "the last one is gone: another server has taken over");
    assert_eq!(reading.first_line_to_read(today), 0);
}

/// A ledger in which midnight goes by while somebody waits for their turn, and whose connection breaks once.
#[derive(Debug, Default)]
struct Slow {
    written: Mutex<Vec<(NaiveDate, String)>>,
}

impl SharedLedger for Slow {
    fn describe_location(&self) -> String {
        "nowhere".to_owned()
    }

    fn ledger_memo(&self) -> Arc<LedgerMemo> {
        Arc::default()
    }

    fn read_day_lines(&self, _: NaiveDate) -> Result<Vec<NumberedLine>, LedgerError> {
        Ok(Vec::new())
    }

    fn reserve_call(&self, id: &str, day: NaiveDate, decide: &Deciding<'_>) -> Result<(), LedgerError> {
        let LedgerInstruction::Day(day) = decide(day, None) else { panic!("midnight went by unseen") };
        for attempt in 0..2 {
            assert_eq!(decide(day, None), LedgerInstruction::ReadFrom(0));
            let LedgerInstruction::Write(call) = decide(day, Some(&[])) else { panic!("nothing speaks against it") };
            assert!(call.line.contains(id) && call.at.date_naive() == day);
            if attempt == 1 {
                self.written.lock().unwrap().push((day, call.line));
            }
        }
        Ok(())
    }

    fn charge_call(&self, _: &str, _: NaiveDate, _: &str) -> Result<(), LedgerError> {
        Ok(())
    }
}

#[test]
fn the_day_is_the_one_on_which_it_is_written_and_what_is_tried_again_is_one_reservation() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let slow = Arc::new(Slow::default());
    let shared = SharedSpendLedger::new(Arc::clone(&slow) as Arc<dyn SharedLedger>);
    let asked = AtomicU32::new(0);
    let clock = || match asked.fetch_add(1, Ordering::Relaxed) {
        0 => "2026-11-15T23:59:59Z".parse().unwrap(),
        _ => "2026-11-16T00:00:00Z".parse().unwrap(),
    };
    let reserve = |at: Timestamp, id: String| {
        let (project, endpoint, model) = ("p".to_owned(), "e".to_owned(), "m".to_owned());
        ReservationEntry { id, at, project, endpoint, model, amount: CallAmount::default() }
    };
    let (at, id) = shared.reserve_call(&clock, &|_, _| None, &reserve).unwrap().unwrap();
    assert_eq!(at.to_rfc3339(), "2026-11-16T00:00:00+00:00");
    let written = slow.written.lock().unwrap();
    assert!(written.len() == 1 && written[0].0 == date() && written[0].1.contains(&id), "{written:?}");
}
