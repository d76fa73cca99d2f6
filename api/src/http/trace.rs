//! The trace of a request, for a task that continues its work.

use tracing::Span;

/// The span of a request in its trace.
#[derive(Clone)]
pub struct Traced(pub Span);
