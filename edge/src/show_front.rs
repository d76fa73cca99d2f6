//! Serves the front page of a site from memory. The first thing that a visit tries after the gate.

use std::sync::Arc;

use domain::Encoding;
use poem::Response;
use poem::http::{HeaderValue, Method, header};

use crate::closed::Failure;
use crate::conditional;
use crate::content::LoadedContent;
use crate::form::{Dress, Form};
use crate::front::FrontPage;
use crate::gate::{self, Pass};
use crate::handler::Inner;
use crate::response;
use crate::visit::PageVisit;

impl Inner {
    /// Serves the whole front page from memory. `None` if the visit needs all steps: it is for another path or
    /// a version, for a part of the page, or the content is not in memory.
    pub fn show_front(&self, visit: &PageVisit<'_>) -> Result<Option<Response>, Failure> {
        let (headers, route) = (visit.request.headers(), &visit.site.route);
        let is_whole = visit.request.method() == Method::GET && !headers.contains_key(header::RANGE);
        let is_front = visit.address.path == FrontPage::PATH && visit.address.label.version.is_none();
        let front = visit.site.front.as_ref().filter(|_| is_front && is_whole && visit.pass == Pass::Full);
        let Some(front) = front else { return Ok(None) };
        gate::admit_document(route, visit.now)?;
        let encoding = front.choose_encoding(headers);
        let known = front.recall(encoding, visit.patience.since());
        let Some(content) = known.or_else(|| self.find_front(visit, front, encoding)) else {
            return Ok(None);
        };
        self.meters.contents.hits.add(1);
        let mut sent = self.policy.of_document(visit);
        if conditional::has_conditions(headers) && self.is_held(visit, &content.etag)? {
            self.count_page_view(visit);
            return Ok(Some(response::not_modified(sent, content.etag.clone())));
        }
        sent.insert(header::CONTENT_TYPE, FrontPage::CONTENT_TYPE);
        if let Some(encoding) = encoding {
            sent.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.token()));
        }
        self.count_page_view(visit);
        Ok(Some(response::loaded(sent, &content)))
    }

    /// The content of the front page from the cache. The next visits do not need the cache.
    fn find_front(
        &self,
        visit: &PageVisit<'_>,
        front: &FrontPage,
        encoding: Option<Encoding>,
    ) -> Option<Arc<LoadedContent>> {
        let route = &visit.site.route;
        let file = FrontPage::file(route)?;
        let dress = Dress::of(route, &visit.address, file, &self.link_key);
        let content = self.contents.recall_loaded(&Form { host: &route.host, file, dress, encoding })?;
        front.keep(encoding, &content, visit.patience.since());
        Some(content)
    }
}
