//! One endpoint, as the reference tells it.

use std::collections::HashSet;

use serde_json::Value;

use super::curl::curl;
use super::schema::{Field, Schemas, Side};
use super::{anchor, is_code, line, text};

pub struct Operation {
    pub tag: String,
    /// Such as `POST /v1/publish`.
    pub name: String,
    pub anchor: String,
    pub summary: String,
    pub description: String,
    /// The credentials of which one will do; none for a call that needs none.
    pub credentials: Vec<String>,
    pub parameters: Vec<Field>,
    pub body: Option<Body>,
    pub curl: String,
    pub answers: Vec<DocumentedResponse>,
    pub refusals: Vec<ExampleExchange>,
}

/// What a request carries.
pub struct Body {
    /// One of them.
    pub content_types: String,
    pub is_required: bool,
    pub words: String,
    pub fields: Vec<Field>,
}

/// An answer to a call that went well.
pub struct DocumentedResponse {
    pub status: String,
    pub words: String,
    /// What its body is, with a link to its shape.
    pub kind: Option<String>,
    pub headers: Vec<(String, String)>,
    pub example: Option<String>,
}

/// A status of refusals, with the codes that it may have.
pub struct ExampleExchange {
    pub status: String,
    pub codes: Vec<String>,
}

impl Operation {
    pub fn all_of(document: &Value) -> Vec<Self> {
        let paths = document["paths"].as_object().into_iter().flatten();
        let of_path = |(path, item): (&String, &Value)| -> Vec<Self> {
            let methods = item.as_object().into_iter().flatten();
            methods.map(|(method, told)| Self::of(document, method, path, told)).collect()
        };
        paths.flat_map(of_path).collect()
    }

    /// The names of the schemas that are request bodies.
    pub fn bodies_asked_for(document: &Value) -> HashSet<&str> {
        let paths = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
        let operations = paths.flat_map(|item| item.as_object().into_iter().flat_map(|item| item.values()));
        let media = operations.filter_map(|told| media_of(&told["requestBody"]));
        media.filter_map(|media| media["schema"]["$ref"].as_str()?.rsplit('/').next()).collect()
    }

    fn of(document: &Value, method: &str, path: &str, told: &Value) -> Self {
        let schemas = Schemas::of(document);
        let name = format!("{} {path}", method.to_uppercase());
        let responses = || told["responses"].as_object().into_iter().flatten();
        let is_refusal = |status: &str| status.starts_with(['4', '5']);
        Self {
            tag: text(&told["tags"][0]),
            anchor: anchor(&name),
            name,
            summary: text(&told["summary"]),
            description: text(&told["description"]),
            credentials: credentials(told),
            parameters: parameters(told, schemas),
            body: Body::of(told, schemas),
            curl: curl(&text(&document["servers"][0]["url"]), method, path, told),
            answers: responses()
                .filter(|(status, _)| !is_refusal(status))
                .map(|(status, response)| DocumentedResponse::of(status, response, schemas))
                .collect(),
            refusals: responses()
                .filter(|(status, _)| is_refusal(status))
                .map(|(status, response)| ExampleExchange::of(status, response))
                .collect(),
        }
    }
}

impl Body {
    fn of(told: &Value, schemas: Schemas<'_>) -> Option<Self> {
        let content = told["requestBody"]["content"].as_object()?;
        let mut asked: Vec<_> = content.values().map(|media| schemas.resolved(&media["schema"])).collect();
        // A form of a page has the same fields under either of its content types.
        asked.dedup();
        let words: Vec<_> = asked.iter().map(|schema| line(&schema["description"])).collect();
        Some(Self {
            content_types: content.keys().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(" or "),
            is_required: told["requestBody"]["required"] == true,
            words: words.join(" "),
            fields: asked.iter().flat_map(|schema| schemas.fields(schema, Side::Asked)).collect(),
        })
    }
}

impl DocumentedResponse {
    fn of(status: &str, response: &Value, schemas: Schemas<'_>) -> Self {
        let media = media_of(response);
        let headers = response["headers"].as_object().into_iter().flatten();
        Self {
            status: status.to_owned(),
            words: line(&response["description"]),
            kind: media.map(|media| schemas.kind(&media["schema"])),
            headers: headers.map(|(name, header)| (name.clone(), line(&header["description"]))).collect(),
            example: media.and_then(|media| media.get("example")).map(Value::to_string),
        }
    }
}

impl ExampleExchange {
    fn of(status: &str, response: &Value) -> Self {
        let description = response["description"].as_str().unwrap_or_default();
        // Every other part stands between backticks.
        let named = description.split('`').skip(1).step_by(2).filter(|word| is_code(word));
        Self { status: status.to_owned(), codes: named.map(str::to_owned).collect() }
    }
}

fn credentials(told: &Value) -> Vec<String> {
    let ways = told["security"].as_array().into_iter().flatten();
    let names = |way: &Value| match way.as_object() {
        Some(way) if way.is_empty() => vec!["none".to_owned()],
        way => way.into_iter().flat_map(|way| way.keys().cloned()).collect(),
    };
    ways.flat_map(names).collect()
}

fn parameters(told: &Value, schemas: Schemas<'_>) -> Vec<Field> {
    let listed = told["parameters"].as_array().into_iter().flatten();
    let field = |parameter: &Value| {
        let optional = if parameter["required"] == true { "" } else { ", optional" };
        Field {
            name: text(&parameter["name"]),
            kind: format!("{}{optional}, {}", text(&parameter["in"]), schemas.kind(&parameter["schema"])),
            words: line(&parameter["description"]),
        }
    };
    listed.map(field).collect()
}

/// What is said of the one content type that a body has.
fn media_of(holder: &Value) -> Option<&Value> {
    holder["content"].as_object()?.values().next()
}
