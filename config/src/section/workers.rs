//! How many jobs of each queue a process runs concurrently. Defaults to a multiple of the cores, with a
//! limit.

use crate::reader::Reader;
use crate::value::{AtATime, Concurrency};

/// Jobs mostly wait for disks and networks, and concurrent ones are committed together.
const JOBS_PER_CORE: usize = 16;
/// A scan waits less and computes more than other jobs.
const SCANS_PER_CORE: usize = 4;
const JOBS_MAX: usize = 1024;

/// The worker pool of this process.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Concurrent jobs of each queue, except scans.
    pub concurrency: usize,
    /// Concurrent scans that are fetched from the queue.
    pub scan_concurrency: usize,
    /// Memory for computing scans, in megabytes.
    pub scan_memory_mb: usize,
    /// Whether the small contents of a publish are stored in one object.
    pub bundles: bool,
}

impl Workers {
    pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
        let scan_memory_mb: Option<AtATime> = reader.required("workers.scan_memory_mb");
        let bundles = reader.required("workers.bundles");
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
            bundles: bundles?,
        })
    }
}
