//! Brings the OpenAPI document into forms that linters accept and that generators of clients can read. It
//! changes how something is said, and leaves out content types of bodies that generators cannot tell apart.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

const REFERENCE: &str = "#/components/schemas/";
const LICENSE: &str = env!("CARGO_PKG_LICENSE");

/// A body of a method, with those of its content types that are described.
struct DescribedBody {
    path: &'static str,
    method: &'static str,
    types: &'static [DescribedType],
}

struct DescribedType {
    kind: &'static str,
    /// The name of the schema. Generators give an inline one a name that another type may have.
    name: Option<&'static str>,
}

/// Generated clients send what they have in the first content type, or as JSON. An archive is described in
/// the text of the operation.
const SITE: &[DescribedType] = &[
    DescribedType { kind: "application/json", name: Some("SiteInJson") },
    DescribedType { kind: "multipart/form-data", name: Some("SiteInForm") },
];
const FILES: &[DescribedType] = &[DescribedType { kind: "multipart/form-data", name: Some("FilesInForm") }];
const BYTES: &[DescribedType] = &[DescribedType { kind: "application/octet-stream", name: None }];

const BODIES: [DescribedBody; 4] = [
    DescribedBody { path: "/v1/publish", method: "post", types: SITE },
    DescribedBody { path: "/v1/artifacts/{slug}/versions", method: "post", types: SITE },
    DescribedBody { path: "/v1/uploads/{ticket}", method: "post", types: FILES },
    DescribedBody { path: "/v1/uploads/{ticket}", method: "put", types: BYTES },
];

pub fn make_portable(document: &mut Value) {
    let components = document["components"]["schemas"].clone();
    add_info(document);
    BODIES.iter().for_each(|body| describe_body(document, body));
    for item in document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        for operation in item.as_object_mut().into_iter().flat_map(Map::values_mut) {
            // Without it, the default of the document would apply, and linters take its absence for a
            // mistake.
            if operation["security"].is_null() {
                operation["security"] = json!([]);
            }
            put_usual_response_first(&mut operation["responses"]);
        }
    }
    for_each_object(document, &mut |fields| {
        drop_choices_of_fields(fields);
        drop_length_of_bytes(fields);
        simplify_reference(fields, &components);
        type_nullable_choice(fields);
    });
    drop_unused_schemas(document);
}

fn describe_body(document: &mut Value, body: &DescribedBody) {
    let content = &mut document["paths"][body.path][body.method]["requestBody"]["content"];
    let Some(content) = content.as_object_mut() else { return };
    content.retain(|kind, _| body.types.iter().any(|described| described.kind == kind));
    let mut named = Vec::new();
    for DescribedType { kind, name } in body.types {
        if let (Some(name), Some(media)) = (name, content.get_mut(*kind)) {
            let mut schema = media["schema"].take();
            // A form without one would have no example, because bytes have none.
            if schema["example"].is_null() {
                schema["example"] = json!({ "html": "<h1>Hello</h1>" });
            }
            named.push((*name, schema));
            media["schema"] = json!({ "$ref": format!("{REFERENCE}{name}") });
        }
    }
    for (name, schema) in named {
        document["components"]["schemas"][name] = schema;
    }
}

/// Generated clients take the success with the lowest status for the only one. Where a call usually returns
/// 201, its 200 is described as the range, which comes last.
fn put_usual_response_first(responses: &mut Value) {
    let Some(responses) = responses.as_object_mut().filter(|responses| responses.contains_key("201")) else {
        return;
    };
    if let Some(other) = responses.remove("200") {
        responses.insert("2XX".to_owned(), other);
    }
}

fn drop_unused_schemas(document: &mut Value) {
    let text = document.to_string();
    let used: HashSet<_> = text.split(REFERENCE).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| used.contains(name.as_str()));
    }
}

fn add_info(document: &mut Value) {
    let contact = document["servers"][0]["url"].clone();
    document["info"]["contact"] = json!({ "name": "Handbill", "url": contact });
    document["info"]["license"] =
        json!({ "name": LICENSE, "url": format!("https://spdx.org/licenses/{LICENSE}.html") });
}

/// Generators make nothing usable of `oneOf: [{required: […]}, …]`. The description says which fields go
/// together.
fn drop_choices_of_fields(fields: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let is_of_fields = |part: &Value| {
            part.as_object().is_some_and(|part| part.len() == 1 && part.contains_key("required"))
        };
        let parts = fields.get(keyword).and_then(Value::as_array);
        if parts.is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_of_fields)) {
            fields.remove(keyword);
        }
    }
}

/// A generated check of the length of a text does not compile for a stream of bytes.
fn drop_length_of_bytes(fields: &mut Map<String, Value>) {
    if fields.get("format").is_some_and(|format| format == "binary") {
        fields.remove("minLength");
    }
}

/// A reference with a description of its own: `allOf` with only the reference, and the description beside it.
/// If it may be null, the values of an enum are repeated, because `nullable` needs a `type`.
fn simplify_reference(fields: &mut Map<String, Value>, components: &Value) {
    let is_null = fields.get("nullable").is_some_and(|nullable| *nullable == true);
    let part = fields.get("allOf").and_then(|parts| parts.get(0)).and_then(|part| part.get("$ref"));
    let Some(Value::String(reference)) = fields.get("$ref").or(part).cloned() else { return };
    if fields.contains_key("$ref") && !is_null {
        return;
    }
    fields.remove("$ref");
    let named = &components[reference.trim_start_matches(REFERENCE)];
    if is_null && named.get("enum").is_some() {
        fields.remove("allOf");
        for keyword in ["type", "enum"] {
            fields.insert(keyword.to_owned(), named[keyword].clone());
        }
        if let Some(description) = named.get("description") {
            fields.entry("description").or_insert(description.clone());
        }
        return;
    }
    fields.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
    if is_null {
        fields.insert("type".to_owned(), named["type"].clone());
    }
}

/// `nullable` beside a choice of schemas belongs to one that has a type.
fn type_nullable_choice(fields: &mut Map<String, Value>) {
    if fields.contains_key("type") || fields.get("nullable").is_none_or(|nullable| *nullable != true) {
        return;
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Object(first)) = fields.get_mut(keyword).and_then(|parts| parts.get_mut(0)) {
            first.insert("nullable".to_owned(), true.into());
            fields.remove("nullable");
            return;
        }
    }
}

/// Changes each object of the document, the inner ones first.
pub fn for_each_object(value: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            // Examples are data, and may look like a schema.
            for (_, part) in fields.iter_mut().filter(|(name, _)| *name != "example") {
                for_each_object(part, change);
            }
            change(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_object(item, change)),
        _ => {}
    }
}
