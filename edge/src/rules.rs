//! Serves sites that have rules of their own: redirects and rewrites from `_redirects`, headers from
//! `_headers`. Access was checked before, and a file that a rule shows passes the same checks as any other.

use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use domain::site_rules::{CacheTerms, Destination, FileAtPath, RedirectMatch, RequestPath, SiteRules};
use domain::{ManifestFile, Visibility};
use poem::Response;
use poem::http::StatusCode;
use tokio::time::timeout_at;

use crate::closed::{Closed, Failure};
use crate::content::Content;
use crate::form::{Dress, Form};
use crate::handler::Inner;
use crate::old_tabs::varied;
use crate::resolve::{Resolved, not_found, resolve};
use crate::response;
use crate::rules_cache::RulesKey;
use crate::site_headers;
use crate::visit::PageVisit;

impl Inner {
    /// Applies the first redirect or rewrite that matches, and the headers of all rules that match.
    pub async fn show_by_rules(&self, visit: &PageVisit<'_>, key: RulesKey) -> Result<Response, Failure> {
        let rules = self.rules(visit, key).await?;
        let path = RequestPath::new(visit.address.path);
        let found = resolve(&visit.site.route.manifest, visit.address.path);
        let is_absent = found.is_absent();
        let (file, own_file) = match found {
            Resolved::Nothing | Resolved::OwnNotFound(_) => (FileAtPath::Absent, None),
            Resolved::File(file) => (FileAtPath::Present, Some(file)),
            Resolved::Folder | Resolved::OnlyPage(_) => (FileAtPath::Present, None),
        };
        let is_private = visit.site.route.visibility == Visibility::Private;
        // A rule is often a page for all other paths, which is no script that an old tab could use.
        if is_absent && let Some(former) = self.former_file(visit).await? {
            let mut response = self.show_former(visit, &former).await?;
            let caching = CacheTerms::of_file(&former, is_private);
            site_headers::apply(&mut response, &rules.headers.for_path(&path), visit, caching)?;
            return Ok(response);
        }
        let mut caching = CacheTerms { is_private, is_fingerprinted: false };
        let mut response = match rules.redirects.find(&path, file, visit.request.uri().query()) {
            Some(RedirectMatch::Redirect { status, to }) => {
                // It leads visitors away as a document that is held back could.
                if matches!(to, Destination::Elsewhere(_)) && visit.site.route.is_held_back(visit.now) {
                    return Err(Closed::Unchecked.into());
                }
                self.redirect_by_rule(visit, status, &to)?
            }
            Some(RedirectMatch::Rewrite { path }) => match visit.site.route.manifest.shown_at(&path) {
                Some(file) => self.show_found(visit, Resolved::File(file)).await?,
                None => self.show_found(visit, not_found(&visit.site.route.manifest)).await?,
            },
            Some(RedirectMatch::NotFound { path }) => {
                let page = visit.site.route.manifest.shown_at(&path).map(Resolved::OwnNotFound);
                let page = page.unwrap_or_else(|| not_found(&visit.site.route.manifest));
                self.show_found(visit, page).await?
            }
            None => {
                // A version's address closes with its page, so nothing there is cached for long.
                let own_file = own_file.filter(|_| visit.address.label.version.is_none());
                caching = own_file.map_or(caching, |file| CacheTerms::of_file(file, is_private));
                self.show_found(visit, found).await?
            }
        };
        if is_absent {
            response = varied(visit, response);
        }
        site_headers::apply(&mut response, &rules.headers.for_path(&path), visit, caching)?;
        Ok(response)
    }

    fn redirect_by_rule(
        &self,
        visit: &PageVisit<'_>,
        status: u16,
        to: &Destination,
    ) -> anyhow::Result<Response> {
        let location = match to {
            Destination::Within { path, rest } => {
                format!("{}{path}{rest}", visit.address.mount.root(&visit.address.label))
            }
            Destination::Elsewhere(address) => address.clone(),
        };
        let status = StatusCode::from_u16(status).context("read the status of a redirect")?;
        response::redirect_to(status, self.policy.of_site(visit), &location)
    }

    /// The rules of a site. A visitor who would get a page without them gets an error instead.
    async fn rules(&self, visit: &PageVisit<'_>, key: RulesKey) -> anyhow::Result<Arc<SiteRules>> {
        let load = async {
            let files = visit.site.route.manifest.rule_files();
            let redirects = self.rule_file(visit, files.and_then(|files| files.redirects)).await?;
            let headers = self.rule_file(visit, files.and_then(|files| files.headers)).await?;
            Ok(SiteRules::parse(&redirects, &headers).0)
        };
        let rules = timeout_at(visit.patience.for_store(), self.rules.get(key, load)).await;
        rules.context("the blob store did not respond in time")?.context("read the rules of a site")
    }

    /// As much of the file as is parsed, and one byte more, by which the parser recognizes a longer file.
    async fn rule_file(&self, visit: &PageVisit<'_>, file: Option<&ManifestFile>) -> anyhow::Result<Bytes> {
        let Some(file) = file else { return Ok(Bytes::new()) };
        let host = &visit.site.route.host;
        let form = Form { host, file, dress: Dress::default(), encoding: None };
        let (_, content) = self.content(form, visit).await?;
        let Content::Ready(source) = content else { anyhow::bail!("a file with rules was rewritten") };
        let size_bytes = source.size_bytes().min(SiteRules::BYTES_MAX as u64 + 1);
        Ok(source.part(0..size_bytes, visit.patience).await?.into_bytes().await?)
    }
}
