//! Why money moved. A reason is unique within an account's ledger, so the same cause must always give the
//! same text.

use std::fmt;

use crate::{ArtifactId, JobId, Month, VersionId};

/// The cause of a ledger entry, stored as its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A publish above the allowance.
    Publish(VersionId),
    /// A month of an artifact that is not public. The call charges the first one, metering the later ones.
    Visibility(ArtifactId, Month),
    /// A month of storage above the free amount.
    Storage(Month),
    /// A month of views above the free amount.
    Traffic(Month),
    /// Credit by the dev payment, by itself or as the inline payment of a call.
    DevTopUp(JobId),
    /// Credit by card: the processor's checkout session.
    CardTopUp(String),
    /// Money that went back to a card: the processor's refund or dispute.
    CardRefund(String),
    /// Credit that an operator granted or took.
    OperatorCredit(JobId),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Publish(version) => write!(f, "publish:{version}"),
            Reason::Visibility(artifact, month) => write!(f, "visibility:{artifact}:{month}"),
            Reason::Storage(month) => write!(f, "storage:{month}"),
            Reason::Traffic(month) => write!(f, "traffic:{month}"),
            Reason::DevTopUp(job) => write!(f, "topup-dev:{job}"),
            Reason::CardTopUp(session) => write!(f, "topup-card-processor:{session}"),
            Reason::CardRefund(reversal) => write!(f, "refund-card-processor:{reversal}"),
            Reason::OperatorCredit(id) => write!(f, "operator-credit:{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;

    #[test]
    fn ledger_reasons_keep_their_stored_format() {
        let (id, month) = (Ulid::nil(), "2026-01".parse().unwrap());
        let written = [
            (Reason::Publish(VersionId::from_ulid(id)), format!("publish:{id}")),
            (Reason::Visibility(ArtifactId::from_ulid(id), month), format!("visibility:{id}:2026-01")),
            (Reason::Storage(month), "storage:2026-01".into()),
            (Reason::Traffic(month), "traffic:2026-01".into()),
            (Reason::DevTopUp(JobId::from_ulid(id)), format!("topup-dev:{id}")),
            (Reason::CardTopUp("cs_1".into()), "topup-card-processor:cs_1".into()),
            (Reason::CardRefund("re_1".into()), "refund-card-processor:re_1".into()),
            (Reason::OperatorCredit(JobId::from_ulid(id)), format!("operator-credit:{id}")),
        ];
        for (reason, text) in written {
            assert_eq!(reason.to_string(), text);
        }
    }
}
