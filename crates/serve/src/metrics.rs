//! Metrics for Prometheus: the server's requests and the contents of the memory.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::ServerState;
use super::problem_response::HttpProblem;

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

/// The upper bounds of the duration buckets, in seconds.
const BOUNDS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// The counters of the server.
#[derive(Debug, Default)]
pub(super) struct ServerMetrics {
    /// The number of requests by route, as written in the documentation, and status.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    /// The durations of requests by route.
    durations: Mutex<BTreeMap<String, DurationHistogram>>,
    /// The number of refused connections.
    pub(super) refused: AtomicU64,
}

#[derive(Debug, Default, Clone, Copy)]
struct DurationHistogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

impl ServerMetrics {
    /// Counts a request. All unknown paths share one route, so that no client can fill the memory with names.
    pub(super) fn count_request(&self, route: Option<&str>, status: u16, took: Duration) {
        let route = route.unwrap_or("none").to_owned();
        let mut durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        durations.entry(route.clone()).or_default().add_duration(took.as_secs_f64());
        drop(durations);
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route, status)).or_default() += 1;
    }

    fn write_metrics(&self, text: &mut String) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone();
        write_header(text, "archivist_http_requests_total", "counter", "Requests by route and status.");
        for ((route, status), count) in &requests {
            let labels = [("route", route.as_str()), ("status", &status.to_string())];
            write_sample(text, "archivist_http_requests_total", &labels, *count as f64);
        }
        let name = "archivist_http_request_seconds";
        write_header(text, name, "histogram", "How long requests took, by route.");
        for (route, histogram) in self.durations.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            histogram.write_histogram(name, route, text);
        }
        let refused = "archivist_http_connections_refused_total";
        write_header(text, refused, "counter", "Connections that were not taken in.");
        write_sample(text, refused, &[], self.refused.load(Ordering::Relaxed) as f64);
    }
}

impl DurationHistogram {
    fn add_duration(&mut self, seconds: f64) {
        for (bucket, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
        self.count += 1;
        self.seconds += seconds;
    }

    fn write_histogram(&self, name: &str, route: &str, text: &mut String) {
        let bounds = BOUNDS.iter().map(f64::to_string).zip(self.buckets);
        for (bound, count) in bounds.chain([("+Inf".to_owned(), self.count)]) {
            write_sample(text, &format!("{name}_bucket"), &[("route", route), ("le", &bound)], count as f64);
        }
        write_sample(text, &format!("{name}_sum"), &[("route", route)], self.seconds);
        write_sample(text, &format!("{name}_count"), &[("route", route)], self.count as f64);
    }
}

/// Returns the metrics in the format of Prometheus.
pub(super) async fn show_metrics(State(served): State<Arc<ServerState>>) -> Result<Response, HttpProblem> {
    let stats = served.archivist.collect_stats().await?;
    let spend = served.run_blocking(move |served| served.archivist.report_spend(1)).await??;
    let mut text = String::new();
    served.metrics.write_metrics(&mut text);
    write_by_label(&mut text, "archivist_lessons", "Lessons by state.", "state", &stats.lessons.by_state);
    write_by_label(&mut text, "archivist_episodes", "Runs by how they ended.", "status", &stats.episodes.by_status);
    write_by_label(&mut text, "archivist_jobs", "Jobs by where they lie.", "place", &stats.jobs);
    write_header(&mut text, "archivist_worker_running", "gauge", "Whether a worker runs.");
    write_sample(&mut text, "archivist_worker_running", &[], f64::from(u8::from(stats.is_worked)));
    for day in &spend.days {
        for (name, help, value) in [
            ("archivist_spend_calls_today", "How often models were asked today (UTC).", day.calls as f64),
            ("archivist_spend_tokens_today", "Tokens read and written today (UTC).", day.tokens as f64),
            ("archivist_spend_usd_today", "Dollars spent or reserved today (UTC).", day.usd),
        ] {
            write_header(&mut text, name, "gauge", help);
            write_sample(&mut text, name, &[], value);
        }
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

fn write_by_label(text: &mut String, name: &str, help: &str, label: &str, counts: &BTreeMap<String, usize>) {
    write_header(text, name, "gauge", help);
    for (value, count) in counts {
        write_sample(text, name, &[(label, value)], *count as f64);
    }
}

// Writing to a string does not fail.
fn write_header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn write_sample(text: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    let _ = writeln!(text, "{name}{labels} {value}");
}
