//! The connection limits of a listener. Everything on a connection must have a limit.

use std::time::Duration;

/// The limits of a listener. Both listeners have the same keys.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Open connections.
    pub max: usize,
    /// Open connections of one address.
    pub per_address_max: usize,
    /// The timeout of the first request's head.
    pub head_timeout: Duration,
    /// The timeout of a connection without a request.
    pub idle_timeout: Duration,
    pub head_bytes_max: usize,
    pub headers_max: usize,
    /// Concurrent requests on an HTTP/2 connection.
    pub streams_max: usize,
    /// The minimum rate at which a client must read a response. 0: no minimum.
    pub answer_bytes_per_second_min: u32,
}

/// Reads the limits of a section's listener. A macro, so that each key is a whole string in the program and
/// can be searched for.
macro_rules! connection_limits {
    ($reader:expr, $section:literal) => {{
        use $crate::section::connections::ConnectionLimits;
        use $crate::value::{AtATime, HeadBytes, Wait};
        let max = $reader.required::<AtATime>(concat!($section, ".connections_max"));
        let per_address_max = $reader.required::<AtATime>(concat!($section, ".connections_per_address_max"));
        let head_timeout = $reader.required::<Wait>(concat!($section, ".head_timeout"));
        let idle_timeout = $reader.required::<Wait>(concat!($section, ".idle_timeout"));
        let head_bytes_max = $reader.required::<HeadBytes>(concat!($section, ".head_bytes_max"));
        let headers_max = $reader.required::<AtATime>(concat!($section, ".headers_max"));
        let streams_max = $reader.required::<AtATime>(concat!($section, ".streams_max"));
        let answer_bytes_per_second_min = $reader.required(concat!($section, ".answer_bytes_per_second_min"));
        (|| {
            Some(ConnectionLimits {
                max: max?.0,
                per_address_max: per_address_max?.0,
                head_timeout: head_timeout?.0,
                idle_timeout: idle_timeout?.0,
                head_bytes_max: head_bytes_max?.0,
                headers_max: headers_max?.0,
                streams_max: streams_max?.0,
                answer_bytes_per_second_min: answer_bytes_per_second_min?,
            })
        })()
    }};
}
pub(crate) use connection_limits;
