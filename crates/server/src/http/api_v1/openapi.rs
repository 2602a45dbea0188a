//! The description of the API for programs (`OpenAPI` 3.1): routes from the table, schemas from the
//! types of `handfast-api`.

use std::sync::OnceLock;

use handfast_api::{ExportSummary, ImportSummary, Job, LogExportSummary, Outcome, Problem};
use hyper::body::Bytes;
use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value as Json, json};

use super::route::{Kind, Parameter, RequestBody, ResponseBody, Route};
use super::route_table::GROUPS;

/// The document, as JSON.
pub(super) fn document() -> Bytes {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| make().to_string().into());
    document.clone()
}

fn make() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        // As the server writes: a member that is `null` is required, one that is left out is not.
        settings.contract = Contract::Serialize;
    });
    let mut schemas = settings.into_generator();
    let mut paths = Map::new();
    for group in GROUPS {
        for route in group.routes {
            let path = paths.entry(format!("/api/v1{}", shown(route)));
            if let Json::Object(methods) = path.or_insert_with(|| json!({})) {
                let operation = operation(route, group.tag, &mut schemas);
                methods.insert(route.method.to_lowercase(), operation);
            }
        }
    }
    // Lines and trailers, to which the descriptions of routes refer.
    schemas.subschema_for::<Outcome>();
    schemas.subschema_for::<ImportSummary>();
    schemas.subschema_for::<ExportSummary>();
    schemas.subschema_for::<LogExportSummary>();
    let tags = GROUPS.iter();
    let tags = tags.map(|group| json!({"name": group.tag, "description": group.about}));
    let about = "Persistent identifiers: names, authorities, jobs, proofs. A name or an authority \
        in a path is one segment: write its slashes as %2F.";
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Handfast",
            "version": env!("CARGO_PKG_VERSION"),
            "description": about,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": tags.collect::<Json>(),
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of an account: `handfast token create`.",
            }},
        },
        // Public routes also accept a token, and then may show more.
        "security": [{}, {"token": []}],
    })
}

fn operation(route: &Route, tag: &str, schemas: &mut SchemaGenerator) -> Json {
    let mut responses = Map::new();
    let (summary, about) = described(route.name);
    let success = json!({"description": summary, "content": given(route.gives, schemas)});
    if route.status == 201 && route.query.iter().any(|query| query.name == "dry-run") {
        responses.insert("200".into(), success.clone());
    }
    responses.insert(route.status.to_string(), success);
    if route.is_long {
        let place = json!({"description": "Where the job is", "schema": {"type": "string"}});
        responses.insert(
            "202".into(),
            json!({
                "description": "The job has begun",
                "headers": {"Location": place},
                "content": json_of(&schemas.subschema_for::<Job>()),
            }),
        );
    }
    for status in route.errors {
        let response = if *status == 304 {
            json!({"description": "The client has this already"})
        } else {
            let problem = json!({"schema": schemas.subschema_for::<Problem>()});
            let content = json!({"application/problem+json": problem});
            json!({"description": reason(*status), "content": content})
        };
        responses.insert(status.to_string(), response);
    }
    let mut operation = json!({
        "operationId": route.name,
        "tags": [tag],
        "summary": summary,
        "description": about,
        "parameters": parameters(route),
        "responses": responses,
    });
    if let Json::Object(operation) = &mut operation {
        if let Some(body) = route.body {
            operation.insert("requestBody".into(), taken(body, schemas));
        }
        if route.is_known {
            operation.insert("security".into(), json!([{"token": []}]));
        }
    }
    operation
}

/// The summary and the description of an operation.
fn described(name: &str) -> (&'static str, String) {
    let mut sections = include_str!("operations.md").split("\n# ");
    let section = sections.find_map(|section| section.strip_prefix(name)?.strip_prefix("\n\n"));
    let texts = section.and_then(|section| section.split_once("\n\n"));
    let (summary, about) = texts.unwrap_or_default();
    (summary, about.trim().replace('\n', " "))
}

fn parameters(route: &Route) -> Vec<Json> {
    let path = shown(route);
    let braces = path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?;
        name.strip_suffix('}').map(in_path)
    });
    let mut all: Vec<Json> = braces.chain(route.query.iter().map(in_query)).collect();
    let mut header = |name: &str, about: &str, schema: Json| {
        all.push(json!({
            "name": name, "in": "header", "required": false, "description": about, "schema": schema,
        }));
    };
    let has_version = ["/names/{", "/authorities/{", "/namespaces/{"];
    if route.errors.contains(&412)
        && has_version
            .iter()
            .any(|start| route.path.starts_with(start))
    {
        let about = "The `ETag` that it must still have, or `*`.";
        header("If-Match", about, json!({"type": "string"}));
    }
    if route.method == "POST" && route.is_known {
        let about = "The server does requests with the same key once.";
        let schema = json!({"type": "string", "minLength": 1, "maxLength": 255});
        header("Idempotency-Key", about, schema);
    }
    if route.is_long {
        let about = "`respond-async`: answer 202 as soon as the job has begun.";
        header("Prefer", about, json!({"type": "string"}));
    }
    all
}

