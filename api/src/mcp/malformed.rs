//! JSON-RPC errors for bodies that are not JSON-RPC messages. They quote the client's input only through the
//! parser's message, cut to a maximum length.

use bytes::Bytes;
use poem::Response;
use poem::http::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

const FAULT_LENGTH_MAX: usize = 300;

/// The response to such a body.
pub fn response(message: &Bytes) -> Response {
    let (code, fault, id) = fault_of(message);
    let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": fault } });
    Response::builder()
        .status(StatusCode::BAD_REQUEST)
        .content_type("application/json")
        .body(error.to_string())
}

// Only the id of a message is parsed.
fn fault_of(message: &[u8]) -> (i32, String, Value) {
    if let Err(fault) = serde_json::from_slice::<IgnoredAny>(message) {
        let fault = fault.to_string().chars().take(FAULT_LENGTH_MAX).collect::<String>();
        return (PARSE_ERROR, format!("Parse error: {fault}"), Value::Null);
    }
    let (fault, id) = match message.trim_ascii_start().first() {
        Some(b'[') => (
            "a batch; the protocol has no batches since 2025-06-18, so send one message per request",
            Value::Null,
        ),
        Some(b'{') => (
            "a message must have \"jsonrpc\": \"2.0\", a \"method\", and an \"id\" (a string or an integer) unless it is a \
             notification",
            id_of(message),
        ),
        _ => ("a message must be an object", Value::Null),
    };
    (INVALID_REQUEST, format!("Invalid Request: {fault}"), id)
}

/// The id of a message if JSON-RPC allows it, else null.
fn id_of(message: &[u8]) -> Value {
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
            let (code, fault, id) = fault_of(message);
            assert!(fault.len() > 20, "{fault}");
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
