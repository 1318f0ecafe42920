//! The arithmetic of a BERT encoder on the CPU.
//!
//! The tokens of many texts are stacked in one matrix, so that the large multiplications are done at once. Attention
//! covers one text at a time: no text is padded to the length of another, and none can see another.

use std::ops::Range;
use std::path::Path;

use ndarray::{Array1, Array2, ArrayBase, ArrayView1, ArrayViewMut1, Axis, Ix2, RawData};
use serde::Deserialize;

use super::EmbedError;
use super::safetensors::SafetensorsFile;

#[cfg(test)]
#[path = "bert_tests.rs"]
mod tests;

/// The largest value accepted for any size in `config.json` except the vocabulary.
const MAX_SIDE: u16 = u16::MAX;
const MAX_WORDS: usize = 4_000_000;

const MODELS_CONFIG: &str = "put the model's own config.json there";

/// The sizes of a model, as `config.json` gives them.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct BertConfig {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) vocab_size: usize,
    #[serde(default = "default_token_type_count")]
    type_vocab_size: usize,
    #[serde(default = "default_norm_epsilon")]
    layer_norm_eps: f32,
    #[serde(default)]
    hidden_act: ActivationFunction,
    #[serde(default)]
    model_type: Option<String>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
enum ActivationFunction {
    #[default]
    #[serde(rename = "gelu")]
    Gelu,
    /// The approximation of GELU by a formula with `tanh`.
    #[serde(rename = "gelu_new", alias = "gelu_pytorch_tanh", alias = "gelu_fast")]
    GeluTanh,
    #[serde(rename = "relu")]
    Relu,
}

fn default_token_type_count() -> usize {
    2
}

fn default_norm_epsilon() -> f32 {
    1e-12
}

impl BertConfig {
    /// The sizes of all-MiniLM-L6-v2. Where its files were put into one folder, the `config.json` of its pooling may
    /// have replaced its own; the weights are checked against these sizes, so no other model passes for it.
    const ALL_MINILM_L6: Self = Self {
        hidden_size: 384,
        num_hidden_layers: 6,
        num_attention_heads: 12,
        intermediate_size: 1536,
        max_position_embeddings: 512,
        vocab_size: 30_522,
        type_vocab_size: 2,
        layer_norm_eps: 1e-12,
        hidden_act: ActivationFunction::Gelu,
        model_type: None,
        position_embedding_type: None,
    };

    /// Parses the sizes and checks that they can belong to a BERT model.
    pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Self, EmbedError> {
        let unfit = |why: String| EmbedError::unfit_file(path, why, MODELS_CONFIG);
        let shape: Self = match serde_json::from_slice(bytes) {
            Ok(shape) => shape,
            Err(_) if bytes.windows(13).any(|window| window == b"pooling_mode_") => return Ok(Self::ALL_MINILM_L6),
            Err(error) => return Err(unfit(error.to_string())),
        };
        if let Some(kind) = shape.model_type.as_deref().filter(|&kind| kind != "bert") {
            return Err(EmbedError::unfit_file(path, format!("a model of type {kind:?}"), "take one of type \"bert\""));
        }
        if let Some(kind) = shape.position_embedding_type.as_deref().filter(|&kind| kind != "absolute") {
            return Err(EmbedError::unfit_file(
                path,
                format!("positions are {kind:?}"),
                "take a model with \"absolute\" ones",
            ));
        }
        let most = usize::from(MAX_SIDE);
        let sides = [
            ("hidden_size", shape.hidden_size, most),
            ("num_hidden_layers", shape.num_hidden_layers, most),
            ("num_attention_heads", shape.num_attention_heads, most),
            ("intermediate_size", shape.intermediate_size, most),
            ("max_position_embeddings", shape.max_position_embeddings, most),
            ("type_vocab_size", shape.type_vocab_size, most),
            ("vocab_size", shape.vocab_size, MAX_WORDS),
        ];
        if let Some((name, side, _)) = sides.iter().find(|(_, side, most)| !(1..=*most).contains(side)) {
            return Err(unfit(format!("{name} is {side}")));
        }
        if !shape.hidden_size.is_multiple_of(shape.num_attention_heads) {
            let Self { hidden_size, num_attention_heads, .. } = shape;
            return Err(unfit(format!("hidden_size {hidden_size} cannot be shared by {num_attention_heads} heads")));
        }
        if !(0.0..1.0).contains(&shape.layer_norm_eps) {
            return Err(unfit(format!("layer_norm_eps is {}", shape.layer_norm_eps)));
        }
        Ok(shape)
    }
}

/// A BERT encoder with its weights.
#[derive(Debug)]
pub(super) struct BertEncoder {
    shape: BertConfig,
    words: Array2<f32>,
    positions: Array2<f32>,
    /// The token type embedding; every token has the first type, because there is one sentence.
    kind: Array1<f32>,
    norm: LayerNorm,
    layers: Vec<EncoderLayer>,
}

