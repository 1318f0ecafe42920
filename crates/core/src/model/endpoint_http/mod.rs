//! What asking any endpoint has in common: an address with its key, one request and its reply under a limit of time and
//! bytes, and what a refusal means. async-openai builds the requests; endpoints agree on what they are asked far more than
//! on what they answer, so everything from there on is ours.

mod address;
mod exchange;
mod refusal_kind;
mod refusal_message;
mod retry_after;
mod safe_text;

pub(super) use address::EndpointAddress;
pub(super) use exchange::{HttpExchange, build_http_client};
pub(super) use refusal_kind::{EndpointFailure, HINT, OptionalParameter};
pub(super) use refusal_message::{RefusalMessage, has_content, is_html_page};
pub(super) use safe_text::KeyMask;
