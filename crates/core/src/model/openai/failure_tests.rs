//! What an endpoint may do instead of answering, at the level of HTTP.

use serde_json::{Value, json};
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::tests::{KEY, answer, bodies, endpoint, model, request, server};
use super::*;

fn refusal(status: u16, body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

#[tokio::test]
async fn each_status_has_its_meaning() {
    let said = || "So it is".to_owned();
    let cases = [
        (401, ModelError::Unauthorized { status: 401, said: said() }),
        (403, ModelError::Unauthorized { status: 403, said: said() }),
        (404, ModelError::NotFound { said: said() }),
        (429, ModelError::RateLimited { retry_after: None, said: said() }),
        (400, ModelError::BadRequest { status: 400, said: said() }),
        (402, ModelError::BadRequest { status: 402, said: said() }),
        (418, ModelError::BadRequest { status: 418, said: said() }),
        (422, ModelError::BadRequest { status: 422, said: said() }),
        (413, ModelError::TooLong { said: said() }),
        (408, ModelError::Server { status: 408, retry_after: None, said: said() }),
        (409, ModelError::Server { status: 409, retry_after: None, said: said() }),
        (500, ModelError::Server { status: 500, retry_after: None, said: said() }),
        (503, ModelError::Server { status: 503, retry_after: None, said: said() }),
        (529, ModelError::Server { status: 529, retry_after: None, said: said() }),
    ];
    for (status, expected) in cases {
        let body = json!({"error": {"message": "So it is", "type": "some_error", "code": 7}});
        assert_eq!(answer(refusal(status, &body)).await, Err(expected), "{status}");
    }
}

#[tokio::test]
async fn plain_words_no_words_and_odd_bodies_are_read() {
    let rate_limited = |said: &str| Err(ModelError::RateLimited { retry_after: None, said: said.to_owned() });
    let plain = |body: &str| ResponseTemplate::new(429).set_body_string(body);
    assert_eq!(answer(plain("slow\r\n  down\u{7}\n")).await, rate_limited("slow down"));
    assert_eq!(answer(plain("")).await, rate_limited("Too Many Requests"));
    assert_eq!(answer(plain("{\"error\":")).await, rate_limited("{\"error\":"));
    assert_eq!(answer(ResponseTemplate::new(429).set_body_bytes(b"no\xff".to_vec())).await, rate_limited("no\u{FFFD}"));
    let page = "<html>\n<head><title>502 Bad Gateway</title></head></html>";
    let server_said = |said: &str| Err(ModelError::Server { status: 502, retry_after: None, said: said.to_owned() });
    let page = ResponseTemplate::new(502).set_body_string(page);
    assert_eq!(answer(page).await, server_said("an HTML page, \"502 Bad Gateway\""));
}

#[tokio::test]
async fn the_time_to_wait_is_read() {
    let reply = |status: u16| ResponseTemplate::new(status).insert_header("retry-after", "2").set_body_string("busy");
    let wait = Some(Duration::from_secs(2));
    assert_eq!(answer(reply(429)).await, Err(ModelError::RateLimited { retry_after: wait, said: "busy".to_owned() }));
    let expected = ModelError::Server { status: 503, retry_after: wait, said: "busy".to_owned() };
    assert_eq!(answer(reply(503)).await, Err(expected));
}

#[tokio::test]
async fn an_exceeded_quota_is_not_a_matter_of_patience() {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    let body = json!({"error": {"message": message, "type": "insufficient_quota", "code": "insufficient_quota"}});
    let error = answer(refusal(429, &body)).await.unwrap_err();
    assert!(!error.is_transient());
    assert_eq!(error, ModelError::BadRequest { status: 429, said: message.to_owned() });
}

#[tokio::test]
async fn a_missing_path_brings_a_hint() {
    for reply in [
        ResponseTemplate::new(404).set_body_string("404 page not found"),
        ResponseTemplate::new(404).set_body_json(json!({"detail": "Not Found"})),
        ResponseTemplate::new(404),
    ] {
        let Err(ModelError::NotFound { said }) = answer(reply).await else { panic!("found") };
        assert!(said.contains("`/v1`"), "{said}");
    }
    let page = ResponseTemplate::new(200).set_body_string("\n <!DOCTYPE html><html></html>");
    let Err(ModelError::Unreadable { why }) = answer(page).await else { panic!("read") };
    assert!(why.contains("HTML") && why.contains("`/v1`"), "{why}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = MockServer::start().await;
    for status in [301, 302, 303, 307, 308] {
        let to = format!("{}/v1/chat/completions", elsewhere.uri());
        let error = answer(ResponseTemplate::new(status).insert_header("location", to.as_str())).await.unwrap_err();
        let ModelError::NotFound { said } = error else { panic!("{error}") };
        assert!(said.contains(&to), "{said}");
    }
    assert!(bodies(&elsewhere).await.is_empty());
}

#[tokio::test]
async fn a_key_that_the_endpoint_echoes_is_masked() {
    let (start, end) = KEY.split_at(8);
    let echoes = [
        refusal(401, &json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}})),
        ResponseTemplate::new(400).set_body_string(format!("Bearer {KEY} {KEY}")),
        ResponseTemplate::new(500).set_body_string(format!("{start}\u{0}{end}")),
        ResponseTemplate::new(500).set_body_string(format!("{start}\n{end}")),
        ResponseTemplate::new(302).insert_header("location", format!("https://other/?key={KEY}").as_str()),
        refusal(200, &json!({"error": {"message": KEY}})),
        refusal(200, &json!({"choices": [{"message": {"refusal": format!("No, {KEY}")}}]})),
        refusal(200, &json!({"message": format!("Hello, {KEY}")})),
        ResponseTemplate::new(200).set_body_string(format!("data: {KEY}\n\n")),
    ];
    for (number, echo) in echoes.into_iter().enumerate() {
        let error = answer(echo).await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY) && !shown.contains(end), "{number}: {shown}");
    }
}

