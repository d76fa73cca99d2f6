//! Whether a client still waits for its response. A change runs to its end without its client; only what is
//! done for the response alone may stop.

use poem::{FromRequest, Request, RequestBody};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Ends when the client disconnects, and when the process stops. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ClientWait(CancellationToken);

impl ClientWait {
    /// The wait of one request, until the guard is dropped or the process stops.
    pub fn until_dropped(stop: &CancellationToken) -> (Self, DropGuard) {
        let token = stop.child_token();
        (Self(token.clone()), token.drop_guard())
    }

    /// The result of the work, or `None` if nobody waits for it any more.
    pub async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.0.run_until_cancelled(work).await
    }
}

impl<'a> FromRequest<'a> for ClientWait {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(request.data().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_for_a_response_ends_with_the_client_and_with_the_process() {
        let stop = CancellationToken::new();
        let (wait, connected) = ClientWait::until_dropped(&stop);
        assert_eq!(wait.unless_over(async { 1 }).await, Some(1));
        drop(connected);
        assert_eq!(wait.unless_over(std::future::pending::<()>()).await, None);
        assert!(!stop.is_cancelled(), "another request continues");
        let (wait, _connected) = ClientWait::until_dropped(&stop);
        stop.cancel();
        assert_eq!(wait.unless_over(std::future::pending::<()>()).await, None);
    }
}
