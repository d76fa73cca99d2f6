//! Connection timeouts: closes a connection that is idle, on which no request arrives, or whose client reads
//! a response too slowly.
//!
//! The HTTP libraries can do part of this, but they start and stop a timer for every request. Here one timer
//! per connection fires now and then. It must be polled whenever the connection waits for anything, because a
//! client may neither send nor read.

mod counted_body;
mod pace;
mod request_counter;
mod shares;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use telemetry::Cut;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

pub(crate) use counted_body::CountedBody;
use pace::Lead;
pub(crate) use pace::Pace;
pub(crate) use request_counter::RequestCounter;

/// A connection that ends after a timeout: idle, without a request, or with an unread response.
pub(crate) struct Connection<S> {
    stream: S,
    alarm: Pin<Box<Sleep>>,
    requests: RequestCounter,
    lead: Lead,
    pace: Arc<Pace>,
}

impl<S> Connection<S> {
    pub(crate) fn over(stream: S, requests: RequestCounter, pace: Arc<Pace>) -> Self {
        let alarm = Box::pin(sleep(pace.first_request_within.min(pace.check_every)));
        Self { stream, alarm, requests, lead: Lead::default(), pace }
    }

    /// Ready when the connection has timed out.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let Some(wait) = self.next_wait() else {
                self.pace.meter.cut(Cut::Silent);
                return Poll::Ready(());
            };
            self.alarm.as_mut().reset(Instant::now() + wait);
        }
    }

    /// How long to wait until the next check, or `None` if the connection has timed out. Requests in progress
    /// have their own timeouts. Bytes between two requests belong to the head of the next one, which is
    /// short.
    fn next_wait(&mut self) -> Option<Duration> {
        let Some(idle) = self.requests.idle_for() else {
            let is_in_time = self.lead.holds(self.requests.taken(), &self.pace)
                && !self.requests.is_any_late(|bytes| self.pace.may_last(bytes));
            return is_in_time.then_some(self.pace.check_every);
        };
        let most =
            if self.requests.has_started() { self.pace.idle_timeout } else { self.pace.first_request_within };
        let left = most.saturating_sub(idle);
        (!left.is_zero()).then(|| left.min(self.pace.check_every))
    }

    fn count_sent(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.pace.sent_bytes.add(*bytes as u64);
        }
    }

    /// Checks the timeout when a step on the stream is pending.
    fn with_timeout<T>(
        &mut self,
        step: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if step.is_pending() {
            return self.poll_end(context).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        step
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.with_timeout(read, context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.count_sent(&written);
        self.with_timeout(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.count_sent(&written);
        self.with_timeout(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
