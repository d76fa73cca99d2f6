//! Request headers that are parsed into types of their own and documented with them.

use domain::{Payment, Refusal};
use poem::http::HeaderValue;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};

use crate::http::dev_mode::DevPayment;
use crate::http::refusal::RefusedCall;
use crate::http::service_of::service_of;

/// A type that a header's value is read into.
pub trait CallHeader: Sized + Send {
    /// Whether the OpenAPI document marks the header as required.
    const IS_REQUIRED: bool = false;

    /// `value` is `None` when the header is missing.
    fn read(value: Option<&HeaderValue>, request: &Request) -> Result<Self, RefusedCall>;

    fn schema() -> MetaSchema;
}

/// A header; the argument's `#[oai(name = "…")]` names it.
pub struct Header<T>(pub T);

/// `X-PAYMENT`: the payment that the caller offers for this call, if any.
pub struct PaymentOffer {
    offered: Option<Payment>,
    dev: DevPayment,
}

/// `Idempotency-Key`: the same key with the same request returns the same response for 24 hours.
pub struct IdempotencyKey(pub Option<String>);

impl CallHeader for PaymentOffer {
    fn read(value: Option<&HeaderValue>, request: &Request) -> Result<Self, RefusedCall> {
        let dev = DevPayment::of(request, service_of(request)?);
        Ok(Self { offered: value.map(payment), dev })
    }

    fn schema() -> MetaSchema {
        MetaSchema { example: Some("dev:0.005".into()), ..MetaSchema::new("string") }
    }
}

impl PaymentOffer {
    /// The payment that may settle the call.
    pub fn settling(&self) -> Option<Payment> {
        self.dev.settling(self.offered.as_ref())
    }

    /// Adapts a refusal to this request.
    pub fn explain(&self, refused: impl Into<RefusedCall>) -> RefusedCall {
        let RefusedCall(refusal) = refused.into();
        self.dev.explain(*refusal, self.offered.as_ref()).into()
    }
}

// An unreadable payment is kept as such, because a call that costs nothing ignores it.
fn payment(value: &HeaderValue) -> Payment {
    value.to_str().map_or(Payment::Unreadable, Payment::parse)
}

impl IdempotencyKey {
    const LENGTH_MAX: usize = 255;

    fn parse(value: Option<&HeaderValue>) -> Result<Self, Refusal> {
        let Some(value) = value else { return Ok(Self(None)) };
        let is_fit = (1..=Self::LENGTH_MAX).contains(&value.len())
            && value.as_bytes().iter().all(u8::is_ascii_graphic);
        match value.to_str() {
            Ok(key) if is_fit => Ok(Self(Some(key.to_owned()))),
            _ => Err(Refusal::invalid(
                "Idempotency-Key",
                format!("must be 1 to {} visible ASCII characters", Self::LENGTH_MAX),
            )),
        }
    }
}

impl CallHeader for IdempotencyKey {
    fn read(value: Option<&HeaderValue>, _request: &Request) -> Result<Self, RefusedCall> {
        Ok(Self::parse(value)?)
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LENGTH_MAX),
            pattern: Some("^[!-~]+$".to_owned()),
            example: Some("publish-2026-01-31-a".into()),
            ..MetaSchema::new("string")
        }
    }
}

impl<'a, T: CallHeader> ApiExtractor<'a> for Header<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;

    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(T::schema())))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let mut values = request.headers().get_all(options.name).iter();
        let value = values.next();
        // Two values are ambiguous, and one of these headers moves money.
        if values.next().is_some() {
            return Err(RefusedCall::from(Refusal::invalid(options.name, "is sent more than once")).into());
        }
        Ok(Self(T::read(value, request)?))
    }
}

#[cfg(test)]
mod tests {
    use domain::Micro;

    use super::*;

    fn key(value: &[u8]) -> Result<Option<String>, Refusal> {
        let value = HeaderValue::from_bytes(value).unwrap();
        IdempotencyKey::parse(Some(&value)).map(|key| key.0)
    }

    #[test]
    fn an_idempotency_key_is_up_to_255_visible_ascii_characters() {
        assert_eq!(key(b"a-1").unwrap().as_deref(), Some("a-1"));
        assert!(key(&[b'k'; 255]).is_ok());
        assert!(IdempotencyKey::parse(None).unwrap().0.is_none());
        for bad in [&b""[..], b"with space", &[b'k'; 256], "ключ".as_bytes()] {
            let refusal = key(bad).unwrap_err();
            assert!(refusal.message().starts_with("Idempotency-Key: "), "{refusal}");
        }
    }

    #[test]
    fn a_payment_is_read_or_known_to_be_unreadable() {
        let offered = |bytes: &[u8]| payment(&HeaderValue::from_bytes(bytes).unwrap());
        assert_eq!(offered(b"dev:0.005"), Payment::Dev(Micro::new(5_000)));
        assert_eq!(offered("dev:½".as_bytes()), Payment::Unreadable);
    }
}
