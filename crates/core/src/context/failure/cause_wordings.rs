//! Recognizes causes of failure that every service words differently.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::failure_detection::FailureClass;

/// Wordings of a full context window, in lower case.
const CONTEXT_WINDOW: &[&str] = &[
    "context window size",
    "prompt is too long",
    "maximum context length",
    "context_length_exceeded",
    "context length exceeded",
    "input is too long",
    "exceeds the context window",
    "exceed context limit",
    "exceeds the model's context",
    "exceeded the context window",
    "context window exceeded",
    "exceeds the available context size",
    "exceeds model context",
    "ran out of room in the model's context",
    "input length and `max_tokens` exceed",
    "context window is full",
    "exceededcontextwindowsize",
    "model_context_window_exceeded",
    "too many tokens in the prompt",
    "exceeds the maximum number of tokens",
    "exceeds maximum context",
    "contextwindowexceeded",
    "your input exceeds",
];

const RATE_LIMIT: &[&str] = &[
    "rate limit",
    "rate_limit",
    "ratelimit",
    "overloaded_error",
    "too many requests",
    "quota exceeded",
    "exceeded your current quota",
    "insufficient_quota",
    "usage limit reached",
    "resource_exhausted",
    "overloaded",
    "status code 429",
    "http 429",
    "error 429",
    "error: 429",
];

const TIMEOUT: &[&str] = &[
    "timed out after",
    "command timed out",
    "etimedout",
    "deadline exceeded",
    "deadline_exceeded",
    "context deadline",
    "timeoutexpired",
    "connection timed out",
    "operation timed out",
    "request timed out",
    "execution timed out",
    "timeouterror",
    "read timed out",
    "has timed out",
    "esockettimedout",
    "exceeded timeout of",
    "timeout exceeded",
];

const NETWORK: &[&str] = &[
    "could not resolve host",
    "connection refused",
    "econnrefused",
    "getaddrinfo",
    "code enotfound",
    "eai_again",
    "temporary failure in name resolution",
    "network is unreachable",
    "connection reset by peer",
    "econnreset",
    "certificate verify failed",
    "unable to get local issuer certificate",
    "failed to connect to",
    "name or service not known",
    "no route to host",
    "socket hang up",
    "fetch failed",
    "max retries exceeded with url",
    "newconnectionerror",
    "failed to resolve",
    "couldn't connect to server",
];

const RESOURCE: &[&str] = &[
    "heap out of memory",
    "out of memory",
    "cannot allocate memory",
    "no space left on device",
    "enospc",
    "oomkilled",
    "oom-kill",
    "too many open files",
    "memoryerror",
    "std::bad_alloc",
    "signal sigkill",
    "signal: 9",
    "disk quota exceeded",
];

const API: &[&str] = &[
    "api error",
    "authentication_error",
    "invalid_request_error",
    "401 unauthorized",
    "403 forbidden",
    "invalid api key",
    "invalid x-api-key",
    "could not resolve authentication method",
    "internal server error",
    "api_error",
    "permission_error",
    "credit balance is too low",
    "503 service unavailable",
    "502 bad gateway",
    "please run /login",
    "oauth token has expired",
];

const EDIT: &[&str] = &[
    "string to replace not found",
    "matches of the string to replace",
    "could not find the exact text",
    "old_string not found",
    "old_str not found",
    "no match found for old",
    "did not appear verbatim",
    "patch does not apply",
    "patch failed:",
    "failed to find expected lines",
    "apply_patch verification failed",
    "invalid patch",
    "invalid context",
    "failed to find context",
    "text must match exactly",
    "no replacement was performed",
    "corrupt patch at line",
    "old text not found",
    "oldtext not found",
];

/// Causes with their wordings, class and weight, the more specific first.
const CAUSES: &[(&[&str], FailureClass, u8)] = &[
    (CONTEXT_WINDOW, FailureClass::ContextWindow, 92),
    (TIMEOUT, FailureClass::Timeout, 83),
    (RATE_LIMIT, FailureClass::RateLimit, 86),
    (RESOURCE, FailureClass::Resource, 84),
    (NETWORK, FailureClass::Network, 80),
    (EDIT, FailureClass::Edit, 83),
    (API, FailureClass::Api, 78),
];

static WORDINGS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(CAUSES.iter().flat_map(|(wordings, ..)| *wordings)).ok());

/// Finds the cause that a line in lower case names, with its class and weight.
pub(super) fn find_cause(lower: &str) -> Option<(FailureClass, u8)> {
    let first = WORDINGS.as_ref()?.find_iter(lower).map(|hit| hit.pattern().as_usize()).min()?;
    cause_of_wording(first)
}

/// Returns the cause of the wording with this index.
fn cause_of_wording(wording: usize) -> Option<(FailureClass, u8)> {
    let mut last = 0;
    CAUSES.iter().find_map(|(wordings, class, weight)| {
        last += wordings.len();
        (wording < last).then_some((*class, *weight))
    })
}
