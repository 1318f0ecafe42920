//! Embeddings from a folder: a BERT sentence model such as all-MiniLM-L6-v2, run in this process.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use serde::Deserialize;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;

use super::bert::{BertConfig, BertEncoder};
use super::safetensors::SafetensorsFile;
use super::{EmbedError, Embedder, EmbeddingVector, truncate_text};

#[cfg(test)]
#[path = "local_embedder_tests.rs"]
mod tests;

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const WEIGHTS: &str = "model.safetensors";
const SENTENCE: &str = "sentence_bert_config.json";
const POOLING: &str = "1_Pooling/config.json";

/// The tokens read from a text if the folder does not say how many the model was trained with.
const USUAL_TOKENS: usize = 256;

/// The most tokens read from a text: the memory for attention grows with their square.
const MAX_TOKENS: usize = 512;

/// The tokens that go through the model at once. More is not faster and takes more memory.
const PASS_TOKENS: usize = 1024;

/// The largest JSON file that is read; a tokenizer of a hundred thousand words has a few megabytes.
const MAX_JSON_BYTES: u64 = 64 * 1024 * 1024;

/// Files are distinguished by this many bytes at this many places: two models differ nearly everywhere, and computing a
/// name must not take as long as loading them.
const PIECE_BYTES: u64 = 16 * 1024;
const PIECES: u64 = 64;

/// An embedder with a model from a folder. The model is loaded on first use.
#[derive(Debug)]
pub struct LocalEmbedder {
    dir: PathBuf,
    name: OnceLock<String>,
    model: OnceCell<Arc<LocalBertModel>>,
    /// The permits for concurrent work, one for each processor: more would only take memory.
    turns: Arc<Semaphore>,
}

impl LocalEmbedder {
    /// Creates an embedder for a folder with `config.json`, `tokenizer.json` and `model.safetensors`. Reads nothing
    /// yet.
    pub fn new(dir: &Path) -> Self {
        let turns = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            dir: dir.to_owned(),
            name: OnceLock::new(),
            model: OnceCell::new(),
            turns: Arc::new(Semaphore::new(turns)),
        }
    }

    async fn load_model(&self) -> Result<Arc<LocalBertModel>, EmbedError> {
        let load = async || {
            let dir = self.dir.clone();
            spawn_blocking(move || LocalBertModel::load(&dir).map(Arc::new))
                .await
                .map_err(|error| self.broke_off_error(&error))?
        };
        self.model.get_or_try_init(load).await.cloned()
    }

    fn broke_off_error(&self, error: &tokio::task::JoinError) -> EmbedError {
        // The message of a panic may contain the text that caused it.
        let why =
            if error.is_panic() { "a fault in the program or in the model's files" } else { "the program is ending" };
        EmbedError::BrokeOff { source_name: self.dir.display().to_string(), why: why.to_owned() }
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        self.name.get_or_init(|| model_fingerprint(&self.dir))
    }

    fn dimensions(&self) -> Option<usize> {
        self.model.get().map(|model| model.bert.dimensions())
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.load_model().await?;
        let texts: Vec<String> = texts.iter().map(|text| truncate_text(text).to_owned()).collect();
        // The semaphore is never closed, so a permit always comes; the blocking work holds it, because it cannot be
        // cancelled.
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let work = move || {
            let vectors = model.embed_texts(&texts);
            drop(turn);
            vectors
        };
        spawn_blocking(work).await.map_err(|error| self.broke_off_error(&error))?
    }
}

/// Returns a name derived from the content of the files. The same model has the same name in any folder of any machine,
/// because machines share its vectors; a replaced model has another name.
fn model_fingerprint(dir: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in [CONFIG, TOKENIZER, WEIGHTS, SENTENCE, POOLING] {
        hasher.update(file.as_bytes());
        // A file that cannot be read is reported when the model is loaded.
        if let Err(error) = hash_file(&dir.join(file), &mut hasher) {
            hasher.update(error.kind().to_string().as_bytes());
        }
    }
    let mark: String = hasher.finalize().to_hex().chars().take(16).collect();
    format!("bert@{mark}")
}

/// Hashes a whole file, or its length and some pieces of it if it is long.
fn hash_file(path: &Path, hasher: &mut blake3::Hasher) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    hasher.update(&length.to_le_bytes());
    let is_short = length <= PIECES * PIECE_BYTES;
    let (pieces, bytes) = if is_short { (1, length) } else { (PIECES, PIECE_BYTES) };
    for piece in 0..pieces {
        // The last piece ends where the file ends.
        let start = if is_short { 0 } else { (length - PIECE_BYTES) * piece / (PIECES - 1) };
        file.seek(SeekFrom::Start(start))?;
        hasher.update_reader(Read::by_ref(&mut file).take(bytes))?;
    }
    Ok(())
}

/// A loaded model with its tokenizer.
#[derive(Debug)]
struct LocalBertModel {
    dir: PathBuf,
    tokenizer: Tokenizer,
    bert: BertEncoder,
}

