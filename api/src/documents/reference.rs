//! `/skill/reference.md`: every endpoint with its parameters, bodies, responses and errors. It is made from
//! the served OpenAPI document and the catalogue of error codes. Nothing may be written here by hand, so that
//! it cannot drift.
//!
//! It is for agents, so that it leaves out the operator's routes and what only they use.

mod curl;
mod group;
mod operation;
mod pages;
mod schema;

use std::collections::HashSet;

use askama::Template;
use domain::Refusal;
use serde_json::{Map, Value};

use self::curl::TokenSource;
use self::schema::{Field, Schemas, Side};
use super::errors::{self, Entry};

pub use group::Group;
pub use operation::Operation;
pub use pages::ReferencePages;

/// The tag of the routes that are not for agents.
const OPERATOR: &str = "Operator";
const OPERATOR_ROUTES: &str = " /internal/";
/// The credential of these routes.
const OPERATOR_CREDENTIAL: &str = "operator";

#[derive(Template)]
#[template(path = "reference.md")]
pub struct Reference {
    base_url: String,
    version: String,
    about: String,
    credentials: Vec<(String, String)>,
    sections: Vec<Section>,
    shapes: Vec<Shape>,
    errors: Vec<Entry>,
}

/// The endpoints of one tag.
pub struct Section {
    pub name: String,
    pub text: String,
    pub operations: Vec<Operation>,
}

/// A named object of a body.
pub struct Shape {
    pub name: String,
    pub text: String,
    pub fields: Vec<Field>,
}

impl Reference {
    pub fn of(openapi: &str) -> Self {
        let mut document: Value = serde_json::from_str(openapi).unwrap_or_default();
        keep_routes(&mut document, |tag| tag != OPERATOR);
        if let Some(schemes) = document["components"]["securitySchemes"].as_object_mut() {
            schemes.remove(OPERATOR_CREDENTIAL);
        }
        Self {
            base_url: text(&document["servers"][0]["url"]),
            version: text(&document["info"]["version"]),
            about: text(&document["info"]["description"]),
            credentials: credentials(&document),
            sections: sections(&document, TokenSource::File),
            shapes: shapes(&document),
            errors: errors_of_agents(),
        }
    }
}

/// The errors without those that only operators' routes return, whose hints lead to such routes.
fn errors_of_agents() -> Vec<Entry> {
    errors::entries().into_iter().filter(|entry| !entry.hint.contains(OPERATOR_ROUTES)).collect()
}

fn credentials(document: &Value) -> Vec<(String, String)> {
    let schemes = document["components"]["securitySchemes"].as_object().into_iter().flatten();
    schemes.map(|(name, scheme)| (name.clone(), line(&scheme["description"]))).collect()
}

fn sections(document: &Value, token: TokenSource) -> Vec<Section> {
    let mut operations = Operation::all_of(document, token);
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.map(|tag| {
        let name = text(&tag["name"]);
        let own = operations.extract_if(.., |operation| operation.tag == name).collect();
        Section { name, text: line(&tag["description"]), operations: own }
    })
    .filter(|section| !section.operations.is_empty())
    .collect()
}

/// Keeps the routes of some tags, and the objects that they use.
fn keep_routes(document: &mut Value, is_kept: impl Fn(&str) -> bool) {
    for item in document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(methods) = item.as_object_mut() {
            methods.retain(|_, described| described["tags"][0].as_str().is_some_and(&is_kept));
        }
    }
    let mut used = HashSet::new();
    let mut found = names_in(&document["paths"]);
    while let Some(name) = found.pop() {
        if used.insert(name.clone()) {
            found.extend(names_in(&document["components"]["schemas"][name.as_str()]));
        }
    }
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| used.contains(name));
    }
}

/// The names of the schemas that a part of the document refers to.
fn names_in(part: &Value) -> Vec<String> {
    match part {
        Value::Object(fields) => {
            let reference =
                fields.get("$ref").and_then(Value::as_str).and_then(|text| text.rsplit('/').next());
            let parts = fields.values().flat_map(names_in);
            reference.map(str::to_owned).into_iter().chain(parts).collect()
        }
        Value::Array(items) => items.iter().flat_map(names_in).collect(),
        _ => Vec::new(),
    }
}

/// All objects except request bodies, which are listed with their endpoint.
fn shapes(document: &Value) -> Vec<Shape> {
    let schemas = Schemas::of(document);
    let request_bodies = Operation::request_bodies(document);
    let components = document["components"]["schemas"].as_object().into_iter().flatten();
    components
        .filter(|(name, schema)| schema["type"] == "object" && !request_bodies.contains(name.as_str()))
        .map(|(name, schema)| Shape {
            name: name.clone(),
            text: line(&schema["description"]),
            fields: schemas.fields(schema, Side::Response),
        })
        .collect()
}

/// Whether the catalogue has this error code.
fn is_code(word: &str) -> bool {
    Refusal::catalogue().iter().any(|entry| entry.example.code() == word)
}

/// The anchor of a Markdown heading.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A text on a single line, for lists.
fn line(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default().split_whitespace();
    text.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
