use super::*;

#[test]
fn figures_are_written_as_prometheus_reads_them() {
    let metrics = ServerMetrics::default();
    metrics.count_request(Some("/v1/lessons/{id}"), 200, Duration::from_millis(3));
    metrics.count_request(Some("/v1/lessons/{id}"), 200, Duration::from_millis(30));
    metrics.count_request(None, 404, Duration::from_secs(9));
    let mut text = String::new();
    metrics.write_metrics(&mut text);
    for expected in [
        "# TYPE archivist_http_requests_total counter\n",
        "archivist_http_requests_total{route=\"/v1/lessons/{id}\",status=\"200\"} 2\n",
        "archivist_http_requests_total{route=\"none\",status=\"404\"} 1\n",
        "archivist_http_request_seconds_bucket{route=\"/v1/lessons/{id}\",le=\"0.005\"} 1\n",
        "archivist_http_request_seconds_bucket{route=\"/v1/lessons/{id}\",le=\"0.05\"} 2\n",
        "archivist_http_request_seconds_bucket{route=\"none\",le=\"5\"} 0\n",
        "archivist_http_request_seconds_bucket{route=\"none\",le=\"+Inf\"} 1\n",
        "archivist_http_request_seconds_count{route=\"/v1/lessons/{id}\"} 2\n",
        "archivist_http_connections_refused_total 0\n",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
}

#[test]
fn a_value_cannot_break_out_of_its_label() {
    let mut text = String::new();
    write_sample(&mut text, "name", &[("label", "a\"b\\c\nd")], 1.0);
    assert_eq!(text, "name{label=\"a\\\"b\\\\c\\nd\"} 1\n");
}
