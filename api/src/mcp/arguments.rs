//! Parses the arguments of a tool and builds their JSON Schemas. A fault names the argument.

use domain::{Message, Refusal, SitePath, Slug};
use rmcp::model::JsonObject;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// A fault can quote the client's input, so it is cut to this length.
const FAULT_LENGTH_MAX: usize = 300;

/// Parses the arguments of a call. Omitted arguments are an empty object.
pub fn read<A: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<A, Refusal> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let fault = error.into_inner();
        // A fault of the whole object already names the argument.
        let fault = if path == "." { fault.to_string() } else { format!("{path}: {fault}") };
        Refusal::InvalidBody { fault: fault.chars().take(FAULT_LENGTH_MAX).collect() }
    })
}

/// A slug argument, with the same fault as in REST.
pub struct GivenSlug(pub Slug);

impl<'de> Deserialize<'de> for GivenSlug {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let slug = String::deserialize(deserializer)?.parse();
        slug.map(Self).map_err(|_| D::Error::custom(format!("must match {}", Slug::PATTERN)))
    }
}

/// Parses the path of a file to publish. A malformed path is refused as in REST.
pub fn new_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SitePath, D::Error> {
    SitePath::of_upload(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Parses the message of a version. An empty message counts as missing, as in REST.
pub fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Message>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

/// A whole number. Models also write `1.0`, which is an integer in JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeNumber(pub u32);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number);
        let number = given.as_f64().filter(is_whole);
        // The filter keeps only numbers that fit.
        number
            .map(|number| Self(number as u32))
            .ok_or_else(|| D::Error::custom("must be a whole number, such as 1"))
    }
}

/// The schema of an object with these properties and no others.
pub fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The schema of a tool without arguments.
pub fn none() -> Value {
    object(Value::Object(Map::new()), &[])
}

/// The schema of an existing artifact's slug.
pub fn slug() -> Value {
    json!({
        "type": "string",
        "pattern": Slug::PATTERN,
        "description": "The artifact's name within your account, such as \"my-page\". list_artifacts lists the slugs.",
    })
}

/// The schema of an optional version to read.
pub fn version() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "description": "The seq of the version to read, from get_artifact. If omitted, the live one.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_numbers_are_accepted_in_any_notation() {
        let read = |text: &str| serde_json::from_str::<WholeNumber>(text);
        for (text, number) in [("1", 1), ("1.0", 1), ("3e1", 30), ("-0.0", 0), ("4294967295", u32::MAX)] {
            assert_eq!(read(text).unwrap(), WholeNumber(number), "{text}");
        }
        for text in ["1.5", "-1", "4294967296", "1e300", "\"1\"", "null", "true", "[1]", "{}"] {
            let fault = read(text).unwrap_err().to_string();
            assert!(fault.starts_with("must be a whole number"), "{text}: {fault}");
        }
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read, not used")]
    struct Order {
        slug: GivenSlug,
        lines: Option<Vec<OrderLine>>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read, not used")]
    struct OrderLine {
        count: WholeNumber,
    }

    fn fault(arguments: Value) -> String {
        match read::<Order>(arguments.as_object().cloned()) {
            Err(Refusal::InvalidBody { fault }) => fault,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("taken: {arguments}"),
        }
    }

    #[test]
    fn error_names_nested_arguments() {
        for (arguments, expected) in [
            (json!({}), "missing field `slug`"),
            (json!({"slug": "my-page", "size": 1}), "size: unknown field `size`, expected `slug` or `lines`"),
            (json!({"slug": "No Slug"}), "slug: must match ^[a-z0-9-]{3,40}$"),
            (json!({"slug": 5}), "slug: invalid type: integer `5`, expected a string"),
            (
                json!({"slug": "my-page", "lines": [{"count": 1}, {"count": -1}]}),
                "lines[1].count: must be a whole number",
            ),
            (json!({"slug": "my-page", "lines": [{}]}), "lines[0]: missing field `count`"),
        ] {
            let fault = fault(arguments);
            assert!(fault.starts_with(expected), "{fault}");
        }
        assert_eq!(fault(json!({ "ü".repeat(5_000): 1 })).chars().count(), FAULT_LENGTH_MAX);
        assert!(read::<Order>(None).is_err());
    }
}
