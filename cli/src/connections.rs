//! Connections: one that is idle is hung up on, and so is one over which no request comes, be it the first or the next,
//! or whose visitor takes an answer so slowly that it will never end.
//!
//! The server libraries can do some of that, but start and stop a timer for it at every request; here one alarm looks
//! now and then. It must be looked at whenever there is something to wait for: a visitor may neither send nor take
//! anything.

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

/// A connection that ends itself when it was idle for too long, or nothing was asked, or what was answered is not taken.
pub(crate) struct Connection<S> {
    stream: S,
    alarm: Pin<Box<Sleep>>,
    requests: RequestCounter,
    lead: Lead,
    pace: Arc<Pace>,
}

impl<S> Connection<S> {
    pub(crate) fn over(stream: S, requests: RequestCounter, pace: Arc<Pace>) -> Self {
        let alarm = Box::pin(sleep(pace.first_request_within.min(pace.look_every)));
        Self { stream, alarm, requests, lead: Lead::default(), pace }
    }

    /// Ready when nothing more is to be expected of it.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let Some(wait) = self.wait_on() else {
                self.pace.meter.cut(Cut::Silent);
                return Poll::Ready(());
            };
            self.alarm.as_mut().reset(Instant::now() + wait);
        }
    }

    /// How long it is waited before the next look; none when it is over. What is worked on has bounds of its own. What is
    /// sent between two requests is the head of the next one, and that is short.
    fn wait_on(&mut self) -> Option<Duration> {
        let Some(idle) = self.requests.idle_for() else {
            let is_in_time = self.lead.holds(self.requests.taken(), &self.pace)
                && !self.requests.is_any_late(|bytes| self.pace.may_last(bytes));
            return is_in_time.then_some(self.pace.look_every);
        };
        let most =
            if self.requests.has_begun() { self.pace.idle_timeout } else { self.pace.first_request_within };
        let left = most.saturating_sub(idle);
        (!left.is_zero()).then(|| left.min(self.pace.look_every))
    }

    fn note_sent(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.pace.sent_bytes.add(*bytes as u64);
        }
    }

    /// The end of a connection that waits in vain for a step over the stream; none when the step was done.
    fn look<T>(&mut self, step: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
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
        self.look(read, context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_sent(&written);
        self.look(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note_sent(&written);
        self.look(written, context)
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
