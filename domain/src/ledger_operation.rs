//! The operations that a ledger settles, and their outcomes. Outcomes are stored in the database and read
//! back later: old ones must always parse.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, Artifact, ArtifactId, CalledBy, Host, JobId, LinkGeneration, Manifest, Micro,
    ModerationStatus, PageTitle, Payment, PublishOrder, Reason, Receipt, Refusal, Slug, Time, VersionId,
    Visibility, WrittenBundle,
};

/// An operation that moves money or uses allowance. Only an account's ledger settles operations, each at most
/// once.
#[derive(Clone, Debug)]
pub enum LedgerOperation {
    Publish(Box<PublishOperation>),
    Visibility(VisibilityOperation),
    TopUp(TopUpOperation),
    Credit(CreditOperation),
    CardReversal(CardReversalOperation),
    Grant(GrantOperation),
    Charge(ChargeOperation),
}

/// A version whose blobs are stored, to be recorded, paid for and made live in one transaction.
#[derive(Clone, Debug)]
pub struct PublishOperation {
    pub order: PublishOrder,
    pub manifest: Manifest,
    /// The title of the front page.
    pub title: Option<PageTitle>,
    /// The bundle that this publish, or an earlier attempt of it, has written.
    pub bundle: Option<WrittenBundle>,
    /// The sweep count at the time when the manifest's blobs were known to exist.
    pub blobs_as_of: SweepNumber,
    /// The verdict on the version, if its scan has ended already.
    pub verdict: Option<EarlyVerdict>,
}

/// The verdict on a version that is not settled yet.
#[derive(Clone, Debug)]
pub struct EarlyVerdict {
    pub status: ModerationStatus,
    pub evidence: String,
    /// The version of the rules that produced it.
    pub rules: u32,
    /// Whether the rules for provisional accounts applied.
    pub is_provisional: bool,
}

/// How many immediate sweeps had run when blobs were checked. A publish settles only if none ran since,
/// because a sweep may have deleted its blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SweepNumber(pub i64);

/// A change of an artifact's visibility, with the charge for the first month if it is no longer public.
#[derive(Clone, Debug)]
pub struct VisibilityOperation {
    pub account: AccountId,
    /// The id under which the outcome is stored, and the id of an inline payment.
    pub job: JobId,
    pub slug: Slug,
    pub to: Visibility,
    /// The artifact that the token is pinned to, if any.
    pub pinned_to: Option<ArtifactId>,
    pub payment: Option<Payment>,
    pub deadline: Option<Time>,
    pub called_by: Option<CalledBy>,
}

/// Credit that a caller has bought. Its payment has already been checked.
#[derive(Clone, Debug)]
pub struct TopUpOperation {
    pub account: AccountId,
    /// The id under which the outcome is stored, and the id of the payment.
    pub job: JobId,
    pub amount: Micro,
    pub deadline: Option<Time>,
    pub called_by: Option<CalledBy>,
}

/// Incoming money. The reason is unique within the account, so a repeated credit adds nothing.
#[derive(Clone, Debug)]
pub struct CreditOperation {
    pub account: AccountId,
    pub amount: Micro,
    pub reason: String,
    pub source: CreditSource,
}

/// Credit that an operator grants, or takes when the amount is negative. It is not a payment. The id is
/// unique within the account, so a repeated grant changes nothing.
#[derive(Clone, Debug)]
pub struct GrantOperation {
    pub account: AccountId,
    /// The id under which the outcome is stored. Every attempt has its own, so a grant that missed its
    /// deadline can be repeated with the same grant id.
    pub job: JobId,
    pub id: JobId,
    pub amount: Micro,
    /// The operator's note on the reason.
    pub note: String,
    pub deadline: Option<Time>,
    pub called_by: CalledBy,
}

/// How a person pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentMethod {
    Dev,
    Card,
}

/// The source of credited money. An account that received real money is never purged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreditSource {
    Dev,
    Card(CardPayment),
}

/// A paid checkout of the card processor. It credits one account, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardPayment {
    pub session: String,
    /// The processor's reference for refunds and disputes.
    pub payment_intent: Option<String>,
}

