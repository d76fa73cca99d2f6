//! Turns the outcome of a tool into a result of the protocol: the body of REST, both as a text block and as
//! structured content. It is the only place where a refusal becomes a result.

use domain::{Challenge, Micro, Refusal};
use rmcp::model::{CallToolResponse, CallToolResult, InputRequiredResult};
use serde_json::{Value, json};

use super::consent::Price;
use crate::http::refusal::{RefusedCall, doc_url, linked_json_of};
use crate::wire::CreditPurchase;

/// The call of a tool, as its refusal needs it.
#[derive(Clone, Copy)]
pub struct ToolCall<'a> {
    pub tool: &'a str,
    /// The address of the REST API.
    pub base_url: &'a str,
    /// Whether the client got its token by OAuth.
    pub is_of_oauth: bool,
}

/// What has come of a call that was not refused.
pub enum ToolOutcome {
    Done(Value),
    /// The price must be confirmed first. Nothing was done.
    Question(InputRequiredResult),
    /// The human declined the price. Nothing was done.
    Declined(Price),
}

impl ToolOutcome {
    /// For the log.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Question(_) => "question",
            Self::Declined(_) => "declined",
        }
    }
}

/// The response to a call.
pub fn response(call: ToolCall<'_>, outcome: Result<ToolOutcome, RefusedCall>) -> CallToolResponse {
    match outcome {
        Ok(ToolOutcome::Done(body)) => CallToolResult::structured(body).into(),
        Ok(ToolOutcome::Question(question)) => question.into(),
        Ok(ToolOutcome::Declined(price)) => CallToolResult::structured_error(declined(call, &price)).into(),
        Err(RefusedCall(refusal)) => CallToolResult::structured_error(refused(call, *refusal)).into(),
    }
}

/// The schema of a tool's structured content: its result, or a refusal.
pub fn schema(mut result: Value) -> Value {
    let union = result.as_object_mut().and_then(|fields| fields.remove("anyOf"));
    let mut forms = match union {
        Some(Value::Array(forms)) => forms,
        _ => vec![result],
    };
    let text = || json!({ "type": "string" });
    forms.push(json!({
        "type": "object",
        "description": "A refusal.",
        "properties": { "code": text(), "message": text(), "hint": text(), "doc_url": text() },
        "required": ["code", "message", "hint"],
    }));
    // The protocol demands the type. Without it, `anyOf` would say the same.
    json!({ "type": "object", "anyOf": forms })
}

fn declined(call: ToolCall<'_>, price: &Price) -> Value {
    json!({
        "code": "payment_required",
        "message": "your human declined the price; nothing was changed or charged",
        "hint": "do not repeat the call unless your human asks for it",
        "doc_url": doc_url("payment_required", call.base_url),
        "reason": price.reason,
        "amount_usd": price.amount.usd(),
        "accepts": [],
    })
}

fn refused(call: ToolCall<'_>, refusal: Refusal) -> Value {
    let is_expired = refusal == Refusal::AccountExpired;
    let mut body = linked_json_of(&for_tool(call.tool, refusal), call.base_url);
    if is_expired {
        // No tool signs up: a person must connect the client again, or configure the new token in it.
        body["hint"] = json!(if call.is_of_oauth {
            "tell your human that the account has expired, and to disconnect Handbill in the MCP client and connect \
             it again; then publish again"
                .to_owned()
        } else {
            format!(
                "tell your human that the account has expired and that the MCP client needs a new token, from \
                 POST {}/v1/signup; then publish again with it",
                call.base_url
            )
        });
    }
    body
}

/// Adapts a refusal to callers of tools, who cannot send headers and know arguments from `tools/list`.
fn for_tool(tool: &str, refusal: Refusal) -> Refusal {
    let invalid = |fault| Refusal::InvalidArguments { tool: tool.to_owned(), fault };
    match refusal {
        Refusal::InvalidBody { fault } => invalid(fault),
        Refusal::InvalidRequest { field, fault } => invalid(format!("{field}: {fault}")),
        Refusal::PaymentRequired(challenge) => {
            let top_up = top_up_for(&challenge);
            Refusal::PaymentRequired(Box::new(challenge.settled_by_tool(top_up)))
        }
        refusal => refusal,
    }
}

