//! Search on the queue board, by what a person has at hand: the id of a job, the handle of an account, or the
//! host of a page. And the way back: the account and the page that a job is about.

use domain::{Host, JobId, Page, Queue, Slug};
use serde_json::Value;

use crate::board::{JobDetail, JobInfo};
use crate::{Service, ServiceResult};

/// The newest versions of a page whose jobs a search finds.
const VERSIONS_MAX: u32 = 50;

/// The result of a search.
#[derive(Clone, Debug)]
pub enum FoundJobs {
    /// The text is the id of this job.
    Job(Queue, JobId),
    /// The newest jobs of the account or page.
    Jobs(Vec<JobInfo>),
    /// No job, account or page has this name.
    Unknown,
}

/// What a job is about, as far as it still exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobSubject {
    /// The handle of the account.
    pub account: Option<String>,
    pub host: Option<Host>,
}

impl Service {
    pub async fn find_jobs(&self, text: &str) -> ServiceResult<FoundJobs> {
        if let Ok(id) = text.parse::<JobId>()
            && let Some(queue) = self.0.board.find_job(id).await?
        {
            return Ok(FoundJobs::Job(queue, id));
        }
        let terms = match self.0.store.accounts().find_named(text).await? {
            Some(account) => vec![vec![account.to_string()]],
            None => self.terms_of_page(text).await?,
        };
        if terms.is_empty() {
            return Ok(FoundJobs::Unknown);
        }
        Ok(FoundJobs::Jobs(self.0.board.search(&terms).await?))
    }

    /// What the payloads of a page's jobs contain: its host, one of its versions, or its account and slug. The
    /// version of a publish that is not settled is not stored yet. Publishes of a deleted page with the same slug
    /// are found too.
    async fn terms_of_page(&self, host: &str) -> ServiceResult<Vec<Vec<String>>> {
        let Ok(host) = host.parse::<Host>() else { return Ok(Vec::new()) };
        let Some(artifact) = self.0.store.artifacts().find_at(&host).await? else { return Ok(Vec::new()) };
        let page = Page::first(VERSIONS_MAX);
        let versions = self.0.store.artifacts().list_versions(artifact.account, artifact.id, &page).await?;
        let by_slug = vec![artifact.account.to_string(), format!("\"slug\":\"{}\"", artifact.slug)];
        let mut terms = vec![vec![host.to_string()], by_slug];
        terms.extend(versions.rows.into_iter().map(|version| vec![version.id.to_string()]));
        Ok(terms)
    }

    /// The account and the page that a job's payload names.
    pub async fn job_subject(&self, detail: &JobDetail) -> ServiceResult<JobSubject> {
        let named = |field: &str| detail.payload.get(field).and_then(Value::as_str);
        let Some(Ok(account)) = named("account").map(str::parse) else { return Ok(JobSubject::default()) };
        let found = self.0.store.accounts().find(account).await?;
        let host = match named("slug").map(str::parse::<Slug>) {
            Some(Ok(slug)) => {
                self.0.store.artifacts().find(account, &slug).await?.map(|artifact| artifact.host)
            }
            _ => None,
        };
        Ok(JobSubject { account: found.map(|account| account.handle), host })
    }
}