/// A card payment's money that went back. It is taken from the credited account, whatever the balance, and
/// never exceeds the credited amount.
#[derive(Clone, Debug)]
pub struct CardReversalOperation {
    pub account: AccountId,
    pub reversal: CardReversal,
}

/// A refund or a dispute of a card payment, as the card processor reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardReversal {
    /// The id of the refund or the dispute. It is unique in the ledger, so a repeated report changes nothing.
    pub id: String,
    pub payment_intent: String,
    pub extent: ReversalExtent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReversalExtent {
    /// The total that was refunded of the payment. Amounts of earlier refunds are not taken again.
    RefundedInAll(Micro),
    /// The amount of one dispute.
    Disputed(Micro),
}

/// Outgoing money, whatever the balance (metering). The reason is unique within the account.
#[derive(Clone, Debug)]
pub struct ChargeOperation {
    pub account: AccountId,
    pub amount: Micro,
    pub reason: String,
}

impl LedgerOperation {
    pub fn account(&self) -> AccountId {
        match self {
            LedgerOperation::Publish(operation) => operation.order.account,
            LedgerOperation::Visibility(operation) => operation.account,
            LedgerOperation::TopUp(operation) => operation.account,
            LedgerOperation::Credit(operation) => operation.account,
            LedgerOperation::CardReversal(operation) => operation.account,
            LedgerOperation::Grant(operation) => operation.account,
            LedgerOperation::Charge(operation) => operation.account,
        }
    }

    /// The id under which the outcome is stored: a repeated operation finds it and changes nothing.
    /// Operations without one are identified by their reason.
    pub fn job(&self) -> Option<JobId> {
        match self {
            LedgerOperation::Publish(operation) => Some(operation.order.job()),
            LedgerOperation::Visibility(operation) => Some(operation.job),
            LedgerOperation::TopUp(operation) => Some(operation.job),
            LedgerOperation::Grant(operation) => Some(operation.job),
            LedgerOperation::Credit(_) | LedgerOperation::CardReversal(_) | LedgerOperation::Charge(_) => {
                None
            }
        }
    }

    /// The deadline by the database's clock, after which the operation is refused. Reports of the card
    /// processor and metered charges have none, because they are repeated until they are settled.
    pub fn deadline(&self) -> Option<Time> {
        match self {
            LedgerOperation::Publish(operation) => operation.order.deadline,
            LedgerOperation::Visibility(operation) => operation.deadline,
            LedgerOperation::TopUp(operation) => operation.deadline,
            LedgerOperation::Grant(operation) => operation.deadline,
            LedgerOperation::Credit(_) | LedgerOperation::CardReversal(_) | LedgerOperation::Charge(_) => {
                None
            }
        }
    }

    /// Whether the account's people or agents requested it. Such an operation is a write, which a suspended
    /// or expired account refuses. The operations of the card processor, metering and operators settle in
    /// every state, so that no money is lost.
    pub fn is_write(&self) -> bool {
        match self {
            LedgerOperation::Publish(_) | LedgerOperation::Visibility(_) | LedgerOperation::TopUp(_) => true,
            LedgerOperation::Credit(_)
            | LedgerOperation::CardReversal(_)
            | LedgerOperation::Grant(_)
            | LedgerOperation::Charge(_) => false,
        }
    }

    /// The name that is stored with the outcome.
    pub fn kind(&self) -> &'static str {
        match self {
            LedgerOperation::Publish(_) => "publish",
            LedgerOperation::Visibility(_) => "visibility",
            LedgerOperation::TopUp(_) => "top_up",
            LedgerOperation::Credit(_) => "credit",
            LedgerOperation::CardReversal(_) => "card_reversal",
            LedgerOperation::Grant(_) => "grant",
            LedgerOperation::Charge(_) => "charge",
        }
    }
}

impl CardReversalOperation {
    pub fn reason(&self) -> Reason {
        Reason::CardRefund(self.reversal.id.clone())
    }
}

