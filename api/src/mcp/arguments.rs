//! The arguments of a tool: read into its own type, with a fault that is told by the argument's name. What a tool says
//! of its arguments, as a JSON Schema, is made here too, so that all tools say it alike.

use domain::{Refusal, SitePath, Slug};
use rmcp::model::JsonObject;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// A fault may quote what the client sent; this much of it is told.
const FAULT_LENGTH_MAX: usize = 300;

/// Reads the arguments of a call. Left out, they are none.
pub fn read<A: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<A, Refusal> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let fault = error.into_inner();
        // What concerns the arguments as a whole names the argument itself.
        let fault = if path == "." { fault.to_string() } else { format!("{path}: {fault}") };
        Refusal::InvalidBody { fault: fault.chars().take(FAULT_LENGTH_MAX).collect() }
    })
}

/// A slug among the arguments, with the fault that REST tells of one.
pub struct GivenSlug(pub Slug);

impl<'de> Deserialize<'de> for GivenSlug {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let slug = String::deserialize(deserializer)?.parse();
        slug.map(Self).map_err(|_| D::Error::custom(format!("must match {}", Slug::PATTERN)))
    }
}

/// The path of a file to publish. A malformed one is refused as in REST.
pub fn new_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SitePath, D::Error> {
    SitePath::of_upload(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A number of things. Models write `1.0` for it too, which to JSON Schema is an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(pub u32);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number);
        let number = given.as_f64().filter(is_whole);
        // It was found to fit.
        number
            .map(|number| Self(number as u32))
            .ok_or_else(|| D::Error::custom("must be a whole number, such as 1"))
    }
}

/// The schema of an object with these properties, of which some must be there and beside which nothing may be.
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

/// The schema of a tool that takes nothing.
pub fn none() -> Value {
    object(Value::Object(Map::new()), &[])
}

/// The schema of a slug that names an artifact which is there.
pub fn slug() -> Value {
    json!({
        "type": "string",
        "pattern": Slug::PATTERN,
        "description": "The artifact's name on your account, such as \"my-page\". list_artifacts shows the slugs.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_fraction_is_whole_however_it_is_written() {
        let read = |text: &str| serde_json::from_str::<Whole>(text);
        for (text, number) in [("1", 1), ("1.0", 1), ("3e1", 30), ("-0.0", 0), ("4294967295", u32::MAX)] {
            assert_eq!(read(text).unwrap(), Whole(number), "{text}");
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
        count: Whole,
    }

    fn fault(arguments: Value) -> String {
        match read::<Order>(arguments.as_object().cloned()) {
            Err(Refusal::InvalidBody { fault }) => fault,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("taken: {arguments}"),
        }
    }

    #[test]
    fn a_fault_names_the_argument_however_deep_it_is() {
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
