//! How many jobs of each queue one process works at a time: by its cores, unless something is set, and bounded either
//! way.

use crate::reader::Reader;
use crate::value::Concurrency;

const JOBS_PER_CORE: usize = 4;
const JOBS_MAX: usize = 1024;

/// The worker pool of this process.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Jobs of each queue at a time.
    pub concurrency: usize,
}

impl Workers {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        let concurrency = reader.derived("workers.concurrency", "the number of cores", || {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            Concurrency((cores * JOBS_PER_CORE).min(JOBS_MAX))
        });
        Self { concurrency: concurrency.0 }
    }
}
