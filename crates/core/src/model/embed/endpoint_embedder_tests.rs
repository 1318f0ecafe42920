use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::super::test_support::strings;
use super::{EmbedError, Embedder, EmbeddingTransport, EmbeddingVector, EndpointEmbedder, parse_vectors};

fn embedder(server: &MockServer, dimensions: Option<usize>) -> EndpointEmbedder {
    let transport =
        EmbeddingTransport::new(&server.uri(), Some("key-of-mine".into()), Duration::from_secs(20)).unwrap();
    EndpointEmbedder::new(transport, "small", dimensions)
}

/// A direction for every number.
fn direction(number: usize) -> Vec<f32> {
    let angle = f32::from(u16::try_from(number).unwrap()) / 100.0;
    vec![angle.cos(), angle.sin()]
}

/// Gives the texts `0`, `1`, … their directions, the last first.
async fn counting_server() -> MockServer {
    let server = MockServer::start().await;
    let answer = |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let texts = body["input"].as_array().unwrap();
        let entry = |(index, text): (usize, &Value)| json!({ "object": "embedding", "index": index, "embedding": direction(text.as_str().unwrap().parse().unwrap()) });
        let data: Vec<Value> = texts.iter().enumerate().rev().map(entry).collect();
        ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "usage": null }))
    };
    Mock::given(method("POST")).and(path("/embeddings")).respond_with(answer).mount(&server).await;
    server
}

#[tokio::test]
async fn texts_go_out_in_batches_and_come_back_in_order() {
    let server = counting_server().await;
    let embedder = embedder(&server, None);
    assert_eq!((embedder.name(), embedder.dimensions()), (&*format!("small at {}", server.uri()), None));
    let texts: Vec<String> = (0..130).map(|number| number.to_string()).collect();
    let expected: Vec<EmbeddingVector> =
        (0..130).map(|number| EmbeddingVector::from_numbers(direction(number)).unwrap()).collect();
    assert_eq!(embedder.embed_texts(&texts).await, Ok(expected));
    assert_eq!(embedder.dimensions(), Some(2));
    let sizes: Vec<usize> = server
        .received_requests()
        .await
        .unwrap()
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [64, 64, 2]);
    assert_eq!(embedder.embed_texts(&[]).await, Ok(Vec::new()));
}

#[tokio::test]
async fn the_question_names_the_model_and_what_is_wanted_and_no_text_is_empty_or_endless() {
    let server = MockServer::start().await;
    let reply = json!({ "data": [{ "embedding": [1, 0] }, { "embedding": [0, 1] }, { "embedding": [1, 1] }] });
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200).set_body_json(reply)).mount(&server).await;
    let embedder = embedder(&server, Some(2));
    assert_eq!((embedder.name(), embedder.dimensions()), (&*format!("small in 2 at {}", server.uri()), Some(2)));
    embedder.embed_texts(&strings(&["a b", " \n", &"é".repeat(100_000)])).await.unwrap();
    let body: Value = serde_json::from_slice(&server.received_requests().await.unwrap()[0].body).unwrap();
    let input = ["a b", " ", &"é".repeat(8_000)];
    assert_eq!(body, json!({ "model": "small", "input": input, "encoding_format": "float", "dimensions": 2 }));
}

#[tokio::test]
async fn an_error_names_the_endpoint_and_the_next_step() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(401).set_body_json(json!({ "error": { "message": "who are you" } })))
        .mount(&server)
        .await;
    let error = embedder(&server, None).embed_texts(&strings(&["a"])).await.unwrap_err();
    assert!(matches!(error, EmbedError::Endpoint { .. }));
    let expected = "the endpoint does not accept the key (401): who are you; check the settings of embeddings";
    assert_eq!(error.to_string(), format!("embeddings endpoint {}: {expected}", server.uri()));
}

