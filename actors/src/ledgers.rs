//! Finds or starts an account's ledger, and supervises all ledgers. It must never assume whether an operation
//! was settled. Without a reply, sending the operation again is the only way to learn the outcome.

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

/// How long a caller waits for its operation. A slower operation may still settle; the caller's next attempt
/// finds its outcome.
const SETTLE_WAIT: Duration = Duration::from_secs(20);
/// How long the ledgers of a stopping process may take to finish.
const STOP_WAIT: Duration = Duration::from_secs(3);
/// How long a stopping actor may take to finish.
const LEAVE_WAIT: Duration = Duration::from_secs(1);
/// How often an operation is sent again because the actor stopped before it replied.
const ATTEMPTS_MAX: usize = 5;

/// The handle to all ledgers of this process.
#[derive(Clone)]
pub struct Ledgers(Arc<Inner>);

struct Inner {
    /// Distinguishes this set of ledgers from others in the process, because actor names are global.
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

    /// Settles an operation, at most once however often it is sent.
    pub async fn settle(&self, operation: LedgerOperation) -> SettleResult {
        let span = telemetry::spans::operation();
        self.send(operation, &span).instrument(span.clone()).await
    }

    async fn send(&self, operation: LedgerOperation, span: &Span) -> SettleResult {
        for _ in 0..ATTEMPTS_MAX {
            let ledger = self.ledger(operation.account()).await?;
            let sent = operation.clone();
            let settle = |reply| Message::Settle(Box::new(sent), span.clone(), reply);
            let call = ledger.call(settle, Some(SETTLE_WAIT)).await;
            match call {
                Ok(CallResult::Success(settled)) => return settled,
                Ok(CallResult::Timeout) => return Err(LedgerError::Unknown),
                // The actor stopped or failed before it replied. Its name is free once it is gone, and its
                // successor finds the outcome of what it settled.
                Ok(CallResult::SenderError) | Err(_) => {
                    let _ = ledger.wait(Some(LEAVE_WAIT)).await;
                }
            }
        }
        Err(LedgerError::Unknown)
    }

    /// Lets the actors finish, then stops them.
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
            tracing::warn!("some ledgers did not finish; their operations settle when they are sent again");
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

/// Supervises the ledgers, so that a failing ledger is logged and does not stop the others.
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
            tracing::error!(ledger.name = ledger.get_name(), error = %error, "a ledger failed; the next operation starts a new one");
        }
        Ok(())
    }
}
