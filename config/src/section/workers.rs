//! How many jobs of each queue one process works at a time: by its cores, unless something is set, and bounded either
//! way.

use crate::reader::Reader;
use crate::value::{AtATime, Concurrency};

/// Jobs wait for disks and networks, and what waits at the same time is committed together.
const JOBS_PER_CORE: usize = 16;
/// A scan waits less and computes more than other jobs.
const SCANS_PER_CORE: usize = 4;
const JOBS_MAX: usize = 1024;

/// The worker pool of this process.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Jobs of each queue at a time, but for the scans.
    pub concurrency: usize,
    /// Scans that are fetched from the queue at a time.
    pub scan_concurrency: usize,
    /// Memory that scans may take while they compute, in megabytes.
    pub scan_memory_mb: usize,
}

impl Workers {
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let scan_memory_mb: Option<AtATime> = reader.required("workers.scan_memory_mb");
        let mut by_cores = |key, per_core: usize| {
            let jobs = reader.derived(key, "the number of cores", || {
                let cores = std::thread::available_parallelism().map_or(1, usize::from);
                Concurrency((cores * per_core).min(JOBS_MAX))
            });
            jobs.0
        };
        Some(Self {
            concurrency: by_cores("workers.concurrency", JOBS_PER_CORE),
            scan_concurrency: by_cores("workers.scan_concurrency", SCANS_PER_CORE),
            scan_memory_mb: scan_memory_mb?.0,
        })
    }
}
