//! Parses typed items of a turn: in paginated rollouts, in events, in `codex exec --json`.

use serde_json::Value;

use super::tool_outputs::read_duration_ms;
use crate::domain::ToolCall;
use crate::domain::ToolOutput;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

/// A parsed item of a turn.
#[derive(Debug)]
pub(in crate::ingest) enum TypedItem {
    /// A prompt to the agent.
    Prompt(Value),
    /// A text of the agent.
    Words(String),
    /// The agent's reasoning, part by part.
    Thoughts(Vec<String>),
    /// A call, with its output if it ended, and the threads of the agents that it started.
    Work(ToolCall, Vec<String>),
    /// The context was summarised.
    Compaction,
    /// The text of a hook.
    Hook(String),
    /// The thread of another agent.
    Agent(String),
    /// The message of an error.
    Error(String),
    /// An item that is not needed here.
    Nothing,
    /// An item of an unknown type.
    Unknown,
}

/// Returns the type of an item in lower case, without separators.
pub(in crate::ingest) fn item_kind(item: &Object) -> String {
    let kind = json_fields::get_str(item, "type").unwrap_or_default();
    kind.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Parses an item by its type.
pub(in crate::ingest) fn parse_typed_item(mut item: Object) -> TypedItem {
    match item_kind(&item).as_str() {
        "usermessage" => TypedItem::Prompt(item.get_mut("content").map(Value::take).unwrap_or_default()),
        "agentmessage" | "assistantmessage" | "plan" => TypedItem::Words(take_text(&mut item)),
        "reasoning" => TypedItem::Thoughts(take_thoughts(&mut item)),
        "commandexecution" | "execcommandend" => wrap_call(parse_execution(item)),
        "filechange" | "patchapplyend" => wrap_call(parse_patch(item)),
        "mcptoolcall" | "mcptoolcallend" => wrap_call(parse_mcp_call(item)),
        "dynamictoolcall" | "dynamictoolcallresponse" => wrap_call(parse_dynamic_call(item)),
        "collabagenttoolcall" | "collabtoolcall" => parse_collaboration(item),
        "websearch" | "websearchend" => wrap_call(parse_search(item)),
        "imageview" | "viewimagetoolcall" => wrap_call(build_call(item, "view_image", &["path"])),
        "imagegeneration" | "imagegenerationend" => wrap_call(parse_image(item)),
        "todolist" => wrap_call(build_call(item, "todo_list", &["items"])),
        "contextcompaction" => TypedItem::Compaction,
        "hookprompt" => TypedItem::Hook(take_hook_text(&mut item)),
        "subagentactivity" => match get_either_spelling(&item, "agent_thread_id", "agentThreadId") {
            Some(thread) => TypedItem::Agent(thread.to_owned()),
            None => TypedItem::Nothing,
        },
        "error" => TypedItem::Error(take_text(&mut item)),
        "sleep" | "enteredreviewmode" | "exitedreviewmode" => TypedItem::Nothing,
        _ => TypedItem::Unknown,
    }
}

fn wrap_call(call: ToolCall) -> TypedItem {
    TypedItem::Work(call, Vec::new())
}

/// Returns a string under a key in snake case or camel case.
pub(super) fn get_either_spelling<'o>(item: &'o Object, snake: &str, camel: &str) -> Option<&'o str> {
    json_fields::get_str(item, snake).or_else(|| json_fields::get_str(item, camel))
}

fn take_first_value(item: &mut Object, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|key| match item.get_mut(*key) {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.take()),
    })
}

/// Takes the text of an item, under any of its keys.
fn take_text(item: &mut Object) -> String {
    take_first_value(item, &["text", "content", "message"]).map(json_fields::content_text).unwrap_or_default()
}

fn take_thoughts(item: &mut Object) -> Vec<String> {
    let parts = match take_first_value(item, &["summary_text", "summaryText", "summary", "text"]) {
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        Some(text @ Value::String(_)) => vec![text],
        _ => match take_first_value(item, &["raw_content", "rawContent", "content"]) {
            Some(Value::Array(parts)) => parts,
            _ => Vec::new(),
        },
    };
    parts
        .into_iter()
        .map(|part| json_fields::content_text(Value::Array(vec![part])))
        .filter(|part| !part.is_empty())
        .collect()
}

/// Returns the id of the call that an item is about, or of the item itself.
fn item_id(item: &Object) -> String {
    get_either_spelling(item, "call_id", "callId")
        .or_else(|| json_fields::get_str(item, "id"))
        .unwrap_or_default()
        .to_owned()
}

/// Returns the status as an output, or none if the item is still in progress.
fn read_ending(item: &Object) -> Option<ToolOutput> {
    let mut output = ToolOutput { duration_ms: read_duration_ms(item), ..ToolOutput::default() };
    output.exit_code =
        json_fields::get_integer(item, "exit_code").or_else(|| json_fields::get_integer(item, "exitCode"));
    output.failed = output.exit_code.map(|code| code != 0);
    match json_fields::get_str(item, "status").unwrap_or_default() {
        "in_progress" | "inProgress" | "started" | "pending" => return None,
        "failed" | "declined" | "error" | "errored" => output.failed = Some(true),
        "completed" => output.failed = output.failed.or(Some(false)),
        _ => {}
    }
    output.failed = output.failed.or(json_fields::get_flag(item, "success").map(|success| !success));
    Some(output)
}

