//! Receives the signals of other processes over one subscription, which is reopened after every loss.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use domain::Queue;
use futures::StreamExt;
use redis::Msg;
use redis::aio::{PubSubSink, PubSubStream};
use tokio::time::{Instant, sleep};
use tracing::{debug, info, warn};

use crate::Receivers;
use crate::messages::{Announcement, Letter, Notice};
use crate::wire::{LEASE_VALID_FOR, ListFills, Subscription, Wire, within};

/// How often the connection is checked and the edge lease is refreshed.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(500);
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_millis(500);

pub(crate) async fn keep_listening(
    wire: Arc<Wire>,
    receivers: Arc<Receivers>,
    mut subscription: Subscription,
) {
    loop {
        let error = tokio::select! {
            () = receive(&wire, &receivers, subscription.stream) => anyhow::anyhow!("the server closed the subscription"),
            error = keep_alive(&wire, &receivers, subscription.sink) => error,
        };
        wire.close();
        receivers.edges.end_tenure();
        warn!(
            error = format!("{error:#}"),
            "lost the connection to Redis; signals between processes are paused"
        );
        subscription = reopen(&wire, &receivers).await;
        telemetry::redis_reconnected();
        info!("reconnected to Redis");
        // Announcements may have been missed, so every queue is polled now.
        Queue::ALL.into_iter().for_each(|queue| receivers.wakes.wake(queue));
    }
}

pub(crate) async fn keep_announcing(wire: Arc<Wire>, receivers: Arc<Receivers>) {
    loop {
        for queue in receivers.wakes.to_announce().await {
            if let Err(error) = wire.announce(&receivers.instance, queue).await {
                debug!(
                    error = format!("{error:#}"),
                    queue.name = queue.name(),
                    "could not send an announcement"
                );
            }
        }
    }
}

async fn reopen(wire: &Wire, receivers: &Receivers) -> Subscription {
    let mut backoff = BACKOFF_FIRST;
    loop {
        sleep(backoff).await;
        // The server may be empty, while edges still trust a lease in its earlier list.
        let not_before = receivers.registration.edges_miss_notices_from();
        match wire.open(&receivers.instance, ListFills { within: LEASE_VALID_FOR, not_before }).await {
            Ok(subscription) => return subscription,
            Err(error) => debug!(error = format!("{error:#}"), "Redis is still unreachable"),
        }
        backoff = (backoff * 2).min(BACKOFF_MAX);
    }
}

/// Returns the reason why the connection is considered dead.
async fn keep_alive(wire: &Wire, receivers: &Receivers, mut sink: PubSubSink) -> anyhow::Error {
    let mut is_subscribed_to_notices = false;
    loop {
        let sent_at = Instant::now();
        if let Err(error) = beat(wire, receivers, &mut sink, &mut is_subscribed_to_notices).await {
            return error;
        }
        if is_subscribed_to_notices
            && !receivers.edges.is_empty()
            && let Err(error) = receivers.edges.refresh(wire, receivers, sent_at).await
        {
            debug!(error = format!("{error:#}"), "could not refresh the edge lease");
        }
        tokio::select! {
            () = sleep(HEARTBEAT_EVERY) => (),
            () = receivers.edges.joined.notified() => (),
        }
    }
}

/// Checks that messages and commands go through, and subscribes to notices once this process has an edge.
async fn beat(
    wire: &Wire,
    receivers: &Receivers,
    sink: &mut PubSubSink,
    is_subscribed_to_notices: &mut bool,
) -> anyhow::Result<()> {
    if !*is_subscribed_to_notices && !receivers.edges.is_empty() {
        within(sink.subscribe(wire.names().notices())).await?;
        *is_subscribed_to_notices = true;
    }
    within(sink.ping::<redis::Value>()).await.context("ping the subscription")?;
    wire.ping().await.context("ping Redis")?;
    if let Err(error) = receivers.registration.renew(wire, &receivers.instance).await {
        debug!(error = format!("{error:#}"), "could not renew the registration of this process");
    }
    if let Err(error) = receivers.identity.agree(wire).await {
        debug!(error = format!("{error:#}"), "could not read the identity of the bus");
    }
    Ok(())
}

async fn receive(wire: &Arc<Wire>, receivers: &Receivers, mut stream: PubSubStream) {
    while let Some(message) = stream.next().await {
        if let Err(error) = dispatch(wire, receivers, &message) {
            warn!(
                error = format!("{error:#}"),
                channel = message.get_channel_name(),
                "received a malformed message"
            );
        }
    }
}

fn dispatch(wire: &Arc<Wire>, receivers: &Receivers, message: &Msg) -> serde_json::Result<()> {
    let (channel, payload) = (message.get_channel_name(), message.get_payload_bytes());
    if channel == wire.names().announcements() {
        take_announcement(receivers, &serde_json::from_slice(payload)?);
    } else if channel == wire.names().notices() {
        take_notice(wire, receivers, serde_json::from_slice(payload)?);
    } else if channel == wire.names().acks(&receivers.instance) {
        take_acknowledgement(receivers, serde_json::from_slice(payload)?);
    } else {
        take_letter(receivers, serde_json::from_slice(payload)?);
    }
    Ok(())
}

fn take_announcement(receivers: &Receivers, announcement: &Announcement) {
    // The sender has woken its own workers already. An unknown queue belongs to a newer release.
    if announcement.from != receivers.instance
        && let Some(queue) = Queue::parse(&announcement.queue)
    {
        receivers.wakes.wake(queue);
    }
}

fn take_notice(wire: &Arc<Wire>, receivers: &Receivers, notice: Notice) {
    if notice.from == receivers.instance {
        // Its own edges were called directly, but it counts as a receiver of the notice.
        return receivers.acks.acknowledge(notice.number, notice.from);
    }
    receivers.edges.drop_hosts(&notice.hosts);
    let letter = Letter::Ack { notice: notice.number, edge: receivers.instance.clone() };
    let wire = wire.clone();
    // Runs in the background, so that the next notice does not wait for this acknowledgement's round trip.
    tokio::spawn(async move {
        if let Err(error) = wire.acknowledge(&notice, &letter).await {
            debug!(error = format!("{error:#}"), "could not send an acknowledgement");
        }
    });
}

/// Any other message on this channel is ignored, because edges may send on it.
fn take_acknowledgement(receivers: &Receivers, letter: Letter) {
    if let Letter::Ack { notice, edge } = letter {
        receivers.acks.acknowledge(notice, edge);
    }
}

fn take_letter(receivers: &Receivers, letter: Letter) {
    match letter {
        Letter::Reply { job, outcome } => receivers.replies.deliver(job, *outcome),
        Letter::Ack { notice, edge } => receivers.acks.acknowledge(notice, edge),
    }
}
