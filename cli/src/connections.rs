//! Connections: how a door takes them.
//!
//! An idle connection is hung up on. The server library can do that too, but wakes a task of its own for it at every
//! read and write, which takes a tenth of the speed of the edge; here one alarm looks now and then.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use poem::http::uri::Scheme;
use poem::listener::{Acceptor, TcpAcceptor};
use poem::web::{LocalAddr, RemoteAddr};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// A connection on which nothing happened between two looks is closed: idle for 75 s at most, and for half of that at
/// least.
const LOOK_EVERY: Duration = Duration::from_millis(37_500);

/// Takes connections that answer at once and do not stay for nothing.
pub(crate) struct Connections(TcpAcceptor);

impl Connections {
    pub(crate) fn of(acceptor: TcpAcceptor) -> Self {
        Self(acceptor)
    }
}

impl Acceptor for Connections {
    type Io = Connection<TcpStream>;

    fn local_addr(&self) -> Vec<LocalAddr> {
        self.0.local_addr()
    }

    async fn accept(&mut self) -> io::Result<(Self::Io, LocalAddr, RemoteAddr, Scheme)> {
        let (stream, local, remote, scheme) = self.0.accept().await?;
        // The last small piece of an answer must not wait for the acknowledgement of the one before.
        stream.set_nodelay(true)?;
        Ok((Connection::over(stream), local, remote, scheme))
    }
}

/// A connection that ends itself when it was idle for too long.
pub(crate) struct Connection<S> {
    stream: S,
    alarm: Pin<Box<Sleep>>,
    /// Whether anything happened since the alarm last rang.
    is_active: bool,
}

impl<S> Connection<S> {
    fn over(stream: S) -> Self {
        Self { stream, alarm: Box::pin(sleep(LOOK_EVERY)), is_active: true }
    }

    /// Ready when the connection was idle for too long.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.alarm.as_mut().poll(context));
            if !self.is_active {
                return Poll::Ready(());
            }
            self.is_active = false;
            self.alarm.as_mut().reset(Instant::now() + LOOK_EVERY);
        }
    }

    fn note<T>(&mut self, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.is_active |= done.is_ready();
        done
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        match self.note(read) {
            Poll::Pending => self.poll_idle(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
            read => read,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(written)
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
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_stays_while_anything_happens_and_ends_when_nothing_does() {
        let (mut visitor, door) = duplex(64);
        let mut connection = Connection::over(door);
        let mut byte = [0];
        for _ in 0..10 {
            advance(LOOK_EVERY - Duration::from_secs(1)).await;
            visitor.write_all(b"x").await.unwrap();
            connection.read_exact(&mut byte).await.unwrap();
        }
        let idle_since = Instant::now();
        let end = connection.read(&mut byte).await.unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::TimedOut);
        let idle = idle_since.elapsed();
        assert!(LOOK_EVERY <= idle && idle <= 2 * LOOK_EVERY + Duration::from_secs(1), "{idle:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_being_sent_counts_as_well() {
        let (mut visitor, door) = duplex(64);
        let mut connection = Connection::over(door);
        let mut byte = [0];
        for _ in 0..10 {
            advance(LOOK_EVERY - Duration::from_secs(1)).await;
            connection.write_all(b"x").await.unwrap();
            visitor.read_exact(&mut byte).await.unwrap();
            let read = tokio::time::timeout(Duration::from_millis(1), connection.read(&mut byte));
            assert!(read.await.is_err(), "nothing was sent, and nothing has ended");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn faults_of_the_stream_are_told() {
        let (visitor, door) = duplex(64);
        let mut connection = Connection::over(door);
        drop(visitor);
        assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
        assert!(connection.write_all(b"x").await.is_err());
    }
}
