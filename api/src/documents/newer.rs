//! The OpenAPI document in version 3.1, whose schemas are JSON Schema. It is made from the document in 3.0.

use serde_json::{Map, Value};

use super::portable::for_each_object;
use crate::http::json_schema::modernize;

const VERSION: &str = "3.1.0";

pub fn in_3_1(document: &str) -> String {
    let Ok(mut document) = serde_json::from_str::<Value>(document) else { return document.to_owned() };
    document["openapi"] = VERSION.into();
    let license = &mut document["info"]["license"];
    if let Some(license) = license.as_object_mut() {
        let name = license["name"].clone();
        license.remove("url");
        license.insert("identifier".to_owned(), name);
    }
    let components = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    components.for_each(|(_, schema)| change(schema));
    change_schemas_in(&mut document["paths"]);
    document.to_string()
}

/// The schemas of parameters, headers and bodies are the values of `schema`.
fn change_schemas_in(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, part) in fields.iter_mut().filter(|(name, _)| *name != "example") {
                if name == "schema" { change(part) } else { change_schemas_in(part) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(change_schemas_in),
        _ => {}
    }
}

fn change(schema: &mut Value) {
    for_each_object(schema, &mut unwrap_reference);
    modernize(schema);
}

/// In 3.1 a description may stand beside a reference, which needs no `allOf` then.
fn unwrap_reference(fields: &mut Map<String, Value>) {
    let reference = match fields.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([part]) => part.get("$ref").cloned(),
        _ => None,
    };
    let Some(reference) = reference else { return };
    fields.remove("allOf");
    // It only carries `nullable`, in 3.0.
    fields.remove("type");
    fields.insert("$ref".to_owned(), reference);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_change_and_examples_do_not() {
        let schema =
            json!({ "type": "object", "nullable": true, "allOf": [{ "$ref": "#/x" }], "description": "a" });
        let document = json!({
            "openapi": "3.0.0",
            "components": { "schemas": { "A": { "type": "string", "nullable": true } } },
            "paths": { "/a": { "get": { "parameters": [{ "schema": schema, "example": { "nullable": true } }] } } },
        });
        let newer: Value = serde_json::from_str(&in_3_1(&document.to_string())).unwrap();
        assert_eq!(newer["openapi"], "3.1.0");
        assert_eq!(newer["components"]["schemas"]["A"]["type"], json!(["string", "null"]));
        let parameter = &newer["paths"]["/a"]["get"]["parameters"][0];
        assert_eq!(parameter["example"], json!({ "nullable": true }));
        let expected = json!({ "anyOf": [{ "$ref": "#/x" }, { "type": "null" }], "description": "a" });
        assert_eq!(parameter["schema"], expected);
    }
}
