//! What a door takes of connections and allows on them. Nothing on them may be without a bound.

use std::time::Duration;

/// The bounds of a door. The keys of both doors bear the same names.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// How many are open at a time.
    pub max: usize,
    /// How many of them one address may have.
    pub per_address_max: usize,
    /// Until when the head of the first request must have come.
    pub head_timeout: Duration,
    /// After which time without a request one is closed.
    pub idle_timeout: Duration,
    pub head_bytes_max: usize,
    pub headers_max: usize,
    /// Requests at a time on one of HTTP/2.
    pub streams_max: usize,
    /// The least pace at which an answer must be taken; 0: any.
    pub answer_bytes_per_second_min: u32,
}

/// Reads the bounds of the door of a section. A macro because keys are whole texts in the program: they can be searched
/// for.
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
