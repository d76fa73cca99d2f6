//! Schemas as text: the name, type and bounds of a field, and whether it is required.

use serde_json::Value;

use super::{anchor, line};

/// A larger maximum is only the one of the integer type.
const UNBOUNDED: f64 = u32::MAX as f64;

/// A field of an object, or a parameter.
#[derive(PartialEq)]
pub struct Field {
    pub name: String,
    /// Such as `optional, integer, 1 to 100`.
    pub kind: String,
    pub text: String,
}

/// Whether the object is in a request or a response. Optional request fields may be omitted; optional
/// response fields are null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Request,
    Response,
}

/// The named schemas of the document.
#[derive(Clone, Copy)]
pub struct Schemas<'a>(&'a Value);

impl<'a> Schemas<'a> {
    pub fn of(document: &'a Value) -> Self {
        Self(&document["components"]["schemas"])
    }

    /// The schema, with a reference resolved.
    pub fn resolved(self, schema: &'a Value) -> &'a Value {
        self.named(schema).map_or(schema, |(_, named)| named)
    }

    pub fn fields(self, schema: &Value, side: Side) -> Vec<Field> {
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        let properties = schema["properties"].as_object().into_iter().flatten();
        let field = |(name, property): (&String, &Value)| Field {
            name: name.clone(),
            kind: self.field_kind(property, side, is_required(name)),
            text: line(&property["description"]),
        };
        properties.map(field).collect()
    }

    /// Such as `integer, 1 to 100`, or a link to a shape.
    pub fn kind(self, schema: &Value) -> String {
        if let Some((name, named)) = self.named(schema) {
            return choices(named).unwrap_or_else(|| link(&name));
        }
        if let Some(choices) = choices(schema) {
            return choices;
        }
        if let Some(alternatives) = schema["oneOf"].as_array() {
            return alternatives.iter().map(|one| self.kind(one)).collect::<Vec<_>>().join(" or ");
        }
        let mut parts = vec![self.type_of(schema)];
        parts.extend(range(schema, "minimum", "maximum", ""));
        parts.extend(range(schema, "minLength", "maxLength", " characters"));
        parts.extend(range(schema, "minItems", "maxItems", " items"));
        parts.extend(schema["pattern"].as_str().map(|pattern| format!("`{pattern}`")));
        parts.join(", ")
    }

    fn field_kind(self, schema: &Value, side: Side, is_required: bool) -> String {
        let is_nullable = side == Side::Response && schema["nullable"] == true;
        let optional = if is_required || is_nullable { "" } else { "optional, " };
        let null = if is_nullable { " or null" } else { "" };
        format!("{optional}{}{null}", self.kind(schema))
    }

    fn type_of(self, schema: &Value) -> String {
        match (schema["type"].as_str(), schema["format"].as_str()) {
            (Some("array"), _) => format!("list of {}", self.kind(&schema["items"])),
            (Some("string"), Some("binary")) => "file".to_owned(),
            (Some("string"), Some("date-time")) => "timestamp".to_owned(),
            (kind, _) => kind.unwrap_or("any").to_owned(),
        }
    }

    // A reference with its own description is inside an `allOf`.
    fn named(self, schema: &Value) -> Option<(String, &'a Value)> {
        let reference = schema["$ref"].as_str().or_else(|| schema["allOf"][0]["$ref"].as_str())?;
        let name = reference.rsplit('/').next()?;
        Some((name.to_owned(), self.0.get(name)?))
    }
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", anchor(&format!("Shape {name}")))
}

fn choices(schema: &Value) -> Option<String> {
    let values = schema["enum"].as_array()?.iter().filter_map(Value::as_str);
    Some(values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or "))
}

fn range(schema: &Value, least: &str, most: &str, unit: &str) -> Option<String> {
    let least = schema[least].as_f64().filter(|least| *least > 0.0);
    let most = schema[most].as_f64().filter(|most| *most < UNBOUNDED);
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
        // For texts and lists.
        (Some(1.0), None) if !unit.is_empty() => Some("not empty".to_owned()),
        (Some(least), None) => Some(format!("at least {least}{unit}")),
        (None, Some(most)) => Some(format!("at most {most}{unit}")),
        (None, None) => None,
    }
}
