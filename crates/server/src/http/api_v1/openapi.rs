//! The description of all of this for programs, made from the table of routes.

use std::sync::OnceLock;

use serde_json::{Map, Value as Json, json};

use super::routes::{Given, Gives, Kind, Route};
use super::table::ROUTES;

/// `OpenAPI` 3.1.
pub(super) fn document() -> &'static Json {
    static DOCUMENT: OnceLock<Json> = OnceLock::new();
    DOCUMENT.get_or_init(make)
}

fn make() -> Json {
    let mut paths = Map::new();
    for route in ROUTES.iter().copied().flatten() {
        let path = paths.entry(format!("/api/v1{}", shown(route)));
        let methods = path.or_insert_with(|| json!({}));
        if let Json::Object(methods) = methods {
            let method = route.method.to_lowercase();
            methods.insert(method, operation(route));
        }
    }
    let schemas: Json = serde_json::from_str(SCHEMAS).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Handfast",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Persistent identifiers: names, authorities, jobs, proofs. A name or an authority in a path is one segment: write its slashes as %2F.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        // What is for everybody may be asked with a token, too, and then shows more.
        "security": [{}, {"token": []}],
    })
}

fn operation(route: &Route) -> Json {
    let mut parameters: Vec<Json> = Vec::new();
    for segment in shown(route).split('/') {
        if let Some(name) = segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
        {
            parameters.push(json!({
                "name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1},
            }));
        }
    }
    for parameter in route.query {
        let schema = match parameter.kind {
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Number => json!({"type": "integer", "minimum": 0}),
            Kind::OneOf(words) => json!({"type": "string", "enum": words}),
            Kind::Text => json!({"type": "string"}),
        };
        parameters.push(json!({
            "name": parameter.name, "in": "query", "required": parameter.is_required,
            "description": parameter.about, "schema": schema,
        }));
    }
    let header = |name: &str, about: &str| json!({"name": name, "in": "header", "required": false, "description": about, "schema": {"type": "string"}});
    if route.refusals.contains(&412)
        && ["/names/{", "/authorities/{", "/namespaces/{"]
            .iter()
            .any(|start| route.path.starts_with(start))
    {
        parameters.push(header("If-Match", "The ETag that it must have still"));
    }
    if route.method == "POST" && route.is_known {
        parameters.push(header(
            "Idempotency-Key",
            "The same request with the same key is done once",
        ));
    }
    let mut responses = Map::new();
    let status = route.status.to_string();
    responses.insert(
        status,
        json!({"description": route.summary, "content": given(route.gives)}),
    );
    if route.is_long {
        parameters.push(header(
            "Prefer",
            "`respond-async`: answer 202 when the job has begun",
        ));
        let place = json!({"description": "Where the job is", "schema": {"type": "string"}});
        responses.insert(
            "202".into(),
            json!({
                "description": "The job has begun",
                "headers": {"Location": place},
                "content": given(Gives::Json("Job")),
            }),
        );
    }
    for status in route.refusals {
        let response = if *status == 304 {
            json!({"description": "The client has this already"})
        } else {
            let problem = json!({"schema": {"$ref": "#/components/schemas/Problem"}});
            json!({"description": reason(*status), "content": {"application/problem+json": problem}})
        };
        responses.insert(status.to_string(), response);
    }
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses,
    });
    if let Json::Object(operation) = &mut operation {
        if let Some(body) = route.body {
            operation.insert("requestBody".into(), taken(body));
        }
        if route.is_known {
            operation.insert("security".into(), json!([{"token": []}]));
        }
    }
    operation
}

/// The path of a route, as the description has it: that one can be several segments cannot be said there.
fn shown(route: &Route) -> String {
    route.path.replace("{+", "{")
}

fn schema(name: &str) -> Json {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn given(gives: Gives) -> Json {
    match gives {
        Gives::Json(name) => json!({"application/json": {"schema": schema(name)}}),
        Gives::JsonList(name) => {
            json!({"application/json": {"schema": {"type": "array", "items": schema(name)}}})
        }
        Gives::Bytes => {
            json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}})
        }
        Gives::Lines => json!({"application/x-ndjson": {"schema": {"type": "string"}}}),
        Gives::Names => {
            let text = json!({"schema": {"type": "string"}});
            json!({"application/x-ndjson": text, "text/csv": text, "text/plain": text, "application/json": {"schema": {"type": "object"}}})
        }
        Gives::Nothing => json!({}),
        Gives::Text => json!({"text/plain": {"schema": {"type": "string"}}}),
    }
}

fn taken(body: Given) -> Json {
    match body {
        Given::Json(name) => {
            json!({"required": true, "content": {"application/json": {"schema": schema(name)}}})
        }
        Given::OptionalJson(name) => {
            json!({"required": false, "content": {"application/json": {"schema": schema(name)}}})
        }
        Given::Lines => {
            let text = json!({"schema": {"type": "string"}});
            json!({"required": true, "content": {"application/x-ndjson": text, "text/csv": text, "text/plain": text}})
        }
        Given::Text => {
            json!({"required": true, "content": {"text/plain": {"schema": {"type": "string"}}}})
        }
    }
}

fn reason(status: u16) -> &'static str {
    let status = hyper::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or("refused")
}

/// What the bodies are.
const SCHEMAS: &str = include_str!("schemas.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_that_is_named_is_there() {
        let document = document();
        let text = document.to_string();
        let names = text.split("#/components/schemas/").skip(1);
        let names: Vec<_> = names.filter_map(|rest| rest.split('"').next()).collect();
        assert!(names.len() > 30);
        for name in names {
            let schema = &document["components"]["schemas"][name];
            assert!(schema.is_object(), "{name}");
        }
    }

    #[test]
    fn every_route_is_described() {
        for route in ROUTES.iter().copied().flatten() {
            let path = format!("/api/v1{}", shown(route));
            let method = route.method.to_lowercase();
            assert_eq!(document()["paths"][path][method]["operationId"], route.name);
        }
    }
}
