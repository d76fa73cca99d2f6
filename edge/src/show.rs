//! Serves a file in the form that suits the visitor. The last step of a visit.

use anyhow::Context;
use domain::ManifestFile;
use poem::Response;
use poem::http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use crate::closed::{Closed, Failure};
use crate::conditional::{self, Validators, Verdict};
use crate::content::{Content, Source};
use crate::form::{Dress, Form, is_document};
use crate::gate::{Pass, Purpose};
use crate::handler::Inner;
use crate::range::{self, Wanted};
use crate::response;
use crate::visit::PageVisit;

impl Inner {
    pub async fn show(&self, visit: &PageVisit<'_>, file: &ManifestFile) -> Result<Response, Failure> {
        if visit.pass == Pass::AssetsOnly
            && let Some(redirect) = self.show_asset_only(visit, file)?
        {
            return Ok(redirect);
        }
        let (form, content) = self.settle(self.form(visit, file), visit).await?;
        let headers = self.policy.of_file(visit, file);
        if conditional::has_conditions(visit.request.headers())
            && let Some(etag) = self.etag_if_held(visit, &form)?
        {
            self.count_view(visit, file);
            return Ok(response::not_modified(headers, etag));
        }
        let (form, content) = match content {
            Some(content) => (form, content),
            None => self.content(form, visit).await?,
        };
        let response = self.send(visit, &form, headers, content).await?;
        if response.status() == StatusCode::OK {
            self.count_view(visit, file);
        }
        Ok(response)
    }

    /// Serves the site's own 404 page: always whole, and not counted as a view.
    pub async fn show_not_found(
        &self,
        visit: &PageVisit<'_>,
        file: &ManifestFile,
    ) -> Result<Response, Failure> {
        let (form, content) = self.content(self.form(visit, file), visit).await?;
        let mut headers = self.policy.of_file(visit, file);
        headers.remove(header::LAST_MODIFIED);
        describe(&mut headers, &form)?;
        match content {
            Content::Ready(source) => {
                Ok(response::whole(StatusCode::NOT_FOUND, headers, source, visit.patience).await?)
            }
            Content::Dressed(body) => Ok(response::stream(StatusCode::NOT_FOUND, headers, body)),
        }
    }

    /// Serves assets to pages that carry the `sig`. Scripts and style sheets are redirected to their signed
    /// address, because otherwise an imported style sheet could not load its fonts.
    fn show_asset_only(
        &self,
        visit: &PageVisit<'_>,
        file: &ManifestFile,
    ) -> Result<Option<Response>, Failure> {
        let purpose = Purpose::of(visit.request.headers(), file);
        if is_document(file) {
            return if purpose == Purpose::Fetch { Ok(None) } else { Err(Closed::Private.into()) };
        }
        if purpose != Purpose::LoadsMore {
            return Ok(None);
        }
        let headers = self.policy.of_site(visit);
        let route = &visit.site.route;
        let signature = self.link_key.signature(&route.host, route.link_generation);
        Ok(Some(response::redirect_signed(headers, visit.request.uri(), &signature)?))
    }

