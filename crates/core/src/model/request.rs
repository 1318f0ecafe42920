//! The request to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request, with the whole conversation before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The messages in order.
    pub messages: Vec<ModelMessage>,
    /// The requested format of the answer.
    pub form: RequestedFormat,
    /// The most tokens that the answer may take.
    pub max_output_tokens: u32,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ModelMessage {
    /// The system prompt, which defines the model's role.
    System {
        /// The text of the message.
        text: String,
    },
    /// A message from us that the model is to answer.
    User {
        /// The text of the message.
        text: String,
    },
    /// A message of the model.
    Assistant {
        /// The text of the message; empty if the model only called tools.
        text: String,
        /// The tool calls of the message.
        calls: Vec<ModelToolCall>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The text of the result.
        text: String,
    },
}

/// The requested format of an answer, from the most to the least demanding for an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedFormat {
    /// The answer calls these tools.
    Tools(Vec<ModelTool>),
    /// The answer is JSON that the endpoint checks against a schema.
    Schema(AnswerSchema),
    /// The answer is JSON, by the endpoint's own switch.
    Json,
    /// The answer is plain text.
    Text,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelTool {
    /// The tool's name, of letters, digits and `_` only: most endpoints refuse dots.
    pub name: String,
    /// The description of when and how to call it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// A JSON schema with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSchema {
    /// The schema's name, of letters, digits and `_` only.
    pub name: String,
    /// The JSON schema itself.
    pub schema: Value,
}

/// A call of a tool by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelToolCall {
    /// The call's id, unique within a reply.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: JSON, as far as the model wrote JSON.
    pub arguments: String,
}
