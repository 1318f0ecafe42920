use serde_json::json;

use super::*;

#[derive(Default)]
struct Collect {
    lines: Vec<(u64, Value)>,
    is_over: bool,
}

impl LogReader for Collect {
    fn read_log_line(&mut self, number: u64, line: Value, _sink: &mut dyn EventSink) {
        self.lines.push((number, line));
    }

    fn finish_log(&mut self, _sink: &mut dyn EventSink) {
        self.is_over = true;
    }
}

/// Hands its bytes over in small and uneven pieces.
struct Dribble<'b>(&'b [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 * 7 % 4093 + 1;
        let length = self.1.min(self.0.len()).min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

fn read(bytes: &[u8]) -> (Collect, Vec<TrajectoryEvent>) {
    let mut collect = Collect::default();
    let mut events = Vec::new();
    LogLines::new(&mut Dribble(bytes, 3)).read_all(&mut collect, &mut events).unwrap();
    assert!(collect.is_over);
    (collect, events)
}

fn skipped(line: u64, why: &str) -> TrajectoryEvent {
    TrajectoryEvent::Skipped(SkippedLogLine { line, why: why.to_owned() })
}

#[test]
fn lines_are_read_and_what_is_none_is_reported() {
    type Row = (&'static [u8], &'static [u64], &'static [(u64, &'static str)]);
    let table: &[Row] = &[
        (b"", &[], &[]),
        (b"\n\n  \n", &[], &[]),
        (b"{\"a\":1}\n{\"a\":2}", &[1, 2], &[]),
        (b"{\"a\":1}\r\n\r\n{\"a\":2}\r\n", &[1, 3], &[]),
        (b"\xef\xbb\xbf{\"a\":1}\n", &[1], &[]),
        (b"{\"a\":\"caf\xe9\"}\n", &[1], &[]),
        (b"{\"a\":1}\n{\"a\":\n{\"a\":3}\n", &[1, 3], &[(2, "the JSON is cut off")]),
        (b"{\"a\":1}\nhello\n", &[1], &[(2, "not JSON (column 1)")]),
        (
            b"[1]\n7\n",
            &[],
            &[
                (1, "a JSON array, where an object was expected"),
                (2, "a bare JSON value, where an object was expected"),
            ],
        ),
        (b"{\"a\":1}\0\n{}", &[1, 2], &[]),
        (
            b"\0\0\0{\"a\":1}\n{\"a\":NaN}\n{\"a\":1e999}\n{\"a\":\"\\ud83d\"}\n{\"a\":\"x\ty\"}\n",
            &[1, 2, 3, 4, 5],
            &[],
        ),
    ];
    for (bytes, lines, skips) in table {
        let (collect, events) = read(bytes);
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(collect.lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), *lines, "{shown}");
        assert_eq!(events, skips.iter().map(|(line, why)| skipped(*line, why)).collect::<Vec<_>>(), "{shown}");
    }
}

#[test]
fn a_line_of_megabytes_is_squeezed_and_its_neighbours_are_not() {
    let image = "A".repeat(5_000_000);
    let text = format!("{}\n{}\n{}\n", json!({"n": 1}), json!({"image": image, "n": 2}), json!({"n": 3}));
    let (collect, events) = read(text.as_bytes());
    let numbers: Vec<_> = collect.lines.iter().map(|(_, line)| line["n"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(collect.lines[1].1["image"].as_str().unwrap().len() < 250_000);
    assert!(
        matches!(events.as_slice(), [TrajectoryEvent::Cut(cut)] if cut.values == 1 && cut.bytes > 4_700_000),
        "{events:?}"
    );
}

#[test]
fn a_line_that_stays_too_long_is_given_up_alone() {
    let many: serde_json::Map<String, Value> = (0..400).map(|n| (n.to_string(), "y".repeat(60_000).into())).collect();
    let text = format!("{}\n{}\n", json!(many), json!({"n": 2}));
    let (collect, events) = read(text.as_bytes());
    assert_eq!(collect.lines.len(), 1);
    assert_eq!(events, [skipped(1, "the line is longer than 8 MB")]);
}

#[test]
fn a_line_of_very_many_values_keeps_the_first_of_them_and_what_comes_after() {
    let row = "{\"a\":1,\"b\":\"c\"},".repeat(400_000);
    let text = format!("{{\"rows\":{{\"of\":[{row}7]}},\"message\":{{\"content\":[1,2],\"id\":\"m\"}}}}\n");
    let (collect, events) = read(text.as_bytes());
    let line = &collect.lines[0].1;
    let kept = line["rows"]["of"].as_array().unwrap().len();
    assert!((1000..20_000).contains(&kept), "{kept}");
    assert_eq!(line["message"], json!({"content": [1, 2], "id": "m"}));
    assert!(
        matches!(events.as_slice(), [TrajectoryEvent::Cut(cut)] if cut.values == 1 && cut.bytes > 6_000_000),
        "{events:?}"
    );
}

#[test]
fn a_long_log_is_told_in_order_to_its_end() {
    let filler = "z".repeat(900);
    let text: String = (1..=20_000).map(|n| format!("{}\n", json!({"n": n, "filler": filler}))).collect();
    assert!(text.len() as u64 > 4 * LONG_LOG_BYTES);
    let (collect, events) = read(format!("{text}broken\n").as_bytes());
    let in_order = collect
        .lines
        .iter()
        .enumerate()
        .all(|(at, (number, line))| *number == at as u64 + 1 && line["n"].as_u64() == Some(*number));
    assert!(in_order && collect.lines.len() == 20_000);
    assert_eq!(events, [skipped(20_001, "not JSON (column 1)")]);
}

/// Fails after so many bytes.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("the disk is gone"));
        }
        let length = self.0.min(buffer.len());
        buffer[..length].fill(b'\n');
        self.0 -= length;
        Ok(length)
    }
}

#[test]
fn an_error_of_the_disk_is_one_wherever_it_comes() {
    for bytes in [0, 100, 20_000_000] {
        let error = LogLines::new(&mut Broken(bytes)).read_all(&mut Collect::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the disk is gone");
    }
}

#[test]
fn what_was_read_before_an_error_is_told() {
    let text = format!("{}\n", json!({"filler": "z".repeat(900)})).repeat(6000);
    for length in [text.len() / 60, text.len()] {
        let mut collect = Collect::default();
        let error =
            LogLines::new(&mut (&text.as_bytes()[..length]).chain(Broken(0))).read_all(&mut collect, &mut Vec::new());
        assert_eq!(error.unwrap_err().to_string(), "the disk is gone");
        assert_eq!(collect.lines.len(), length / (text.len() / 6000));
        assert!(collect.is_over);
    }
}
