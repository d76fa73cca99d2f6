//! The audit trail entry of a settled deed. It is written in the same transaction, for all deeds of a commit at once.

use domain::{
    Activation, CalledBy, CardReversalDeed, CreditDeed, CreditSource, Deed, GrantDeed, JobId, Micro, Origin,
    Outcome, PublishDeed, Published, Reason, Via,
};

use crate::audit::{self, Entry};

/// The actor for what the card processor reports.
const CARD_PROCESSOR: &str = "card-processor";

/// The entries of a deed: the credit of an inline payment first, then what the deed did. None for what was refused, for
/// what an earlier deed has done, and for what metering charges, which the ledger alone keeps.
pub(super) fn entries_of<'a>(deed: &'a Deed, outcome: &'a Outcome) -> impl Iterator<Item = Entry<'a>> {
    let entries = [inline_credit_of(deed, outcome), entry_of(deed, outcome)];
    entries.into_iter().flatten().map(|entry| Entry { account: Some(deed.account()), ..entry })
}

fn inline_credit_of<'a>(deed: &Deed, outcome: &Outcome) -> Option<Entry<'a>> {
    let (job, called_by, receipt) = match (deed, outcome) {
        (Deed::Publish(deed), Outcome::Published(published)) => {
            (deed.order.job(), &deed.order.called_by, published.receipt.as_ref()?)
        }
        (Deed::Visibility(deed), Outcome::VisibilitySet(set)) => {
            (deed.job, &deed.called_by, set.receipt.as_ref()?)
        }
        _ => return None,
    };
    Some(bought_credit(job, receipt.amount, called_by.as_ref()))
}

fn entry_of<'a>(deed: &'a Deed, outcome: &'a Outcome) -> Option<Entry<'a>> {
    Some(match (deed, outcome) {
        (Deed::Publish(deed), Outcome::Published(published)) => publish(deed, published),
        (Deed::Visibility(deed), Outcome::VisibilitySet(set)) if set.has_changed => Entry {
            action: "artifact.visibility_set",
            subject: set.artifact.host.as_str().into(),
            detail: deed.to.as_str().to_owned(),
            ..by(deed.called_by.as_ref())
        },
        (Deed::TopUp(deed), Outcome::ToppedUp(_)) => {
            bought_credit(deed.job, deed.amount, deed.called_by.as_ref())
        }
        (Deed::Credit(deed), Outcome::Moved(moved)) if moved.is_new => credit(deed),
        (Deed::CardReversal(deed), Outcome::Moved(moved)) if moved.is_new => reversal(deed),
        (Deed::Grant(deed), Outcome::Moved(moved)) if moved.is_new => grant(deed),
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

fn publish<'a>(deed: &PublishDeed, published: &'a Published) -> Entry<'a> {
    let entry = match (&deed.order.called_by, deed.order.created_by) {
        // The job of an earlier release.
        (None, Some(token)) => Entry { actor: token.to_string(), ..Entry::default() },
        (called_by, _) => by(called_by.as_ref()),
    };
    let staged = if deed.order.activation == Activation::Staged { ", staged" } else { "" };
    Entry {
        action: "artifact.published",
        subject: published.host.as_str().into(),
        detail: format!("version {}{staged}", published.seq),
        ..entry
    }
}

fn credit(deed: &CreditDeed) -> Entry<'_> {
    let (actor, origin) = match &deed.source {
        CreditSource::Card(_) => (CARD_PROCESSOR, Some(Origin { via: Via::CardProcessor, address: None })),
        CreditSource::Dev => ("", None),
    };
    Entry {
        actor: actor.to_owned(),
        origin,
        action: "credit.added",
        subject: deed.reason.as_str().into(),
        detail: dollars(deed.amount),
        ..Entry::default()
    }
}

/// How much went back stands in the ledger, under the reason.
fn reversal<'a>(deed: &CardReversalDeed) -> Entry<'a> {
    Entry {
        actor: CARD_PROCESSOR.to_owned(),
        origin: Some(Origin { via: Via::CardProcessor, address: None }),
        action: "credit.refunded",
        subject: deed.reason().to_string().into(),
        ..Entry::default()
    }
}

fn grant(deed: &GrantDeed) -> Entry<'_> {
    Entry {
        actor: audit::operator(&deed.called_by.actor),
        origin: Some(deed.called_by.origin),
        action: if deed.amount < Micro::ZERO { "credit.taken" } else { "credit.given" },
        subject: Reason::OperatorCredit(deed.id).to_string().into(),
        detail: format!("{}: {}", dollars(deed.amount), deed.note),
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
