//! The audit log entries of settled operations. They are written in the same transaction, together for all
//! operations of a commit.

use domain::{
    Activation, CalledBy, CardReversalOperation, CreditOperation, CreditSource, GrantOperation, JobId,
    LedgerOperation, Micro, Origin, Outcome, PublishOperation, Published, Reason, Via,
};

use crate::audit::{self, Entry};

/// The actor for events of the card processor.
const CARD_PROCESSOR: &str = "card-processor";

/// The entries of an operation: the credit of an inline payment first, then the operation itself. There is no
/// entry for a refusal, for an operation that an earlier one has made redundant, and for metering's charges,
/// which only the ledger records.
pub(super) fn entries_of<'a>(
    operation: &'a LedgerOperation,
    outcome: &'a Outcome,
) -> impl Iterator<Item = Entry<'a>> {
    let entries = [inline_credit_of(operation, outcome), entry_of(operation, outcome)];
    entries.into_iter().flatten().map(|entry| Entry { account: Some(operation.account()), ..entry })
}

fn inline_credit_of<'a>(operation: &LedgerOperation, outcome: &Outcome) -> Option<Entry<'a>> {
    let (job, called_by, receipt) = match (operation, outcome) {
        (LedgerOperation::Publish(operation), Outcome::Published(published)) => {
            (operation.order.job(), &operation.order.called_by, published.receipt.as_ref()?)
        }
        (LedgerOperation::Visibility(operation), Outcome::VisibilitySet(set)) => {
            (operation.job, &operation.called_by, set.receipt.as_ref()?)
        }
        _ => return None,
    };
    Some(bought_credit(job, receipt.amount, called_by.as_ref()))
}

fn entry_of<'a>(operation: &'a LedgerOperation, outcome: &'a Outcome) -> Option<Entry<'a>> {
    Some(match (operation, outcome) {
        (LedgerOperation::Publish(operation), Outcome::Published(published)) => publish(operation, published),
        (LedgerOperation::Visibility(operation), Outcome::VisibilitySet(set)) if set.has_changed => Entry {
            action: "artifact.visibility_set",
            subject: set.artifact.host.as_str().into(),
            detail: operation.to.as_str().to_owned(),
            ..by(operation.called_by.as_ref())
        },
        (LedgerOperation::TopUp(operation), Outcome::ToppedUp(_)) => {
            bought_credit(operation.job, operation.amount, operation.called_by.as_ref())
        }
        (LedgerOperation::Credit(operation), Outcome::Moved(moved)) if moved.is_new => credit(operation),
        (LedgerOperation::CardReversal(operation), Outcome::Moved(moved)) if moved.is_new => {
            reversal(operation)
        }
        (LedgerOperation::Grant(operation), Outcome::Moved(moved)) if moved.is_new => grant(operation),
        _ => return None,
    })
}

fn bought_credit<'a>(payment: JobId, amount: Micro, called_by: Option<&CalledBy>) -> Entry<'a> {
    Entry {
        action: "credit.added",
        subject: Reason::DevTopUp(payment).to_string().into(),
        detail: dollars(amount),
        ..by(called_by)
    }
}

fn publish<'a>(operation: &PublishOperation, published: &'a Published) -> Entry<'a> {
    let entry = match (&operation.order.called_by, operation.order.created_by) {
        // A job of an earlier release.
        (None, Some(token)) => Entry { actor: token.to_string(), ..Entry::default() },
        (called_by, _) => by(called_by.as_ref()),
    };
    let staged = if operation.order.activation == Activation::Staged { ", staged" } else { "" };
    Entry {
        action: "artifact.published",
        subject: published.host.as_str().into(),
        detail: format!("version {}{staged}", published.seq),
        ..entry
    }
}

fn credit(operation: &CreditOperation) -> Entry<'_> {
    let (actor, origin) = match &operation.source {
        CreditSource::Card(_) => (CARD_PROCESSOR, Some(Origin { via: Via::CardProcessor, address: None })),
        CreditSource::Dev => ("", None),
    };
    Entry {
        actor: actor.to_owned(),
        origin,
        action: "credit.added",
        subject: operation.reason.as_str().into(),
        detail: dollars(operation.amount),
        ..Entry::default()
    }
}

/// The amount is in the ledger, under the reason.
fn reversal<'a>(operation: &CardReversalOperation) -> Entry<'a> {
    Entry {
        actor: CARD_PROCESSOR.to_owned(),
        origin: Some(Origin { via: Via::CardProcessor, address: None }),
        action: "credit.refunded",
        subject: operation.reason().to_string().into(),
        ..Entry::default()
    }
}

fn grant(operation: &GrantOperation) -> Entry<'_> {
    Entry {
        actor: audit::operator(&operation.called_by.actor),
        origin: Some(operation.called_by.origin),
        action: if operation.amount < Micro::ZERO { "credit.taken" } else { "credit.given" },
        subject: Reason::OperatorCredit(operation.id).to_string().into(),
        detail: format!("{}: {}", dollars(operation.amount), operation.note),
        ..Entry::default()
    }
}

fn by(called_by: Option<&CalledBy>) -> Entry<'static> {
    Entry {
        actor: called_by.map(|one| one.actor.clone()).unwrap_or_default(),
        origin: called_by.map(|one| one.origin),
        ..Entry::default()
    }
}

fn dollars(amount: Micro) -> String {
    format!("USD {amount}")
}
