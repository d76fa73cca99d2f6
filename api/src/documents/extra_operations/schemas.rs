//! The schemas of the extra operations' bodies, each with an example.

use serde_json::{Value, json};

/// A body that is not JSON.
pub fn text() -> Value {
    json!({ "type": "string" })
}

pub fn openapi() -> Value {
    json!({
        "type": "object",
        "required": ["openapi", "info", "paths"],
        "example": { "openapi": "3.0.0", "info": { "title": "Handbill", "version": "0.1.0" }, "paths": {} },
    })
}

pub fn claimed() -> Value {
    json!({
        "type": "object",
        "required": ["account"],
        "properties": { "account": { "$ref": "#/components/schemas/Account" } },
    })
}

pub fn claim_form() -> Value {
    json!({
        "type": "object",
        "description": "Needed without a session.",
        "properties": {
            "username": { "type": "string", "nullable": true, "description": "The username to sign in or register with." },
            "password": { "type": "string", "nullable": true, "format": "password", "description": "Its password." },
            "action": {
                "type": "string", "nullable": true, "enum": ["sign_in", "register", null],
                "description": "What to do with the username. Without it, a known username signs in and a new one registers.",
            },
            "revoke_tokens": { "type": "boolean", "description": "Revokes the account's tokens. The default is false." },
        },
        "example": { "username": "ada", "password": "correct horse battery" },
    })
}

pub fn sign_in_form() -> Value {
    json!({
        "type": "object",
        "required": ["username", "password"],
        "properties": {
            "username": { "type": "string", "description": "The username." },
            "password": { "type": "string", "format": "password", "description": "The password." },
            "next": {
                "type": "string", "nullable": true,
                "description": "The path to open next. It must be a path of this service; anything else is ignored.",
            },
            "action": {
                "type": "string", "enum": ["sign_in", "register"],
                "description": "Whether to sign in or to register. The default is `sign_in`.",
            },
        },
        "example": { "username": "ada", "password": "correct horse battery" },
    })
}

pub fn report_form() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["host"],
        "properties": {
            "host": { "type": "string", "description": "The host of the page, or its address." },
            "reason": { "type": "string", "nullable": true, "description": "What is wrong with the page." },
        },
        "example": { "host": "my-page-a1b2", "reason": "It asks for the password of my bank." },
    })
}

fn json_rpc_id() -> Value {
    let integer = json!({ "type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX });
    json!({
        "anyOf": [text(), integer],
        "description": "Returned with the response. A notification has none.",
    })
}

pub fn json_rpc_message() -> Value {
    json!({
        "type": "object",
        "required": ["jsonrpc", "method"],
        "properties": {
            "jsonrpc": { "type": "string", "enum": ["2.0"], "description": "The version of JSON-RPC." },
            "id": json_rpc_id(),
            "method": { "type": "string", "description": "Such as `initialize`, `tools/list` or `tools/call`." },
            "params": {
                "type": "object",
                "description": "The parameters of the method. `tools/call` takes `name` and `arguments`.",
            },
        },
        "example": {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "list_artifacts", "arguments": {} },
        },
    })
}

/// One response, or those to a batch.
pub fn json_rpc_response() -> Value {
    let one = json!({
        "type": "object",
        "required": ["jsonrpc"],
        "properties": {
            "jsonrpc": { "type": "string", "enum": ["2.0"] },
            "result": { "type": "object", "description": "The result of the method." },
            "error": { "type": "object", "description": "The `code` and the `message` of a JSON-RPC error." },
        },
    });
    json!({
        "anyOf": [one, { "type": "array", "items": one }],
        "example": {
            "jsonrpc": "2.0", "id": 1,
            "result": { "content": [{ "type": "text", "text": "{\"artifacts\":[],\"next_cursor\":null}" }], "isError": false },
        },
    })
}

pub fn json_rpc_error() -> Value {
    json!({
        "type": "object",
        "required": ["jsonrpc", "error"],
        "properties": {
            "jsonrpc": { "type": "string", "enum": ["2.0"] },
            "error": { "type": "object", "description": "The `code` and the `message` of the JSON-RPC error." },
        },
    })
}

/// A header that every such response has.
pub(super) fn header(name: &str, description: &str, schema: Value) -> Value {
    json!({ name: { "description": description, "required": true, "deprecated": false, "schema": schema } })
}