#[derive(Debug)]
struct EncoderLayer {
    query: LinearLayer,
    key: LinearLayer,
    value: LinearLayer,
    attended: LinearLayer,
    attended_norm: LayerNorm,
    widen: LinearLayer,
    narrow: LinearLayer,
    norm: LayerNorm,
}

#[derive(Debug)]
struct LinearLayer {
    /// The weights, with one row for each output number.
    weight: Array2<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct LayerNorm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

/// An error for a token or a position that the model does not have.
#[derive(Debug)]
pub(super) struct TokenOutOfRange;

impl BertEncoder {
    /// Reads the weights that the configuration requires.
    pub(super) fn load_weights(shape: BertConfig, weights: &mut SafetensorsFile) -> Result<Self, EmbedError> {
        let width = shape.hidden_size;
        let words = weights.read_matrix("embeddings.word_embeddings.weight", shape.vocab_size, width)?;
        let positions =
            weights.read_matrix("embeddings.position_embeddings.weight", shape.max_position_embeddings, width)?;
        let kinds = weights.read_matrix("embeddings.token_type_embeddings.weight", shape.type_vocab_size, width)?;
        let norm = LayerNorm::load_norm(weights, "embeddings.LayerNorm", &shape)?;
        let mut layers = Vec::new();
        for layer in 0..shape.num_hidden_layers {
            layers.push(EncoderLayer::load_layer(weights, layer, &shape)?);
        }
        Ok(Self { words, positions, kind: kinds.row(0).to_owned(), norm, layers, shape })
    }

    /// Returns the number of dimensions of a text's vector.
    pub(super) fn dimensions(&self) -> usize {
        self.shape.hidden_size
    }

    /// Returns the mean of the output vectors of each text's tokens.
    pub(super) fn encode_texts(&self, texts: &[&[u32]]) -> Result<Vec<Vec<f32>>, TokenOutOfRange> {
        let (mut tokens, spans) = self.embed_tokens(texts)?;
        for layer in &self.layers {
            tokens = layer.apply_layer(&tokens, &spans, &self.shape);
        }
        let mean = |span| slice_matrix(tokens.view(), span, 0..self.shape.hidden_size).mean_axis(Axis(0));
        spans.into_iter().map(|span| mean(span).map(|mean| mean.to_vec()).ok_or(TokenOutOfRange)).collect()
    }

    /// Returns the embedded tokens of all texts stacked in one matrix, and the row range of each text.
    fn embed_tokens(&self, texts: &[&[u32]]) -> Result<(Array2<f32>, Vec<Range<usize>>), TokenOutOfRange> {
        let rows = texts.iter().map(|text| text.len()).sum();
        let mut tokens = Array2::zeros((rows, self.shape.hidden_size));
        let mut spans = Vec::new();
        let mut free = tokens.rows_mut().into_iter();
        let mut start = 0;
        for text in texts {
            for (&id, position) in text.iter().zip(0..) {
                let word = table_row(&self.words, usize::try_from(id).map_err(|_| TokenOutOfRange)?)?;
                let place = table_row(&self.positions, position)?;
                let mut token = free.next().ok_or(TokenOutOfRange)?;
                token += &word;
                token += &place;
                token += &self.kind;
            }
            spans.push(start..start + text.len());
            start += text.len();
        }
        self.norm.normalize_rows(&mut tokens);
        Ok((tokens, spans))
    }
}

fn table_row(table: &Array2<f32>, index: usize) -> Result<ArrayView1<'_, f32>, TokenOutOfRange> {
    if index < table.nrows() { Ok(table.row(index)) } else { Err(TokenOutOfRange) }
}

impl EncoderLayer {
    fn load_layer(weights: &mut SafetensorsFile, layer: usize, shape: &BertConfig) -> Result<Self, EmbedError> {
        let at = |name: &str| format!("encoder.layer.{layer}.{name}");
        let (width, wide) = (shape.hidden_size, shape.intermediate_size);
        Ok(Self {
            query: LinearLayer::load_linear(weights, &at("attention.self.query"), width, width)?,
            key: LinearLayer::load_linear(weights, &at("attention.self.key"), width, width)?,
            value: LinearLayer::load_linear(weights, &at("attention.self.value"), width, width)?,
            attended: LinearLayer::load_linear(weights, &at("attention.output.dense"), width, width)?,
            attended_norm: LayerNorm::load_norm(weights, &at("attention.output.LayerNorm"), shape)?,
            widen: LinearLayer::load_linear(weights, &at("intermediate.dense"), wide, width)?,
            narrow: LinearLayer::load_linear(weights, &at("output.dense"), width, wide)?,
            norm: LayerNorm::load_norm(weights, &at("output.LayerNorm"), shape)?,
        })
    }

