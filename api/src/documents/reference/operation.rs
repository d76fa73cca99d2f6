//! An endpoint in the reference.

use std::collections::HashSet;

use serde_json::Value;

use super::curl::{TokenSource, curl};
use super::schema::{Field, Schemas, Side};
use super::{anchor, is_code, line, text};

pub struct Operation {
    pub tag: String,
    /// Such as `POST /v1/publish`.
    pub name: String,
    /// Its id in the OpenAPI document.
    pub id: String,
    pub anchor: String,
    pub summary: String,
    pub description: String,
    /// The accepted credentials, one of which is enough. Empty if none is needed.
    pub credentials: Vec<String>,
    pub parameters: Vec<Field>,
    pub body: Option<Body>,
    pub curl: String,
    pub responses: Vec<DocumentedResponse>,
    pub refusals: Vec<RefusalStatus>,
}

/// A request body.
pub struct Body {
    /// The accepted content types, one of which the client sends.
    pub content_types: String,
    pub is_required: bool,
    pub text: String,
    pub fields: Vec<Field>,
}

/// A response to a successful call.
pub struct DocumentedResponse {
    pub status: String,
    pub text: String,
    /// The type of the body, linked to its shape.
    pub kind: Option<String>,
    pub headers: Vec<(String, String)>,
    pub example: Option<String>,
}

/// An error status with its codes.
pub struct RefusalStatus {
    pub status: String,
    pub codes: Vec<String>,
}

impl Operation {
    /// In capitals.
    pub fn method(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    pub fn path(&self) -> &str {
        self.name.split(' ').nth(1).unwrap_or_default()
    }

    pub fn all_of(document: &Value, token: TokenSource) -> Vec<Self> {
        let paths = document["paths"].as_object().into_iter().flatten();
        let of_path = |(path, item): (&String, &Value)| -> Vec<Self> {
            let methods = item.as_object().into_iter().flatten();
            methods.map(|(method, described)| Self::of(document, method, path, described, token)).collect()
        };
        paths.flat_map(of_path).collect()
    }

    /// The names of the schemas of request bodies.
    pub fn request_bodies(document: &Value) -> HashSet<&str> {
        let paths = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
        let operations = paths.flat_map(|item| item.as_object().into_iter().flat_map(|item| item.values()));
        let contents = operations.filter_map(|described| described["requestBody"]["content"].as_object());
        let media = contents.flat_map(|content| content.values());
        media.filter_map(|media| media["schema"]["$ref"].as_str()?.rsplit('/').next()).collect()
    }

    fn of(document: &Value, method: &str, path: &str, described: &Value, token: TokenSource) -> Self {
        let schemas = Schemas::of(document);
        let name = format!("{} {path}", method.to_uppercase());
        let responses = || described["responses"].as_object().into_iter().flatten();
        let is_refusal = |status: &str| status.starts_with(['4', '5']);
        Self {
            tag: text(&described["tags"][0]),
            id: text(&described["operationId"]),
            anchor: anchor(&name),
            name,
            summary: text(&described["summary"]),
            description: text(&described["description"]),
            credentials: credentials(described),
            parameters: parameters(described, schemas),
            body: Body::of(described, schemas),
            curl: curl(&text(&document["servers"][0]["url"]), method, path, described, token),
            responses: responses()
                .filter(|(status, _)| !is_refusal(status))
                .map(|(status, response)| DocumentedResponse::of(status, response, schemas))
                .collect(),
            refusals: responses()
                .filter(|(status, _)| is_refusal(status))
                .map(|(status, response)| RefusalStatus::of(status, response))
                .collect(),
        }
    }
}

impl Body {
    fn of(described: &Value, schemas: Schemas<'_>) -> Option<Self> {
        let content = described["requestBody"]["content"].as_object()?;
        let mut bodies: Vec<_> = content.values().map(|media| schemas.resolved(&media["schema"])).collect();
        // A page's form has the same fields for both of its content types.
        bodies.dedup();
        let text: Vec<_> = bodies.iter().map(|schema| line(&schema["description"])).collect();
        let fields: Vec<_> = bodies.iter().flat_map(|schema| schemas.fields(schema, Side::Request)).collect();
        Some(Self {
            content_types: content.keys().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(" or "),
            is_required: described["requestBody"]["required"] == true,
            text: distinct(text).join(" "),
            fields: distinct(fields),
        })
    }
}

impl DocumentedResponse {
    fn of(status: &str, response: &Value, schemas: Schemas<'_>) -> Self {
        let media = media_of(response);
        let headers = response["headers"].as_object().into_iter().flatten();
        Self {
            status: status.to_owned(),
            text: line(&response["description"]),
            kind: media.map(|media| schemas.kind(&media["schema"])),
            headers: headers.map(|(name, header)| (name.clone(), line(&header["description"]))).collect(),
            example: media.and_then(|media| media.get("example")).map(Value::to_string),
        }
    }
}

impl RefusalStatus {
    fn of(status: &str, response: &Value) -> Self {
        let description = response["description"].as_str().unwrap_or_default();
        // The odd parts are between backticks.
        let named = description.split('`').skip(1).step_by(2).filter(|word| is_code(word));
        Self { status: status.to_owned(), codes: named.map(str::to_owned).collect() }
    }
}

/// Several forms of a body share most of their fields.
fn distinct<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut kept, item| {
        if !kept.contains(&item) {
            kept.push(item);
        }
        kept
    })
}

fn credentials(described: &Value) -> Vec<String> {
    let ways = described["security"].as_array().into_iter().flatten();
    let names = |way: &Value| match way.as_object() {
        Some(way) if way.is_empty() => vec!["none".to_owned()],
        way => way.into_iter().flat_map(|way| way.keys().cloned()).collect(),
    };
    ways.flat_map(names).collect()
}

fn parameters(described: &Value, schemas: Schemas<'_>) -> Vec<Field> {
    let listed = described["parameters"].as_array().into_iter().flatten();
    let field = |parameter: &Value| {
        let optional = if parameter["required"] == true { "" } else { ", optional" };
        Field {
            name: text(&parameter["name"]),
            kind: format!("{}{optional}, {}", text(&parameter["in"]), schemas.kind(&parameter["schema"])),
            text: line(&parameter["description"]),
        }
    };
    listed.map(field).collect()
}

/// The media object of a body with one content type.
fn media_of(holder: &Value) -> Option<&Value> {
    holder["content"].as_object()?.values().next()
}
