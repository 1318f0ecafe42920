//! A BERT model of sixteen numbers, and an embedder that only counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{EmbedError, Embedder, EmbeddingVector};

pub(super) const WORDS: &[&str] = &[
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "test", "tests", "build", "fails", "passes", "run",
    "runs", "slow", "fast", "cargo", "lock", "file", "network", "time", "##out", "##s", "##ing", "cache", "clear",
    "retry", "wait", "shard", "large", "small", "in", "on", "with", "and", "never", "always", ".", ",", "!",
];

pub(super) const HIDDEN: usize = 16;
pub(super) const LAYERS: usize = 2;
pub(super) const HEADS: usize = 2;
pub(super) const WIDE: usize = 24;
pub(super) const POSITIONS: usize = 32;

/// How the numbers of a file are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Written {
    F32,
    F16,
    Bf16,
}

/// A whole model, before it is written to a folder.
#[derive(Debug, Clone)]
pub(super) struct Tiny {
    pub(super) config: Value,
    pub(super) tokenizer: Value,
    pub(super) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    pub(super) written: Written,
}

impl Tiny {
    /// Small numbers that depend on the seed alone. All are multiples of 1/64, so that every way to write is exact.
    pub(super) fn seeded(seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f32::from(i8::try_from((state >> 40) % 41).unwrap() - 20) / 64.0
        };
        let mut tensors = BTreeMap::new();
        for (name, shape) in shapes() {
            let count = shape.iter().product();
            let base = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
            tensors.insert(name, (shape, (0..count).map(|_| base + next()).collect()));
        }
        let config = json!({
            "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "intermediate_size": WIDE, "max_position_embeddings": POSITIONS, "vocab_size": WORDS.len(),
            "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "architectures": ["BertModel"],
        });
        Self { config, tokenizer: tokenizer(), tensors, written: Written::F32 }
    }

    pub(super) fn write(&self, dir: &Path) {
        std::fs::write(dir.join("config.json"), self.config.to_string()).unwrap();
        std::fs::write(dir.join("tokenizer.json"), self.tokenizer.to_string()).unwrap();
        std::fs::write(dir.join("model.safetensors"), self.weights()).unwrap();
    }

    pub(super) fn weights(&self) -> Vec<u8> {
        let mut header = json!({ "__metadata__": { "format": "pt" } });
        let mut data = Vec::new();
        for (name, (shape, numbers)) in &self.tensors {
            let begin = data.len();
            let dtype = match self.written {
                Written::F32 => {
                    data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                    "F32"
                }
                Written::F16 => {
                    data.extend(numbers.iter().flat_map(|&number| to_f16(number).to_le_bytes()));
                    "F16"
                }
                Written::Bf16 => {
                    data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()[2..].to_vec()));
                    "BF16"
                }
            };
            header[name] = json!({ "dtype": dtype, "shape": shape, "data_offsets": [begin, data.len()] });
        }
        safetensors(&header, &data)
    }
}

/// A file of a header and what follows.
pub(super) fn safetensors(header: &Value, data: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = u64::try_from(header.len()).unwrap().to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..LAYERS {
        let linear = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", WIDE, HIDDEN),
            ("output.dense", HIDDEN, WIDE),
        ];
        for (name, out, into) in linear {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![out, into]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![out]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![HIDDEN]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![HIDDEN]));
        }
    }
    shapes
}

/// Like published ones, it asks for padding and a length of its own; neither may be followed.
fn tokenizer() -> Value {
    let vocabulary: BTreeMap<&str, usize> = WORDS.iter().copied().zip(0..).collect();
    let special = |id: usize| {
        json!({ "id": id, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true })
    };
    json!({
        "version": "1.0",
        "truncation": { "max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right" },
        "padding": { "strategy": { "Fixed": 20 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[PAD]" },
        "added_tokens": [special(0), special(1), special(2), special(3), special(4)],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } },
                { "SpecialToken": { "id": "[SEP]", "type_id": 0 } }],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": { "[CLS]": { "id": "[CLS]", "ids": [2], "tokens": ["[CLS]"] },
                "[SEP]": { "id": "[SEP]", "ids": [3], "tokens": ["[SEP]"] } } },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary },
    })
}

/// Only for numbers that a `f16` can hold exactly.
fn to_f16(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = u16::try_from(bits >> 31).unwrap() << 15;
    if number == 0.0 {
        return sign;
    }
    let exponent = u16::try_from((bits >> 23 & 0xff) - 112).unwrap();
    sign | exponent << 10 | u16::try_from(bits >> 13 & 0x3ff).unwrap()
}

pub(super) fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Gives every text a vector of its own and counts how many it was asked for.
#[derive(Debug)]
pub(super) struct Counting {
    pub(super) name: String,
    pub(super) size: usize,
    pub(super) asked: AtomicUsize,
}

impl Counting {
    pub(super) fn new(name: &str, size: usize) -> Self {
        Self { name: name.to_owned(), size, asked: AtomicUsize::new(0) }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(super) fn vector(&self, text: &str) -> EmbeddingVector {
        let mut bytes = vec![0; self.size];
        blake3::Hasher::new().update(self.name.as_bytes()).update(text.as_bytes()).finalize_xof().fill(&mut bytes);
        EmbeddingVector::from_numbers(bytes.into_iter().map(|byte| f32::from(byte) - 127.3).collect()).unwrap()
    }
}

#[async_trait]
impl Embedder for std::sync::Arc<Counting> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}
