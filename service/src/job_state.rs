//! The states of a job, as the queue board shows them.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Not started.
    Waiting,
    Running,
    /// Waiting for another attempt.
    Failed,
    /// No attempts are left, or none can succeed.
    Dead,
    /// Cancelled by an operator. It is deleted along with done jobs.
    Cancelled,
    Done,
}

impl JobState {
    pub const ALL: [JobState; 6] = [
        JobState::Waiting,
        JobState::Running,
        JobState::Failed,
        JobState::Dead,
        JobState::Cancelled,
        JobState::Done,
    ];

    pub fn name(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Failed => "failed",
            JobState::Dead => "dead",
            JobState::Cancelled => "cancelled",
            JobState::Done => "done",
        }
    }

    pub fn parse(name: &str) -> Option<JobState> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}
