//! Where traces are sent, and how many. Without a collector there are none.

use crate::reader::Reader;
use crate::value::{Share, WebAddress};

/// Traces by OpenTelemetry.
#[derive(Clone, Debug)]
pub struct Traces {
    /// The collector's address, without a trailing slash.
    pub otlp_url: Option<String>,
    /// The share of traces that are kept, from 0 to 1.
    pub sample: f64,
}

impl Traces {
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let otlp_url = reader.optional::<WebAddress>("traces.otlp_url").map(|address| address.0);
        let sample = reader.required::<Share>("traces.sample")?.0;
        Some(Self { otlp_url, sample })
    }
}
