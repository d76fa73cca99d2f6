//! JSON Schema 2020-12 from the schemas of OpenAPI 3.0, for the tools of MCP and for OpenAPI 3.1.

use poem_openapi::registry::Registry;
use poem_openapi::types::Type;
use serde_json::{Map, Value, json};

const REFERENCE: &str = "#/components/schemas/";
/// The formats that JSON Schema defines. Validators warn about any other.
const FORMATS: [&str; 2] = ["date-time", "uri"];

/// The schema of a type, on its own: without references, and in the terms of JSON Schema.
pub fn of<T: Type>() -> Value {
    let mut registry = Registry::new();
    T::register(&mut registry);
    let named = serde_json::to_value(&registry.schemas).unwrap_or_default();
    let mut schema = inlined(serde_json::to_value(T::schema_ref()).unwrap_or_default(), &named);
    modernize(&mut schema);
    drop_other_formats(&mut schema);
    schema
}

/// Changes the keywords of OpenAPI 3.0 to those of JSON Schema 2020-12, in a schema and all schemas in it.
pub fn modernize(schema: &mut Value) {
    for_each_part(schema, &mut modernize);
    let Value::Object(fields) = schema else { return };
    if let Some(example) = fields.remove("example") {
        fields.insert("examples".to_owned(), json!([example]));
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(Value::Bool(is_exclusive)) = fields.get(exclusive).cloned() {
            fields.remove(exclusive);
            if let Some(limit) = fields.remove(bound) {
                let keyword = if is_exclusive { exclusive } else { bound };
                fields.insert(keyword.to_owned(), limit);
            }
        }
    }
    if fields.get("format").is_some_and(|format| format == "binary") {
        fields.insert("contentMediaType".to_owned(), "application/octet-stream".into());
    }
    if fields.remove("nullable") == Some(Value::Bool(true)) {
        accept_null(fields);
    }
}

fn accept_null(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(choices)) = fields.get_mut("enum") {
        choices.push(Value::Null);
    }
    if let Some(kind) = fields.remove("type") {
        fields.insert("type".to_owned(), json!([kind, "null"]));
        return;
    }
    let described = fields.remove("description");
    let whole = std::mem::take(fields);
    fields.insert("anyOf".to_owned(), json!([whole, { "type": "null" }]));
    if let Some(described) = described {
        fields.insert("description".to_owned(), described);
    }
}

/// The schema with every reference replaced by what it names. No type of ours contains itself.
fn inlined(schema: Value, named: &Value) -> Value {
    match schema {
        Value::Object(fields) => inlined_object(fields, named),
        Value::Array(items) => items.into_iter().map(|item| inlined(item, named)).collect(),
        other => other,
    }
}

fn inlined_object(mut fields: Map<String, Value>, named: &Value) -> Value {
    let mut merged = Map::new();
    let reference = fields.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix(REFERENCE));
    if let Some(Value::Object(referenced)) = reference.map(|name| inlined(named[name].clone(), named)) {
        merged = referenced;
        fields.remove("$ref");
    }
    // A reference with a description of its own is inside an `allOf`.
    if let Some(Value::Array(parts)) = fields.remove("allOf") {
        for part in parts {
            if let Value::Object(part) = inlined(part, named) {
                merged.extend(part);
            }
        }
    }
    merged.extend(fields.into_iter().map(|(name, value)| (name, inlined(value, named))));
    Value::Object(merged)
}

fn drop_other_formats(schema: &mut Value) {
    for_each_part(schema, &mut drop_other_formats);
    let Value::Object(fields) = schema else { return };
    let is_other = |format: &Value| !FORMATS.iter().any(|known| format == known);
    if fields.get("format").is_some_and(is_other) {
        fields.remove("format");
    }
}

/// The schemas directly within a schema. The names of properties must not be taken for keywords.
fn for_each_part(schema: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    let Value::Object(fields) = schema else { return };
    for (keyword, value) in fields {
        match keyword.as_str() {
            "properties" => value.as_object_mut().into_iter().flatten().for_each(|(_, part)| change(part)),
            "items" | "additionalProperties" | "not" => change(value),
            "allOf" | "anyOf" | "oneOf" => value.as_array_mut().into_iter().flatten().for_each(&mut *change),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use poem_openapi::{Enum, Object};

    use super::*;

    #[derive(Enum)]
    #[oai(rename_all = "lowercase")]
    enum Color {
        Red,
        Blue,
    }

    #[derive(Object)]
    struct Box {
        /// The outside.
        #[oai(nullable)]
        outside: Option<Color>,
        count: u32,
        within: Vec<Part>,
    }

    #[derive(Object)]
    struct Part {
        #[oai(nullable)]
        nullable: Option<String>,
    }

    #[test]
    fn a_type_has_a_schema_without_references_and_without_keywords_of_openapi() {
        let schema = of::<Box>();
        let outside = &schema["properties"]["outside"];
        assert_eq!(outside["type"], json!(["string", "null"]), "{schema}");
        assert_eq!(outside["enum"], json!(["red", "blue", null]));
        assert_eq!(outside["description"], "The outside.");
        assert_eq!(schema["properties"]["count"]["format"], Value::Null);
        let part = &schema["properties"]["within"]["items"]["properties"]["nullable"];
        assert_eq!(part["type"], json!(["string", "null"]), "a property may be named as a keyword is");
        let text = schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("allOf"), "{text}");
    }

    #[test]
    fn keywords_of_openapi_become_those_of_json_schema() {
        for (old, new) in [
            (json!({ "type": "string", "example": "a" }), json!({ "type": "string", "examples": ["a"] })),
            (
                json!({ "$ref": "#/x", "nullable": true, "description": "b" }),
                json!({ "anyOf": [{ "$ref": "#/x" }, { "type": "null" }], "description": "b" }),
            ),
            (
                json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": true, "nullable": false }),
                json!({ "type": "integer", "exclusiveMinimum": 0 }),
            ),
        ] {
            let mut schema = old;
            modernize(&mut schema);
            assert_eq!(schema, new);
        }
    }
}
