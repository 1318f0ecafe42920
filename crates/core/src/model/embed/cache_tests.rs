use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tempfile::TempDir;

use super::super::test_support::{Counting, strings};
use super::{CachedEmbedder, EmbedError, Embedder, EmbeddingVector, lock_cache};

fn counting(name: &str, size: usize) -> Arc<Counting> {
    Arc::new(Counting::new(name, size))
}

/// Embeds, and makes sure that every vector is the one of its text.
async fn check(cached: &CachedEmbedder<Arc<Counting>>, texts: &[&str]) -> usize {
    let before = cached.inner.asked();
    let vectors = cached.embed_texts(&strings(texts)).await.unwrap();
    let expected: Vec<EmbeddingVector> = texts.iter().map(|text| cached.inner.vector(text)).collect();
    assert_eq!(vectors, expected);
    cached.inner.asked() - before
}

#[tokio::test]
async fn only_what_is_new_is_embedded_and_only_once() {
    let cached = CachedEmbedder::new(counting("m", 4));
    assert_eq!(check(&cached, &["a", "b", "a", "a"]).await, 2);
    assert_eq!(check(&cached, &["b", "c", "a"]).await, 1);
    assert_eq!(check(&cached, &["c", "b", "a"]).await, 0);
    assert_eq!(check(&cached, &[]).await, 0);
    assert_eq!((cached.name(), cached.dimensions()), ("m", None));
}

#[tokio::test]
async fn the_oldest_make_room() {
    let cached = CachedEmbedder::new(counting("m", 4));
    lock_cache(&cached.kept).max_numbers = 12;
    assert_eq!(check(&cached, &["a", "b", "c", "d"]).await, 4);
    assert_eq!(check(&cached, &["b", "c", "d"]).await, 0);
    assert_eq!(check(&cached, &["a"]).await, 1);
    assert_eq!(lock_cache(&cached.kept).all_vectors().len(), 3);
    lock_cache(&cached.kept).max_numbers = 3;
    assert_eq!(check(&cached, &["e", "f"]).await, 2);
    assert_eq!(lock_cache(&cached.kept).numbers, 0);
}

#[tokio::test]
async fn the_file_remembers_for_the_next_process() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("vectors");
    let first = CachedEmbedder::new(counting("m", 4)).with_file(&path);
    assert_eq!(check(&first, &["a", "b"]).await, 2);
    assert_eq!(check(&first, &["c"]).await, 1);
    let second = CachedEmbedder::new(counting("m", 4)).with_file(&path);
    assert_eq!(check(&second, &["c", "d", "a", "b"]).await, 1);
    let other = CachedEmbedder::new(counting("other", 4)).with_file(&path);
    assert_eq!(check(&other, &["a", "b"]).await, 2);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(check(&second, &["e", "a"]).await, 1);
    let third = CachedEmbedder::new(counting("m", 4)).with_file(&path);
    assert_eq!(check(&third, &["a", "b", "c", "d", "e"]).await, 0, "what was known is written again");
}

#[tokio::test]
async fn a_model_that_changed_its_dimension_is_asked_again_for_everything() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("vectors");
    check(&CachedEmbedder::new(counting("m", 4)).with_file(&path), &["a", "b", "c"]).await;
    let changed = CachedEmbedder::new(counting("m", 6)).with_file(&path);
    assert_eq!(check(&changed, &["a", "new", "b"]).await, 3);
    assert_eq!(check(&changed, &["c"]).await, 1);
    let next = CachedEmbedder::new(counting("m", 6)).with_file(&path);
    assert_eq!(check(&next, &["a", "b", "c", "new"]).await, 0);
}

#[tokio::test]
async fn a_file_that_cannot_be_used_costs_time_and_nothing_else() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    for path in [dir.path(), &dir.path().join("file/below"), Path::new("")] {
        let cached = CachedEmbedder::new(counting("m", 4)).with_file(path);
        assert_eq!(check(&cached, &["a", "b"]).await, 2);
        assert_eq!(check(&cached, &["a", "b"]).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_side_by_side_get_the_right_vectors() {
    let dir = TempDir::new().unwrap();
    let cached = Arc::new(CachedEmbedder::new(counting("m", 4)).with_file(&dir.path().join("vectors")));
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let cached = Arc::clone(&cached);
            tokio::spawn(async move {
                let own = format!("only {task}");
                check(&cached, &["a", &own, "b", "a"]).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(lock_cache(&cached.kept).all_vectors().len(), 10);
}

/// Gives one vector too few, or none at all.
#[derive(Debug)]
struct Faulty(Result<Vec<EmbeddingVector>, EmbedError>);

#[async_trait]
impl Embedder for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(2)
    }

    async fn embed_texts(&self, _: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        self.0.clone()
    }
}

#[tokio::test]
async fn faults_are_passed_on_and_not_remembered() {
    let fault = EmbedError::Answer { endpoint: "x".to_owned(), why: "y".to_owned() };
    let cached: CachedEmbedder<Box<dyn Embedder>> = CachedEmbedder::new(Box::new(Faulty(Err(fault.clone()))));
    assert_eq!(cached.embed_texts(&strings(&["a"])).await, Err(fault));
    let one = vec![EmbeddingVector::from_numbers(vec![1.0, 0.0]).unwrap()];
    let cached = CachedEmbedder::new(Faulty(Ok(one)));
    let error = cached.embed_texts(&strings(&["a", "b"])).await.unwrap_err();
    assert!(error.to_string().contains("1 vectors for 2 texts"), "{error}");
    assert_eq!((cached.dimensions(), lock_cache(&cached.kept).all_vectors().len()), (Some(2), 0));
}

#[test]
fn the_key_of_a_stored_vector_stays_the_same() {
    let key: String = super::vector_key("bert@1", "Use pnpm").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(key, "eccf3b0088b158ce05ebb5b363ef9f56364b3ecc342fdddf506c2127be1e2cf9");
}