/// The fields of `sentence_bert_config.json` that are used.
#[derive(Debug, Default, Deserialize)]
struct SentenceConfig {
    #[serde(default)]
    max_seq_length: Option<usize>,
}

/// The fields of `1_Pooling/config.json` that are used.
#[derive(Debug, Deserialize)]
struct PoolingConfig {
    #[serde(default = "default_true")]
    pooling_mode_mean_tokens: bool,
}

fn default_true() -> bool {
    true
}

impl LocalBertModel {
    fn load(dir: &Path) -> Result<Self, EmbedError> {
        let path = dir.join(CONFIG);
        let shape = BertConfig::parse(&read_model_file(&path)?, &path)?;
        let sentence: SentenceConfig = read_optional_json(&dir.join(SENTENCE))?.unwrap_or_default();
        let path = dir.join(POOLING);
        if read_optional_json(&path)?.is_some_and(|pooling: PoolingConfig| !pooling.pooling_mode_mean_tokens) {
            return Err(EmbedError::unfit_file(
                &path,
                "the model does not take the mean of its tokens",
                "take one that does",
            ));
        }
        let max_tokens =
            sentence.max_seq_length.unwrap_or(USUAL_TOKENS).min(shape.max_position_embeddings).min(MAX_TOKENS);
        let tokenizer = load_tokenizer(&dir.join(TOKENIZER), &shape, max_tokens)?;
        let bert = BertEncoder::load_weights(shape, &mut SafetensorsFile::open(&dir.join(WEIGHTS))?)?;
        Ok(Self { dir: dir.to_owned(), tokenizer, bert })
    }

    fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        let tokens = texts.iter().map(|text| self.tokenize_text(text)).collect::<Result<Vec<_>, _>>()?;
        let mut vectors = Vec::with_capacity(texts.len());
        let mut pass: Vec<&[u32]> = Vec::new();
        let mut held = 0;
        for text in &tokens {
            if held + text.len() > PASS_TOKENS {
                self.encode_pass(&pass, &mut vectors)?;
                pass.clear();
                held = 0;
            }
            pass.push(text);
            held += text.len();
        }
        self.encode_pass(&pass, &mut vectors)?;
        Ok(vectors)
    }

    fn encode_pass(&self, pass: &[&[u32]], vectors: &mut Vec<EmbeddingVector>) -> Result<(), EmbedError> {
        let path = self.dir.join(TOKENIZER);
        let unknown =
            |_| EmbedError::unfit_file(&path, "it gives tokens that the model has not", "take the files of one model");
        for numbers in self.bert.encode_texts(pass).map_err(unknown)? {
            let vector = EmbeddingVector::from_numbers(numbers).ok_or_else(|| EmbedError::NoDirection {
                source_name: self.dir.display().to_string(),
                why: "its numbers are zero or not finite".to_owned(),
            })?;
            vectors.push(vector);
        }
        Ok(())
    }

    fn tokenize_text(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|error| {
            EmbedError::unfit_file(&self.dir.join(TOKENIZER), error.to_string(), "download the file again")
        })?;
        Ok(encoding.get_ids().to_vec())
    }
}

/// Loads the tokenizer, set to truncate long texts and to pad none, whatever its file says.
fn load_tokenizer(path: &Path, shape: &BertConfig, max_tokens: usize) -> Result<Tokenizer, EmbedError> {
    let broken = |error: String| EmbedError::unfit_file(path, error, "download the file again, whole");
    let mut tokenizer = Tokenizer::from_bytes(read_model_file(path)?).map_err(|error| broken(error.to_string()))?;
    let highest = tokenizer.get_vocab(true).into_values().max().unwrap_or_default();
    if usize::try_from(highest).is_ok_and(|highest| highest >= shape.vocab_size) {
        let why = format!("it knows more words than the {} that config.json tells of", shape.vocab_size);
        return Err(EmbedError::unfit_file(path, why, "take the files of one model"));
    }
    // Without special tokens an empty text would have no token at all, and with too many there is no room for words.
    let marks = tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(false));
    if marks == 0 || marks >= max_tokens {
        let why = format!("it adds {marks} marks to a text of at most {max_tokens} tokens");
        return Err(EmbedError::unfit_file(path, why, "take the files of one BERT model"));
    }
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(|error| broken(error.to_string()))?.with_padding(None);
    Ok(tokenizer)
}

fn read_model_file(path: &Path) -> Result<Vec<u8>, EmbedError> {
    let unreadable = |error| EmbedError::unreadable_file(path, &error);
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_JSON_BYTES {
        return Err(EmbedError::unfit_file(path, "it is far too large", "take the files of one BERT model"));
    }
    std::fs::read(path).map_err(unreadable)
}

/// Reads a JSON file that may be missing, but not broken.
fn read_optional_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, EmbedError> {
    if !path.exists() {
        return Ok(None);
    }
    let parsed = serde_json::from_slice(&read_model_file(path)?);
    parsed
        .map(Some)
        .map_err(|error| EmbedError::unfit_file(path, error.to_string(), "download the file again or delete it"))
}
