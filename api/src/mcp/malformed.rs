//! JSON-RPC errors for bodies that are not JSON-RPC messages. They quote the client's input only through the
//! parser's message, cut to a maximum length.

use poem::Response;
use poem::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

const FAULT_LENGTH_MAX: usize = 300;

/// Why a body is refused.
pub struct MessageFault {
    code: i32,
    pub message: String,
    id: Value,
}

impl MessageFault {
    pub fn respond(self) -> Response {
        let Self { code, message, id } = self;
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        Response::builder()
            .status(StatusCode::BAD_REQUEST)
            .content_type("application/json")
            .body(error.to_string())
    }
}

/// The fault of a body that is not JSON.
pub fn parse_fault(fault: &serde_json::Error) -> MessageFault {
    let fault = fault.to_string().chars().take(FAULT_LENGTH_MAX).collect::<String>();
    MessageFault { code: PARSE_ERROR, message: format!("Parse error: {fault}"), id: Value::Null }
}

/// The fault of JSON that is not a message.
pub fn invalid_request(fault: &str) -> MessageFault {
    MessageFault { code: INVALID_REQUEST, message: format!("Invalid Request: {fault}"), id: Value::Null }
}

/// The fault of a message that the protocol's library could not parse. Only its id is parsed.
pub fn fault_of(message: &[u8]) -> MessageFault {
    if let Err(fault) = serde_json::from_slice::<IgnoredAny>(message) {
        return parse_fault(&fault);
    }
    match message.trim_ascii_start().first() {
        Some(b'[') => invalid_request("a batch must not contain another one"),
        Some(b'{') => MessageFault {
            id: id_of(message),
            ..invalid_request(
                "a message must have \"jsonrpc\": \"2.0\", a \"method\", and an \"id\" (a string or an \
                 integer) unless it is a notification",
            )
        },
        _ => invalid_request("a message must be an object"),
    }
}

/// The id of a message if JSON-RPC allows it, else null.
pub fn id_of(message: &[u8]) -> Value {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        id: Value,
    }
    let id = serde_json::from_slice::<Named>(message).map(|named| named.id).unwrap_or_default();
    if id.is_string() || id.is_i64() { id } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_messages_get_the_right_code_and_the_readable_id() {
        let response = |message: &[u8]| {
            let MessageFault { code, message, id } = fault_of(message);
            assert!(message.len() > 20, "{message}");
            (code, id)
        };
        assert_eq!(response(b""), (PARSE_ERROR, Value::Null));
        assert_eq!(response(b"{\"jsonrpc\": \"2.0\", "), (PARSE_ERROR, Value::Null));
        assert_eq!(response(b"\xff"), (PARSE_ERROR, Value::Null));
        assert_eq!(response(b"[]"), (INVALID_REQUEST, Value::Null));
        assert_eq!(response(b" [7]"), (INVALID_REQUEST, Value::Null));
        assert_eq!(response(b"7"), (INVALID_REQUEST, Value::Null));
        assert_eq!(response(br#"{"id": [7], "method": "ping"}"#), (INVALID_REQUEST, Value::Null));
        assert_eq!(response(br#" {"method": {"id": 8}, "id": "x"}"#), (INVALID_REQUEST, json!("x")));
        assert_eq!(response(br#"{"id": 7, "method": "ping"}"#), (INVALID_REQUEST, json!(7)));
        assert_eq!(response(br#"{"id": null, "method": "ping"}"#), (INVALID_REQUEST, Value::Null));
    }
}
