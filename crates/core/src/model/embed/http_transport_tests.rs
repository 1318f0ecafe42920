use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::{body_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{EmbeddingTransport, MAX_REPLY_BYTES, ModelError};

const KEY: &str = "sk-very-secret";

fn transport(base: &str) -> EmbeddingTransport {
    EmbeddingTransport::new(base, Some(KEY.into()), Duration::from_secs(20)).unwrap()
}

async fn answering(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(response).mount(&server).await;
    server
}

async fn post(response: ResponseTemplate) -> Result<Value, ModelError> {
    let server = answering(response).await;
    transport(&format!("{}/v1", server.uri())).request_embeddings(json!({})).await
}

#[tokio::test]
async fn a_question_goes_out_with_the_key_and_comes_back_as_json() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/embeddings"))
        .and(header("authorization", "Bearer sk-very-secret"))
        .and(body_json(json!({ "input": ["a"] })))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({ "data": [] })))
        .mount(&server)
        .await;
    for base in [format!("{}/v1", server.uri()), format!("{}/v1/", server.uri())] {
        assert_eq!(transport(&base).request_embeddings(json!({ "input": ["a"] })).await, Ok(json!({ "data": [] })));
    }
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = answering(ResponseTemplate::new(200).set_body_string("{}")).await;
    let bare = EmbeddingTransport::new(&server.uri(), None, Duration::from_secs(20)).unwrap();
    bare.request_embeddings(json!({})).await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert!(requests.iter().all(|request| !request.headers.contains_key("authorization")), "{requests:?}");
}

#[tokio::test]
async fn a_refusal_is_read_like_any_models_and_never_shows_the_key() {
    let said = |status: u16| ResponseTemplate::new(status).set_body_string(r#"{"error":"bad key sk-very-secret"}"#);
    let masked = || "bad key [the key]".to_owned();
    assert_eq!(post(said(401)).await, Err(ModelError::Unauthorized { status: 401, said: masked() }));
    let wait = said(429).insert_header("retry-after", "7");
    let after = Some(Duration::from_secs(7));
    assert_eq!(post(wait).await, Err(ModelError::RateLimited { retry_after: after, said: masked() }));
    let elsewhere = said(302).insert_header("location", "http://127.0.0.1:1/elsewhere");
    assert!(matches!(post(elsewhere).await, Err(ModelError::NotFound { .. })));
}

#[tokio::test]
async fn an_answer_that_is_not_json_cannot_be_read() {
    for body in ["", "<html>", "{\"data\": [NaN]}", "{\"data\":"] {
        let answer = post(ResponseTemplate::new(200).set_body_string(body)).await;
        assert!(matches!(answer, Err(ModelError::Unreadable { .. })), "{body:?}: {answer:?}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let long = usize::try_from(MAX_REPLY_BYTES + 1).unwrap();
    let answer = post(ResponseTemplate::new(200).set_body_bytes(vec![b' '; long])).await;
    assert_eq!(answer, Err(ModelError::Oversized { max_bytes: MAX_REPLY_BYTES }));
}

#[tokio::test]
async fn an_endpoint_that_takes_too_long_is_left() {
    let server = answering(ResponseTemplate::new(200).set_delay(Duration::from_secs(60))).await;
    let after = Duration::from_millis(50);
    let hasty = EmbeddingTransport::new(&server.uri(), Some(KEY.into()), after).unwrap();
    assert_eq!(hasty.request_embeddings(json!({})).await, Err(ModelError::TimedOut { after }));
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_cannot_be_reached() {
    let answer = transport("http://127.0.0.1:1/v1?token=hunter2").request_embeddings(json!({})).await;
    let Err(ModelError::Unreachable { said }) = answer else { panic!("{answer:?}") };
    assert!(said.contains("refused") && !said.contains("hunter2"), "{said}");
}

#[test]
fn an_address_is_shown_without_what_is_secret() {
    let transport = transport("https://example.org/v1/?token=abc");
    assert_eq!(transport.public_address(), "https://example.org/v1");
    let debug = format!("{transport:?}");
    assert!([KEY, "abc"].iter().all(|secret| !debug.contains(secret)), "{debug}");
}

#[test]
fn an_address_that_is_none_is_refused() {
    for base in ["", "localhost", "localhost:11434/v1", "ftp://example.org", "http://", "http://me:hunter2@host/v1"] {
        let error =
            EmbeddingTransport::new(base, Some(KEY.into()), Duration::from_secs(1)).expect_err(base).to_string();
        assert!(error.contains("give an address such as") && !error.contains("hunter2"), "{error}");
    }
    let error =
        EmbeddingTransport::new("http://localhost", Some("two\nlines".into()), Duration::from_secs(1)).unwrap_err();
    assert!(error.to_string().contains("characters that no key has"), "{error}");
}
