use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;

use super::super::test_support::{Tiny, WORDS, Written, strings};
use super::{EmbedError, Embedder, EmbeddingVector, LocalEmbedder};

fn folder(tiny: &Tiny) -> TempDir {
    let dir = TempDir::new().unwrap();
    tiny.write(dir.path());
    dir
}

async fn embed(dir: &Path, texts: &[&str]) -> Vec<EmbeddingVector> {
    LocalEmbedder::new(dir).embed_texts(&strings(texts)).await.unwrap()
}

fn assert_close(one: &EmbeddingVector, two: &EmbeddingVector) {
    let worst = one.as_slice().iter().zip(two.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(one.dimensions() == two.dimensions() && worst < 1e-5, "off by {worst}");
}

const TEXTS: &[&str] = &[
    "",
    "the build fails",
    "The BUILD fails!",
    "cargo tests timeout with network lock and cache, always wait",
    "xyzzy",
];

#[tokio::test]
async fn vectors_have_length_one_and_are_the_same_every_time() {
    let dir = folder(&Tiny::seeded(1));
    let vectors = embed(dir.path(), TEXTS).await;
    assert_eq!(vectors, embed(dir.path(), TEXTS).await);
    for vector in &vectors {
        assert_eq!(vector.dimensions(), 16);
        assert!((vector.cosine_similarity(vector) - 1.0).abs() < 1e-5);
    }
    let distinct = vectors.iter().all(|one| vectors.iter().filter(|two| one == *two).count() == 1);
    assert!(distinct, "different texts have different vectors");
}

#[tokio::test]
async fn a_text_has_one_vector_whatever_it_is_embedded_with() {
    let dir = folder(&Tiny::seeded(2));
    let embedder = LocalEmbedder::new(dir.path());
    // More tokens than go through the model at once.
    let many: Vec<String> = TEXTS.iter().cycle().take(200).map(|&text| text.to_owned()).collect();
    let together = embedder.embed_texts(&many).await.unwrap();
    assert_eq!(together.len(), many.len());
    for (text, vector) in TEXTS.iter().zip(&together) {
        let alone = embedder.embed_texts(&strings(&[text])).await.unwrap();
        assert_close(&alone[0], vector);
    }
    for (position, vector) in together.iter().enumerate() {
        assert_close(&together[position % TEXTS.len()], vector);
    }
}

#[tokio::test]
async fn no_texts_have_no_vectors_and_need_no_model() {
    assert_eq!(LocalEmbedder::new(Path::new("/nowhere")).embed_texts(&[]).await, Ok(Vec::new()));
}

#[tokio::test]
async fn long_texts_are_cut_at_the_length_of_the_model_and_not_before() {
    let dir = folder(&Tiny::seeded(3));
    // The model has 32 places, two of them for the marks. The tokenizer's own limit of 8 is not followed.
    let thirty = vec!["test"; 30].join(" ");
    let (longer, shorter) = (format!("{thirty} slow slow"), vec!["test"; 29].join(" "));
    let vectors = embed(dir.path(), &[&thirty, &longer, &shorter]).await;
    assert_close(&vectors[0], &vectors[1]);
    assert!(vectors[0].cosine_similarity(&vectors[2]) < 0.999_999);

    std::fs::write(dir.path().join("sentence_bert_config.json"), r#"{"max_seq_length": 5, "do_lower_case": false}"#)
        .unwrap();
    let vectors = embed(dir.path(), &["a test runs", "a test runs on and on", "a test"]).await;
    assert_close(&vectors[0], &vectors[1]);
    assert!(vectors[0].cosine_similarity(&vectors[2]) < 0.999_999);
}

#[tokio::test]
async fn megabytes_are_embedded_by_their_beginning() {
    let dir = folder(&Tiny::seeded(3));
    let huge = [" ".repeat(3_000_000), "x".repeat(3_000_000), "é test ".repeat(500_000)];
    let vectors = embed(dir.path(), &[&huge[0], &huge[1], &huge[2], "", "xyzzy"]).await;
    assert_close(&vectors[0], &vectors[3]);
    assert_close(&vectors[1], &vectors[4]);
}

#[tokio::test]
async fn names_with_a_prefix_and_shorter_numbers_make_no_difference() {
    let tiny = Tiny::seeded(5);
    let plain = embed(folder(&tiny).path(), TEXTS).await;
    let mut prefixed = tiny.clone();
    prefixed.tensors = tiny.tensors.iter().map(|(name, tensor)| (format!("bert.{name}"), tensor.clone())).collect();
    let half = Tiny { written: Written::F16, ..tiny.clone() };
    let brain = Tiny { written: Written::Bf16, ..prefixed.clone() };
    for other in [prefixed, half, brain] {
        assert_eq!(embed(folder(&other).path(), TEXTS).await, plain);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_tasks_load_the_model_once() {
    let dir = folder(&Tiny::seeded(6));
    let embedder = Arc::new(LocalEmbedder::new(dir.path()));
    assert_eq!(embedder.dimensions(), None);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let embedder = Arc::clone(&embedder);
            tokio::spawn(async move {
                (embedder.load_model().await.unwrap(), embedder.embed_texts(&strings(TEXTS)).await.unwrap())
            })
        })
        .collect();
    let mut result = Vec::new();
    for task in tasks {
        result.push(task.await.unwrap());
    }
    for (model, vectors) in &result {
        assert!(Arc::ptr_eq(model, &result[0].0));
        assert_eq!(vectors, &result[0].1);
    }
    assert_eq!(embedder.dimensions(), Some(16));
}

#[tokio::test]
async fn the_runtime_goes_on_while_the_processor_is_busy() {
    let dir = folder(&Tiny::seeded(6));
    let embedder = LocalEmbedder::new(dir.path());
    let texts = strings(TEXTS);
    embedder.embed_texts(&texts).await.unwrap();
    let waits = tokio::select! {
        biased;
        _ = embedder.embed_texts(&texts) => false,
        () = std::future::ready(()) => true,
    };
    assert!(waits, "embedding was done before anything else had a turn");
}

#[tokio::test]
async fn a_folder_is_looked_at_again_after_it_was_mended() {
    let dir = folder(&Tiny::seeded(7));
    let weights = dir.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).unwrap();
    std::fs::remove_file(&weights).unwrap();
    let embedder = LocalEmbedder::new(dir.path());
    let error = embedder.embed_texts(&strings(TEXTS)).await.unwrap_err();
    assert!(matches!(&error, EmbedError::Unreadable { path, .. } if *path == weights), "{error}");
    std::fs::write(&weights, bytes).unwrap();
    assert!(embedder.embed_texts(&strings(TEXTS)).await.is_ok());
}

#[test]
fn the_same_model_has_one_name_everywhere_and_an_exchanged_one_another() {
    let (dir, elsewhere) = (folder(&Tiny::seeded(8)), folder(&Tiny::seeded(8)));
    let name = LocalEmbedder::new(dir.path()).name().to_owned();
    assert_eq!(LocalEmbedder::new(elsewhere.path()).name(), name);
    assert_ne!(LocalEmbedder::new(folder(&Tiny::seeded(9)).path()).name(), name);
    std::fs::write(dir.path().join("model.safetensors"), "other").unwrap();
    assert_ne!(LocalEmbedder::new(dir.path()).name(), name);
}

#[test]
fn a_long_file_is_known_by_its_length_and_by_pieces_of_it() {
    let dir = folder(&Tiny::seeded(8));
    let weights = dir.path().join("model.safetensors");
    let mut bytes = vec![7; 5_000_000];
    let mut names = std::collections::BTreeSet::new();
    let changes: [fn(&mut Vec<u8>); 4] =
        [|_| {}, |bytes| bytes.push(7), |bytes| bytes[0] = 1, |bytes| *bytes.last_mut().unwrap() = 1];
    for change in changes {
        change(&mut bytes);
        std::fs::write(&weights, &bytes).unwrap();
        names.insert(LocalEmbedder::new(dir.path()).name().to_owned());
    }
    assert_eq!(names.len(), 4);
}

type Spoil = fn(&mut Tiny, &Path);

#[tokio::test]
async fn a_bad_folder_is_refused_with_the_file_and_the_next_step() {
    let table: &[(&str, &str, Spoil)] = &[
        ("config.json", "cannot be read", |_, dir| std::fs::remove_file(dir.join("config.json")).unwrap()),
        ("tokenizer.json", "cannot be read", |_, dir| std::fs::remove_file(dir.join("tokenizer.json")).unwrap()),
        ("model.safetensors", "cannot be read", |_, dir| std::fs::remove_file(dir.join("model.safetensors")).unwrap()),
        ("config.json", "EOF", |_, dir| std::fs::write(dir.join("config.json"), "{").unwrap()),
        ("tokenizer.json", "EOF", |_, dir| std::fs::write(dir.join("tokenizer.json"), "{\"model\":").unwrap()),
        ("tokenizer.json", ";", |_, dir| std::fs::write(dir.join("tokenizer.json"), "[]").unwrap()),
        ("model.safetensors", "the file ends before it does", |tiny, dir| {
            let bytes = tiny.weights();
            std::fs::write(dir.join("model.safetensors"), &bytes[..bytes.len() - 100]).unwrap();
        }),
        ("model.safetensors", "config.json says [40, 32]", |tiny, dir| {
            tiny.config["hidden_size"] = json!(32);
            tiny.write(dir);
        }),
        ("model.safetensors", "encoder.layer.2.attention.self.query.weight: it is not there", |tiny, dir| {
            tiny.config["num_hidden_layers"] = json!(3);
            tiny.write(dir);
        }),
        ("tokenizer.json", "more words than the 40", |tiny, dir| {
            tiny.tokenizer["model"]["vocab"]["extra"] = json!(40);
            tiny.write(dir);
        }),
        ("tokenizer.json", "adds 0 marks", |tiny, dir| {
            tiny.tokenizer["post_processor"] = json!(null);
            tiny.write(dir);
        }),
        ("tokenizer.json", "adds 2 marks to a text of at most 2", |_, dir| {
            std::fs::write(dir.join("sentence_bert_config.json"), r#"{"max_seq_length": 2}"#).unwrap();
        }),
        ("sentence_bert_config.json", "invalid type", |_, dir| {
            std::fs::write(dir.join("sentence_bert_config.json"), r#"{"max_seq_length": "all"}"#).unwrap();
        }),
        ("1_Pooling/config.json", "the mean of its tokens", |_, dir| {
            std::fs::create_dir(dir.join("1_Pooling")).unwrap();
            std::fs::write(dir.join("1_Pooling/config.json"), r#"{"pooling_mode_mean_tokens": false}"#).unwrap();
        }),
        ("", "zero or not finite", |tiny, dir| {
            for (_, numbers) in tiny.tensors.values_mut() {
                numbers.fill(f32::NAN);
            }
            tiny.write(dir);
        }),
    ];
    for (file, expected, spoil) in table {
        let mut tiny = Tiny::seeded(9);
        let dir = folder(&tiny);
        spoil(&mut tiny, dir.path());
        let error = LocalEmbedder::new(dir.path()).embed_texts(&strings(TEXTS)).await.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error} does not say {expected:?}");
        let path = if file.is_empty() { dir.path().to_owned() } else { dir.path().join(file) };
        assert!(error.contains(path.to_str().unwrap()) && error.contains(';') && !error.contains('\n'), "{error}");
    }
}

#[test]
fn the_words_of_the_tiny_model_are_known_once() {
    let distinct: std::collections::BTreeSet<_> = WORDS.iter().collect();
    assert_eq!(distinct.len(), 40);
}

/// With `ARCHIVIST_EMBEDDINGS` naming the folder of a real model.
#[tokio::test]
async fn a_real_model_puts_paraphrases_before_strangers() {
    let Some(dir) = std::env::var_os("ARCHIVIST_EMBEDDINGS") else {
        eprintln!("skipped: ARCHIVIST_EMBEDDINGS names no folder of a model");
        return;
    };
    let embedder = LocalEmbedder::new(Path::new(&dir));
    let began = std::time::Instant::now();
    embedder.load_model().await.unwrap();
    eprintln!("loaded in {:?}", began.elapsed());
    let pairs = [
        (
            "The integration tests time out when they all run at once",
            "Running every test in parallel makes the suite too slow to finish",
        ),
        (
            "Delete the build cache after changing the toolchain",
            "When the compiler was updated, remove cached artifacts",
        ),
        ("The user prefers short commit messages", "Keep the text of commits brief, as the person likes"),
        (
            "The server refuses connections because the port is taken",
            "Another process is already listening on that address",
        ),
    ];
    let texts: Vec<String> = pairs.iter().flat_map(|(one, two)| [(*one).to_owned(), (*two).to_owned()]).collect();
    let began = std::time::Instant::now();
    let vectors = embedder.embed_texts(&texts).await.unwrap();
    eprintln!("{:?} a sentence", began.elapsed() / u32::try_from(texts.len()).unwrap());
    for (position, vector) in vectors.iter().enumerate() {
        let partner = vector.cosine_similarity(&vectors[position ^ 1]);
        for (other, stranger) in vectors.iter().enumerate().filter(|(other, _)| other / 2 != position / 2) {
            let found = vector.cosine_similarity(stranger);
            assert!(partner > found, "{:?} is nearer to {:?}: {found} > {partner}", texts[position], texts[other]);
        }
    }
}
