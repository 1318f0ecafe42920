//! One table of endpoints, from which both the router and the OpenAPI document are built: they cannot disagree.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::routing::MethodRouter;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::ServerState;
use super::problem_response::ProblemBody;

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;

const JSON: &str = "application/json";

/// One endpoint: its path, its input, its responses and its handler.
pub(super) struct ApiEndpoint {
    method: Method,
    path: &'static str,
    summary: &'static str,
    query: Option<SchemaOf>,
    body: Option<SchemaOf>,
    answers: Vec<EndpointResponse>,
    handler: MethodRouter<Arc<ServerState>>,
}

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

struct EndpointResponse {
    status: u16,
    description: &'static str,
    content: Option<(&'static str, Option<SchemaOf>)>,
}

impl ApiEndpoint {
    pub(super) fn new(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: MethodRouter<Arc<ServerState>>,
    ) -> Self {
        Self { method, path, summary, query: None, body: None, answers: Vec::new(), handler }
    }

    /// Declares the query parameters.
    pub(super) fn with_query<Q: JsonSchema>(mut self) -> Self {
        self.query = Some(SchemaGenerator::root_schema_for::<Q>);
        self
    }

    /// Declares the JSON body.
    pub(super) fn with_body<B: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<B>);
        self
    }

    /// Declares a response with a JSON body.
    pub(super) fn with_json_response<A: JsonSchema>(mut self, status: u16, description: &'static str) -> Self {
        let schema: SchemaOf = SchemaGenerator::subschema_for::<A>;
        self.answers.push(EndpointResponse { status, description, content: Some((JSON, Some(schema))) });
        self
    }

    /// Declares a response of another content type.
    pub(super) fn with_other_response(mut self, status: u16, description: &'static str, content: &'static str) -> Self {
        self.answers.push(EndpointResponse { status, description, content: Some((content, None)) });
        self
    }

    /// Declares a switch to another protocol.
    pub(super) fn with_protocol_switch(mut self, description: &'static str) -> Self {
        self.answers.push(EndpointResponse { status: 101, description, content: None });
        self
    }

    fn describe_parameters(&self, taken: &mut SchemaGenerator) -> Vec<Value> {
        let names = self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let mut parameters: Vec<Value> = names
            .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }))
            .collect();
        let query = self.query.map(|schema| schema(taken).to_value()).unwrap_or_default();
        let required = query.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for (name, schema) in query.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let is_required = required.iter().any(|one| one == name);
            let description = schema.get("description").cloned().unwrap_or_default();
            let mut schema = schema.clone();
            remove_null(&mut schema);
            parameters.push(json!({
                "name": name, "in": "query", "required": is_required, "description": description, "schema": schema,
            }));
        }
        parameters
    }

    fn describe_operation(&self, schemas: &mut SchemaGenerators, refusals: &Value) -> Value {
        let mut responses = Map::new();
        for EndpointResponse { status, description, content } in &self.answers {
            let mut response = Map::from_iter([("description".to_owned(), Value::from(*description))]);
            if let Some((content, schema)) = content {
                let schema =
                    schema.map_or_else(|| json!({ "type": "string" }), |schema| schema(&mut schemas.given).to_value());
                response.insert("content".to_owned(), json!({ *content: { "schema": schema } }));
            }
            responses.insert(status.to_string(), response.into());
        }
        responses.insert("4XX".to_owned(), refusals.clone());
        responses.insert("503".to_owned(), refusals.clone());
        let mut operation = Map::from_iter([
            ("summary".to_owned(), Value::from(self.summary)),
            ("operationId".to_owned(), self.operation_id().into()),
            ("parameters".to_owned(), self.describe_parameters(&mut schemas.taken).into()),
            ("responses".to_owned(), responses.into()),
        ]);
        if let Some(schema) = self.body {
            let schema = schema(&mut schemas.taken).to_value();
            let body = json!({ "required": true, "content": { JSON: { "schema": schema } } });
            operation.insert("requestBody".to_owned(), body);
        }
        operation.into()
    }

    /// Returns the operation's id, made of method and path, such as `get_lessons_id_why`.
    fn operation_id(&self) -> String {
        let path = self.path.trim_start_matches("/v1/").replace(['/', '.'], "_").replace(['{', '}'], "");
        format!("{}_{path}", self.method.as_str().to_lowercase())
    }
}

/// Two generators for one set of types: a field that is optional in a request is always present in a response.
struct SchemaGenerators {
    taken: SchemaGenerator,
    given: SchemaGenerator,
}

impl SchemaGenerators {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            taken: settings.clone().for_deserialize().into_generator(),
            given: settings.for_serialize().into_generator(),
        }
    }

    /// Returns all schemas named so far. A test ensures that no type with two different descriptions is used in both
    /// ways.
    fn collect_definitions(&mut self) -> Map<String, Value> {
        let mut definitions = self.taken.take_definitions(true);
        definitions.append(&mut self.given.take_definitions(true));
        definitions
    }
}

/// Returns the routes of these endpoints.
pub(super) fn endpoint_router(endpoints: Vec<ApiEndpoint>) -> Router<Arc<ServerState>> {
    endpoints.into_iter().fold(Router::new(), |router, endpoint| router.route(endpoint.path, endpoint.handler))
}

/// Returns the OpenAPI document of these endpoints.
pub(super) fn build_document(endpoints: &[ApiEndpoint]) -> Value {
    let mut schemas = SchemaGenerators::new();
    let problem = schemas.given.subschema_for::<ProblemBody>().to_value();
    let refusals = json!({
        "description": "It was not done, and this is why",
        "content": { "application/problem+json": { "schema": problem } },
    });
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for endpoint in endpoints {
        let operation = endpoint.describe_operation(&mut schemas, &refusals);
        paths.entry(endpoint.path).or_default().insert(endpoint.method.as_str().to_lowercase(), operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Archivist",
            "description": "The memory of coding agents: lessons with their evidence, given back where they help.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas.collect_definitions(),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "token": [] }],
    })
}

/// Removes null from a parameter's schema: a parameter that is not given is left out, never null.
fn remove_null(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    fields.remove("description");
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(kinds)) = fields.get_mut("anyOf") {
        kinds.retain(|kind| kind.get("type") != Some(&json!("null")));
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            *schema = only;
        }
    }
}
