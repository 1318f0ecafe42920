use super::*;

fn packed(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

fn unpacked(bytes: &[u8], known: usize) -> (String, bool) {
    let (beginning, mut rest) = bytes.split_at(known.min(bytes.len()));
    let mut unpacked = DecompressedLog::new(beginning.to_vec(), &mut rest);
    let damage = unpacked.damage_flag();
    let mut text = String::new();
    unpacked.read_to_string(&mut text).unwrap();
    (text, damage.is_set())
}

#[test]
fn frames_that_follow_each_other_are_one_log() {
    let other = b"\x51\x2a\x4d\x18\x03\0\0\0xyz";
    let bytes = [packed("one\n").as_slice(), other, &packed("two\n"), &packed(""), other, &packed("three\n")].concat();
    for known in [0, 4, 30, 1000] {
        assert_eq!(unpacked(&bytes, known), ("one\ntwo\nthree\n".to_owned(), false), "{known}");
    }
}

#[test]
fn a_damaged_log_keeps_what_comes_before() {
    let first = packed("one\n");
    let second = packed(&(0..20_000).map(|n| n.to_string()).collect::<String>());
    let cut = [first.as_slice(), &second[..second.len() / 2]].concat();
    let (text, is_damaged) = unpacked(&cut, 10);
    assert!(text.starts_with("one\n") && is_damaged);
    assert_eq!(unpacked(&[first.as_slice(), b"not packed"].concat(), 10), ("one\n".to_owned(), true));
}

#[test]
fn an_error_of_the_disk_is_no_damage() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(Error::other("the disk is gone"))
        }
    }
    let text: String = (0..50_000).map(|n| n.to_string()).collect();
    let half = packed(&text);
    let mut broken = Broken;
    let mut unpacked = DecompressedLog::new(half[..half.len() / 2].to_vec(), &mut broken);
    let error = std::io::copy(&mut unpacked, &mut std::io::sink()).unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    let mut behind = DecompressedLog::new(packed("one"), &mut broken);
    let damage = behind.damage_flag();
    assert!(std::io::copy(&mut behind, &mut std::io::sink()).is_err() && !damage.is_set());
}