/// The result of an operation. It is stored in the operation's transaction, and a redelivery returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Published(Box<Published>),
    VisibilitySet(Box<VisibilitySet>),
    ToppedUp(ToppedUp),
    Moved(Moved),
    Refused(Box<Refusal>),
}

/// A publish that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub host: Host,
    pub slug: Slug,
    pub version: VersionId,
    pub seq: u32,
    pub free_publishes_left: u64,
    pub balance: Micro,
    pub expires_at: Option<Time>,
    /// The page's visibility. Outcomes that are older than this field are public.
    #[serde(default)]
    pub visibility: Visibility,
    /// Of the page's link, if it is private.
    #[serde(default, skip_serializing_if = "LinkGeneration::is_first")]
    pub link_generation: LinkGeneration,
    pub receipt: Option<Receipt>,
    /// Whether the version was stored with the verdict of its operation. The stored outcome does not have it,
    /// so a scan is queued after an outcome that is read back.
    #[serde(skip)]
    pub has_verdict: bool,
}

/// A change of visibility, including one that changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibilitySet {
    pub artifact: Artifact,
    /// `false` if the artifact already had this visibility, or the outcome is older than this field.
    #[serde(default)]
    pub has_changed: bool,
    pub receipt: Option<Receipt>,
}

/// Credit that was bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToppedUp {
    pub balance: Micro,
    pub receipt: Receipt,
}

/// A credit or a charge that was made, now or earlier under the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub balance: Micro,
    /// Whether this operation moved the money; `false` when the reason had been used before.
    pub is_new: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01K00000000000000000000000";

    // As stored by earlier releases. All of them must still parse.
    #[test]
    fn outcomes_stored_by_earlier_releases_are_still_read() {
        let receipt = format!(r#"{{"rail":"dev","amount":500000,"id":"{ID}","settled_at":1}}"#);
        let artifact = format!(
            r#"{{"id":"{ID}","account":"{ID}","slug":"my-page","host":"my-page-a1b2","visibility":"private",
                "live":{{"id":"{ID}","seq":1,"total_bytes":7,"moderation":"pass"}},"created_at":1,"updated_at":2}}"#
        );
        let published = format!(
            r#"{{"account":"{ID}","artifact":"{ID}","host":"my-page-a1b2","slug":"my-page","version":"{ID}","seq":1,
                "visibility":"private","free_publishes_left":4,"balance":0,"expires_at":null,"receipt":null}}"#
        );
        let outcomes = [
            format!(r#"{{"published":{published}}}"#),
            format!(
                r#"{{"visibility_set":{{"artifact":{artifact},"has_changed":true,"receipt":{receipt}}}}}"#
            ),
            format!(r#"{{"topped_up":{{"balance":500000,"receipt":{receipt}}}}}"#),
            r#"{"moved":{"balance":-5,"is_new":true}}"#.to_owned(),
            r#"{"refused":"account_expired"}"#.to_owned(),
        ];
        for text in outcomes {
            let outcome: Outcome = serde_json::from_str(&text).unwrap();
            let written: serde_json::Value = serde_json::to_value(&outcome).unwrap();
            assert_eq!(written, serde_json::from_str::<serde_json::Value>(&text).unwrap(), "{text}");
        }
        let before_visibility_was_told = published.replace(r#""visibility":"private","#, "");
        let older: Published = serde_json::from_str(&before_visibility_was_told).unwrap();
        assert_eq!((older.visibility, older.link_generation), (Visibility::Public, LinkGeneration::FIRST));
        let before_changes_were_told = format!(r#"{{"artifact":{artifact},"receipt":{receipt}}}"#);
        let older: VisibilitySet = serde_json::from_str(&before_changes_were_told).unwrap();
        assert!(!older.has_changed);
        let before_bytes_were_told = format!(r#"{{"id":"{ID}","seq":1,"moderation":"pass"}}"#);
        let older: crate::LiveVersion = serde_json::from_str(&before_bytes_were_told).unwrap();
        assert_eq!(older.total_bytes, 0);
    }
}
