//! Things that happen in a turn, each with a type of its own: in paginated rollouts, in events, in `codex exec --json`.

use serde_json::Value;

use super::outputs::duration_ms;
use crate::domain::Call;
use crate::domain::Output;
use crate::ingest::pick;
use crate::ingest::pick::Object;

/// What an item says.
#[derive(Debug)]
pub(in crate::ingest) enum Item {
    /// A prompt.
    Prompt(Value),
    /// The agent's words.
    Words(String),
    /// The agent's thoughts.
    Thoughts(Vec<String>),
    /// A call, with its output if it is over, and threads of agents that it started.
    Work(Call, Vec<String>),
    /// The context was summarised.
    Compaction,
    /// A hook spoke.
    Hook(String),
    /// Another agent's thread.
    Agent(String),
    /// Something went wrong.
    Trouble(String),
    /// Nothing that matters here.
    Nothing,
    /// Nobody here knows this type.
    Unknown,
}

/// The type of an item, whichever way its words are put together.
pub(in crate::ingest) fn kind(item: &Object) -> String {
    let kind = pick::str(item, "type").unwrap_or_default();
    kind.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Reads an item.
pub(in crate::ingest) fn item(mut item: Object) -> Item {
    match kind(&item).as_str() {
        "usermessage" => Item::Prompt(item.get_mut("content").map(Value::take).unwrap_or_default()),
        "agentmessage" | "assistantmessage" | "plan" => Item::Words(text(&mut item)),
        "reasoning" => Item::Thoughts(thoughts(&mut item)),
        "commandexecution" | "execcommandend" => work(execution(item)),
        "filechange" | "patchapplyend" => work(patch(item)),
        "mcptoolcall" | "mcptoolcallend" => work(mcp(item)),
        "dynamictoolcall" | "dynamictoolcallresponse" => work(dynamic(item)),
        "collabagenttoolcall" | "collabtoolcall" => collaboration(item),
        "websearch" | "websearchend" => work(search(item)),
        "imageview" | "viewimagetoolcall" => work(plain(item, "view_image", &["path"])),
        "imagegeneration" | "imagegenerationend" => work(image(item)),
        "todolist" => work(plain(item, "todo_list", &["items"])),
        "contextcompaction" => Item::Compaction,
        "hookprompt" => Item::Hook(hook(&mut item)),
        "subagentactivity" => match either(&item, "agent_thread_id", "agentThreadId") {
            Some(thread) => Item::Agent(thread.to_owned()),
            None => Item::Nothing,
        },
        "error" => Item::Trouble(text(&mut item)),
        "sleep" | "enteredreviewmode" | "exitedreviewmode" => Item::Nothing,
        _ => Item::Unknown,
    }
}

fn work(call: Call) -> Item {
    Item::Work(call, Vec::new())
}

/// A string under a key in either spelling.
pub(super) fn either<'o>(item: &'o Object, snake: &str, camel: &str) -> Option<&'o str> {
    pick::str(item, snake).or_else(|| pick::str(item, camel))
}

fn take(item: &mut Object, keys: &[&str]) -> Option<Value> {
    keys.iter().find_map(|key| match item.get_mut(*key) {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.take()),
    })
}

/// The words of an item, wherever they stand.
fn text(item: &mut Object) -> String {
    take(item, &["text", "content", "message"]).map(pick::words).unwrap_or_default()
}

fn thoughts(item: &mut Object) -> Vec<String> {
    let parts = match take(item, &["summary_text", "summaryText", "summary", "text"]) {
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        Some(text @ Value::String(_)) => vec![text],
        _ => match take(item, &["raw_content", "rawContent", "content"]) {
            Some(Value::Array(parts)) => parts,
            _ => Vec::new(),
        },
    };
    parts.into_iter().map(|part| pick::words(Value::Array(vec![part]))).filter(|part| !part.is_empty()).collect()
}

/// The id of an item or of the call that it is about.
fn id(item: &Object) -> String {
    either(item, "call_id", "callId").or_else(|| pick::str(item, "id")).unwrap_or_default().to_owned()
}

/// Whether an item is over, and if it is, whether it failed.
fn ending(item: &Object) -> Option<Output> {
    let mut output = Output { duration_ms: duration_ms(item), ..Output::default() };
    output.exit_code = pick::integer(item, "exit_code").or_else(|| pick::integer(item, "exitCode"));
    output.failed = output.exit_code.map(|code| code != 0);
    match pick::str(item, "status").unwrap_or_default() {
        "in_progress" | "inProgress" | "started" | "pending" => return None,
        "failed" | "declined" | "error" | "errored" => output.failed = Some(true),
        "completed" => output.failed = output.failed.or(Some(false)),
        _ => {}
    }
    output.failed = output.failed.or(pick::flag(item, "success").map(|success| !success));
    Some(output)
}

