//! The body of a response while it is sent. The HTTP library drops a body once it has the last piece, which
//! may be megabytes, and holds that piece until it is written. So every piece keeps the request active, too.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use crate::connections::request_counter::{ActiveRequest, PendingPiece};

pub(crate) struct CountedBody<B> {
    body: B,
    pending: Option<PendingPiece>,
    active: ActiveRequest,
}

impl<B> CountedBody<B> {
    pub(crate) fn to(active: ActiveRequest, body: B) -> Self {
        Self { body, pending: Some(active.pending(0)), active }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for CountedBody<B> {
    type Data = Piece;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending() {
            // It waits for its source, not for the client.
            self.pending = None;
        } else if self.pending.is_none() {
            self.pending = Some(self.active.pending(0));
        }
        polled.map_ok(|frame| {
            frame.map_data(|bytes| Piece { pending: self.active.pending(bytes.len()), bytes })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that are dropped once they are written.
pub(crate) struct Piece {
    bytes: Bytes,
    pending: PendingPiece,
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, bytes: usize) {
        self.pending.count_taken(bytes);
        self.bytes.advance(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures::StreamExt;
    use futures::channel::mpsc;
    use hyper::Response;

    use super::*;
    use crate::connections::request_counter::RequestCounter;

    fn of_a_source() -> (mpsc::UnboundedSender<std::io::Result<Bytes>>, poem::Body) {
        let (source, pieces) = mpsc::unbounded();
        (source, poem::Body::from_bytes_stream(pieces.map(|piece| piece)))
    }

    #[tokio::test]
    async fn request_is_active_until_its_whole_body_is_sent() {
        let (requests, (source, body)) = (RequestCounter::default(), of_a_source());
        let response: Response<_> = poem::Response::builder().body(body).into();
        let mut answer = CountedBody::to(requests.start(), response.into_body());
        let polled =
            poll_fn(|context| Poll::Ready(Pin::new(&mut answer).poll_frame(context).is_pending())).await;
        assert!(polled && !requests.taken().is_pending, "there is nothing to take yet");
        assert!(!requests.is_idle());
        source.unbounded_send(Ok(Bytes::from_static(b"piece"))).unwrap();
        drop(source);
        let frame = poll_fn(|context| Pin::new(&mut answer).poll_frame(context)).await;
        let mut piece = frame.unwrap().unwrap().into_data().ok().unwrap();
        assert!(poll_fn(|context| Pin::new(&mut answer).poll_frame(context)).await.is_none());
        drop(answer);
        piece.advance(3);
        assert!(!requests.is_idle() && requests.taken().is_pending);
        assert_eq!((piece.chunk(), requests.taken().bytes), (b"ce".as_slice(), 3));
        drop(piece);
        assert!(requests.is_idle() && !requests.taken().is_pending);
    }
}