#[tokio::test]
async fn what_is_said_is_short() {
    let Err(ModelError::BadRequest { said, .. }) =
        answer(ResponseTemplate::new(400).set_body_string("é\n".repeat(1000))).await
    else {
        panic!("no refusal")
    };
    assert_eq!(said.chars().count(), 300);
    assert!(said.starts_with("é é é") && said.ends_with('…'), "{said}");
}

#[tokio::test]
async fn nobody_at_home_is_a_failed_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for scheme in ["http", "https"] {
        let error = model(&format!("{scheme}://127.0.0.1:{port}/v1"))
            .send_request(&request(RequestedFormat::Text))
            .await
            .unwrap_err();
        let ModelError::Unreachable { said } = &error else { panic!("{error:?}") };
        assert!(said.contains("refused"), "{said}");
        assert!(error.is_transient() && !said.contains("127.0.0.1"), "{said}");
    }
}

#[tokio::test]
async fn https_is_really_spoken_and_certificates_are_checked() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hello = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut start = [0; 3];
        stream.read_exact(&mut start).await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        start
    });
    let error =
        model(&format!("https://127.0.0.1:{port}/v1")).send_request(&request(RequestedFormat::Text)).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    // A handshake of TLS, nothing readable before it.
    assert_eq!(hello.await.unwrap()[..2], [0x16, 0x03]);
}

/// A test that runs itself again with proxies in its environment, because a test may not change its own.
#[tokio::test]
async fn this_machine_is_never_asked_through_a_proxy() {
    const CHILD: &str = "ARCHIVIST_TEST_BEHIND_A_PROXY";
    let hello = || ResponseTemplate::new(200).set_body_json(json!({"choices": [{"message": {"content": "Hello"}}]}));
    if std::env::var_os(CHILD).is_some() {
        let server = server(hello()).await;
        let reply = model(&format!("{}/v1", server.uri())).send_request(&request(RequestedFormat::Text)).await.unwrap();
        assert_eq!(reply.text, "Hello");
        let far = endpoint("http://model.example/v1");
        assert_eq!(
            OpenAiModel::new(far).unwrap().send_request(&request(RequestedFormat::Text)).await.unwrap().text,
            "Proxied"
        );
        return;
    }
    let proxy = MockServer::start().await;
    let proxied = ResponseTemplate::new(200).set_body_json(json!({"choices": [{"message": {"content": "Proxied"}}]}));
    Mock::given(path("/v1/chat/completions")).respond_with(proxied).mount(&proxy).await;
    let uri = proxy.uri();
    let ran = tokio::task::spawn_blocking(move || {
        let name = "model::openai::failure_tests::this_machine_is_never_asked_through_a_proxy";
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .envs([("http_proxy", &uri), ("HTTP_PROXY", &uri), ("https_proxy", &uri), ("ALL_PROXY", &uri)])
            .env_remove("no_proxy")
            .env_remove("NO_PROXY")
            .output()
    });
    let ran = ran.await.unwrap().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && output.contains("1 passed"), "{output}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(bodies(&proxy).await.len(), 1);
}
