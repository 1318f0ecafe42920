//! Embeddings from a folder: a BERT sentence model such as all-MiniLM-L6-v2, run here.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use serde::Deserialize;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;

use super::bert::{Bert, Shape};
use super::weights::Weights;
use super::{EmbedError, Embedder, Vector, beginning};

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const WEIGHTS: &str = "model.safetensors";
const SENTENCE: &str = "sentence_bert_config.json";
const POOLING: &str = "1_Pooling/config.json";

/// Tokens read of a text where the folder does not say how many the model was trained with.
const USUAL_TOKENS: usize = 256;

/// Tokens read of a text at most: attention takes memory by their square.
const MAX_TOKENS: usize = 512;

/// Tokens that go through the model at once. More is not faster and takes more memory.
const PASS_TOKENS: usize = 1024;

/// A tokenizer of a hundred thousand words has a few megabytes.
const MAX_JSON_BYTES: u64 = 64 * 1024 * 1024;

/// By so many bytes, at so many places, files are told apart: two models differ nearly everywhere, and a name must not
/// take as long as loading them.
const PIECE_BYTES: u64 = 16 * 1024;
const PIECES: u64 = 64;

/// A model in a folder. Loaded when it is first asked.
#[derive(Debug)]
pub struct LocalEmbedder {
    dir: PathBuf,
    name: OnceLock<String>,
    model: OnceCell<Arc<Model>>,
    /// As many at a time as there are processors: more would only take memory.
    turns: Arc<Semaphore>,
}

impl LocalEmbedder {
    /// A model in a folder with `config.json`, `tokenizer.json` and `model.safetensors`. Touches nothing yet.
    pub fn new(dir: &Path) -> Self {
        let turns = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            dir: dir.to_owned(),
            name: OnceLock::new(),
            model: OnceCell::new(),
            turns: Arc::new(Semaphore::new(turns)),
        }
    }

    async fn model(&self) -> Result<Arc<Model>, EmbedError> {
        let load = async || {
            let dir = self.dir.clone();
            spawn_blocking(move || Model::load(&dir).map(Arc::new)).await.map_err(|error| self.broke_off(&error))?
        };
        self.model.get_or_try_init(load).await.cloned()
    }

    fn broke_off(&self, error: &tokio::task::JoinError) -> EmbedError {
        // What a panic says may hold the text that it died of.
        let why =
            if error.is_panic() { "a fault in the program or in the model's files" } else { "the program is ending" };
        EmbedError::BrokeOff { source_name: self.dir.display().to_string(), why: why.to_owned() }
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        self.name.get_or_init(|| name(&self.dir))
    }

    fn dimensions(&self) -> Option<usize> {
        self.model.get().map(|model| model.bert.dimensions())
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.model().await?;
        let texts: Vec<String> = texts.iter().map(|text| beginning(text).to_owned()).collect();
        // Never closed, so there is always a turn to wait for; held by the work itself, which nobody can call back.
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let work = move || {
            let vectors = model.embed(&texts);
            drop(turn);
            vectors
        };
        spawn_blocking(work).await.map_err(|error| self.broke_off(&error))?
    }
}

/// A mark of what is in the files. The same model has the same name in any folder of any machine, because machines share
/// its vectors; an exchanged one has another.
fn name(dir: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in [CONFIG, TOKENIZER, WEIGHTS, SENTENCE, POOLING] {
        hasher.update(file.as_bytes());
        // What cannot be read says so when the model is loaded.
        if let Err(error) = look_over(&dir.join(file), &mut hasher) {
            hasher.update(error.kind().to_string().as_bytes());
        }
    }
    let mark: String = hasher.finalize().to_hex().chars().take(16).collect();
    format!("bert@{mark}")
}

