use std::f64::consts::PI;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::safetensors::SafetensorsFile;
use super::super::test_support::{HEADS, HIDDEN, LAYERS, Tiny, WIDE};
use super::{BertConfig, BertEncoder, error_function};

fn shape(config: &Value) -> Result<BertConfig, String> {
    BertConfig::parse(config.to_string().as_bytes(), Path::new("config.json")).map_err(|error| error.to_string())
}

fn bert(tiny: &Tiny) -> BertEncoder {
    let dir = TempDir::new().unwrap();
    tiny.write(dir.path());
    let mut weights = SafetensorsFile::open(&dir.path().join("model.safetensors")).unwrap();
    BertEncoder::load_weights(shape(&tiny.config).unwrap(), &mut weights).unwrap()
}

type Activated = fn(f64) -> f64;

/// The encoder once more: in `f64`, number by number, every text padded to the same length and the padding masked.
struct Reference<'m> {
    tiny: &'m Tiny,
    activation: Activated,
}

impl Reference<'_> {
    fn number(&self, name: &str, index: usize) -> f64 {
        f64::from(self.tiny.tensors[name].1[index])
    }

    fn linear(&self, name: &str, x: &[f64], out: usize) -> Vec<f64> {
        let row = |o: usize| -> f64 {
            let sum: f64 = (0..x.len()).map(|i| x[i] * self.number(&format!("{name}.weight"), o * x.len() + i)).sum();
            sum + self.number(&format!("{name}.bias"), o)
        };
        (0..out).map(row).collect()
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let n = HIDDEN as f64;
        let mean = x.iter().sum::<f64>() / n;
        let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n + 1e-12).sqrt();
        let weighed = |i: usize| {
            (x[i] - mean) / deviation * self.number(&format!("{name}.weight"), i)
                + self.number(&format!("{name}.bias"), i)
        };
        (0..x.len()).map(weighed).collect()
    }

    fn encode(&self, ids: &[u32], padded: usize) -> Vec<f64> {
        let mut tokens: Vec<Vec<f64>> = Vec::new();
        for position in 0..padded {
            let id = ids.get(position).map_or(0, |&id| usize::try_from(id).unwrap());
            let sum = |i: usize| {
                self.number("embeddings.word_embeddings.weight", id * HIDDEN + i)
                    + self.number("embeddings.position_embeddings.weight", position * HIDDEN + i)
                    + self.number("embeddings.token_type_embeddings.weight", i)
            };
            tokens.push(self.norm("embeddings.LayerNorm", &(0..HIDDEN).map(sum).collect::<Vec<_>>()));
        }
        for layer in 0..LAYERS {
            tokens = self.layer(&format!("encoder.layer.{layer}"), &tokens, ids.len());
        }
        let n = ids.len() as f64;
        (0..HIDDEN).map(|i| tokens[..ids.len()].iter().map(|token| token[i]).sum::<f64>() / n).collect()
    }

    fn layer(&self, name: &str, tokens: &[Vec<f64>], real: usize) -> Vec<Vec<f64>> {
        let project = |part: &str| -> Vec<Vec<f64>> {
            tokens.iter().map(|token| self.linear(&format!("{name}.attention.self.{part}"), token, HIDDEN)).collect()
        };
        let (queries, keys, values) = (project("query"), project("key"), project("value"));
        let width = HIDDEN / HEADS;
        let mut out = Vec::new();
        for (query, token) in queries.iter().zip(tokens) {
            let mut taken = vec![0.0; HIDDEN];
            for head in 0..HEADS {
                let columns = head * width..(head + 1) * width;
                let score = |other: usize| {
                    let dot: f64 = columns.clone().map(|i| query[i] * keys[other][i]).sum();
                    let masked = if other < real { 0.0 } else { -1e9 };
                    (dot / (width as f64).sqrt() + masked).exp()
                };
                let scores: Vec<f64> = (0..tokens.len()).map(score).collect();
                for i in columns {
                    let sum: f64 = (0..tokens.len()).map(|other| scores[other] * values[other][i]).sum();
                    taken[i] = sum / scores.iter().sum::<f64>();
                }
            }
            let add = |one: Vec<f64>, two: &[f64]| one.iter().zip(two).map(|(a, b)| a + b).collect::<Vec<_>>();
            let attended = add(self.linear(&format!("{name}.attention.output.dense"), &taken, HIDDEN), token);
            let attended = self.norm(&format!("{name}.attention.output.LayerNorm"), &attended);
            let wide = self.linear(&format!("{name}.intermediate.dense"), &attended, WIDE);
            let wide: Vec<f64> = wide.into_iter().map(self.activation).collect();
            let narrow = add(self.linear(&format!("{name}.output.dense"), &wide, HIDDEN), &attended);
            out.push(self.norm(&format!("{name}.output.LayerNorm"), &narrow));
        }
        out
    }
}