#[tokio::test]
async fn an_endpoint_that_changes_its_mind_about_the_dimension_is_refused() {
    let server = MockServer::start().await;
    for (embedding, times) in [(vec![1, 2], 1), (vec![1, 2, 3], 9)] {
        let reply = json!({ "data": [{ "embedding": embedding }] });
        let mock = Mock::given(method("POST")).respond_with(ResponseTemplate::new(200).set_body_json(reply));
        mock.up_to_n_times(times).mount(&server).await;
    }
    let embedder = embedder(&server, None);
    embedder.embed_texts(&strings(&["a"])).await.unwrap();
    let error = embedder.embed_texts(&strings(&["a"])).await.unwrap_err();
    assert!(
        matches!(&error, EmbedError::Answer { why, .. } if why == "a vector of 3 numbers where others have 2"),
        "{error}"
    );
}

#[test]
fn a_reply_without_one_vector_for_each_text_is_refused() {
    let good = json!({ "embedding": [1, 0], "index": 0 });
    let with = |other: Value| json!({ "data": [good, other] });
    let table = [
        (json!({}), "the answer has no data"),
        (json!([]), "the answer has no data"),
        (json!({ "data": "x" }), "the answer has no data"),
        (json!({ "error": { "message": "over\nloaded" } }), "it says \"over\nloaded\""),
        (json!({ "error": "gone" }), "it says \"gone\""),
        (json!({ "data": [] }), "0 vectors for 2 texts"),
        (json!({ "data": [good, good, good] }), "3 vectors for 2 texts"),
        (with(json!({ "embedding": [1, 0], "index": 0 })), "two vectors for one text"),
        (with(json!({ "embedding": [1, 0], "index": 2 })), "a vector for a text beyond the 2 that were sent"),
        (with(json!({ "embedding": [1, 0], "index": -1 })), "a vector for a text beyond the 2 that were sent"),
        (with(json!({ "embedding": [1, 0], "index": "1" })), "a vector for a text beyond the 2 that were sent"),
        (with(json!({ "embedding": [1, 0, 0], "index": 1 })), "a vector of 3 numbers where others have 2"),
        (with(json!({ "embedding": "AACAPwAAAAA=", "index": 1 })), "vectors in base64 where numbers were asked for"),
        (with(json!({ "embedding": [1, null], "index": 1 })), "a vector that is not a list of numbers"),
        (with(json!({ "embedding": [1, "0"], "index": 1 })), "a vector that is not a list of numbers"),
        (with(json!({ "index": 1 })), "a vector that is not a list of numbers"),
        (with(json!(7)), "a vector that is not a list of numbers"),
        (with(json!({ "embedding": [1e300, 0], "index": 1 })), "a vector that is empty, zero or not finite"),
        (with(json!({ "embedding": [0, 0], "index": 1 })), "a vector that is empty, zero or not finite"),
        (with(json!({ "embedding": [], "index": 1 })), "a vector that is empty, zero or not finite"),
    ];
    for (reply, expected) in table {
        assert_eq!(parse_vectors(&reply, 2, None), Err(expected.to_owned()), "{reply}");
    }
    let reply = with(json!({ "embedding": [0, 3], "index": 1 }));
    assert_eq!(parse_vectors(&reply, 2, Some(3)), Err("a vector of 2 numbers where others have 3".to_owned()));
    assert!(parse_vectors(&reply, 2, Some(2)).is_ok());
}

proptest! {
    #[test]
    fn any_order_of_a_reply_is_put_right(order in Just((0..20).collect::<Vec<usize>>()).prop_shuffle()) {
        let data: Vec<Value> =
            order.iter().map(|&index| json!({ "embedding": direction(index), "index": index })).collect();
        let expected: Vec<EmbeddingVector> = (0..20).map(|index| EmbeddingVector::from_numbers(direction(index)).unwrap()).collect();
        prop_assert_eq!(parse_vectors(&json!({ "data": data }), 20, None), Ok(expected));
    }
}