    fn form<'v>(&self, visit: &'v PageVisit<'_>, file: &'v ManifestFile) -> Form<'v> {
        let dress = Dress::of(&visit.site.route, &visit.address, file, &self.link_key);
        Form::choose(&visit.site.route.host, file, dress, visit.request.headers())
    }

    /// The `ETag` of this form, if the visitor already has it.
    fn etag_if_held(&self, visit: &PageVisit<'_>, form: &Form<'_>) -> Result<Option<HeaderValue>, Failure> {
        let etag = self.contents.etag(form)?;
        Ok(self.is_held(visit, &etag)?.then_some(etag))
    }

    /// Whether the visitor's conditions say that it already has the representation with this `ETag`.
    pub fn is_held(&self, visit: &PageVisit<'_>, etag: &HeaderValue) -> Result<bool, Failure> {
        match conditional::evaluate(visit.request.headers(), &validators(visit, etag)?) {
            Verdict::Send => Ok(false),
            Verdict::PreconditionFailed => Err(Closed::PreconditionFailed.into()),
            Verdict::NotModified => Ok(true),
        }
    }

    /// The final form, with its content if the content was needed to choose the form. Conditions must be
    /// evaluated against the `ETag` that is sent.
    async fn settle<'v>(
        &self,
        form: Form<'v>,
        visit: &PageVisit<'_>,
    ) -> anyhow::Result<(Form<'v>, Option<Content>)> {
        if self.contents.is_settled(&form) {
            return Ok((form, None));
        }
        let (form, content) = self.content(form, visit).await?;
        Ok((form, Some(content)))
    }

    /// The content and its final form: a page that is dressed as a stream is not encoded.
    pub async fn content<'v>(
        &self,
        form: Form<'v>,
        visit: &PageVisit<'_>,
    ) -> anyhow::Result<(Form<'v>, Content)> {
        let network = || (self.network_of)(visit.request);
        let content = match self.contents.recall(&form, network) {
            Some(content) => {
                self.meters.contents.hits.add(1);
                content
            }
            None => {
                self.meters.contents.misses.add(1);
                Box::pin(self.contents.open(&form, visit.patience, network())).await?
            }
        };
        let form = if content.is_unencoded() { form.unencoded() } else { form };
        Ok((form, content))
    }

    async fn send(
        &self,
        visit: &PageVisit<'_>,
        form: &Form<'_>,
        mut headers: HeaderMap,
        content: Content,
    ) -> Result<Response, Failure> {
        describe(&mut headers, form)?;
        let source = match content {
            Content::Ready(source) => source,
            Content::Dressed(body) => {
                headers.insert(header::ETAG, self.contents.etag(form)?);
                return Ok(response::stream(StatusCode::OK, headers, body));
            }
        };
        let etag = match &source {
            Source::Loaded(held) => held.etag.clone(),
            Source::Packed(_) | Source::Stored(_) => self.contents.etag(form)?,
        };
        headers.insert(header::ETAG, etag.clone());
        headers.insert(header::ACCEPT_RANGES, response::BYTES);
        if visit.request.method() == Method::HEAD {
            return Ok(response::headers_only(headers, &source));
        }
        let (size_bytes, patience) = (source.size_bytes(), visit.patience);
        let response = match wanted(visit, &etag, size_bytes)? {
            // Multipart responses cannot express that the parts are encoded and the whole is not.
            Wanted::Several(_) if form.encoding.is_some() => {
                response::whole(StatusCode::OK, headers, source, patience).await?
            }
            Wanted::Whole => response::whole(StatusCode::OK, headers, source, patience).await?,
            Wanted::One(part) => response::part(headers, source, part, patience).await?,
            // The hash is a safe boundary, because no file contains its own hash.
            Wanted::Several(parts) => {
                let boundary = form.file.hash.to_string();
                Box::pin(response::parts(headers, source, parts, &boundary, patience)).await?
            }
            Wanted::Unsatisfiable => return Err(Closed::RangeNotSatisfiable { size_bytes }.into()),
        };
        Ok(response)
    }

    /// Counts views of live pages. Assets, and versions at their own addresses, are not counted.
    fn count_view(&self, visit: &PageVisit<'_>, file: &ManifestFile) {
        let is_live = visit.address.label.version.is_none();
        if is_live && visit.request.method() == Method::GET && is_document(file) {
            self.count_page_view(visit);
        }
    }

    pub fn count_page_view(&self, visit: &PageVisit<'_>) {
        self.meters.views.add(1);
        self.tally.count(&visit.site.views);
    }
}

fn describe(headers: &mut HeaderMap, form: &Form<'_>) -> anyhow::Result<()> {
    let content_type =
        HeaderValue::try_from(form.file.content_type.as_str()).context("build a content type")?;
    headers.insert(header::CONTENT_TYPE, content_type);
    if let Some(encoding) = form.encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.token()));
    }
    Ok(())
}

fn wanted(visit: &PageVisit<'_>, etag: &HeaderValue, size_bytes: u64) -> anyhow::Result<Wanted> {
    let headers = visit.request.headers();
    let mut ranges = headers.get_all(header::RANGE).iter();
    let (Some(range), None) = (ranges.next(), ranges.next()) else { return Ok(Wanted::Whole) };
    if !conditional::may_range(headers, etag) {
        return Ok(Wanted::Whole);
    }
    Ok(range.to_str().map_or(Wanted::Whole, |range| range::wanted(range, size_bytes)))
}

fn validators<'e>(visit: &PageVisit<'_>, etag: &'e HeaderValue) -> anyhow::Result<Validators<'e>> {
    let etag = etag.to_str().context("read an ETag")?;
    Ok(Validators { etag, modified_at: visit.site.route.updated_at, now: visit.now })
}
