//! The JSON forms of money and time. No other type may define its own.

use std::borrow::Cow;

use domain::{Micro, Time};
use poem_openapi::NewType;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use poem_openapi::types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// US dollars with at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, NewType)]
pub struct Usd(f64);

/// A requested amount in US dollars, between two bounds in whole dollars and in steps of micro-dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount<const USD_MIN: i64, const USD_MAX: i64, const STEP_MICRO: i64 = 1>(pub Micro);

/// A time as RFC 3339 in UTC, ending in `Z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timestamp(String);

impl<const USD_MIN: i64, const USD_MAX: i64, const STEP_MICRO: i64> Amount<USD_MIN, USD_MAX, STEP_MICRO> {
    fn read(number: f64) -> Option<Self> {
        Self::new(Micro::from_usd(number)?)
    }

    pub fn new(amount: Micro) -> Option<Self> {
        let bounds = Micro::new(USD_MIN * 1_000_000)..=Micro::new(USD_MAX * 1_000_000);
        (bounds.contains(&amount) && amount.get() % STEP_MICRO == 0).then_some(Self(amount))
    }

    fn fault() -> String {
        format!("must be from {USD_MIN} to {USD_MAX}, in steps of {}", Micro::new(STEP_MICRO))
    }
}

impl<const USD_MIN: i64, const USD_MAX: i64, const STEP_MICRO: i64> Type
    for Amount<USD_MIN, USD_MAX, STEP_MICRO>
{
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    // Error messages start with this name, so it is the field's.
    fn name() -> Cow<'static, str> {
        "amount_usd".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            minimum: Some(USD_MIN as f64),
            maximum: Some(USD_MAX as f64),
            multiple_of: Some(Micro::new(STEP_MICRO).usd()),
            ..MetaSchema::new_with_format("number", "double")
        }))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl<const USD_MIN: i64, const USD_MAX: i64, const STEP_MICRO: i64> ParseFromJSON
    for Amount<USD_MIN, USD_MAX, STEP_MICRO>
{
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let amount = value.as_ref().and_then(Value::as_f64).and_then(Self::read);
        amount.ok_or_else(|| ParseError::custom(format!("{}: {}", Self::name(), Self::fault())))
    }
}

impl<'de, const USD_MIN: i64, const USD_MAX: i64, const STEP_MICRO: i64> Deserialize<'de>
    for Amount<USD_MIN, USD_MAX, STEP_MICRO>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Serde's own message would name a Rust type.
        let amount = Value::deserialize(deserializer)?.as_f64().and_then(Self::read);
        amount.ok_or_else(|| D::Error::custom(Self::fault()))
    }
}

impl<const USD_MIN: i64, const USD_MAX: i64, const STEP_MICRO: i64> ToJSON
    for Amount<USD_MIN, USD_MAX, STEP_MICRO>
{
    fn to_json(&self) -> Option<Value> {
        Usd::from(self.0).to_json()
    }
}

impl Type for Timestamp {
    const IS_REQUIRED: bool = true;

    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "timestamp".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "date-time")))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl ParseFromJSON for Timestamp {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        match value.unwrap_or_default() {
            Value::String(text) => Ok(Self(text)),
            other => Err(ParseError::expected_type(other)),
        }
    }
}

impl ToJSON for Timestamp {
    fn to_json(&self) -> Option<Value> {
        Some(Value::String(self.0.clone()))
    }
}

impl From<Micro> for Usd {
    fn from(amount: Micro) -> Self {
        Self(amount.usd())
    }
}

impl From<Time> for Timestamp {
    fn from(moment: Time) -> Self {
        Self(moment.rfc3339())
    }
}

#[cfg(test)]
mod tests {
    use poem_openapi::types::ToJSON;

    use super::*;

    #[test]
    fn money_is_serialized_without_floating_point_artefacts() {
        for (micro, text) in [
            (5_000, "0.005"),
            (15_000, "0.015"),
            (-20_000, "-0.02"),
            (1, "1e-6"),
            (99_999_999_999, "99999.999999"),
        ] {
            let json = Usd::from(Micro::new(micro)).to_json_string();
            assert_eq!(json.parse::<f64>(), text.parse::<f64>(), "{json}");
            assert!(json.len() <= text.len() + 1, "{json}");
        }
    }

    #[test]
    fn amount_is_a_number_in_range_of_whole_micro_dollars() {
        let read = |json: &str| {
            let amount = Amount::<1, 100>::parse_from_json(Some(serde_json::from_str(json).unwrap()));
            amount.map(|amount| amount.0.get()).map_err(|error| error.message().to_owned())
        };
        for (json, micro) in
            [("1", 1_000_000), ("100.0", 100_000_000), ("1.1", 1_100_000), ("99.999999", 99_999_999)]
        {
            assert_eq!(read(json), Ok(micro), "{json}");
        }
        for json in
            ["0.999999", "100.000001", "1.0000001", "-5", "0", "1e300", "\"5\"", "null", "true", "[5]"]
        {
            assert!(read(json).unwrap_err().contains("amount_usd"), "{json}");
        }
        assert!(Amount::<1, 100>::parse_from_json(None).is_err());
        let cents = |json: &str| Amount::<5, 500, 10_000>::parse_from_json(serde_json::from_str(json).ok());
        assert!(cents("5.01").is_ok() && cents("499.99").is_ok() && cents("5.001").is_err());
    }

    #[test]
    fn a_moment_is_written_in_utc() {
        assert_eq!(Timestamp::from(Time::from_millis(0)).to_json_string(), r#""1970-01-01T00:00:00Z""#);
    }
}
