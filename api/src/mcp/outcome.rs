//! What a tool's work comes to, as the protocol shows it: the body that REST would answer, as the one text block and
//! as structured content. The one place where a refusal becomes a result.

use domain::{Challenge, Micro, Refusal};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::http::refusal::{RefusedCall, told};
use crate::wire::CreditPurchase;

/// A call of a tool, as far as a refusal of it is told by that.
#[derive(Clone, Copy)]
pub struct Called<'a> {
    pub tool: &'a str,
    /// Where the REST endpoints are.
    pub base_url: &'a str,
}

/// The result of a call.
pub fn result(called: Called<'_>, outcome: Result<Value, RefusedCall>) -> CallToolResult {
    match outcome {
        Ok(body) => CallToolResult::structured(body),
        Err(RefusedCall(refusal)) => CallToolResult::structured_error(refused(called, *refusal)),
    }
}

fn refused(called: Called<'_>, refusal: Refusal) -> Value {
    let is_at_an_end = refusal == Refusal::AccountExpired;
    let mut body = told(&to_caller_of(called.tool, refusal));
    if is_at_an_end {
        // No tool signs up: the token is the client's, and a person puts it there.
        body["hint"] = json!(format!(
            "tell your human that the account has expired and that the MCP client needs a new token, from POST \
             {}/v1/signup; then publish again with it",
            called.base_url
        ));
    }
    body
}

/// The refusal as one can use it who calls tools: who can send no header, and looks for arguments in `tools/list`.
fn to_caller_of(tool: &str, refusal: Refusal) -> Refusal {
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

/// The least credit that can be bought and covers the challenge, or the most that one call buys.
fn top_up_for(challenge: &Challenge) -> Micro {
    let usd = |whole: i64| Micro::new(whole * 1_000_000);
    challenge.amount.clamp(usd(CreditPurchase::USD_MIN), usd(CreditPurchase::USD_MAX))
}

#[cfg(test)]
mod tests {
    use domain::{Missing, PaymentMethods};

    use super::*;

    fn called(tool: &str) -> Called<'_> {
        Called { tool, base_url: "https://handbill.example" }
    }

    fn text_of(result: &CallToolResult) -> Value {
        let [block] = &result.content[..] else { panic!("{result:?}") };
        serde_json::from_str(&block.as_text().unwrap().text).unwrap()
    }

    #[test]
    fn the_text_is_the_structured_content() {
        let one = result(called("get_artifact"), Ok(json!({ "slug": "my-page" })));
        assert_eq!(one.structured_content, Some(text_of(&one)));
    }

    #[test]
    fn a_refusal_has_the_body_of_rest() {
        let refused = result(called("get_artifact"), Err(Refusal::NotFound(Missing::Artifact).into()));
        assert_eq!(refused.is_error, Some(true));
        assert_eq!(text_of(&refused), told(&Refusal::NotFound(Missing::Artifact)));
        assert_eq!(refused.structured_content, Some(text_of(&refused)));
    }

    #[test]
    fn a_bad_argument_is_told_with_the_tool_to_call_again() {
        for refusal in [
            Refusal::malformed_slug(),
            Refusal::InvalidBody { fault: "slug: must match ^[a-z0-9-]{3,40}$".into() },
        ] {
            let body = text_of(&result(called("get_artifact"), Err(refusal.into())));
            assert_eq!(body["code"], "invalid_request");
            assert_eq!(body["message"], "slug: must match ^[a-z0-9-]{3,40}$");
            assert!(body["hint"].as_str().unwrap().contains("get_artifact again"), "{body}");
        }
    }

    #[test]
    fn a_challenge_names_the_credit_that_one_call_buys_and_that_covers_it() {
        for (amount, top_up) in [(5_000, "1"), (2_500_000, "2.5"), (250_000_000, "100")] {
            let challenge = Challenge::new("publish", Micro::new(amount), PaymentMethods::DEFAULT);
            let refusal = Refusal::PaymentRequired(Box::new(challenge));
            let body = text_of(&result(called("publish_artifact"), Err(refusal.into())));
            let call = format!(r#"add_credits with {{"amount_usd": {top_up}, "payment_scheme": "dev"}}"#);
            assert!(body["hint"].as_str().unwrap().contains(&call), "{body}");
            assert_eq!(body["code"], "payment_required");
        }
    }
    #[test]
    fn who_has_no_account_any_more_is_told_what_the_human_does_about_it() {
        let body = text_of(&result(called("publish_artifact"), Err(Refusal::AccountExpired.into())));
        assert_eq!(body["code"], "account_expired");
        let hint = body["hint"].as_str().unwrap();
        assert!(hint.starts_with("tell your human"), "{hint}");
        assert!(hint.contains("POST https://handbill.example/v1/signup"), "{hint}");
    }
}
