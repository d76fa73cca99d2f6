//! Text fields whose format is in the schema but is checked by the service, because each fault has its own
//! error code.

/// Declares text types with the keywords of their schemas:
/// `typed_texts! { TypedCode: min_length: Some(1); }`.
macro_rules! typed_texts {
    ($($name:ident: $($field:ident: $value:expr),+;)+) => {$(
        pub struct $name(pub String);

        impl ::poem_openapi::types::Type for $name {
            const IS_REQUIRED: bool = true;

            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> ::std::borrow::Cow<'static, str> {
                "string".into()
            }

            fn schema_ref() -> ::poem_openapi::registry::MetaSchemaRef {
                let schema = ::poem_openapi::registry::MetaSchema {
                    $($field: $value,)+
                    ..::poem_openapi::registry::MetaSchema::new("string")
                };
                ::poem_openapi::registry::MetaSchemaRef::Inline(Box::new(schema))
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
                Box::new(std::iter::once(self))
            }
        }

        impl ::poem_openapi::types::ParseFromJSON for $name {
            fn parse_from_json(
                value: Option<::serde_json::Value>,
            ) -> ::poem_openapi::types::ParseResult<Self> {
                match value.unwrap_or_default() {
                    ::serde_json::Value::String(text) => Ok(Self(text)),
                    other => Err(::poem_openapi::types::ParseError::expected_type(other)),
                }
            }
        }

        impl ::poem_openapi::types::ToJSON for $name {
            fn to_json(&self) -> Option<::serde_json::Value> {
                Some(::serde_json::Value::String(self.0.clone()))
            }
        }
    )+};
}
pub(super) use typed_texts;
