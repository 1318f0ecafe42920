//! Embeddings from an OpenAI-compatible endpoint.

use std::sync::OnceLock;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{EmbedError, Embedder, EmbeddingTransport, EmbeddingVector, truncate_text};
use crate::model::public_address::public_address;

#[cfg(test)]
#[path = "endpoint_embedder_tests.rs"]
mod tests;

/// The number of texts in one request.
const BATCH: usize = 64;

/// An embedder that sends texts to an endpoint.
#[derive(Debug)]
pub struct EndpointEmbedder {
    transport: EmbeddingTransport,
    model: String,
    name: String,
    /// The requested number of dimensions; if `None`, the endpoint decides.
    wanted: Option<usize>,
    seen: OnceLock<usize>,
}

impl EndpointEmbedder {
    /// Creates an embedder for a model there. `dimensions` shortens the vectors where the model supports that.
    pub fn new(transport: EmbeddingTransport, model: &str, dimensions: Option<usize>) -> Self {
        let name = Self::name_model(transport.public_address(), model, dimensions);
        Self { transport, model: model.to_owned(), name, wanted: dimensions, seen: OnceLock::new() }
    }

    /// Returns the name of an embedder for a model at this address, without anything secret.
    pub fn name_model(address: &str, model: &str, dimensions: Option<usize>) -> String {
        let wanted = dimensions.map(|count| format!(" in {count}")).unwrap_or_default();
        format!("{model}{wanted} at {}", public_address(address))
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        // Endpoints refuse a batch for one empty text in it.
        let texts = texts.iter().map(|text| Some(truncate_text(text)).filter(|text| !text.is_empty()).unwrap_or(" "));
        let texts: Vec<&str> = texts.collect();
        let mut body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        if let (Some(wanted), Some(body)) = (self.wanted, body.as_object_mut()) {
            body.insert("dimensions".to_owned(), wanted.into());
        }
        let endpoint = || self.transport.public_address().to_owned();
        let reply = self
            .transport
            .request_embeddings(body)
            .await
            .map_err(|why| EmbedError::Endpoint { endpoint: endpoint(), why })?;
        let vectors = parse_vectors(&reply, texts.len(), self.dimensions())
            .map_err(|why| EmbedError::Answer { endpoint: endpoint(), why: self.transport.sanitize_message(&why) })?;
        if let Some(first) = vectors.first() {
            self.seen.get_or_init(|| first.dimensions());
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for EndpointEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        self.wanted.or_else(|| self.seen.get().copied())
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.embed_batch(batch).await?);
        }
        Ok(vectors)
    }
}

/// Parses the vectors of a reply, one for each text, in the order of the texts.
fn parse_vectors(reply: &Value, count: usize, dimensions: Option<usize>) -> Result<Vec<EmbeddingVector>, String> {
    let Some(data) = reply.get("data").and_then(Value::as_array) else {
        let message =
            ["/error/message", "/error"].iter().find_map(|place| reply.pointer(place).and_then(Value::as_str));
        return Err(message.map_or("the answer has no data".to_owned(), |said| format!("it says \"{said}\"")));
    };
    if data.len() != count {
        return Err(format!("{} vectors for {count} texts", data.len()));
    }
    let mut placed: Vec<Option<EmbeddingVector>> = vec![None; count];
    let mut expected = dimensions;
    for (position, entry) in data.iter().enumerate() {
        let vector = parse_vector(entry.get("embedding").unwrap_or(&Value::Null))?;
        let found = vector.dimensions();
        let expected = *expected.get_or_insert(found);
        if found != expected {
            return Err(format!("a vector of {found} numbers where others have {expected}"));
        }
        // Some endpoints send no index and rely on the order.
        let index = match entry.get("index") {
            None | Some(Value::Null) => Some(position),
            Some(index) => index.as_u64().and_then(|index| usize::try_from(index).ok()),
        };
        match index.and_then(|index| placed.get_mut(index)) {
            Some(place @ None) => *place = Some(vector),
            Some(Some(_)) => return Err("two vectors for one text".to_owned()),
            None => return Err(format!("a vector for a text beyond the {count} that were sent")),
        }
    }
    placed.into_iter().collect::<Option<_>>().ok_or_else(|| "a text without a vector".to_owned())
}

fn parse_vector(embedding: &Value) -> Result<EmbeddingVector, String> {
    if embedding.is_string() {
        return Err("vectors in base64 where numbers were asked for".to_owned());
    }
    let numbers =
        Vec::<f32>::deserialize(embedding).map_err(|_| "a vector that is not a list of numbers".to_owned())?;
    EmbeddingVector::from_numbers(numbers).ok_or_else(|| "a vector that is empty, zero or not finite".to_owned())
}
