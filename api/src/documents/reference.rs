//! `/skill/reference.md`: every endpoint with what it takes and answers. All of it is read from the OpenAPI document
//! that is served, and from the catalogue of codes; nothing may be written here by hand, so that it cannot drift.

mod curl;
mod operation;
mod schema;

use askama::Template;
use domain::Refusal;
use serde_json::Value;

use self::operation::Operation;
use self::schema::{Field, Schemas, Side};
use super::errors::{self, Entry};

/// What is not for agents comes last.
const LAST: &str = "Operator";

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
struct Section {
    name: String,
    words: String,
    operations: Vec<Operation>,
}

/// A named object of a body.
struct Shape {
    name: String,
    words: String,
    fields: Vec<Field>,
}

impl Reference {
    pub fn of(openapi: &str) -> Self {
        let document: Value = serde_json::from_str(openapi).unwrap_or_default();
        Self {
            base_url: text(&document["servers"][0]["url"]),
            version: text(&document["info"]["version"]),
            about: text(&document["info"]["description"]),
            credentials: credentials(&document),
            sections: sections(&document),
            shapes: shapes(&document),
            errors: errors::entries(),
        }
    }
}

fn credentials(document: &Value) -> Vec<(String, String)> {
    let schemes = document["components"]["securitySchemes"].as_object().into_iter().flatten();
    schemes.map(|(name, scheme)| (name.clone(), line(&scheme["description"]))).collect()
}

fn sections(document: &Value) -> Vec<Section> {
    let mut operations = Operation::all_of(document);
    let tags = document["tags"].as_array().into_iter().flatten();
    let mut sections: Vec<_> = tags
        .map(|tag| {
            let name = text(&tag["name"]);
            let own = operations.extract_if(.., |operation| operation.tag == name).collect();
            Section { name, words: line(&tag["description"]), operations: own }
        })
        .filter(|section| !section.operations.is_empty())
        .collect();
    sections.sort_by_key(|section| section.name == LAST);
    sections
}

/// Every object but those that only a request is made of, which stand where they are asked for.
fn shapes(document: &Value) -> Vec<Shape> {
    let schemas = Schemas::of(document);
    let asked_for = Operation::bodies_asked_for(document);
    let components = document["components"]["schemas"].as_object().into_iter().flatten();
    components
        .filter(|(name, schema)| schema["type"] == "object" && !asked_for.contains(name.as_str()))
        .map(|(name, schema)| Shape {
            name: name.clone(),
            words: line(&schema["description"]),
            fields: schemas.fields(schema, Side::Answered),
        })
        .collect()
}

/// Whether the catalogue has this code.
fn is_code(word: &str) -> bool {
    Refusal::catalogue().iter().any(|entry| entry.example.code() == word)
}

/// What links to a heading, as Markdown makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A text that stands on one line, for lists.
fn line(value: &Value) -> String {
    let words = value.as_str().unwrap_or_default().split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
