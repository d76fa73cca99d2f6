//! The ledger of one account: collects waiting operations and settles them in one commit. It replies only
//! after the commit, and to every caller. A caller without a reply must be able to send the same operation
//! again.

use std::sync::Arc;
use std::time::Duration;

use domain::{AccountId, LedgerOperation, Outcome};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tracing::{Instrument, Span};

use crate::commits::Commits;
use crate::terms::LedgerError;

/// The number of operations that one ledger settles at once.
const BATCH_MAX: usize = 64;
pub(crate) type SettleResult = Result<Outcome, LedgerError>;

#[derive(Debug)]
pub(crate) enum Message {
    /// An operation, its trace span, and the caller's reply port.
    Settle(Box<LedgerOperation>, Span, RpcReplyPort<SettleResult>),
    /// Ends the batch: every operation that was waiting when this was sent is before it.
    Flush,
    /// Sent by a timer. Stops the actor unless an operation has arrived since.
    Idle { generation: u64 },
}

/// The ledger of one account.
pub(crate) struct Ledger;

pub(crate) struct Arguments {
    pub(crate) account: AccountId,
    pub(crate) commits: Commits,
    /// An actor stops after this long without operations.
    pub(crate) idle_after: Duration,
}

pub(crate) struct State {
    arguments: Arguments,
    pending: Vec<(LedgerOperation, (Span, RpcReplyPort<SettleResult>))>,
    generation: u64,
    timer_is_set: bool,
}

impl Actor for Ledger {
    type Msg = Message;
    type State = State;
    type Arguments = Arguments;

    async fn pre_start(
        &self,
        _: ActorRef<Message>,
        arguments: Arguments,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State { arguments, pending: Vec::new(), generation: 0, timer_is_set: false })
    }

    async fn handle(
        &self,
        myself: ActorRef<Message>,
        message: Message,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Settle(operation, span, reply) => {
                state.generation += 1;
                state.pending.push((*operation, (span, reply)));
                let is_first = state.pending.len() == 1;
                // A draining actor accepts no more messages, so the batch ends here.
                let flush_is_lost = is_first && myself.cast(Message::Flush).is_err();
                if state.pending.len() >= BATCH_MAX || flush_is_lost {
                    state.settle_pending().await;
                }
            }
            Message::Flush => {
                state.settle_pending().await;
                state.set_timer(&myself);
            }
            Message::Idle { generation } => {
                state.timer_is_set = false;
                if generation == state.generation {
                    myself.drain()?;
                } else {
                    state.set_timer(&myself);
                }
            }
        }
        Ok(())
    }
}

impl State {
    fn set_timer(&mut self, myself: &ActorRef<Message>) {
        if !self.timer_is_set {
            let generation = self.generation;
            myself.send_after(self.arguments.idle_after, move || Message::Idle { generation });
            self.timer_is_set = true;
        }
    }

    /// Commits the waiting operations, then replies to every caller. An early return would drop callers.
    async fn settle_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let (operations, callers): (Vec<LedgerOperation>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().unzip();
        let (spans, replies): (Vec<Span>, Vec<_>) = callers.into_iter().unzip();
        let settled = self.arguments.settle(operations).instrument(telemetry::spans::commit(&spans)).await;
        for (reply, settled) in replies.into_iter().zip(settled) {
            // A caller that stopped waiting gets the outcome when it retries.
            let _ = reply.send(settled);
        }
        // A caller that has just received its reply may send its next operation. Yielding lets that operation
        // join the next batch instead of the one after it, at the cost of some latency for operations that
        // already wait.
        tokio::task::yield_now().await;
    }
}

impl Arguments {
    async fn settle(&self, operations: Vec<LedgerOperation>) -> Vec<SettleResult> {
        let (started, operations) = (std::time::Instant::now(), Arc::<[LedgerOperation]>::from(operations));
        let settled = match self.commits.settle(self.account, operations.clone()).await {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(error) if operations.len() == 1 || !matches!(error, LedgerError::Bug(_)) => {
                operations.iter().map(|_| Err(error.clone())).collect()
            }
            // One faulty operation must not fail the others.
            Err(_) => self.settle_singly(&operations).await,
        };
        telemetry::commit(operations.len(), started.elapsed());
        tracing::debug!(
            account.id = %self.account,
            ledger.batch = operations.len(),
            duration_ms = started.elapsed().as_secs_f64() * 1e3,
            "settled a batch of operations"
        );
        settled
    }

    async fn settle_singly(&self, operations: &[LedgerOperation]) -> Vec<SettleResult> {
        let mut settled = Vec::with_capacity(operations.len());
        for operation in operations {
            let outcome = self.commits.settle(self.account, Arc::from([operation.clone()])).await;
            settled.push(outcome.and_then(|mut outcomes| {
                outcomes.pop().ok_or_else(|| LedgerError::Bug("a batch of one had no outcome".into()))
            }));
        }
        settled
    }
}
