//! Communication with other processes. A single process does not need it; `Settings::check_role` checks which
//! roles do.

use crate::reader::Reader;
use crate::secret::RedisUrl;

/// The server for signals between processes, which may be lost.
#[derive(Clone, Debug)]
pub struct Redis {
    pub url: Option<RedisUrl>,
}

impl Redis {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        Self { url: reader.optional("redis.url") }
    }
}
