//! A body that is streamed in chunks.

use bytes::Bytes;
use futures::stream::BoxStream;

pub type Chunks = BoxStream<'static, std::io::Result<Bytes>>;
