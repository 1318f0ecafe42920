use std::path::PathBuf;

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::*;
use crate::config::{ConfigLoadRequest, load_config};
use crate::domain::{AgentMemory, IdSource, Timestamp};
use crate::service::{Archivist, find_closest_lessons};

const SECRET: &str = "ghp_R9tq2LmZx81KdVw0aYbN3cUe7HfJ5sPoG4iT";

/// An endpoint that puts texts about tests into one direction and all others into another.
async fn endpoint() -> MockServer {
    let server = MockServer::start().await;
    let answer = |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let direction = |text: &Value| if text.as_str().unwrap().contains("test") { [1.0, 0.1] } else { [0.1, 1.0] };
        let data = body["input"].as_array().unwrap().iter().map(|text| json!({ "embedding": direction(text) }));
        ResponseTemplate::new(200).set_body_json(json!({ "data": data.collect::<Vec<_>>() }))
    };
    Mock::given(method("POST")).and(path("/v1/embeddings")).respond_with(answer).mount(&server).await;
    server
}

fn environment(variables: &[(&str, &str)]) -> ProcessEnvironment {
    let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    ProcessEnvironment { home: Some("/dev/null/home".into()), variables: environment, ..ProcessEnvironment::default() }
}

fn settings(flags: &[(&str, &str)]) -> EmbeddingSettings {
    let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let request = ConfigLoadRequest {
        environment: environment(&[]),
        project_root: "/nowhere/project".into(),
        flags,
        ..ConfigLoadRequest::default()
    };
    load_config(&request).unwrap().config.embeddings
}

async fn sent_keys(server: &MockServer) -> Vec<Option<String>> {
    let requests = server.received_requests().await.unwrap();
    let key = |request: &Request| request.headers.get("authorization").map(|key| key.to_str().unwrap().to_owned());
    requests.iter().map(key).collect()
}

#[tokio::test]
#[cfg(feature = "embeddings")]
async fn nothing_is_sent_unless_an_endpoint_is_set_and_a_folder_comes_first() {
    let cache = PathBuf::from("/nowhere/cache");
    assert!(choose_embedder(&settings(&[]), &environment(&[]), &cache).unwrap().is_none());
    let server = endpoint().await;
    let url = format!("{}/v1", server.uri());
    let both =
        settings(&[("embeddings.dir", "/nowhere/model"), ("embeddings.baseUrl", &url), ("embeddings.model", "small")]);
    let local = choose_embedder(&both, &environment(&[]), &cache).unwrap().unwrap();
    assert!(local.name().starts_with("bert@"), "{}", local.name());
    local.embed_texts(&["a".to_owned()]).await.unwrap_err();
    let remote = settings(&[("embeddings.baseUrl", &url), ("embeddings.model", "small")]);
    let remote = choose_embedder(&remote, &environment(&[]), &cache).unwrap().unwrap();
    assert_eq!((remote.name(), remote.dimensions()), (&*format!("small at {url}"), None));
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn lessons_and_questions_are_sent_without_secrets_and_found_by_meaning() {
    let server = endpoint().await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}/v1", server.uri());
    let flags = [("embeddings.baseUrl", url.as_str()), ("embeddings.model", "small")];
    let request = ConfigLoadRequest {
        environment: ProcessEnvironment { home: Some(folder.path().to_owned()), ..environment(&[]) },
        project_root: folder.path().to_owned(),
        flags: flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        ..ConfigLoadRequest::default()
    };
    let config = load_config(&request).unwrap().config;
    let archivist =
        Archivist::builder(folder.path()).config(config).environment(request.environment.clone()).build().unwrap();
    let embedder = Arc::clone(archivist.embedder().unwrap());
    let (ids, at) = (IdSource::new(1), Timestamp::default());
    let lessons: Vec<AgentMemory> = ["Run the tests one by one", &format!("Log in with {SECRET} on staging")]
        .iter()
        .map(|said| AgentMemory::new(ids.new_memory_id(at, said), at, *said))
        .collect();
    archivist.memory.add_memories(lessons.clone(), at).await.unwrap();
    for _ in 0..2 {
        let question = format!("how do I test with the token {SECRET}?");
        let close = find_closest_lessons(&*archivist.memory, embedder.as_ref(), &question).await.unwrap();
        assert!(close[&lessons[0].id] > 0.99 && close[&lessons[1].id] < 0.5, "{close:?}");
    }
    let requests = server.received_requests().await.unwrap();
    let bodies: Vec<&str> = requests.iter().map(|request| std::str::from_utf8(&request.body).unwrap()).collect();
    assert!(bodies.iter().any(|body| body.contains("[redacted:")) && bodies.iter().any(|body| body.contains("one by")));
    assert!(bodies.iter().all(|body| !body.contains(SECRET)), "{bodies:?}");
    assert_eq!(requests.len(), 2, "each text is embedded once");
}

#[tokio::test]
async fn a_key_goes_where_it_was_set_to_go() {
    let server = endpoint().await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}/v1", server.uri());
    let file = folder.path().join("key");
    std::fs::write(&file, "of-the-file\n").unwrap();
    let file = file.to_str().unwrap();
    let variables = environment(&[("OPENAI_API_KEY", "of-another"), ("MINE", " of-mine ")]);
    let named: [&[(&str, &str)]; 3] = [
        &[],
        &[("embeddings.keyVariable", "MINE")],
        &[("embeddings.keyVariable", "MINE"), ("embeddings.keyFile", file)],
    ];
    for (number, keys) in named.into_iter().enumerate() {
        let base = [("embeddings.baseUrl", url.as_str()), ("embeddings.model", "small")];
        let cache = folder.path().join(number.to_string());
        let embedder = choose_embedder(&settings(&[&base, keys].concat()), &variables, &cache).unwrap().unwrap();
        embedder.embed_texts(&["a".to_owned()]).await.unwrap();
    }
    let expected = [None, Some("Bearer of-mine".to_owned()), Some("Bearer of-the-file".to_owned())];
    assert_eq!(sent_keys(&server).await, expected);
    let openai = settings(&[("embeddings.baseUrl", "https://api.openai.com/v1"), ("embeddings.model", "small")]);
    assert_eq!(openai.key_variable_name(), "OPENAI_API_KEY");
}

#[tokio::test]
async fn a_key_or_an_address_that_cannot_be_used_is_said_when_a_text_is_embedded() {
    let check = async |flags: &[(&str, &str)], expected: &str| {
        let embedder =
            choose_embedder(&settings(flags), &environment(&[]), &PathBuf::from("/nowhere/cache")).unwrap().unwrap();
        let error = embedder.embed_texts(&["a".to_owned()]).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let server = endpoint().await;
    let base = [("embeddings.baseUrl", &*format!("{}/v1", server.uri())), ("embeddings.model", "small")];
    check(&[&base[..], &[("embeddings.keyFile", "/nowhere/key")]].concat(), "check `embeddings.keyFile`").await;
    check(&[("embeddings.baseUrl", "no address"), ("embeddings.model", "small")], "give an address such as").await;
    assert!(server.received_requests().await.unwrap().is_empty());
}
