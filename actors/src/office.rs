//! Finds an account's ledger or starts it, and stands above all of them. It must never decide whether a deed was
//! settled: when an answer is missing, only handing the deed in again tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use domain::{AccountId, LedgerOperation};
use ractor::rpc::CallResult;
use ractor::{Actor, ActorProcessingErr, ActorRef, SpawnErr, SupervisionEvent};
use store::Store;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::{Instrument, Span};

use crate::commits::Commits;
use crate::ledger::{Arguments, Ledger, Message, SettleResult};
use crate::terms::{LedgerError, LedgerTerms};

/// How long a caller waits for its deed. A deed that takes longer may still settle: the caller's next try finds out.
const SETTLE_WAIT: Duration = Duration::from_secs(20);
/// How long the ledgers of a stopping process may take to finish what they have.
const STOP_WAIT: Duration = Duration::from_secs(3);
/// How long an actor that leaves may take to finish what it has.
const LEAVE_WAIT: Duration = Duration::from_secs(1);
/// How often a deed is handed in again when an actor left while it was on its way.
const HAND_INS_MAX: usize = 5;

/// The handle to all ledgers of this process: finds an account's actor or starts it.
#[derive(Clone)]
pub struct Ledgers(Arc<Inner>);

struct Inner {
    /// Tells this set of ledgers from others in the process; the registry of names is the process's.
    number: u64,
    supervisor: ActorRef<()>,
    supervising: std::sync::Mutex<Option<JoinHandle<()>>>,
    commits: Commits,
    idle_after: Duration,
}

impl Ledgers {
    pub async fn start(store: Store, terms: LedgerTerms) -> anyhow::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let (supervisor, supervising) =
            Actor::spawn(None, Supervisor, ()).await.context("start the ledgers' supervisor")?;
        Ok(Self(Arc::new(Inner {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            supervisor,
            supervising: std::sync::Mutex::new(Some(supervising)),
            idle_after: terms.idle_after,
            commits: Commits::start(store, terms),
        })))
    }

    /// Settles a deed, at most once however often it is handed in.
    pub async fn settle(&self, operation: LedgerOperation) -> SettleResult {
        let span = telemetry::spans::operation();
        self.hand_in(operation, &span).instrument(span.clone()).await
    }

    async fn hand_in(&self, operation: LedgerOperation, span: &Span) -> SettleResult {
        for _ in 0..HAND_INS_MAX {
            let ledger = self.ledger(operation.account()).await?;
            let handed_in = operation.clone();
            let settle = |reply| Message::Settle(Box::new(handed_in), span.clone(), reply);
            let call = ledger.call(settle, Some(SETTLE_WAIT)).await;
            match call {
                Ok(CallResult::Success(settled)) => return settled,
                Ok(CallResult::Timeout) => return Err(LedgerError::Unknown),
                // The actor left or fell between the look-up and its answer. Its name is free when it is gone, and the
                // next one knows what it did.
                Ok(CallResult::SenderError) | Err(_) => {
                    let _ = ledger.wait(Some(LEAVE_WAIT)).await;
                }
            }
        }
        Err(LedgerError::Unknown)
    }

    /// Lets the actors finish what they have and stops them.
    pub async fn stop(&self) {
        let ledgers = self.0.supervisor.get_children();
        for ledger in &ledgers {
            let _ = ledger.drain();
        }
        let all_left = async {
            for ledger in &ledgers {
                let _ = ledger.wait(None).await;
            }
        };
        if timeout(STOP_WAIT, all_left).await.is_err() {
            tracing::warn!("some ledgers had not finished; their deeds settle when they are handed in again");
        }
        self.0.supervisor.stop(None);
        let supervising = self.0.supervising.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(supervising) = supervising {
            let _ = supervising.await;
        }
    }

    async fn ledger(&self, account: AccountId) -> Result<ActorRef<Message>, LedgerError> {
        let name = format!("ledger-{}-{account}", self.0.number);
        loop {
            if let Some(ledger) = ActorRef::<Message>::where_is(name.clone()) {
                return Ok(ledger);
            }
            let (commits, idle_after) = (self.0.commits.clone(), self.0.idle_after);
            let arguments = Arguments { account, commits, idle_after };
            let supervisor = self.0.supervisor.get_cell();
            match Actor::spawn_linked(Some(name.clone()), Ledger, arguments, supervisor).await {
                Ok((ledger, _)) => return Ok(ledger),
                Err(SpawnErr::ActorAlreadyRegistered(_)) => tokio::task::yield_now().await,
                Err(error) => return Err(LedgerError::Bug(format!("start a ledger: {error}"))),
            }
        }
    }
}

/// Stands above the ledgers so that one that falls is noticed and nobody falls with it.
struct Supervisor;

impl Actor for Supervisor {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<()>,
        event: SupervisionEvent,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        if let SupervisionEvent::ActorFailed(ledger, error) = event {
            tracing::error!(ledger.name = ledger.get_name(), error = %error, "a ledger fell; the next deed starts a new one");
        }
        Ok(())
    }
}
