//! Asks a human to confirm a price before a tool charges it, if the client can ask (MCP 2026-07-28, multi
//! round-trip requests). The first call gets the question, and the client repeats it with the answer.
//!
//! Earlier versions of the protocol ask over a session, which this endpoint does not have. For their clients
//! the descriptions of the tools tell the model to ask.

use std::collections::BTreeMap;

use domain::Micro;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::RequestContext;

/// The name of the question within its result.
const QUESTION: &str = "confirm_price";

/// A price that a call would charge.
#[derive(Clone, Debug)]
pub struct Price {
    pub amount: Micro,
    /// The reason, as in the challenge of a 402.
    pub reason: &'static str,
    /// The question to the human, which contains the amount.
    pub question: String,
}

/// What is known about the human's consent to the price of a call. A client could forge it, but its token can
/// spend the credit anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// The client cannot ask.
    Unavailable,
    NotAsked,
    /// For at most this amount.
    Given(Micro),
    Declined,
}

/// What follows from the consent and the price.
pub enum Permission {
    Granted,
    Ask(Price),
    Declined(Price),
}

impl Consent {
    pub fn of(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Self {
        if !can_ask(context) {
            return Self::Unavailable;
        }
        let answer = request.input_responses.as_ref().and_then(|answers| answers.get(QUESTION)).cloned();
        let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
        match answer.map(|answer| answer.action) {
            None => Self::NotAsked,
            Some(ElicitationAction::Accept) => {
                let confirmed = request.request_state.as_ref().and_then(|state| state.parse().ok());
                confirmed.map_or(Self::NotAsked, |micro| Self::Given(Micro::new(micro)))
            }
            Some(_) => Self::Declined,
        }
    }

    /// Whether the price may be charged. A price that has risen since the question is asked again.
    pub fn to(&self, price: Price) -> Permission {
        match self {
            _ if price.amount <= Micro::ZERO => Permission::Granted,
            Self::Unavailable => Permission::Granted,
            Self::Given(amount) if price.amount <= *amount => Permission::Granted,
            Self::Given(_) | Self::NotAsked => Permission::Ask(price),
            Self::Declined => Permission::Declined(price),
        }
    }
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    let has_round_trips = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // A client that names no mode has forms.
    has_round_trips && elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// The question as a result. It has no fields: accepting it is the answer.
pub fn ask(price: &Price) -> InputRequiredResult {
    let question = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: price.question.clone(),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    });
    let questions = BTreeMap::from([(QUESTION.to_owned(), InputRequest::Elicitation(question))]);
    InputRequiredResult::new(Some(questions), Some(price.amount.get().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission(consent: &Consent, micro: i64) -> &'static str {
        let price = Price { amount: Micro::new(micro), reason: "publish", question: String::new() };
        match consent.to(price) {
            Permission::Granted => "granted",
            Permission::Ask(_) => "ask",
            Permission::Declined(_) => "declined",
        }
    }

    #[test]
    fn a_price_is_charged_only_up_to_the_confirmed_amount() {
        for (consent, micro, expected) in [
            (Consent::Unavailable, 5_000, "granted"),
            (Consent::NotAsked, 0, "granted"),
            (Consent::NotAsked, 1, "ask"),
            (Consent::Given(Micro::new(5_000)), 5_000, "granted"),
            (Consent::Given(Micro::new(5_000)), 5_001, "ask"),
            (Consent::Declined, 5_000, "declined"),
            (Consent::Declined, 0, "granted"),
        ] {
            assert_eq!(permission(&consent, micro), expected, "{consent:?} {micro}");
        }
    }
}
