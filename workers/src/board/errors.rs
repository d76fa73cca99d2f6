//! The errors of a queue's jobs, grouped: one fault often kills many jobs, and is fixed once.

use std::collections::HashMap;

use domain::Queue;
use service::{ErrorGroup, ErrorGroups, ErrorKey, JobFilter, JobInfo, JobState};

use crate::Queues;

/// The newest jobs that are grouped. No index leads from an error to its jobs.
const GROUPED_MAX: usize = 1_000;
const GROUPS_SHOWN_MAX: usize = 20;

impl Queues {
    pub(super) async fn error_groups(&self, queue: Queue, state: JobState) -> anyhow::Result<ErrorGroups> {
        let (jobs, is_cut) = self.newest(JobFilter::of(queue, state), GROUPED_MAX).await?;
        let (grouped, mut groups) = (jobs.len() as u64, group(jobs));
        let groups_not_listed = groups.len().saturating_sub(GROUPS_SHOWN_MAX) as u64;
        groups.truncate(GROUPS_SHOWN_MAX);
        Ok(ErrorGroups { groups, groups_not_listed, jobs: grouped, is_cut })
    }

    /// The ids of the dead jobs in a group.
    pub(super) async fn dead_with(&self, queue: Queue, error: ErrorKey) -> anyhow::Result<Vec<String>> {
        let (jobs, _) = self.newest(JobFilter::of(queue, JobState::Dead), GROUPED_MAX).await?;
        let has_error = |job: &JobInfo| job.last_error.as_deref().map(ErrorKey::of) == Some(error);
        Ok(jobs.into_iter().filter(has_error).map(|job| job.id.to_string()).collect())
    }
}

/// The largest group first. The jobs are ordered from the newest to the oldest.
fn group(jobs: Vec<JobInfo>) -> Vec<ErrorGroup> {
    let mut groups: Vec<ErrorGroup> = Vec::new();
    let mut known: HashMap<ErrorKey, usize> = HashMap::new();
    for job in jobs {
        let Some(error) = job.last_error else { continue };
        let at = job.ended_at.unwrap_or(job.due_at);
        let key = ErrorKey::of(&error);
        let next = groups.len();
        match groups.get_mut(*known.entry(key).or_insert(next)) {
            Some(group) => {
                group.jobs += 1;
                group.first_at = group.first_at.min(at);
                group.last_at = group.last_at.max(at);
            }
            None => groups.push(ErrorGroup { key, error, jobs: 1, first_at: at, last_at: at }),
        }
    }
    // Stable, so that the newest of equally large groups comes first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.jobs));
    groups
}