/// By the integral itself, in small steps.
fn exact_erf(x: f64) -> f64 {
    let steps = 2000;
    let step = x / f64::from(steps);
    let at = |i: i32| (-(f64::from(i) * step).powi(2)).exp();
    let inner: f64 = (1..steps).map(|i| if i % 2 == 1 { 4.0 * at(i) } else { 2.0 * at(i) }).sum();
    2.0 / PI.sqrt() * step / 3.0 * (at(0) + inner + at(steps))
}

fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + exact_erf(x / 2_f64.sqrt()))
}

fn gelu_by_tanh(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

#[test]
fn the_encoder_agrees_with_a_plain_one_in_double_precision() {
    let activations: [(&str, Activated); 3] =
        [("gelu", gelu), ("gelu_new", gelu_by_tanh), ("relu", |x: f64| x.max(0.0))];
    for (seed, (name, activation)) in (1..).zip(activations) {
        let mut tiny = Tiny::seeded(seed);
        tiny.config["hidden_act"] = json!(name);
        let texts: [&[u32]; 4] = [&[2, 3], &[2, 5, 7, 10, 3], &[2, 9, 9, 9, 30, 21, 39, 1, 6, 14, 3], &[8]];
        let found = bert(&tiny).encode_texts(&texts).unwrap();
        for (text, found) in texts.iter().zip(found) {
            let expected = Reference { tiny: &tiny, activation }.encode(text, 16);
            let worst = found.iter().zip(&expected).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-4, "{name}, {text:?}: off by {worst}");
        }
    }
}

#[test]
fn the_error_function_is_right_to_six_digits() {
    for eighth in -48_i8..=48 {
        let x = f32::from(eighth) / 8.0;
        let found = f64::from(error_function(x));
        assert!((found - exact_erf(f64::from(x))).abs() < 1e-6, "erf({x}) is not {found}");
    }
}

#[test]
fn tokens_and_places_that_the_model_has_not_are_refused() {
    let bert = bert(&Tiny::seeded(4));
    let long = [5; 33];
    let refused: [&[u32]; 4] = [&[40], &[u32::MAX], &long, &[]];
    for text in refused {
        assert!(bert.encode_texts(&[text]).is_err(), "{text:?}");
    }
    assert!(bert.encode_texts(&[&long[1..]]).is_ok());
    assert!(bert.encode_texts(&[]).unwrap().is_empty());
}

#[test]
fn measures_that_no_model_has_are_refused_in_a_sentence() {
    let table = [
        (json!({ "num_attention_heads": 0 }), "num_attention_heads is 0"),
        (json!({ "num_hidden_layers": 0 }), "num_hidden_layers is 0"),
        (json!({ "hidden_size": 0 }), "hidden_size is 0"),
        (json!({ "vocab_size": u64::MAX }), "vocab_size is"),
        (json!({ "max_position_embeddings": 1_000_000 }), "max_position_embeddings is 1000000"),
        (json!({ "num_attention_heads": 3 }), "16 cannot be shared by 3 heads"),
        (json!({ "num_attention_heads": -1 }), "invalid value"),
        (json!({ "hidden_size": "16" }), "invalid type"),
        (json!({ "hidden_act": "swish" }), "unknown variant `swish`"),
        (json!({ "layer_norm_eps": -1.0 }), "layer_norm_eps is -1"),
        (json!({ "model_type": "roberta" }), "a model of type \"roberta\""),
        (json!({ "position_embedding_type": "relative_key" }), "positions are \"relative_key\""),
    ];
    for (change, expected) in table {
        let mut config = Tiny::seeded(1).config;
        config.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let error = shape(&config).expect_err(expected);
        assert!(error.contains(expected), "{error} does not say {expected:?}");
        assert!(error.starts_with("config.json: ") && error.contains("; "), "{error}");
    }
}

#[test]
fn the_best_known_model_is_known_without_its_measures() {
    let known = shape(&json!({ "word_embedding_dimension": 384, "pooling_mode_mean_tokens": true })).unwrap();
    assert_eq!((known.hidden_size, known.num_attention_heads, known.vocab_size), (384, 12, 30_522));
}

#[test]
fn what_old_files_leave_out_has_its_usual_value() {
    let mut config = Tiny::seeded(1).config;
    for key in ["type_vocab_size", "layer_norm_eps", "hidden_act", "model_type"] {
        config.as_object_mut().unwrap().remove(key);
    }
    let shape = shape(&config).unwrap();
    assert_eq!((shape.type_vocab_size, shape.layer_norm_eps), (2, 1e-12));
}

proptest! {
    #[test]
    fn no_measures_at_all_make_it_panic(hidden in any::<u64>(), heads in any::<u64>(), layers in any::<u64>()) {
        let mut config = Tiny::seeded(1).config;
        config["hidden_size"] = json!(hidden);
        config["num_attention_heads"] = json!(heads);
        config["num_hidden_layers"] = json!(layers);
        let _ = shape(&config);
    }
}
