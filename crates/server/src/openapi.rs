//! The OpenAPI 3.1 document, generated from the table of operations and the types.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bourse_wire::{Code, Dialect, Word};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::rest;
use crate::route::{Credential, Effect, Route, Service};
use crate::router::operations;
use crate::streams::LINES;

const DESCRIPTION: &str = "\
Token and contract metadata, listings and offers for collectibles, purchase steps, project audiences and project \
analytics, served by one binary.\n\n\
Every operation is a POST with a JSON body to /rpc/<Service>/<Operation>, or to /<network>/rpc/<Service>/<Operation> \
where the network names the chain. Success is status 200 and a JSON object. Member names are matched whatever their \
letter case, unknown members are ignored, null means absent, and an empty body is an empty object. A chain is given by \
number or by name. Big integers (token ids, amounts) are decimal strings; numbers are accepted.\n\n\
A project's public access key goes into the X-Access-Key header, its secret token into Authorization: Bearer; a secret \
token also serves where an access key would.\n\n\
Lists are read in pages that count from 1. An answer's page has more = true when further pages exist and then an \
`after` that names the next one; sent back, it wins over the page number.\n\n\
Writes to collections of contracts are answered with the header Data-Version. Send it back with any request to any server: the \
answer then shows no less than what was written.\n\n\
Errors have one shape: {error, code, msg, message, cause?, status}. Their numbers, names and statuses are those that \
the published client of a service knows; each tag has its own.";

/// The whole document, made once: it never changes.
pub fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(generate);
    &DOCUMENT
}

fn generate() -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    for route in operations() {
        paths.insert(route.path(), json!({ "post": operation(&route, &mut schemas) }));
    }
    paths.extend(rest::documentation());
    let mut components = schemas.into_components();
    components.insert("Error".to_owned(), error_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Bourse",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "tags": Service::ALL.map(tag),
        "paths": paths,
        "components": {
            "schemas": components,
            "headers": { "DataVersion": {
                "description": "Opaque; there where collections of contracts were written. Sent back as a request header, it \
                    makes any server answer with no less than that.",
                "schema": { "type": "string" },
            } },
            "securitySchemes": {
                "accessKey": { "type": "apiKey", "in": "header", "name": "X-Access-Key" },
                "secretToken": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" },
            },
        },
        "x-errors": errors(Dialect::House),
    })
}

/// A service, with its errors as its published client knows them.
fn tag(service: Service) -> Value {
    let dialect = service.dialect();
    let mut tag = json!({ "name": service.name(), "x-errors": errors(dialect) });
    let renamed: Vec<String> = Code::ALL
        .into_iter()
        .filter(|&code| dialect.word(code) != code.word())
        .map(|code| {
            let Word { number, name, status } = dialect.word(code);
            format!("{} is `{number} {name}`, status {status}", code.word().name)
        })
        .collect();
    if !renamed.is_empty() {
        let told = renamed.join("; ");
        tag["description"] =
            json!(format!("Its published client has words of its own for some errors: {told}."));
    }
    tag
}

/// Every error, in the words of a dialect.
fn errors(dialect: Dialect) -> Value {
    let described = Code::ALL.map(|code| {
        let Word { number, name, status } = dialect.word(code);
        json!({ "code": number, "name": name, "status": status, "description": code.meaning() })
    });
    json!(described)
}

/// Records as they are sent and as they are received; the same record never has both forms.
struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }

    fn of(&mut self, route: &Route) -> (Schema, Schema) {
        ((route.schemas)(&mut self.requests).0, (route.schemas)(&mut self.answers).1)
    }

    fn into_components(mut self) -> Map<String, Value> {
        let mut all: BTreeMap<String, Value> = BTreeMap::new();
        // Asking one generator for both schemas of a route also leaves the other's definition behind; the answers'
        // form of a request is dropped in favour of the requests' own, and the other way round.
        let requests = self.requests.take_definitions(true);
        let answers = self.answers.take_definitions(true);
        for (name, schema) in requests.into_iter().chain(answers) {
            if is_request(&name) {
                all.entry(name).or_insert(schema);
            } else {
                all.insert(name, schema);
            }
        }
        all.into_iter().collect()
    }
}

/// Whether a record is one that callers send.
fn is_request(name: &str) -> bool {
    name.ends_with("Request") || name.ends_with("Input")
}

fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let (request, answer) = schemas.of(route);
    let (credential, security) = match route.credential {
        Credential::None => ("none", json!([])),
        Credential::AccessKey | Credential::ServiceKey => {
            ("access key", json!([{ "accessKey": [] }, { "secretToken": [] }]))
        }
        Credential::SecretToken => ("secret token", json!([{ "secretToken": [] }])),
    };
    let media = if route.is_streaming() { LINES } else { "application/json" };
    let mut content = json!({ media: { "schema": answer } });
    if route.is_tabular {
        content["text/csv"] = json!({ "schema": { "type": "string" } });
    }
    let mut done = json!({ "description": "Done.", "content": content });
    if route.effect == Effect::Writes
        && matches!(route.service, Service::Ingest | Service::Marketplace | Service::Metadata)
    {
        done["headers"] = json!({ "Data-Version": { "$ref": "#/components/headers/DataVersion" } });
    }
    json!({
        "operationId": format!("{}_{}", route.service.name(), route.name),
        "tags": [route.service.name()],
        "summary": route.summary,
        "security": security,
        "x-credential": credential,
        "x-cost": route.cost,
        "x-example": serde_json::from_str::<Value>(route.example).unwrap_or_default(),
        "requestBody": { "required": true, "content": { "application/json": { "schema": request } } },
        "responses": {
            "200": done,
            "default": error_response(),
        },
    })
}

/// How every failure is answered.
pub(crate) fn error_response() -> Value {
    json!({
        "description": "The request failed.",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Why a request failed.",
        "required": ["error", "code", "msg", "message", "status"],
        "properties": {
            "error": { "type": "string", "description": "Name of the failure." },
            "code": { "type": "integer", "description": "Number of the failure." },
            "msg": { "type": "string", "description": "What went wrong and what to do about it." },
            "message": { "type": "string", "description": "The same text, for newer clients." },
            "cause": { "type": "string", "description": "What a lower layer said, when it helps." },
            "status": { "type": "integer", "description": "The HTTP status." },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let components = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        for reference in text.split("\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(components.contains_key(name), "{name}");
        }
    }

    #[test]
    fn every_example_is_an_object() {
        for route in operations() {
            let example: Value = serde_json::from_str(route.example).unwrap();
            assert!(example.is_object(), "{}", route.name);
        }
    }

    #[test]
    fn every_operation_has_the_fields_of_its_example() {
        for route in operations() {
            let fields = bourse_reference::fields(document(), &route.path());
            let known: Vec<String> = fields.into_iter().map(|field| field.name).collect();
            let example: Value = serde_json::from_str(route.example).unwrap();
            for name in example.as_object().unwrap().keys() {
                assert!(known.contains(name), "{} has no field {name} among {known:?}", route.path());
            }
            assert!(!bourse_reference::anchor_of(document(), &route.path()).is_empty());
        }
    }

    #[test]
    fn the_committed_document_is_the_generated_one() {
        let committed: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
        assert!(
            committed == *document(),
            "docs/openapi.json is stale: run `cargo run -- openapi > docs/openapi.json`"
        );
    }
}
