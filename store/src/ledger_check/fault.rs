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
        noted: Micro,
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
                "its balance is {} micro-dollars and its entries come to {}",
                balance.get(),
                entries.get()
            ),
            Self::Count { counted, entries, last_seq } => {
                write!(
                    f,
                    "it has counted {counted} entries and has {entries}, the last with number {last_seq}"
                )
            }
            Self::RunningBalance { seq, reason, noted, entries } => write!(
                f,
                "entry {seq} ({reason}) notes a balance of {} micro-dollars after it, and the entries come to {}",
                noted.get(),
                entries.get()
            ),
            Self::RepeatedReason { reason, times } => write!(f, "the reason {reason} occurs {times} times"),
            Self::WrongWay { seq, reason, delta } => {
                write!(f, "entry {seq} ({reason}) moves {} micro-dollars, the wrong way", delta.get())
            }
            Self::NegativeAllowance { what, count } => write!(f, "its {what} stand at {count}"),
            Self::OverUse { publishes, paid, free } => write!(
                f,
                "of {publishes} publishes {paid} were paid, though only {free} are free by the settings as they are"
            ),
            Self::Receipt { reason, amount, entered: None } => {
                write!(f, "a receipt is for {} micro-dollars, and there is no entry {reason}", amount.get())
            }
            Self::Receipt { reason, amount, entered: Some(entered) } => write!(
                f,
                "a receipt is for {} micro-dollars, and the entry {reason} has {}",
                amount.get(),
                entered.get()
            ),
        }
    }
}
