//! The webhook of the card processor. The signature covers the raw bytes of the body, so they must be passed
//! on unchanged, whatever their content type.

use poem::http::HeaderValue;
use poem::web::Data;
use poem::{FromRequest, Request, RequestBody};
use poem_openapi::payload::Json;
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, OpenApi};
use service::{CardCall, Service};

use super::Tag;
use crate::http::api_result::{ApiResult, refusals};
use crate::http::call_header::{CallHeader, Header};
use crate::http::refusal::RefusedCall;
use crate::wire;

#[derive(Default)]
pub struct Webhook;

refusals! {
    Take: InvalidRequest, InvalidBody, TooLarge, NotConfigured;
}

#[OpenApi(tag = "Tag::Money")]
impl Webhook {
    /// Receive a card processor event
    ///
    /// Only the card processor can call this. A paid checkout is credited to its account once, however often
    /// the event arrives. A refund or a dispute debits the account that the payment credited. Any other event
    /// is acknowledged and ignored. The signature is `t=<unix seconds>,v1=<hex>`, an HMAC-SHA256 of
    /// `<t>.<body>`, and is valid for 5 minutes.
    #[oai(path = "/webhooks/card-processor", method = "post", operation_id = "take_card_event")]
    async fn take(
        &self,
        /// The signature of the card processor.
        #[oai(name = "Card-Processor-Signature")]
        signature: Header<CardSignature>,
        /// The same signature under Stripe's header name. Used if `Card-Processor-Signature` is absent.
        #[oai(name = "Stripe-Signature")]
        stripe_signature: Header<StripeSignature>,
        event: SignedEvent,
        service: Data<&Service>,
    ) -> ApiResult<Json<wire::EventTaken>, Take> {
        let signature = signature.0.0.or(stripe_signature.0.0.0);
        let call = CardCall { signature: signature.as_deref(), body: &event.0 };
        Ok(Json(wire::EventTaken::new(service.take_card_event(call).await?)))
    }
}

/// `Card-Processor-Signature`, unparsed. Its faults are reported only if a secret is configured to verify it
/// with.
struct CardSignature(Option<String>);

impl CallHeader for CardSignature {
    const IS_REQUIRED: bool = true;

    fn read(value: Option<&HeaderValue>, _request: &Request) -> Result<Self, RefusedCall> {
        Ok(Self(value.map(|value| value.to_str().unwrap_or_default().to_owned())))
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some("^t=[0-9]+(,[a-z0-9]+=[^,]*)+$".to_owned()),
            example: Some(
                "t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd".into(),
            ),
            ..MetaSchema::new("string")
        }
    }
}

/// `Stripe-Signature`, which has the same form and is optional.
struct StripeSignature(CardSignature);

impl CallHeader for StripeSignature {
    fn read(value: Option<&HeaderValue>, request: &Request) -> Result<Self, RefusedCall> {
        CardSignature::read(value, request).map(Self)
    }

    fn schema() -> MetaSchema {
        CardSignature::schema()
    }
}

/// The raw bytes of an event.
struct SignedEvent(Vec<u8>);

impl<'a> ApiExtractor<'a> for SignedEvent {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        wire::CardEvent::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        let schema = wire::CardEvent::schema_ref();
        let content = vec![MetaMediaType { content_type: "application/json", schema }];
        Some(MetaRequest { description: None, content, required: true })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self(<Vec<u8> as FromRequest>::from_request(request, body).await?))
    }
}