fn in_path(name: &str) -> Json {
    let (about, example) = match name {
        "account" => ("The name of an account.", "ann"),
        "authority" => ("The path of an authority.", "20.1000"),
        "id" => ("A name, in any spelling.", "20.1000/report-7"),
        "job" => ("The number of a job.", "1"),
        "level" => ("The level of the tile.", "0"),
        "namespace" => ("The string of a namespace.", "lccn"),
        "place" => ("The place of the tile on its level.", "000"),
        "token" => ("The identifier of a token.", "7d0c1f4e"),
        _ => ("An account, or `INDEX:HANDLE`.", "ann"),
    };
    json!({
        "name": name, "in": "path", "required": true, "description": about,
        "schema": {"type": "string", "minLength": 1}, "example": example,
    })
}

fn in_query(parameter: &Parameter) -> Json {
    let schema = match parameter.kind {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Number(min, u64::MAX) => json!({"type": "integer", "minimum": min}),
        Kind::Number(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::OneOf(words) => json!({"type": "string", "enum": words}),
        Kind::Text(0, usize::MAX) => json!({"type": "string"}),
        Kind::Text(min, max) => json!({"type": "string", "minLength": min, "maxLength": max}),
    };
    json!({
        "name": parameter.name, "in": "query", "required": parameter.is_required,
        "description": parameter.about, "schema": schema,
    })
}

/// The path of a route. The description has no way to say that a parameter has several segments.
fn shown(route: &Route) -> String {
    route.path.replace("{+", "{")
}

fn json_of(schema: &schemars::Schema) -> Json {
    json!({"application/json": {"schema": schema}})
}

fn given(body: ResponseBody, schemas: &mut SchemaGenerator) -> Json {
    let text = json!({"schema": {"type": "string"}});
    match body {
        ResponseBody::Json(schema) => json_of(&schema(schemas)),
        ResponseBody::Bytes => {
            json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}})
        }
        ResponseBody::Lines => json!({"application/x-ndjson": text}),
        ResponseBody::Names => json!({
            "application/x-ndjson": text, "text/csv": text, "text/plain": text,
            "application/json": {"schema": {"type": "object"}},
        }),
        ResponseBody::Nothing => json!({}),
        ResponseBody::Text => json!({"text/plain": text}),
        ResponseBody::TextOf(media) => json!({media: text}),
    }
}

fn taken(body: RequestBody, schemas: &mut SchemaGenerator) -> Json {
    let text = json!({"schema": {"type": "string"}});
    let (required, content) = match body {
        RequestBody::Json(schema) => (true, json_of(&schema(schemas))),
        RequestBody::OptionalJson(schema) => (false, json_of(&schema(schemas))),
        RequestBody::Lines => {
            let lines = json!({"application/x-ndjson": text, "text/csv": text, "text/plain": text});
            (true, lines)
        }
        RequestBody::Text => (true, json!({"text/plain": text})),
    };
    json!({"required": required, "content": content})
}

fn reason(status: u16) -> &'static str {
    let status = hyper::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or("refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_that_is_named_is_there() {
        let document = make();
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
        let document = make();
        for route in GROUPS.iter().flat_map(|group| group.routes) {
            let path = format!("/api/v1{}", shown(route));
            let operation = &document["paths"][path][route.method.to_lowercase()];
            assert_eq!(operation["operationId"], route.name);
            let (summary, about) = described(route.name);
            assert!(!summary.is_empty() && !summary.ends_with('.'), "{summary}");
            assert!(about.ends_with('.'), "{}", route.name);
        }
    }

    #[test]
    fn every_property_is_described() {
        fn look(place: &str, schema: &Json) {
            if let Json::Object(properties) = &schema["properties"] {
                for (name, property) in properties {
                    let is_described = property["description"].is_string();
                    assert!(is_described, "{place}.{name}");
                }
            }
            for variants in ["anyOf", "oneOf", "allOf"] {
                for variant in schema[variants].as_array().into_iter().flatten() {
                    look(place, variant);
                }
            }
        }
        let document = make();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for (name, schema) in schemas {
            assert!(schema["description"].is_string(), "{name}");
            look(name, schema);
        }
        let operations = document["paths"].as_object().unwrap().values();
        for operation in operations.flat_map(|path| path.as_object().unwrap().values()) {
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(parameter["description"].is_string(), "{parameter}");
            }
        }
    }
}