fn execution(mut item: Object) -> Call {
    let output = ending(&item).map(|output| {
        let printed = take(&mut item, &["aggregated_output", "aggregatedOutput", "formatted_output"]);
        let text = match printed.map(pick::words).filter(|text| !text.is_empty()) {
            Some(text) => text,
            None => streams(&mut item),
        };
        Output { text, ..output }
    });
    let mut arguments = Object::new();
    for key in ["command", "cwd"] {
        arguments.extend(take(&mut item, &[key]).map(|value| (key.to_owned(), value)));
    }
    Call { id: id(&item), tool: "shell".to_owned(), arguments: Value::Object(arguments), output }
}

/// What was printed, where both streams stand alone.
fn streams(item: &mut Object) -> String {
    let stdout = take(item, &["stdout"]).map(pick::words).unwrap_or_default();
    let stderr = take(item, &["stderr"]).map(pick::words).unwrap_or_default();
    match (stdout.is_empty(), stderr.is_empty()) {
        (_, true) => stdout,
        (true, false) => stderr,
        (false, false) => format!("{stdout}\n{stderr}"),
    }
}

fn patch(mut item: Object) -> Call {
    let output = ending(&item).map(|output| Output { text: streams(&mut item), ..output });
    Call { output, ..plain(item, "apply_patch", &["changes"]) }
}

/// A call whose arguments are some of the item's parts.
fn plain(mut item: Object, tool: &str, keys: &[&str]) -> Call {
    let arguments = keys.iter().filter_map(|key| Some(((*key).to_owned(), take(&mut item, &[key])?))).collect();
    Call { id: id(&item), tool: tool.to_owned(), arguments: Value::Object(arguments), output: None }
}

fn search(item: Object) -> Call {
    plain(item, "web_search", &["query", "action"])
}

fn image(mut item: Object) -> Call {
    item.remove("result");
    let output = ending(&item);
    Call { output, ..plain(item, "image_generation", &["revised_prompt", "saved_path"]) }
}

fn mcp(mut item: Object) -> Call {
    let mut invocation = pick::take_object(&mut item, "invocation").unwrap_or_default();
    let named = |key: &str| pick::string(&invocation, key).or_else(|| pick::string(&item, key)).unwrap_or_default();
    let tool = format!("mcp__{}__{}", named("server"), named("tool"));
    let arguments = take(&mut invocation, &["arguments"]).or_else(|| take(&mut item, &["arguments"]));
    let is_event = item.contains_key("result") && !item.contains_key("status");
    let ended = ending(&item).filter(|_| is_event || item.contains_key("status"));
    let output = ended.map(|mut output| {
        let mut result = pick::take_object(&mut item, "result").unwrap_or_default();
        let error = take(&mut result, &["Err"]).or_else(|| take(&mut item, &["error"]));
        if let Some(mut result) = pick::take_object(&mut result, "Ok").or(Some(result)) {
            let is_error = pick::flag(&result, "isError").or_else(|| pick::flag(&result, "is_error"));
            output.failed = is_error.filter(|is_error| *is_error).or(output.failed).or(is_error);
            output.text = take(&mut result, &["content"]).map(pick::words).unwrap_or_default();
        }
        if let Some(error) = error {
            output.failed = Some(true);
            output.text = message(error);
        }
        output
    });
    Call { id: id(&item), tool, arguments: arguments.unwrap_or_default(), output }
}

fn dynamic(mut item: Object) -> Call {
    let output = ending(&item).map(|mut output| {
        output.text = take(&mut item, &["content_items", "contentItems"]).map(pick::words).unwrap_or_default();
        if let Some(error) = take(&mut item, &["error"]) {
            output.failed = Some(true);
            output.text = message(error);
        }
        output
    });
    let tool = tool_name(pick::str(&item, "namespace"), pick::str(&item, "tool").unwrap_or("tool"));
    let arguments = take(&mut item, &["arguments"]).unwrap_or_default();
    Call { id: id(&item), tool, arguments, output }
}

fn collaboration(mut item: Object) -> Item {
    let tool = pick::string(&item, "tool").unwrap_or_else(|| "agent".to_owned());
    let threads = match take(&mut item, &["receiver_thread_ids", "receiverThreadIds"]) {
        Some(Value::Array(threads)) if tool.starts_with("spawn") => threads,
        _ => Vec::new(),
    };
    let started = threads.iter().filter_map(|thread| thread.as_str().map(str::to_owned)).collect();
    let output = ending(&item);
    Item::Work(Call { output, ..plain(item, &tool, &["prompt", "model"]) }, started)
}

fn hook(item: &mut Object) -> String {
    let fragments = pick::take_array(item, "fragments");
    pick::words(Value::Array(fragments))
}

/// The message of an error, which may be its only part.
pub(in crate::ingest) fn message(error: Value) -> String {
    match error {
        Value::Object(mut error) => match take(&mut error, &["message"]) {
            Some(message) => pick::words(message),
            None => Value::Object(error).to_string(),
        },
        other => pick::words(other),
    }
}

/// The name of a tool that may stand in a namespace.
pub(super) fn tool_name(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        None => name.to_owned(),
        Some(space) if space.ends_with('_') || name.starts_with('_') => format!("{space}{name}"),
        Some(space) if space.starts_with("mcp__") => format!("{space}__{name}"),
        Some(space) => format!("{space}.{name}"),
    }
}
