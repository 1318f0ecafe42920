//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One question, with everything said before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// What the answer is to look like.
    pub form: Form,
    /// The most the answer may take.
    pub max_output_tokens: u32,
}

/// Something said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// By us, about who the model is to be.
    System {
        /// The words.
        text: String,
    },
    /// By us, to be answered.
    User {
        /// The words.
        text: String,
    },
    /// By the model.
    Assistant {
        /// The words; empty where it only called tools.
        text: String,
        /// What it called.
        calls: Vec<ToolCall>,
    },
    /// What a called tool gave back.
    ToolResult {
        /// Which call.
        call_id: String,
        /// The words.
        text: String,
    },
}

/// What an answer is to look like, from the most to the least that an endpoint must understand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Calls of these tools.
    Tools(Vec<Tool>),
    /// JSON that the endpoint holds against a schema.
    Schema(Schema),
    /// JSON, by the endpoint's own switch.
    Json,
    /// Words.
    Text,
}

/// A tool that may be called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits and `_` only: dots are refused by most endpoints.
    pub name: String,
    /// When and how to call it.
    pub description: String,
    /// A JSON schema of its arguments.
    pub parameters: Value,
}

/// A JSON schema with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Letters, digits and `_` only.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

/// A call of a tool by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the model calls it; unique within an answer.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is given: JSON, as far as the model wrote JSON.
    pub arguments: String,
}
