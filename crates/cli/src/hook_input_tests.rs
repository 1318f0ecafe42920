use std::io::Cursor;
use std::time::Instant;

use super::*;

/// A pipe that stays open: what it holds can be read, and then nothing comes any more.
struct OpenPipe(Cursor<Vec<u8>>);

impl Read for OpenPipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => loop {
                std::thread::park();
            },
            count => Ok(count),
        }
    }
}

fn read_open(text: &str) -> Result<String, CliError> {
    let bytes = read_within(Duration::from_secs(60), Box::new(OpenPipe(Cursor::new(text.into()))))?;
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn a_payload_is_over_where_its_json_is() {
    for text in [r#"{"a": {"b": ["}", "\"}"]}}"#, r#"{}"#, "  \n{\"ä\": 1}", r#"["x"]"#] {
        assert_eq!(read_open(text).unwrap(), text);
        assert_eq!(read_open(&format!("{text}\n")).unwrap(), text);
    }
}

#[test]
fn a_long_payload_is_whole() {
    let text = format!("{{\"prompt\": \"{}\"}}", "word ".repeat(100_000));
    assert_eq!(read_open(&text).unwrap(), text);
}

#[test]
fn what_is_no_json_is_read_to_its_end() {
    for text in ["", "no json", "{\"a\": ", "nul"] {
        assert_eq!(read_payload(Box::new(Cursor::new(text))).unwrap(), text);
    }
    assert_eq!(read_payload(Box::new(Cursor::new(b"{\"a\": \"\xff\"}"))).unwrap(), "{\"a\": \"\u{fffd}\"}");
}

#[test]
fn half_a_payload_is_not_awaited_for_ever() {
    let began = Instant::now();
    let error = read_within(Duration::from_millis(10), Box::new(OpenPipe(Cursor::new(b"{\"a\": ".to_vec()))));
    assert!(error.unwrap_err().to_string().contains("no whole payload"));
    assert!(began.elapsed() < Duration::from_secs(30));
}
