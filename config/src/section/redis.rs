//! The way to the other processes. One process needs none; whether a role can do without is asked by
//! `Settings::check_role`.

use crate::reader::Reader;
use crate::secret::RedisUrl;

/// What crosses processes and may be lost.
#[derive(Clone, Debug)]
pub struct Redis {
    pub url: Option<RedisUrl>,
}

impl Redis {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        Self { url: reader.optional("redis.url") }
    }
}
