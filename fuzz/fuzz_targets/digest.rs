#![no_main]

mod support;

use std::sync::OnceLock;

use archivist_core::context::{DigestInput, render_digest};
use archivist_core::ingest::LogFormat::{ClaudeCode, Generic};
use archivist_core::text::Tokenizer;

static TOKENIZER: OnceLock<Tokenizer> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((budget, log)) = data.split_first_chunk::<2>() else { return };
    let budget = usize::from(u16::from_le_bytes(*budget));
    let Some(gathered) = support::read_as(&[Generic, ClaudeCode], log) else { return };
    let tokenizer = TOKENIZER.get_or_init(Tokenizer::new);
    let material = DigestInput { trajectories: &gathered.trajectories, signals: &gathered.signals, notes: None };
    let digest = render_digest(&material, budget, tokenizer);
    assert!(tokenizer.count_tokens(&digest.text) <= budget, "the digest is over its budget");
});
