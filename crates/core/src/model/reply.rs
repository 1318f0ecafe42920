//! The reply of a model.

use serde::{Deserialize, Serialize};

use super::ModelToolCall;
use crate::domain::TokenUsage;
use crate::domain::word_enum::words;

/// One reply of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The reply's text; empty if the model only called tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tool calls of the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelToolCall>,
    /// The reason why the reply ended.
    pub finish: Finish,
    /// The usage, as far as the endpoint reports it.
    #[serde(default)]
    pub usage: TokenUsage,
}

words! {
    /// The reason why a reply ended.
    #[derive(Default)]
    Finish, "a reason to end an answer" {
        /// The reply was complete.
        #[default]
        Stop = "stop",
        /// The reply reached the length limit and was cut off.
        Length = "length",
        /// The model wants to call tools.
        ToolCalls = "tool_calls",
        /// A content filter objected.
        ContentFilter = "content_filter",
    }
}
