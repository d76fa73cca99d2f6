//! JSON-RPC batches: several messages in one body. MCP has them up to 2025-03-26. Each message is handled
//! like a request of its own, and the responses are sent together.

use std::borrow::Cow;

use bytes::Bytes;
use domain::Refusal;
use poem::Response;
use poem::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::malformed::{self, MessageFault};
use super::resources::error_of;
use crate::http::refusal::RefusedCall;

/// The versions with batches. A request without a version has one of them.
const VERSIONS: [&str; 2] = ["2024-11-05", "2025-03-26"];
const MESSAGES_MAX: usize = 10;
/// When the responses are this long, no further message is executed. It bounds the memory of a batch.
const RESPONSES_BYTES_MAX: usize = 4 * 1_048_576;

/// The messages of a batch, or `None` if the body is not one.
pub fn messages_of(body: &Bytes, version: Option<&str>) -> Result<Option<Vec<Bytes>>, MessageFault> {
    if body.trim_ascii_start().first() != Some(&b'[') {
        return Ok(None);
    }
    let messages: Vec<&RawValue> =
        serde_json::from_slice(body).map_err(|fault| malformed::parse_fault(&fault))?;
    let refused = |fault: &str| Err(malformed::invalid_request(fault));
    if version.is_some_and(|version| !VERSIONS.contains(&version)) {
        return refused(
            "a batch; the protocol has no batches since 2025-06-18, so send one message per request",
        );
    }
    if messages.is_empty() {
        return refused("the batch has no messages");
    }
    if messages.len() > MESSAGES_MAX {
        return refused(&format!(
            "the batch has {} messages, and {MESSAGES_MAX} is the maximum; nothing was executed",
            messages.len()
        ));
    }
    if messages.iter().any(|message| is_initialize(message)) {
        return refused("initialize must not be in a batch; send it as a request of its own");
    }
    Ok(Some(messages.into_iter().map(|message| body.slice_ref(message.get().as_bytes())).collect()))
}

fn is_initialize(message: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    serde_json::from_str::<Named<'_>>(message.get()).is_ok_and(|named| named.method == "initialize")
}

/// The responses so far.
#[derive(Default)]
pub struct BatchResponses(Vec<u8>);

impl BatchResponses {
    /// Refuses a further message if there is no space left for its response.
    pub fn require_space(&self) -> Result<(), Refusal> {
        if self.0.len() < RESPONSES_BYTES_MAX {
            return Ok(());
        }
        let limit = format!(
            "the responses to a batch may have about {RESPONSES_BYTES_MAX} bytes; this message was not \
             executed, so send it again in another request"
        );
        Err(Refusal::TooLarge { limit })
    }

    /// Adds a response. A notification has none.
    pub fn add(&mut self, response: &[u8]) {
        if response.is_empty() {
            return;
        }
        self.0.push(if self.0.is_empty() { b'[' } else { b',' });
        self.0.extend_from_slice(response);
    }

    /// Adds the error for a message that was refused before the protocol's library got it.
    pub fn add_refused(&mut self, message: &[u8], refused: &RefusedCall, base_url: &str) {
        let id = malformed::id_of(message);
        if !id.is_null() {
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": error_of(refused, base_url) });
            self.add(error.to_string().as_bytes());
        }
    }

    pub fn respond(mut self) -> Response {
        if self.0.is_empty() {
            return Response::builder().status(StatusCode::ACCEPTED).finish();
        }
        self.0.push(b']');
        Response::builder().content_type("application/json").body(self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn messages(body: &str, version: Option<&str>) -> Result<Option<Vec<Bytes>>, String> {
        messages_of(&Bytes::copy_from_slice(body.as_bytes()), version).map_err(|fault| fault.message)
    }

    #[test]
    fn a_batch_is_split_into_its_messages() {
        assert_eq!(messages(r#"{"id": [1]}"#, None), Ok(None));
        let split = messages(r#" [ {"id": [1, "],"]} , 7,[] ] "#, Some("2025-03-26")).unwrap().unwrap();
        assert_eq!(split, [&br#"{"id": [1, "],"]}"#[..], b"7", b"[]"]);
        assert_eq!(messages("[7]", Some("2024-11-05")).unwrap().map(|split| split.len()), Some(1));
    }

    #[test]
    fn a_batch_is_refused_as_a_whole_if_the_protocol_does_not_allow_it() {
        let many = format!("[{}7]", "7,".repeat(MESSAGES_MAX));
        for (body, version, fault) in [
            ("[", None, "Parse error"),
            ("[7]", Some("2025-06-18"), "one message per request"),
            ("[7]", Some("2026-07-28"), "one message per request"),
            ("[]", None, "no messages"),
            (&many, None, "10 is the maximum"),
            (r#"[7, {"id": 1, "method": "init\u0069alize"}]"#, None, "initialize"),
        ] {
            let refused = messages(body, version).unwrap_err();
            assert!(refused.contains(fault), "{body}: {refused}");
        }
    }

    #[tokio::test]
    async fn responses_are_one_array_and_notifications_have_none() {
        let body = async |responses: BatchResponses| {
            let response = responses.respond();
            (response.status().as_u16(), response.into_body().into_string().await.unwrap())
        };
        assert_eq!(body(BatchResponses::default()).await, (202, String::new()));
        let mut responses = BatchResponses::default();
        let refused = RefusedCall::from(Refusal::overloaded("busy"));
        responses.add(br#"{"id":1}"#);
        responses.add(b"");
        responses.add_refused(br#"{"id":"two","method":"ping"}"#, &refused, "https://h.example");
        responses.add_refused(br#"{"method":"notifications/initialized"}"#, &refused, "https://h.example");
        let (status, text) = body(responses).await;
        let sent: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!((status, sent.len(), &sent[0]["id"]), (200, 2, &json!(1)));
        assert_eq!(
            (&sent[1]["id"], &sent[1]["error"]["data"]["code"]),
            (&json!("two"), &json!("overloaded"))
        );
    }

    #[test]
    fn no_message_is_executed_once_the_responses_are_long() {
        let mut responses = BatchResponses::default();
        responses.require_space().unwrap();
        responses.add(&vec![b' '; RESPONSES_BYTES_MAX]);
        assert_eq!(responses.require_space().unwrap_err().code(), "too_large");
    }
}
