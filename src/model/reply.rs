//! What a model answers.

use serde::{Deserialize, Serialize};

use super::ToolCall;
use crate::domain::Usage;
use crate::domain::words::words;

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Its words; empty where it only called tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// What it cost, as far as the endpoint says.
    #[serde(default)]
    pub usage: Usage,
}

words! {
    /// Why an answer ended.
    #[derive(Default)]
    Finish, "a reason to end an answer" {
        /// It was complete.
        #[default]
        Stop = "stop",
        /// It grew too long and was cut off.
        Length = "length",
        /// Tools are to be called.
        ToolCalls = "tool_calls",
        /// A filter objected.
        ContentFilter = "content_filter",
    }
}
