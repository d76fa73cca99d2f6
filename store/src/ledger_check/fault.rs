//! What can be wrong with a ledger, and how that is told.

use std::fmt;

use domain::Micro;

/// What is wrong with an account's ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerFault {
    pub account: String,
    /// None when the account is gone.
    pub handle: Option<String>,
    pub kind: LedgerFaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFaultKind {
    /// The balance is not what the entries come to.
    Balance {
        balance: Micro,
        entries: Micro,
    },
    /// The account has counted another number of entries, or numbers are missing among them.
    Count {
        counted: i64,
        entries: i64,
        last_seq: i64,
    },
    /// The balance that an entry notes is not what the entries up to it come to.
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
    /// A reason that only takes has brought in, or one that only brings in has taken.
    WrongWay {
        seq: i64,
        reason: String,
        delta: Micro,
    },
    NegativeAllowance {
        what: &'static str,
        count: i64,
    },
    /// More publishes were free than the tariff has.
    OverUse {
        publishes: i64,
        paid: i64,
        free: i64,
    },
    /// Somebody has a receipt for money that the ledger does not have.
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
