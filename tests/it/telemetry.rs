//! What a collector gets to hear, and what happens when there is none.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::World;

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/logs/generic/billing.jsonl");
const OTLP: &str = "ARCHIVIST__TELEMETRY__OTLP";

/// The names of everything that a reflection sends, by the path it is sent to. Names stand in the messages as they are.
fn sent(wanted: &[(&str, &str)]) {
    let runtime = Runtime::new().unwrap();
    let collector = runtime.block_on(async {
        let collector = MockServer::start().await;
        Mock::given(method("POST")).respond_with(ResponseTemplate::new(200)).mount(&collector).await;
        collector
    });
    let world = World::new();
    let output = world.run_with(&["reflect", "--file", LOG, "--quiet"], &[(OTLP, &collector.uri())], "");
    assert_eq!(output.status, 0, "{output}");
    let received = runtime.block_on(collector.received_requests()).unwrap();
    for (path, name) in wanted {
        let holds = |body: &[u8]| body.windows(name.len()).any(|window| window == name.as_bytes());
        let is_sent = received.iter().any(|request| request.url.path() == *path && holds(&request.body));
        assert!(is_sent, "{name} was not sent to {path}");
    }
    let secret = b"redis.exceptions";
    let leaks = |body: &[u8]| body.windows(secret.len()).any(|window| window == secret);
    assert!(!received.iter().any(|request| leaks(&request.body)), "what stands in logs is not sent");
}

#[test]
fn a_collector_gets_spans_and_figures_of_a_reflection() {
    sent(&[
        ("/v1/traces", "reflection"),
        ("/v1/traces", "distil"),
        ("/v1/traces", "settle"),
        ("/v1/metrics", "archivist_reflections"),
        ("/v1/metrics", "archivist_lessons_created"),
        ("/v1/metrics", "archivist_reflection_seconds"),
    ]);
}

#[test]
fn a_collector_that_is_not_there_stops_nobody() {
    let world = World::new();
    let began = Instant::now();
    let output = world.run_with(&["reflect", "--file", LOG], &[(OTLP, "http://127.0.0.1:9")], "");
    assert_eq!(output.status, 0, "{output}");
    assert!(output.stdout.contains("2 lessons learned"), "{output}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let output = world.run_with(&["worker", "--once"], &[(OTLP, "no address")], "");
    assert!(output.status == 0 || output.stderr.contains("telemetry.otlp"), "{output}");
}
