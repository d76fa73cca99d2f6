//! What a ledger settles, and how that ended. Outcomes are kept in the database and read back later: their written
//! form must never change so that an old one no longer parses.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, Artifact, ArtifactId, CalledBy, Host, JobId, Manifest, Micro, Payment, PublishOrder, Reason,
    Receipt, Refusal, Slug, Time, VersionId, Visibility,
};

/// Something that moves money or uses allowance. Only an account's ledger settles deeds, and each at most once.
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

/// A version whose blobs are in place, to be written, paid and made live in one transaction.
#[derive(Clone, Debug)]
pub struct PublishOperation {
    pub order: PublishOrder,
    pub manifest: Manifest,
    /// As of when the manifest's blobs are known to be in place.
    pub blobs_as_of: SweepNumber,
}

/// How many sweeps at once there had been when blobs were looked for. A publish settles only if there was none since,
/// or what it counts on may be gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SweepNumber(pub i64);

/// An artifact that is to be seen by more or fewer, with the first month of what is not public.
#[derive(Clone, Debug)]
pub struct VisibilityOperation {
    pub account: AccountId,
    /// The key under which the outcome is kept, and the id of an inline payment.
    pub job: JobId,
    pub slug: Slug,
    pub to: Visibility,
    /// The artifact that the token is pinned to, if it is.
    pub pinned_to: Option<ArtifactId>,
    pub payment: Option<Payment>,
    pub deadline: Option<Time>,
    pub called_by: Option<CalledBy>,
}

/// Credit that a caller has bought: the payment was found to fit before this was made.
#[derive(Clone, Debug)]
pub struct TopUpOperation {
    pub account: AccountId,
    /// The key under which the outcome is kept, and the id of the payment.
    pub job: JobId,
    pub amount: Micro,
    pub deadline: Option<Time>,
    pub called_by: Option<CalledBy>,
}

/// Money that comes in. The reason is unique in the account, so a repeated credit adds nothing.
#[derive(Clone, Debug)]
pub struct CreditOperation {
    pub account: AccountId,
    pub amount: Micro,
    pub reason: String,
    pub source: CreditSource,
}

/// Credit that an operator gives, or takes when the amount is negative. It is no payment. The id is unique in the account,
/// so a repeated grant changes nothing.
#[derive(Clone, Debug)]
pub struct GrantOperation {
    pub account: AccountId,
    /// The key under which the outcome is kept. Every attempt has its own, so a grant whose attempt missed its deadline can be
    /// repeated with the same id.
    pub job: JobId,
    pub id: JobId,
    pub amount: Micro,
    /// Why, in the operator's words.
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

/// Where credited money came from: an account that took real money is never purged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreditSource {
    Dev,
    Card(CardPayment),
}

/// A paid checkout of the card processor. It credits one account, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardPayment {
    pub session: String,
    /// By which the processor names it when the money goes back.
    pub payment_intent: Option<String>,
}

/// Money of a card payment that went back: it is taken from the account that the payment credited, whatever the balance,
/// and never more than was credited.
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
    /// What was refunded of the payment in all: what an earlier refund took is not taken again.
    RefundedInAll(Micro),
    /// What one dispute takes back.
    Disputed(Micro),
}

/// Money that goes out whatever the balance (metering). The reason is unique in the account.
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

    /// The key under which the outcome is kept: a deed that is handed in again finds it and changes nothing. What
    /// has none is known by its reason.
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

    /// When it must be settled, by the database's clock: from then on it is refused. What the card processor reports
    /// and metered charges have no deadline, because they are repeated until they are settled.
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

    /// Whether the account's people or agents asked for it. Such a deed is a write, which the account may refuse. What
    /// the card processor, the metering and operators do is settled whatever state the account is in, so that no money
    /// is lost.
    pub fn is_write(&self) -> bool {
        match self {
            LedgerOperation::Publish(_) | LedgerOperation::Visibility(_) | LedgerOperation::TopUp(_) => true,
            LedgerOperation::Credit(_)
            | LedgerOperation::CardReversal(_)
            | LedgerOperation::Grant(_)
            | LedgerOperation::Charge(_) => false,
        }
    }

    /// The name that is kept beside the outcome.
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

/// How a deed ended. It is written in the deed's own transaction, and so is what a redelivery answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Published(Box<Published>),
    VisibilitySet(Box<VisibilitySet>),
    ToppedUp(ToppedUp),
    Moved(Moved),
    Refused(Box<Refusal>),
}

/// A publish that came to pass.
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
    /// Who sees the page: public, where a kept outcome is older than this field.
    #[serde(default)]
    pub visibility: Visibility,
    pub receipt: Option<Receipt>,
}

/// A change of visibility that came to pass, or that there was nothing to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibilitySet {
    pub artifact: Artifact,
    /// False if the artifact had this visibility already, or the kept outcome is older than this field.
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

/// A credit or a charge that came to pass, now or earlier under the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub balance: Micro,
    /// Whether this very deed moved the money; `false` when the reason had been used before.
    pub is_new: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01K00000000000000000000000";

    // As the database has them from earlier days: none may stop parsing.
    #[test]
    fn an_outcome_that_was_written_once_is_read_for_ever() {
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
        assert_eq!(older.visibility, Visibility::Public);
        let before_changes_were_told = format!(r#"{{"artifact":{artifact},"receipt":{receipt}}}"#);
        let older: VisibilitySet = serde_json::from_str(&before_changes_were_told).unwrap();
        assert!(!older.has_changed);
        let before_bytes_were_told = format!(r#"{{"id":"{ID}","seq":1,"moderation":"pass"}}"#);
        let older: crate::LiveVersion = serde_json::from_str(&before_bytes_were_told).unwrap();
        assert_eq!(older.total_bytes, 0);
    }
}