/// A file as it is, or its length and pieces of it where it is long.
fn look_over(path: &Path, hasher: &mut blake3::Hasher) -> std::io::Result<()> {
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

/// What the folder holds.
#[derive(Debug)]
struct Model {
    dir: PathBuf,
    tokenizer: Tokenizer,
    bert: Bert,
}

/// `sentence_bert_config.json`, as far as it matters.
#[derive(Debug, Default, Deserialize)]
struct Sentence {
    #[serde(default)]
    max_seq_length: Option<usize>,
}

/// `1_Pooling/config.json`, as far as it matters.
#[derive(Debug, Deserialize)]
struct Pooling {
    #[serde(default = "yes")]
    pooling_mode_mean_tokens: bool,
}

fn yes() -> bool {
    true
}

impl Model {
    fn load(dir: &Path) -> Result<Self, EmbedError> {
        let path = dir.join(CONFIG);
        let shape = Shape::parse(&read(&path)?, &path)?;
        let sentence: Sentence = read_if_there(&dir.join(SENTENCE))?.unwrap_or_default();
        let path = dir.join(POOLING);
        if read_if_there(&path)?.is_some_and(|pooling: Pooling| !pooling.pooling_mode_mean_tokens) {
            return Err(EmbedError::unfit(
                &path,
                "the model does not take the mean of its tokens",
                "take one that does",
            ));
        }
        let max_tokens =
            sentence.max_seq_length.unwrap_or(USUAL_TOKENS).min(shape.max_position_embeddings).min(MAX_TOKENS);
        let tokenizer = tokenizer(&dir.join(TOKENIZER), &shape, max_tokens)?;
        let bert = Bert::load(shape, &mut Weights::open(&dir.join(WEIGHTS))?)?;
        Ok(Self { dir: dir.to_owned(), tokenizer, bert })
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, EmbedError> {
        let tokens = texts.iter().map(|text| self.tokens(text)).collect::<Result<Vec<_>, _>>()?;
        let mut vectors = Vec::with_capacity(texts.len());
        let mut pass: Vec<&[u32]> = Vec::new();
        let mut held = 0;
        for text in &tokens {
            if held + text.len() > PASS_TOKENS {
                self.run(&pass, &mut vectors)?;
                pass.clear();
                held = 0;
            }
            pass.push(text);
            held += text.len();
        }
        self.run(&pass, &mut vectors)?;
        Ok(vectors)
    }

    fn run(&self, pass: &[&[u32]], vectors: &mut Vec<Vector>) -> Result<(), EmbedError> {
        let path = self.dir.join(TOKENIZER);
        let unknown =
            |_| EmbedError::unfit(&path, "it gives tokens that the model has not", "take the files of one model");
        for numbers in self.bert.encode(pass).map_err(unknown)? {
            let vector = Vector::unit(numbers).ok_or_else(|| EmbedError::NoDirection {
                source_name: self.dir.display().to_string(),
                why: "its numbers are zero or not finite".to_owned(),
            })?;
            vectors.push(vector);
        }
        Ok(())
    }

    fn tokens(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|error| {
            EmbedError::unfit(&self.dir.join(TOKENIZER), error.to_string(), "download the file again")
        })?;
        Ok(encoding.get_ids().to_vec())
    }
}

/// The tokenizer, told to cut long texts off and to pad none, whatever its file says.
fn tokenizer(path: &Path, shape: &Shape, max_tokens: usize) -> Result<Tokenizer, EmbedError> {
    let broken = |error: String| EmbedError::unfit(path, error, "download the file again, whole");
    let mut tokenizer = Tokenizer::from_bytes(read(path)?).map_err(|error| broken(error.to_string()))?;
    let highest = tokenizer.get_vocab(true).into_values().max().unwrap_or_default();
    if usize::try_from(highest).is_ok_and(|highest| highest >= shape.vocab_size) {
        let why = format!("it knows more words than the {} that config.json tells of", shape.vocab_size);
        return Err(EmbedError::unfit(path, why, "take the files of one model"));
    }
    // Without them an empty text would have no token at all, and with too many there is no room for words.
    let marks = tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(false));
    if marks == 0 || marks >= max_tokens {
        let why = format!("it adds {marks} marks to a text of at most {max_tokens} tokens");
        return Err(EmbedError::unfit(path, why, "take the files of one BERT model"));
    }
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(|error| broken(error.to_string()))?.with_padding(None);
    Ok(tokenizer)
}

fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    let unreadable = |error| EmbedError::unreadable(path, &error);
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_JSON_BYTES {
        return Err(EmbedError::unfit(path, "it is far too large", "take the files of one BERT model"));
    }
    std::fs::read(path).map_err(unreadable)
}

/// A file that may be missing, but not broken.
fn read_if_there<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, EmbedError> {
    if !path.exists() {
        return Ok(None);
    }
    let parsed = serde_json::from_slice(&read(path)?);
    parsed.map(Some).map_err(|error| EmbedError::unfit(path, error.to_string(), "download the file again or delete it"))
}
