//! Asks a human to confirm a price before a tool charges it, if the client can ask (MCP 2026-07-28, multi
//! round-trip requests). The first call gets the question, and the client repeats it with the answer.
//!
//! Earlier versions of the protocol ask over a session, which this endpoint does not have. For their clients
//! the descriptions of the tools tell the model to ask.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{AccountId, Micro, Time, hash_secret};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::RequestContext;
use service::Service;

/// The name of the question within its result.
const QUESTION: &str = "confirm_price";
/// What the state of a question is signed for.
const PURPOSE: &str = "mcp-price";
/// A yes counts this long after its question.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15 * 60);

/// A price that a call would charge.
#[derive(Clone, Debug)]
pub struct Price {
    pub amount: Micro,
    /// The reason, as in the challenge of a 402.
    pub reason: &'static str,
    /// The question to the human, which contains the amount.
    pub question: String,
}

/// The call that a question is about: a hash of its account, tool and arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedCall(String);

/// What is known about the human's consent to the price of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
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
    /// `call` is the one that is asked about, and `service` has signed the state of the question.
    pub fn of(request: &CallToolRequestParams, call: &AskedCall, service: &Service) -> Self {
        let answer = request.input_responses.as_ref().and_then(|answers| answers.get(QUESTION)).cloned();
        let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
        match answer.map(|answer| answer.action) {
            None => Self::NotAsked,
            Some(ElicitationAction::Accept) => {
                let signed = request.request_state.as_deref();
                let state = signed.and_then(|signed| service.verified(PURPOSE, signed));
                let confirmed = state.and_then(|state| call.confirmed(state, service.clock().now()));
                confirmed.map_or(Self::NotAsked, Self::Given)
            }
            Some(_) => Self::Declined,
        }
    }

    /// Whether the price may be charged. A price that has risen since the question is asked again.
    pub fn to(&self, price: Price) -> Permission {
        match self {
            _ if price.amount <= Micro::ZERO => Permission::Granted,
            Self::Given(amount) if price.amount <= *amount => Permission::Granted,
            Self::Given(_) | Self::NotAsked => Permission::Ask(price),
            Self::Declined => Permission::Declined(price),
        }
    }
}

impl AskedCall {
    pub fn of(account: AccountId, request: &CallToolRequestParams) -> Self {
        let arguments = serde_json::to_string(&request.arguments).unwrap_or_default();
        Self(hash_secret(&format!("{account}\0{}\0{arguments}", request.name)))
    }

    /// The state of a question, which the client returns with the answer.
    fn state(&self, amount: Micro, now: Time) -> String {
        format!("{}.{}.{}", amount.get(), now.plus(ANSWERED_WITHIN).millis(), self.0)
    }

    /// The amount that a question was about, if it was about this call and is not too old.
    fn confirmed(&self, state: &str, now: Time) -> Option<Micro> {
        let mut parts = state.splitn(3, '.');
        let (micro, until): (i64, i64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        (parts.next()? == self.0 && now.millis() < until).then_some(Micro::new(micro))
    }
}

/// Whether the client can be asked.
pub fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    let has_round_trips = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // A client that names no mode has forms.
    has_round_trips && elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// The question as a result. It has no fields: accepting it is the answer.
pub fn ask(price: &Price, call: &AskedCall, service: &Service) -> InputRequiredResult {
    let question = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: price.question.clone(),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    });
    let questions = BTreeMap::from([(QUESTION.to_owned(), InputRequest::Elicitation(question))]);
    let state = service.sign(PURPOSE, &call.state(price.amount, service.clock().now()));
    InputRequiredResult::new(Some(questions), Some(state))
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

    #[test]
    fn a_yes_counts_for_its_own_call_and_not_for_long() {
        let call = |account: u64, tool: &'static str, slug: &str| {
            let arguments = serde_json::json!({ "slug": slug, "visibility": "private" });
            let request =
                CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
            AskedCall::of(AccountId::new(Time::from_millis(0), &domain::Chance::seeded(account)), &request)
        };
        let (asked, now, price) =
            (call(1, "set_visibility", "one"), Time::from_millis(1_000), Micro::new(5_000));
        let state = asked.state(price, now);
        assert_eq!(asked.confirmed(&state, now), Some(price));
        assert_eq!(call(1, "set_visibility", "one").confirmed(&state, now), Some(price));
        for other in
            [call(2, "set_visibility", "one"), call(1, "other", "one"), call(1, "set_visibility", "two")]
        {
            assert_eq!(other.confirmed(&state, now), None);
        }
        assert_eq!(asked.confirmed(&state, now.plus(ANSWERED_WITHIN)), None);
        assert_eq!(asked.confirmed("5000", now), None);
    }
}
