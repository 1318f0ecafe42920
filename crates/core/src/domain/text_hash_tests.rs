use proptest::prelude::*;

use super::*;

#[test]
fn stored_hashes_stay_the_same() {
    let text = StableHash::from_text("Use pnpm");
    assert_eq!(text.to_digits(12), "f304c2502bea");
    assert_eq!(text.to_bytes(), [0xf3, 0x04, 0xc2, 0x50, 0x2b, 0xea]);
    assert_eq!((text.to_digits(0), text.to_digits(100).len()), (String::new(), 64));
    assert_eq!(StableHash::from_bytes(b"{}").to_digits(16), "6e46dd10defc9b56");
    assert_eq!(StableHash::from_parts(["bash", "ECONNREFUSED", ""]).to_digits(16), "1bb893b89c89df2a");
    assert_eq!(StableHash::default().with_part("/shop").with_text("s-1").to_digits(20), "56813d9706ec5b218566");
}

proptest! {
    #[test]
    fn pieces_hash_like_the_whole_and_parts_do_not_run_together(one in "\\PC{0,40}", other in "\\PC{0,40}") {
        let whole = StableHash::from_text(&format!("{one}{other}"));
        prop_assert_eq!(StableHash::from_text(&one).with_text(&other).to_bytes::<32>(), whole.to_bytes::<32>());
        let parts = StableHash::from_parts([one.as_str(), &other]);
        prop_assert_ne!(parts.to_bytes::<32>(), StableHash::from_parts([format!("{one}{other}").as_str()]).to_bytes());
        let expected = blake3::hash(format!("{one}\0{other}\0").as_bytes());
        prop_assert_eq!(&parts.to_bytes::<32>(), expected.as_bytes());
        prop_assert_eq!(one == other, fingerprint_text(&one) == fingerprint_text(&other));
    }
}
