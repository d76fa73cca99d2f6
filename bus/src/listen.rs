//! What this process hears from the others: one subscription, kept alive, taken again after every loss.

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
use crate::wire::{Subscription, Wire, within};

/// How often the wire proves that it carries, and a seat among the edges is refreshed.
const HEARTBEAT_EVERY: Duration = Duration::from_millis(500);
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_millis(500);

pub(crate) async fn keep_listening(
    wire: Arc<Wire>,
    receivers: Arc<Receivers>,
    mut subscription: Subscription,
) {
    loop {
        let lost = tokio::select! {
            () = hear(&wire, &receivers, subscription.stream) => anyhow::anyhow!("the server closed the subscription"),
            error = keep_alive(&wire, &receivers, subscription.sink) => error,
        };
        wire.close();
        receivers.edges.end_tenure();
        warn!(error = format!("{lost:#}"), "Redis is lost: signals between processes wait for it");
        subscription = reopen(&wire, &receivers.instance).await;
        telemetry::redis_reconnected();
        info!("Redis is back");
        // Announcements were missed; whoever works on a queue looks now.
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
                    "an announcement was not sent"
                );
            }
        }
    }
}

async fn reopen(wire: &Wire, instance: &str) -> Subscription {
    let mut backoff = BACKOFF_FIRST;
    loop {
        sleep(backoff).await;
        match wire.reopen(instance).await {
            Ok(subscription) => return subscription,
            Err(error) => debug!(error = format!("{error:#}"), "Redis is still away"),
        }
        backoff = (backoff * 2).min(BACKOFF_MAX);
    }
}

/// Returns with the reason why the wire must be taken for dead.
async fn keep_alive(wire: &Wire, receivers: &Receivers, mut sink: PubSubSink) -> anyhow::Error {
    let mut hears_notices = false;
    loop {
        let asked_at = Instant::now();
        if let Err(error) = beat(wire, receivers, &mut sink, &mut hears_notices).await {
            return error;
        }
        if hears_notices
            && !receivers.edges.is_empty()
            && let Err(error) = receivers.edges.refresh(wire, &receivers.instance, asked_at).await
        {
            debug!(error = format!("{error:#}"), "the seat among the edges was not refreshed");
        }
        tokio::select! {
            () = sleep(HEARTBEAT_EVERY) => (),
            () = receivers.edges.joined.notified() => (),
        }
    }
}

/// Proves that messages and commands go through, and takes notices in once this process has an edge.
async fn beat(
    wire: &Wire,
    receivers: &Receivers,
    sink: &mut PubSubSink,
    hears_notices: &mut bool,
) -> anyhow::Result<()> {
    if !*hears_notices && !receivers.edges.is_empty() {
        within(sink.subscribe(wire.names().notices())).await?;
        *hears_notices = true;
    }
    within(sink.ping::<redis::Value>()).await.context("the subscription's heartbeat")?;
    wire.ping().await.context("the heartbeat")?;
    if let Err(error) = receivers.identity.agree(wire).await {
        debug!(error = format!("{error:#}"), "the identity of the bus was not read");
    }
    Ok(())
}

async fn hear(wire: &Arc<Wire>, receivers: &Receivers, mut stream: PubSubStream) {
    while let Some(message) = stream.next().await {
        if let Err(error) = take_in(wire, receivers, &message) {
            warn!(
                error = format!("{error:#}"),
                channel = message.get_channel_name(),
                "a message was not understood"
            );
        }
    }
}

fn take_in(wire: &Arc<Wire>, receivers: &Receivers, message: &Msg) -> serde_json::Result<()> {
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
    // Who announces has woken its own workers already. A queue unknown here belongs to a newer release.
    if announcement.from != receivers.instance
        && let Some(queue) = Queue::parse(&announcement.queue)
    {
        receivers.wakes.wake(queue);
    }
}

fn take_notice(wire: &Arc<Wire>, receivers: &Receivers, notice: Notice) {
    if notice.from == receivers.instance {
        // Its own edges were told directly, but it is one of those who heard.
        return receivers.acks.acknowledge(notice.number, notice.from);
    }
    receivers.edges.drop_hosts(&notice.hosts);
    let letter = Letter::Ack { notice: notice.number, edge: receivers.instance.clone() };
    let wire = wire.clone();
    // Not waited for: the next notice must not stand behind this acknowledgement's round trip.
    tokio::spawn(async move {
        if let Err(error) = wire.acknowledge(&notice, &letter).await {
            debug!(error = format!("{error:#}"), "an acknowledgement was not sent");
        }
    });
}

/// Whatever else comes by this channel is not believed: edges may send by it.
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
