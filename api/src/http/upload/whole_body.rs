//! Bodies that are read to their end before they are parsed, and the threads that parse them.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use bytes::{Bytes, BytesMut};
use domain::Refusal;
use futures::StreamExt;
use poem::{Body, Request, RequestBody};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::{incomplete, refusal_behind};
use crate::http::permits::RequestPermit;
use crate::http::upload_budget::{BodyShare, HeldMemory};

/// Parsing this many bytes takes a fraction of a millisecond, and moving it to another thread would cost as
/// much.
const DONE_IN_PLACE_BYTES_MAX: usize = 16 * 1024;

/// One permit per core. Unpacking a body is limited by the processor, so more at a time would only delay
/// other requests.
static CORES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// A body that has not been read yet.
pub struct WholeBody {
    body: Body,
    pub share: BodyShare,
    pub permit: RequestPermit,
}

/// A body that was read to its end.
pub struct ReadBody {
    pub bytes: Bytes,
    /// Must be held as long as the bytes are in memory.
    pub memory: HeldMemory,
}

impl WholeBody {
    pub fn of(request: &Request, body: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self { body: body.take()?, share: BodyShare::of(request), permit: RequestPermit::of(request) })
    }

    /// Reads the body without a permit, because a slow upload must not hold a permit that others need.
    /// `check` sees every chunk and can end the upload.
    pub async fn read(
        self,
        mut check: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<ReadBody, Refusal> {
        self.permit.release();
        let mut memory = self.share.enter();
        let (mut bytes, mut body) = (BytesMut::new(), Box::pin(self.body.into_bytes_stream()));
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| refusal_behind(&error).unwrap_or_else(incomplete))?;
            check(&chunk)?;
            memory.grow(chunk.len()).await?;
            bytes.extend_from_slice(&chunk);
        }
        Ok(ReadBody { bytes: bytes.freeze(), memory })
    }
}

/// Parses or unpacks a body of this many bytes, on a blocking thread unless it is small.
pub async fn compute<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    if bytes <= DONE_IN_PLACE_BYTES_MAX {
        return work();
    }
    on_blocking_thread(work).await
}

/// Runs work on a blocking thread, as many at a time as there are cores.
pub async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let _core = CORES.acquire().await;
    spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(error = %error, "a body could not be parsed");
        Err(Refusal::Internal)
    })
}
