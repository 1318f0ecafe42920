use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::super::test_support::safetensors;
use super::{EmbedError, SafetensorsFile, from_bf16, from_f16};

fn open(bytes: &[u8]) -> (TempDir, Result<SafetensorsFile, EmbedError>) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("model.safetensors");
    std::fs::write(&path, bytes).unwrap();
    let weights = SafetensorsFile::open(&path);
    (dir, weights)
}

/// What reading the tensor `t` as two rows of two numbers comes to.
fn read(bytes: &[u8]) -> Result<Vec<f32>, String> {
    let (_dir, weights) = open(bytes);
    let numbers = weights.and_then(|mut weights| weights.read_matrix("t", 2, 2));
    numbers.map(|numbers| numbers.into_raw_vec_and_offset().0).map_err(|error| error.to_string())
}

fn entry(dtype: &str, shape: &[u64], begin: u64, end: u64) -> serde_json::Value {
    json!({ "t": { "dtype": dtype, "shape": shape, "data_offsets": [begin, end] }, "other": "strange" })
}

#[test]
fn numbers_are_read_from_where_the_header_says() {
    let data: Vec<u8> = [9.0_f32, 1.0, -2.5, 0.0, 1e-30].iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(read(&safetensors(&entry("F32", &[2, 2], 4, 20), &data)), Ok(vec![1.0, -2.5, 0.0, 1e-30]));
}

#[test]
fn every_half_precision_number_is_read_right() {
    for bits in 0..=u16::MAX {
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
        let expected = match exponent {
            0 => sign * fraction * 2_f64.powi(-24),
            31 if fraction == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            _ => sign * (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
        };
        let found = f64::from(from_f16(bits));
        assert!(found == expected || found.is_nan() && expected.is_nan(), "{bits:#x}: {found} is not {expected}");
    }
    for number in [0.0, 1.0, -1.5, 3.140625, 1e38_f32] {
        let upper = u16::try_from(number.to_bits() >> 16).unwrap();
        assert!((from_bf16(upper) - number).abs() <= number.abs() / 128.0, "{number}");
    }
}

#[test]
fn a_file_that_cannot_be_trusted_is_refused_in_a_sentence() {
    let four = [0; 16];
    let huge = u64::MAX;
    let table = [
        (vec![], "only the beginning"),
        (vec![1, 2, 3], "only the beginning"),
        (huge.to_le_bytes().to_vec(), "only the beginning"),
        (b"version https://git-lfs.github.com/spec/v1\n".to_vec(), "only the beginning"),
        (2_u64.to_le_bytes().into_iter().chain(*b"{").collect(), "only the beginning"),
        (2_u64.to_le_bytes().into_iter().chain(*b"{]").collect(), "header is broken"),
        (2_u64.to_le_bytes().into_iter().chain(*b"[]").collect(), "header is broken"),
        (safetensors(&json!({}), &four), "tensor t: it is not there"),
        (safetensors(&json!({ "t": 7 }), &four), "tensor t: invalid type"),
        (
            safetensors(&json!({ "t": { "dtype": "F32", "shape": [2, 2], "data_offsets": [0] } }), &four),
            "tensor t: inv",
        ),
        (
            safetensors(&json!({ "t": { "dtype": "F32", "shape": [2, 2], "data_offsets": [-1, 2] } }), &four),
            "tensor t: inv",
        ),
        (safetensors(&entry("F32", &[4], 0, 16), &four), "its shape is [4], config.json says [2, 2]"),
        (safetensors(&entry("F32", &[huge, huge], 0, 16), &four), "its shape is"),
        (safetensors(&entry("I64", &[2, 2], 0, 16), &four), "made of \"I64\""),
        (safetensors(&entry("F32", &[2, 2], 0, 15), &four), "does not fit its shape"),
        (safetensors(&entry("F32", &[2, 2], 16, 0), &four), "does not fit its shape"),
        (safetensors(&entry("F32", &[2, 2], huge - 16, huge), &four), "the file ends before it does"),
        (safetensors(&entry("F32", &[2, 2], 1, 17), &four), "the file ends before it does"),
    ];
    for (bytes, expected) in table {
        let error = read(&bytes).expect_err(expected);
        assert!(error.contains(expected), "{error} does not say {expected:?}");
        assert!(error.contains("model.safetensors") && error.contains("; ") && !error.contains('\n'), "{error}");
    }
}

proptest! {
    #[test]
    fn no_bytes_at_all_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn no_header_at_all_makes_it_panic(
        dtype in "F32|F16|BF16|F8|",
        shape in prop::collection::vec(prop_oneof![Just(2), any::<u64>()], 0..4),
        begin in any::<u64>(),
        end in any::<u64>(),
    ) {
        let _ = read(&safetensors(&entry(&dtype, &shape, begin, end), &[0; 16]));
    }
}
