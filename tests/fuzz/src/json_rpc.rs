//! Messages to `POST /mcp`, several in a row, separated by the byte 0x1E. They go through the real HTTP API
//! to real operations. Each response follows JSON-RPC, has the id of its message and is never an internal
//! error. The account works afterwards.

use poem::http::{Method, StatusCode, Uri, header};
use poem::{Body, Request};
use serde_json::{Value, json};

use crate::SEPARATOR;
use crate::world::World;

const MESSAGES_MAX: usize = 4;
/// A world grows with every publish, so that it is replaced after this many inputs.
const INPUTS_OF_A_WORLD: u32 = 5_000;

const ALIVE: &str = r#"{"jsonrpc":"2.0","id":"alive","method":"tools/call","params":{"name":"get_account"}}"#;

/// The judge, with the world in which messages take effect.
#[derive(Default)]
pub struct ResponseChecker {
    world: Option<World>,
    inputs: u32,
}

impl ResponseChecker {
    pub fn judge(&mut self, input: &[u8]) -> bool {
        if self.inputs.is_multiple_of(INPUTS_OF_A_WORLD) {
            self.world = None;
        }
        self.inputs = self.inputs.wrapping_add(1);
        let world = self.world.get_or_insert_with(World::open);
        let messages = input.split(|byte| *byte == SEPARATOR).take(MESSAGES_MAX);
        let was_understood = messages.fold(false, |before, message| judge_message(world, message) | before);
        assert!(judge_message(world, ALIVE.as_bytes()), "the account does not work any more");
        was_understood
    }
}

/// Sends a message and checks the response. Returns whether a tool succeeded.
fn judge_message(world: &World, message: &[u8]) -> bool {
    let mut request = Request::builder().method(Method::POST).uri(Uri::from_static("/mcp"));
    request = request.header(header::CONTENT_TYPE, "application/json").header(header::HOST, "127.0.0.1:8080");
    let (response, body) = world.ask(request.body(Body::from_vec(message.to_vec())));
    let (status, text) = (response.status(), String::from_utf8_lossy(&body));
    let sent = serde_json::from_slice::<Value>(message).ok();
    if status == StatusCode::ACCEPTED {
        let has_no_id = |sent: &Value| sent.get("id").is_none_or(Value::is_null);
        let is_notified = sent.is_some_and(|sent| match sent.as_array() {
            Some(batch) => batch.iter().all(has_no_id),
            None => has_no_id(&sent),
        });
        assert!(body.is_empty() && is_notified, "{text}");
        return false;
    }
    let answer: Value =
        serde_json::from_slice(&body).unwrap_or_else(|fault| panic!("{status} {text:?}: {fault}"));
    match status {
        StatusCode::OK if answer.is_array() => judge_batch(sent.as_ref(), &answer),
        StatusCode::OK => judge_answer(sent.as_ref(), &answer),
        StatusCode::BAD_REQUEST if answer["jsonrpc"] == "2.0" => judge_answer(sent.as_ref(), &answer),
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE => {
            judge_refusal(&answer);
            false
        }
        _ => panic!("{status} {text}"),
    }
}

/// The responses to a batch have the order of their messages, and notifications have none.
fn judge_batch(sent: Option<&Value>, answers: &Value) -> bool {
    let sent = sent.and_then(Value::as_array).unwrap_or_else(|| panic!("{answers} to {sent:?}"));
    let mut messages = sent.iter();
    let answers = answers.as_array().into_iter().flatten();
    let judged = answers.map(|answer| {
        let id = |message: &Value| message.get("id").filter(|id| id.is_string() || id.is_i64()).cloned();
        let message = messages.find(|message| id(message).unwrap_or_default() == answer["id"]);
        judge_answer(Some(message.unwrap_or_else(|| panic!("{answer} to {sent:?}"))), answer)
    });
    judged.fold(false, |before, was_understood| was_understood | before)
}

fn judge_answer(sent: Option<&Value>, answer: &Value) -> bool {
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    let id = sent.and_then(|sent| sent.get("id")).filter(|id| id.is_string() || id.is_i64());
    // A message that is nested too deeply to be parsed here still has a readable id.
    assert!(sent.is_none() || answer["id"].is_null() || Some(&answer["id"]) == id, "{answer} to {sent:?}");
    if let Some(error) = answer.get("error") {
        assert!(error["code"].is_i64() && answer.get("result").is_none(), "{answer}");
        assert!(error["code"] != json!(-32603), "{answer}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        return false;
    }
    assert_eq!(Some(&answer["id"]), id, "{answer} to {sent:?}");
    let result = &answer["result"];
    match sent.map(|sent| &sent["method"]) {
        Some(method) if method == "tools/call" => judge_result(result),
        _ => result.is_object(),
    }
}

fn judge_result(result: &Value) -> bool {
    let body = &result["structuredContent"];
    assert!(body.is_object(), "{result}");
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"));
    let text: Value = serde_json::from_str(text).unwrap();
    assert!(text == *body || text == body["artifacts"], "{result}");
    let is_refused = result["isError"] == true;
    if is_refused {
        judge_refusal(body);
    }
    !is_refused
}

fn judge_refusal(body: &Value) {
    for field in ["code", "message", "hint"] {
        assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {body}");
    }
    assert!(!matches!(body["code"].as_str(), Some("internal_error" | "overloaded")), "{body}");
}
