//! JSON request bodies. They are validated with the schema in the OpenAPI document, so that the two cannot
//! differ. A fault names the field, which poem-openapi's own messages leave out.

use std::any::TypeId;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use domain::Refusal;
use poem::{FromRequest, Request, RequestBody};
use poem_openapi::error::ContentTypeError;
use poem_openapi::payload::{Json, Payload};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef, Registry};
use poem_openapi::types::{ParseFromJSON, Type};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::http::catch_all::plain;
use crate::http::refusal::RefusedCall;

/// A fault may quote what the client sent, so a quote is cut to this length.
const QUOTE_LENGTH_MAX: usize = 100;
const FAULT_LENGTH_MAX: usize = 300;

/// A JSON body. Unknown fields are refused. An `Option` body may be omitted.
pub struct JsonBody<T>(pub T);

impl<T> Deref for JsonBody<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ParseFromJSON + 'static> JsonBody<T> {
    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let body = if bytes.is_empty() { None } else { Some(parse(bytes)?) };
        let fault = match &body {
            Some(body) => misfit::<T>(body),
            None => T::IS_REQUIRED.then(|| "it is missing".to_owned()),
        };
        if let Some(fault) = fault {
            return Err(Refusal::InvalidBody { fault });
        }
        let parsed = T::parse_from_json(body);
        parsed.map(Self).map_err(|error| Refusal::InvalidBody { fault: plain(error.message()) })
    }
}

/// Parses a body. A fault names the field where it is.
pub fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Refusal> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let fault = error.into_inner();
        let is_json = fault.is_data();
        let fault = match path.as_str() {
            _ if fault.is_eof() => {
                format!("it ends too early, at line {} column {}", fault.line(), fault.column())
            }
            // The fault is not inside a named field.
            "." | "?" => fault.to_string(),
            path => format!("{}: {fault}", quoted(path)),
        };
        if is_json { cut(&fault) } else { not_json(&fault) }
    });
    let ended = |body| deserializer.end().map(|()| body).map_err(|fault| not_json(&fault.to_string()));
    parsed.and_then(ended).map_err(|fault| Refusal::InvalidBody { fault })
}

fn not_json(fault: &str) -> String {
    format!("it is not valid JSON: {fault}")
}

/// The first mismatch between a body and the schema of `T`, beginning with the field's name. poem-openapi
/// checks the rest, such as the length of a string, and names the field itself.
fn misfit<T: Type + 'static>(body: &Value) -> Option<String> {
    let schemas = Schemas::of::<T>();
    let schema = schemas.resolve(T::schema_ref());
    match body {
        Value::Object(fields) => schemas.misfit(fields, &schema),
        other => Some(format!("it must be an object, not {}", kind_of(other))),
    }
}

/// The schemas of a body's type.
struct Schemas(Registry);

impl Schemas {
    /// Built for the first body of each type and kept. Their number is the number of body types.
    fn of<T: Type + 'static>() -> Arc<Self> {
        static BUILT: LazyLock<Mutex<HashMap<TypeId, Arc<Schemas>>>> = LazyLock::new(Mutex::default);
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        let build = || {
            let mut registry = Registry::new();
            T::register(&mut registry);
            Arc::new(Schemas(registry))
        };
        built.entry(TypeId::of::<T>()).or_insert_with(build).clone()
    }

    fn resolve(&self, schema: MetaSchemaRef) -> MetaSchema {
        match schema {
            MetaSchemaRef::Inline(schema) => match schema.all_of.first() {
                // A reference with a description of its own.
                Some(described) => self.resolve(described.clone()),
                None => *schema,
            },
            MetaSchemaRef::Reference(name) => self.0.schemas.get(&name).cloned().unwrap_or(MetaSchema::ANY),
        }
    }

    fn misfit(&self, fields: &Map<String, Value>, schema: &MetaSchema) -> Option<String> {
        let known = |name: &str| schema.properties.iter().find(|(property, _)| *property == name);
        if let Some(unknown) = fields.keys().find(|name| known(name).is_none()) {
            let names: Vec<_> = schema.properties.iter().map(|(name, _)| *name).collect();
            return Some(format!(
                "{}: is not a field of this body; the fields are {}",
                quoted(unknown),
                names.join(", ")
            ));
        }
        schema.properties.iter().find_map(|(name, property)| {
            let fault = match fields.get(*name) {
                None | Some(Value::Null) if !schema.required.contains(name) => return None,
                None => "is missing".to_owned(),
                Some(value) => misfit_of(value, &self.resolve(property.clone()))?,
            };
            Some(format!("{name}: {fault}"))
        })
    }
}

