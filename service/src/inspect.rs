//! The inspection of a publish's files before it is queued: for secrets, and for what will not work.

use std::panic::{AssertUnwindSafe, catch_unwind};

use domain::{Host, Refusal, Repeating, SitePath, Warning, WarningCode, find_leaks};
use sitecheck::Terms;
use tokio::try_join;

use crate::compute::compute;
use crate::deadline::failure_before;
use crate::{PublishRequest, Service, ServiceResult, UploadedFile};

/// What the files of a publish look like, for its author.
pub(crate) struct Inspected {
    pub warnings: Vec<Warning>,
    pub entry_page: Option<SitePath>,
}

impl Service {
    /// Refuses files that contain an active token of any account. Returns the warnings about everything else.
    pub(crate) async fn inspect(
        &self,
        request: &PublishRequest,
        repeating: Repeating,
    ) -> ServiceResult<Inspected> {
        let total_bytes = request.files.iter().map(|file| file.bytes.len() as u64).sum();
        let searched = request.files.clone();
        let search = move || find_leaks(searched.iter().map(|file| (&file.path, &*file.bytes)));
        let (checked, terms) = (request.files.clone(), self.site_terms(request));
        let check = move || check_site(&checked, terms.as_ref());
        // Concurrently: each reads all files and takes about as long as the other.
        let (leaks, site) = try_join!(compute(total_bytes, search), compute(total_bytes, check))?;
        let leaks = leaks?;
        // A rule of the site may stand in for the front page.
        let has_no_index = site.iter().any(|warning| warning.code == WarningCode::NoIndex);
        let entry_page = sitecheck::entry_page(request.files.iter().map(|file| &file.path));
        let entry_page = entry_page.filter(|_| has_no_index);
        let mut warnings = leaks.warnings;
        warnings.extend(site);
        warnings.truncate(Warning::COUNT_MAX);
        if leaks.tokens.is_empty() {
            return Ok(Inspected { warnings, entry_page });
        }
        let hashes = leaks.tokens.iter().map(|token| token.secret_hash.clone());
        let active = self.0.store.tokens().find_active(hashes, self.0.clock.now()).await;
        let active = active.map_err(|error| failure_before(repeating, error))?;
        match leaks.tokens.into_iter().find(|token| active.contains(&token.secret_hash)) {
            Some(leaked) => {
                tracing::info!("publish refused: a file contains an active token");
                let path = leaked.path.to_string();
                Err(Refusal::SecretInPublish { path, line: leaked.line }.into())
            }
            None => Ok(Inspected { warnings, entry_page }),
        }
    }

    /// A new site gets its name only when it is published. Any random part gives the same result. Only the
    /// slug decides whether the name is a DNS label.
    fn site_terms(&self, request: &PublishRequest) -> Option<Terms> {
        let slug = request.slug.as_ref().map_or("page", |slug| slug.as_str());
        let host: Host = format!("{slug}-0000").parse().ok()?;
        Terms::new(&self.addresses().page(&host), self.0.rules.content_policy.clone())
    }
}

/// A bug in this check must not fail a publish.
fn check_site(files: &[UploadedFile], terms: Option<&Terms>) -> Vec<Warning> {
    let Some(terms) = terms else { return vec![] };
    let files = files.iter().map(|file| (&file.path, &*file.bytes));
    catch_unwind(AssertUnwindSafe(|| sitecheck::check(files, terms))).unwrap_or_else(|_| {
        tracing::error!("the check of a site's files panicked; its warnings are left out");
        vec![]
    })
}