/// The smallest purchase that covers the challenge, or the largest that one call can buy.
fn top_up_for(challenge: &Challenge) -> Micro {
    let usd = |whole: i64| Micro::new(whole * 1_000_000);
    challenge.amount.clamp(usd(CreditPurchase::USD_MIN), usd(CreditPurchase::USD_MAX))
}

#[cfg(test)]
mod tests {
    use domain::{Missing, PaymentMethods};

    use super::*;

    fn call(tool: &str) -> ToolCall<'_> {
        ToolCall { tool, base_url: "https://handbill.example", is_of_oauth: false }
    }

    fn text_of(response: &CallToolResponse) -> Value {
        let CallToolResponse::Complete(result) = response else { panic!("{response:?}") };
        let [block] = &result.content[..] else { panic!("{result:?}") };
        serde_json::from_str(&block.as_text().unwrap().text).unwrap()
    }

    #[test]
    fn text_content_equals_structured_content() {
        let one = response(call("get_artifact"), Ok(ToolOutcome::Done(json!({ "slug": "my-page" }))));
        let CallToolResponse::Complete(result) = &one else { panic!("{one:?}") };
        assert_eq!(result.structured_content, Some(text_of(&one)));
    }

    #[test]
    fn mcp_refusal_has_the_rest_error_body() {
        let refused = response(call("get_artifact"), Err(Refusal::NotFound(Missing::Artifact).into()));
        let base_url = "https://handbill.example";
        assert_eq!(text_of(&refused), linked_json_of(&Refusal::NotFound(Missing::Artifact), base_url));
        let CallToolResponse::Complete(result) = &refused else { panic!("{refused:?}") };
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content, Some(text_of(&refused)));
    }

    #[test]
    fn invalid_argument_error_names_the_tool_to_call_again() {
        for refusal in [
            Refusal::malformed_slug(),
            Refusal::InvalidBody { fault: "slug: must match ^[a-z0-9-]{3,40}$".into() },
        ] {
            let body = text_of(&response(call("get_artifact"), Err(refusal.into())));
            assert_eq!(body["code"], "invalid_request");
            assert_eq!(body["message"], "slug: must match ^[a-z0-9-]{3,40}$");
            assert!(body["hint"].as_str().unwrap().contains("get_artifact again"), "{body}");
        }
    }

    #[test]
    fn challenge_hint_names_a_top_up_that_covers_the_price() {
        for (amount, top_up) in [(5_000, "1"), (2_500_000, "2.5"), (250_000_000, "100")] {
            let challenge = Challenge::new("publish", Micro::new(amount), PaymentMethods::DEFAULT);
            let refusal = Refusal::PaymentRequired(Box::new(challenge));
            let body = text_of(&response(call("publish_artifact"), Err(refusal.into())));
            let call = format!(r#"add_credits with {{"amount_usd": {top_up}, "payment_scheme": "dev"}}"#);
            assert!(body["hint"].as_str().unwrap().contains(&call), "{body}");
            assert_eq!(body["code"], "payment_required");
        }
    }

    #[test]
    fn the_schema_of_a_result_accepts_its_refusals() {
        let one = schema(json!({ "type": "object", "required": ["slug"] }));
        assert_eq!((&one["type"], one["anyOf"].as_array().map(Vec::len)), (&json!("object"), Some(2)));
        let either =
            schema(json!({ "type": "object", "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }));
        assert_eq!(either["anyOf"].as_array().map(Vec::len), Some(3), "{either}");
    }

    #[test]
    fn account_expired_hint_says_what_the_human_must_do() {
        let body = text_of(&response(call("publish_artifact"), Err(Refusal::AccountExpired.into())));
        assert_eq!(body["code"], "account_expired");
        let hint = body["hint"].as_str().unwrap();
        assert!(hint.starts_with("tell your human"), "{hint}");
        assert!(hint.contains("POST https://handbill.example/v1/signup"), "{hint}");
        let by_oauth = ToolCall { is_of_oauth: true, ..call("publish_artifact") };
        let body = text_of(&response(by_oauth, Err(Refusal::AccountExpired.into())));
        assert!(body["hint"].as_str().unwrap().contains("connect it again"), "{body}");
    }
}