fn misfit_of(value: &Value, schema: &MetaSchema) -> Option<String> {
    let (is_fit, wanted) = match schema.ty {
        "string" => (value.is_string(), "a string"),
        "boolean" => (value.is_boolean(), "true or false"),
        "number" => (value.is_number(), "a number"),
        "integer" => (value.is_i64() || value.is_u64(), "an integer"),
        "array" => (value.is_array(), "an array"),
        "object" => (value.is_object(), "an object"),
        _ => return None,
    };
    if !is_fit {
        return Some(format!("must be {wanted}, not {}", kind_of(value)));
    }
    if let Some(fault) = value.as_f64().and_then(|number| out_of_range(number, schema)) {
        return Some(fault);
    }
    let is_listed = schema.enum_items.is_empty() || schema.enum_items.contains(value);
    (!is_listed).then(|| {
        let choices: Vec<_> = schema.enum_items.iter().filter_map(Value::as_str).collect();
        format!("must be one of {}", choices.join(", "))
    })
}

fn out_of_range(number: f64, schema: &MetaSchema) -> Option<String> {
    // The range of the integer type, for a schema without bounds of its own.
    let (least, most) = match schema.format {
        Some("uint32") => (0.0, f64::from(u32::MAX)),
        Some("uint64") => (0.0, f64::MAX),
        _ => (f64::MIN, f64::MAX),
    };
    let (least, most) = (schema.minimum.unwrap_or(least), schema.maximum.unwrap_or(most));
    match number {
        small if small < least => Some(format!("must be at least {least}")),
        large if large > most => Some(format!("must be at most {most}")),
        _ => None,
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => format!("the number {}", quoted(&number.to_string())),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A fault of serde can quote a whole value.
fn cut(fault: &str) -> String {
    fault.chars().take(FAULT_LENGTH_MAX).collect()
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTE_LENGTH_MAX).collect()
}

impl<T: Type> Payload for JsonBody<T> {
    const CONTENT_TYPE: &'static str = "application/json";

    fn check_content_type(content_type: &str) -> bool {
        Json::<T>::check_content_type(content_type)
    }

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<'a, T: ParseFromJSON + 'static> ApiExtractor<'a> for JsonBody<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: None,
            content: vec![MetaMediaType { content_type: Self::CONTENT_TYPE, schema: T::schema_ref() }],
            required: T::IS_REQUIRED,
        })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let bytes = <Vec<u8> as FromRequest>::from_request(request, body).await?;
        match request.content_type() {
            Some(content_type) if Self::check_content_type(content_type) => {}
            Some(content_type) => {
                return Err(ContentTypeError::NotSupported { content_type: content_type.to_owned() }.into());
            }
            // An empty body has no content type to check.
            None if !T::IS_REQUIRED && bytes.is_empty() => {}
            None => return Err(ContentTypeError::ExpectContentType.into()),
        }
        Ok(Self::read(&bytes).map_err(RefusedCall::from)?)
    }
}

#[cfg(test)]
mod tests {
    use poem_openapi::{Enum, Object};

    use super::*;

    #[derive(Debug, PartialEq, Enum)]
    #[oai(rename_all = "lowercase")]
    enum Colour {
        Red,
        Blue,
    }

