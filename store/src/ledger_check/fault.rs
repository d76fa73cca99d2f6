//! The faults of a ledger, and their texts.

use std::fmt;

use domain::Micro;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerFault {
    pub account: String,
    /// `None` if the account is deleted.
    pub handle: Option<String>,
    pub kind: LedgerFaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFaultKind {
    /// The balance differs from the sum of the entries.
    Balance {
        balance: Micro,
        entries: Micro,
    },
    /// The account's count of entries differs from their number, or numbers are missing.
    Count {
        counted: i64,
        entries: i64,
        last_seq: i64,
    },
    /// The balance after an entry differs from the sum of the entries up to it.
    RunningBalance {
        seq: i64,
        reason: String,
        recorded: Micro,
        entries: Micro,
    },
    RepeatedReason {
        reason: String,
        times: i64,
    },
    /// The entry has the wrong sign for its reason.
    WrongWay {
        seq: i64,
        reason: String,
        delta: Micro,
    },
    NegativeAllowance {
        what: &'static str,
        count: i64,
    },
    /// More publishes were free than the tariff allows.
    OverUse {
        publishes: i64,
        paid: i64,
        free: i64,
    },
    /// The ledger has no entry with the amount of a receipt.
    Receipt {
        reason: String,
        amount: Micro,
        entered: Option<Micro>,
    },
}

impl fmt::Display for LedgerFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Balance { balance, entries } => write!(
                f,
                "its balance is {} micro-dollars, but its entries add up to {}",
                balance.get(),
                entries.get()
            ),
            Self::Count { counted, entries, last_seq } => {
                write!(
                    f,
                    "it counts {counted} entries but has {entries}, and the last one has number {last_seq}"
                )
            }
            Self::RunningBalance { seq, reason, recorded, entries } => write!(
                f,
                "entry {seq} ({reason}) records a balance of {} micro-dollars after it, but the entries add up to {}",
                recorded.get(),
                entries.get()
            ),
            Self::RepeatedReason { reason, times } => write!(f, "the reason {reason} occurs {times} times"),
            Self::WrongWay { seq, reason, delta } => {
                write!(
                    f,
                    "entry {seq} ({reason}) moves {} micro-dollars, which is the wrong sign",
                    delta.get()
                )
            }
            Self::NegativeAllowance { what, count } => write!(f, "its count of {what} is {count}"),
            Self::OverUse { publishes, paid, free } => {
                write!(f, "of {publishes} publishes {paid} were paid, but only {free} are free")
            }
            Self::Receipt { reason, amount, entered: None } => {
                write!(
                    f,
                    "a receipt is for {} micro-dollars, but the ledger has no entry {reason}",
                    amount.get()
                )
            }
            Self::Receipt { reason, amount, entered: Some(entered) } => write!(
                f,
                "a receipt is for {} micro-dollars, but the entry {reason} has {}",
                amount.get(),
                entered.get()
            ),
        }
    }
}