fn parse_execution(mut item: Object) -> ToolCall {
    let output = read_ending(&item).map(|output| {
        let printed = take_first_value(&mut item, &["aggregated_output", "aggregatedOutput", "formatted_output"]);
        let text = match printed.map(json_fields::content_text).filter(|text| !text.is_empty()) {
            Some(text) => text,
            None => join_streams(&mut item),
        };
        ToolOutput { text, ..output }
    });
    let mut arguments = Object::new();
    for key in ["command", "cwd"] {
        arguments.extend(take_first_value(&mut item, &[key]).map(|value| (key.to_owned(), value)));
    }
    ToolCall { id: item_id(&item), tool: "shell".to_owned(), arguments: Value::Object(arguments), output }
}

/// Joins the separate output streams of a command.
fn join_streams(item: &mut Object) -> String {
    let stdout = take_first_value(item, &["stdout"]).map(json_fields::content_text).unwrap_or_default();
    let stderr = take_first_value(item, &["stderr"]).map(json_fields::content_text).unwrap_or_default();
    match (stdout.is_empty(), stderr.is_empty()) {
        (_, true) => stdout,
        (true, false) => stderr,
        (false, false) => format!("{stdout}\n{stderr}"),
    }
}

fn parse_patch(mut item: Object) -> ToolCall {
    let output = read_ending(&item).map(|output| ToolOutput { text: join_streams(&mut item), ..output });
    ToolCall { output, ..build_call(item, "apply_patch", &["changes"]) }
}

/// Builds a call whose arguments are these fields of the item.
fn build_call(mut item: Object, tool: &str, keys: &[&str]) -> ToolCall {
    let arguments =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), take_first_value(&mut item, &[key])?))).collect();
    ToolCall { id: item_id(&item), tool: tool.to_owned(), arguments: Value::Object(arguments), output: None }
}

fn parse_search(item: Object) -> ToolCall {
    build_call(item, "web_search", &["query", "action"])
}

fn parse_image(mut item: Object) -> ToolCall {
    item.remove("result");
    let output = read_ending(&item);
    ToolCall { output, ..build_call(item, "image_generation", &["revised_prompt", "saved_path"]) }
}

fn parse_mcp_call(mut item: Object) -> ToolCall {
    let mut invocation = json_fields::take_object(&mut item, "invocation").unwrap_or_default();
    let named = |key: &str| {
        json_fields::get_string(&invocation, key).or_else(|| json_fields::get_string(&item, key)).unwrap_or_default()
    };
    let tool = format!("mcp__{}__{}", named("server"), named("tool"));
    let arguments =
        take_first_value(&mut invocation, &["arguments"]).or_else(|| take_first_value(&mut item, &["arguments"]));
    let is_event = item.contains_key("result") && !item.contains_key("status");
    let ended = read_ending(&item).filter(|_| is_event || item.contains_key("status"));
    let output = ended.map(|mut output| {
        let mut result = json_fields::take_object(&mut item, "result").unwrap_or_default();
        let error = take_first_value(&mut result, &["Err"]).or_else(|| take_first_value(&mut item, &["error"]));
        if let Some(mut result) = json_fields::take_object(&mut result, "Ok").or(Some(result)) {
            let is_error =
                json_fields::get_flag(&result, "isError").or_else(|| json_fields::get_flag(&result, "is_error"));
            output.failed = is_error.filter(|is_error| *is_error).or(output.failed).or(is_error);
            output.text =
                take_first_value(&mut result, &["content"]).map(json_fields::content_text).unwrap_or_default();
        }
        if let Some(error) = error {
            output.failed = Some(true);
            output.text = error_message(error);
        }
        output
    });
    ToolCall { id: item_id(&item), tool, arguments: arguments.unwrap_or_default(), output }
}

fn parse_dynamic_call(mut item: Object) -> ToolCall {
    let output = read_ending(&item).map(|mut output| {
        output.text = take_first_value(&mut item, &["content_items", "contentItems"])
            .map(json_fields::content_text)
            .unwrap_or_default();
        if let Some(error) = take_first_value(&mut item, &["error"]) {
            output.failed = Some(true);
            output.text = error_message(error);
        }
        output
    });
    let tool = qualified_tool_name(
        json_fields::get_str(&item, "namespace"),
        json_fields::get_str(&item, "tool").unwrap_or("tool"),
    );
    let arguments = take_first_value(&mut item, &["arguments"]).unwrap_or_default();
    ToolCall { id: item_id(&item), tool, arguments, output }
}

fn parse_collaboration(mut item: Object) -> TypedItem {
    let tool = json_fields::get_string(&item, "tool").unwrap_or_else(|| "agent".to_owned());
    let threads = match take_first_value(&mut item, &["receiver_thread_ids", "receiverThreadIds"]) {
        Some(Value::Array(threads)) if tool.starts_with("spawn") => threads,
        _ => Vec::new(),
    };
    let started = threads.iter().filter_map(|thread| thread.as_str().map(str::to_owned)).collect();
    let output = read_ending(&item);
    TypedItem::Work(ToolCall { output, ..build_call(item, &tool, &["prompt", "model"]) }, started)
}

fn take_hook_text(item: &mut Object) -> String {
    let fragments = json_fields::take_array(item, "fragments");
    json_fields::content_text(Value::Array(fragments))
}

/// Returns the message of an error, or the error itself if it has none.
pub(in crate::ingest) fn error_message(error: Value) -> String {
    match error {
        Value::Object(mut error) => match take_first_value(&mut error, &["message"]) {
            Some(message) => json_fields::content_text(message),
            None => Value::Object(error).to_string(),
        },
        other => json_fields::content_text(other),
    }
}

/// Returns the name of a tool, with its namespace if it has one.
pub(super) fn qualified_tool_name(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        None => name.to_owned(),
        Some(space) if space.ends_with('_') || name.starts_with('_') => format!("{space}{name}"),
        Some(space) if space.starts_with("mcp__") => format!("{space}__{name}"),
        Some(space) => format!("{space}.{name}"),
    }
}
