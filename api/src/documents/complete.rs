//! Completes the OpenAPI document where poem-openapi cannot: closed request objects, the ranges of integers,
//! an example of every JSON body, and the operations outside of poem-openapi. It must not promise anything
//! that the routes do not do.

use domain::{Refusal, RefusalEntry};
use serde_json::{Map, Value, json};

use super::{examples, extra_operations, portable};
use crate::http::refusal::{linked_json_of, status_of};

/// The completed document. `is_page` tells whether people open a path; those paths return errors as pages.
pub fn complete(document: &str, is_page: fn(&str) -> bool) -> String {
    let Ok(mut document) = serde_json::from_str::<Value>(document) else { return document.to_owned() };
    close_requests(&mut document);
    // The extra operations come after that, because some of their bodies accept unknown fields.
    extra_operations::add_to(&mut document, is_page);
    bound_integers(&mut document);
    portable::make_portable(&mut document);
    let base_url = document["servers"][0]["url"].as_str().unwrap_or_default().to_owned();
    link_errors(&mut document);
    let components = document["components"]["schemas"].clone();
    for operation in operations(&mut document) {
        for (_, media) in contents(operation.get_mut("requestBody")) {
            add_example(media, &components);
        }
        let Some(responses) = operation["responses"].as_object_mut() else { continue };
        for (status, response) in responses {
            describe(response, &components);
            let refusal = refusal_of(status, response["description"].as_str().unwrap_or_default());
            for (kind, media) in contents(Some(response)) {
                match &refusal {
                    Some(refusal) if kind.starts_with("application/json") => {
                        media["example"] = linked_json_of(refusal, &base_url)
                    }
                    Some(_) => {}
                    None => add_example(media, &components),
                }
            }
        }
    }
    document.to_string()
}

/// The errors that have `doc_url`.
const ERRORS: [&str; 3] = ["Error", "Challenge", "VersionConflict"];

/// Describes the field that `http::refusal` adds to the body of every error.
fn link_errors(document: &mut Value) {
    for name in ERRORS {
        if let Some(properties) = document["components"]["schemas"][name]["properties"].as_object_mut() {
            let description = "The address of this code's description.";
            let field = json!({ "type": "string", "format": "uri", "description": description });
            properties.insert("doc_url".to_owned(), field);
        }
    }
}

fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    paths.flat_map(|item| item.as_object_mut().into_iter().flat_map(Map::values_mut))
}

/// The media types of a request or response.
fn contents(holder: Option<&mut Value>) -> impl Iterator<Item = (&String, &mut Value)> {
    let content = holder.and_then(|holder| holder.get_mut("content")).and_then(Value::as_object_mut);
    content.into_iter().flatten()
}

/// A response without a description takes the one of its body.
fn describe(response: &mut Value, components: &Value) {
    if response["description"] != "" {
        return;
    }
    let carried =
        contents(Some(response)).next().map(|(_, media)| media["schema"].clone()).unwrap_or_default();
    let (schema, is_list) = match carried.get("items") {
        Some(items) => (items, true),
        None => (&carried, false),
    };
    let title =
        schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).unwrap_or_default();
    if let Some(words) = components[title]["description"].as_str() {
        let words = if is_list { format!("A list. Each entry: {words}") } else { words.to_owned() };
        response["description"] = words.into();
    }
}

fn add_example(media: &mut Value, components: &Value) {
    if let Some(example) = examples::of(&media["schema"], components) {
        media["example"] = example;
    }
}

/// An example of one of the refusals in a response's description.
fn refusal_of(status: &str, description: &str) -> Option<Refusal> {
    let matches = |entry: &RefusalEntry| {
        status_of(&entry.example).as_str() == status && description.contains(entry.meaning)
    };
    Refusal::catalogue().into_iter().find(matches).map(|entry| entry.example)
}

fn bound_integers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let most = match fields.get("format").and_then(Value::as_str) {
                Some("uint32") => Some(u64::from(u32::MAX)),
                Some("uint64") => Some(u64::MAX),
                _ => None,
            };
            if let Some(most) = most {
                fields.entry("minimum").or_insert(0.into());
                fields.entry("maximum").or_insert(most.into());
            }
            fields.values_mut().for_each(bound_integers);
        }
        Value::Array(items) => items.iter_mut().for_each(bound_integers),
        _ => {}
    }
}

// Omitted fields may also be sent as null. Unknown fields are refused.
fn close_requests(document: &mut Value) {
    let mut named = Vec::new();
    for operation in operations(document) {
        for (_, media) in contents(operation.get_mut("requestBody")) {
            match media["schema"]["$ref"].as_str() {
                Some(reference) => named.push(reference.trim_start_matches('#').to_owned()),
                None => close(&mut media["schema"]),
            }
        }
    }
    for pointer in named {
        if let Some(schema) = document.pointer_mut(&pointer) {
            close(schema);
            accept_null(schema);
        }
    }
}

fn close(schema: &mut Value) {
    if schema["type"] == "object" {
        schema["additionalProperties"] = false.into();
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    for items in properties.filter_map(|(_, property)| property.get_mut("items")) {
        close(items);
    }
}

fn accept_null(schema: &mut Value) {
    let required = schema["required"].clone();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema["properties"].as_object_mut().into_iter().flatten();
    for (_, property) in properties.filter(|(name, _)| !is_required(name)) {
        property["nullable"] = true.into();
    }
}
