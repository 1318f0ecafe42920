use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Value, json};
use wiremock::matchers::{body_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{MAX_REPLY_BYTES, ModelError, Transport, one_line};

const KEY: &str = "sk-very-secret";

fn transport(base: &str) -> Transport {
    Transport::new(base, KEY.into(), Duration::from_secs(20)).unwrap()
}

async fn answering(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(response).mount(&server).await;
    server
}

async fn post(response: ResponseTemplate) -> Result<Value, ModelError> {
    let server = answering(response).await;
    transport(&format!("{}/v1", server.uri())).post(json!({})).await
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
        assert_eq!(transport(&base).post(json!({ "input": ["a"] })).await, Ok(json!({ "data": [] })));
    }
}

#[tokio::test]
async fn an_empty_key_is_not_sent() {
    let server = answering(ResponseTemplate::new(200).set_body_string("{}")).await;
    let bare = Transport::new(&server.uri(), SecretString::default(), Duration::from_secs(20)).unwrap();
    bare.post(json!({})).await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert!(requests.iter().all(|request| !request.headers.contains_key("authorization")), "{requests:?}");
}

#[tokio::test]
async fn every_refusal_has_its_own_error() {
    let said = || "no key sk".to_owned();
    let table = [
        (401, ModelError::Unauthorized { status: 401, said: said() }),
        (403, ModelError::Unauthorized { status: 403, said: said() }),
        (404, ModelError::NotFound { said: said() }),
        (429, ModelError::RateLimited { retry_after: Some(Duration::from_secs(7)), said: said() }),
        (400, ModelError::BadRequest { status: 400, said: said() }),
        (302, ModelError::BadRequest { status: 302, said: said() }),
        (408, ModelError::Server { status: 408, retry_after: Some(Duration::from_secs(7)), said: said() }),
        (503, ModelError::Server { status: 503, retry_after: Some(Duration::from_secs(7)), said: said() }),
    ];
    for (status, expected) in table {
        let body = json!({ "error": { "message": "no\n key \u{7} sk", "code": 7 } });
        let response = ResponseTemplate::new(status)
            .insert_header("retry-after", "7")
            .insert_header("location", "http://127.0.0.1:1/elsewhere")
            .set_body_json(body);
        assert_eq!(post(response).await, Err(expected));
    }
}

#[tokio::test]
async fn what_an_endpoint_says_is_short_and_without_the_key() {
    let table = [
        (r#"{"error":"bad key sk-very-secret"}"#.to_owned(), "bad key [key]".to_owned()),
        (r#"{"detail":"no such model"}"#.to_owned(), "no such model".to_owned()),
        ("<html>\n sk-very-secret</html>".to_owned(), "<html> [key]</html>".to_owned()),
        ("é".repeat(5000), "é".repeat(200)),
        (String::new(), String::new()),
    ];
    for (body, expected) in table {
        let answer = post(ResponseTemplate::new(422).set_body_string(body)).await;
        assert_eq!(answer, Err(ModelError::BadRequest { status: 422, said: expected }));
    }
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
    for status in [200, 500] {
        let answer = post(ResponseTemplate::new(status).set_body_bytes(vec![b' '; MAX_REPLY_BYTES + 1])).await;
        assert_eq!(answer, Err(ModelError::Oversized { max_bytes: 33_554_432 }));
    }
}

#[tokio::test]
async fn an_endpoint_that_takes_too_long_is_left() {
    let server = answering(ResponseTemplate::new(200).set_delay(Duration::from_secs(60))).await;
    let after = Duration::from_millis(50);
    let hasty = Transport::new(&server.uri(), KEY.into(), after).unwrap();
    assert_eq!(hasty.post(json!({})).await, Err(ModelError::TimedOut { after }));
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_a_connection_error_that_shows_no_password() {
    let answer = transport("http://me:hunter2@127.0.0.1:1/v1").post(json!({})).await;
    let Err(ModelError::Connection { said }) = answer else { panic!("{answer:?}") };
    assert!(said.starts_with("no connection") && !said.contains("hunter2"), "{said}");
}

#[test]
fn an_address_is_shown_without_what_is_secret() {
    let transport = transport("https://me:hunter2@example.org/v1/?token=abc#x");
    assert_eq!(transport.shown(), "https://example.org/v1");
    let debug = format!("{transport:?}");
    assert!([KEY, "hunter2", "abc"].iter().all(|secret| !debug.contains(secret)), "{debug}");
}

#[test]
fn an_address_that_is_none_is_refused() {
    for base in ["", "localhost", "localhost:11434/v1", "ftp://example.org", "http://"] {
        let error = Transport::new(base, KEY.into(), Duration::from_secs(1)).expect_err(base).to_string();
        assert!(error.contains("give an address such as"), "{error}");
    }
    let error = Transport::new("http://localhost", "two\nlines".into(), Duration::from_secs(1)).unwrap_err();
    assert!(error.to_string().contains("characters that no key has"), "{error}");
}

#[test]
fn one_line_is_one_line() {
    assert_eq!(one_line(" a\r\n\tb  c\u{1b}[0m "), "a b c [0m");
    assert_eq!(one_line(&"x".repeat(100_000)).len(), 200);
}