    fn apply_layer(&self, tokens: &Array2<f32>, spans: &[Range<usize>], shape: &BertConfig) -> Array2<f32> {
        let mut attended = self.attended.apply_linear(&self.apply_attention(tokens, spans, shape));
        attended += tokens;
        self.attended_norm.normalize_rows(&mut attended);

        let mut wide = self.widen.apply_linear(&attended);
        shape.hidden_act.apply_activation(&mut wide);
        let mut out = self.narrow.apply_linear(&wide);
        out += &attended;
        self.norm.normalize_rows(&mut out);
        out
    }

    /// Returns the attention output of each token over the tokens of its own text.
    fn apply_attention(&self, tokens: &Array2<f32>, spans: &[Range<usize>], shape: &BertConfig) -> Array2<f32> {
        let (queries, keys, values) =
            (self.query.apply_linear(tokens), self.key.apply_linear(tokens), self.value.apply_linear(tokens));
        let head = shape.hidden_size / shape.num_attention_heads;
        let scale = f32::from(u16::try_from(head).unwrap_or(MAX_SIDE)).sqrt().recip();
        let mut taken = Array2::zeros(tokens.raw_dim());
        for span in spans {
            for start in (0..shape.hidden_size).step_by(head) {
                let columns = start..start + head;
                let part = |rows: &Array2<f32>| slice_matrix(rows.view(), span.clone(), columns.clone()).to_owned();
                let mut scores = part(&queries).dot(&part(&keys).t());
                scores *= scale;
                scores.rows_mut().into_iter().for_each(apply_softmax);
                slice_matrix(taken.view_mut(), span.clone(), columns.clone()).assign(&scores.dot(&part(&values)));
            }
        }
        taken
    }
}

/// Returns the part of a matrix where these rows and columns meet.
fn slice_matrix<S: RawData<Elem = f32>>(
    matrix: ArrayBase<S, Ix2>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> ArrayBase<S, Ix2> {
    let mut part = matrix;
    part.slice_axis_inplace(Axis(0), rows.into());
    part.slice_axis_inplace(Axis(1), columns.into());
    part
}

/// Turns scores into shares that add up to one.
fn apply_softmax(mut scores: ArrayViewMut1<'_, f32>) {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.mapv_inplace(|score| (score - highest).exp());
    let sum = scores.sum();
    scores /= sum;
}

impl LinearLayer {
    fn load_linear(weights: &mut SafetensorsFile, name: &str, out: usize, into: usize) -> Result<Self, EmbedError> {
        let weight = weights.read_matrix(&format!("{name}.weight"), out, into)?;
        Ok(Self { weight, bias: weights.read_row(&format!("{name}.bias"), out)? })
    }

    fn apply_linear(&self, rows: &Array2<f32>) -> Array2<f32> {
        let mut out = rows.dot(&self.weight.t());
        out += &self.bias;
        out
    }
}

impl LayerNorm {
    fn load_norm(weights: &mut SafetensorsFile, name: &str, shape: &BertConfig) -> Result<Self, EmbedError> {
        let weight = weights.read_row(&format!("{name}.weight"), shape.hidden_size)?;
        let bias = weights.read_row(&format!("{name}.bias"), shape.hidden_size)?;
        Ok(Self { weight, bias, epsilon: shape.layer_norm_eps })
    }

    fn normalize_rows(&self, rows: &mut Array2<f32>) {
        for mut row in rows.rows_mut() {
            let mean = row.mean().unwrap_or_default();
            row -= mean;
            let variance = row.mapv(|number| number * number).mean().unwrap_or_default();
            row /= (variance + self.epsilon).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

impl ActivationFunction {
    fn apply_activation(self, rows: &mut Array2<f32>) {
        match self {
            Self::Gelu => rows.mapv_inplace(|x| 0.5 * x * (1.0 + error_function(x * std::f32::consts::FRAC_1_SQRT_2))),
            Self::GeluTanh => rows.mapv_inplace(|x| {
                let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
                0.5 * x * (1.0 + inner.tanh())
            }),
            Self::Relu => rows.mapv_inplace(|x| x.max(0.0)),
        }
    }
}

/// Returns the error function to seven digits (Abramowitz and Stegun, 7.1.26); the standard library has none.
fn error_function(x: f32) -> f32 {
    let t = (1.0 + 0.327_591_1 * x.abs()).recip();
    let polynomial = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_72, 0.254_829_6];
    let tail = polynomial.into_iter().fold(0.0, |sum, factor| (sum + factor) * t) * (-x * x).exp();
    (1.0 - tail).copysign(x)
}