    #[derive(Debug, Object)]
    struct Order {
        #[oai(validator(minimum(value = "1"), maximum(value = "9")))]
        count: u32,
        /// A description of its own.
        colour: Option<Colour>,
        price: Option<f64>,
        #[oai(validator(max_length = 3))]
        name: Option<String>,
        gift: Option<bool>,
        left: Option<u32>,
    }

    fn fault(body: &[u8]) -> String {
        match JsonBody::<Order>::read(body) {
            Err(Refusal::InvalidBody { fault }) => fault,
            Err(other) => panic!("another refusal: {other}"),
            Ok(order) => panic!("taken as {:?}", order.0),
        }
    }

    #[test]
    fn valid_json_is_read_and_null_equals_an_absent_field() {
        let order = JsonBody::<Order>::read(br#"{"count": 2, "colour": "blue", "name": null}"#).unwrap();
        assert_eq!((order.count, order.colour.as_ref()), (2, Some(&Colour::Blue)));
        assert!(JsonBody::<Option<Order>>::read(b"").unwrap().is_none());
        assert!(JsonBody::<Option<Order>>::read(b"null").is_err());
    }

    #[test]
    fn every_json_error_names_its_field() {
        for (body, expected) in [
            (r#"{}"#, "count: is missing"),
            (r#"{"count": null}"#, "count: must be an integer, not null"),
            (r#"{"count": "1"}"#, "count: must be an integer, not a string"),
            (r#"{"count": 1.5}"#, "count: must be an integer, not the number 1.5"),
            (r#"{"count": 99999999999999999999}"#, "count: must be an integer, not the number 1e+20"),
            (r#"{"count": 1, "colour": "green"}"#, "colour: must be one of red, blue"),
            (r#"{"count": 1, "price": "1"}"#, "price: must be a number, not a string"),
            (r#"{"count": 1, "gift": 1}"#, "gift: must be true or false, not the number 1"),
            (r#"{"count": 1, "name": ["a"]}"#, "name: must be a string, not an array"),
            (
                r#"{"count": 1, "size": 1}"#,
                "size: is not a field of this body; the fields are count, colour, price, name, gift, left",
            ),
            ("[]", "it must be an object, not an array"),
            ("null", "it must be an object, not null"),
            ("", "it is missing"),
        ] {
            assert_eq!(fault(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(fault(br#"{"count": 0}"#), "count: must be at least 1");
        assert_eq!(fault(br#"{"count": 4294967296}"#), "count: must be at most 9");
        assert_eq!(fault(br#"{"count": 1, "left": -1}"#), "left: must be at least 0");
        assert_eq!(fault(br#"{"count": 1, "left": 4294967296}"#), "left: must be at most 4294967295");
        assert!(fault(br#"{"count": 1, "name": "too long"}"#).contains("`name`"));
    }

    #[test]
    fn invalid_json_is_reported_with_its_position() {
        for (body, place) in [
            (&b"{"[..], "it is not valid JSON: it ends too early, at line 1 column 1"),
            (br#"{"count": "#, "it is not valid JSON: it ends too early, at line 1 column 10"),
            (b"nothing", "it is not valid JSON: expected ident at line 1 column 2"),
            (br#"{"count": NaN}"#, "count: "),
            (br#"{"count": 1, "price": 1e999}"#, "price: "),
            (b"{\"count\": 1, \"name\": \"\xff\"}", "name: "),
            (br#"{"count": 1} {}"#, "trailing"),
        ] {
            let fault = fault(body);
            assert!(fault.starts_with("it is not valid JSON: ") && fault.contains(place), "{fault}");
        }
    }

    #[test]
    fn json_error_messages_quote_little_of_the_input() {
        let long = format!(r#"{{"{}": 1}}"#, "ü".repeat(10_000));
        assert!(fault(long.as_bytes()).chars().count() < 300);
    }
}
