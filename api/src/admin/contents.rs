//! The list of blocked files, which no new version may contain. A moderator can remove files from it.

use askama::Template;
use domain::{BlobHash, Refusal};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{BlockedContent, Service};

use super::frame::{Frame, Tab, operator};
use crate::html::fields::Fields;
use crate::html::figures::{Count, Moment, Size};
use crate::html::{found_at, page};
use crate::http::refusal::RefusedCall;

pub const PATH: &str = "/admin/contents";
/// The number of characters of a hash that are shown. The form sends the whole hash.
const HASH_SHOWN: usize = 12;

#[derive(Template)]
#[template(path = "admin/contents.html")]
pub struct ContentsPage<'a> {
    pub frame: &'a Frame,
    pub rows: Vec<ContentRow>,
    /// The path of the next page of the list, if there is one.
    pub next: Option<String>,
}

pub struct ContentRow {
    pub hash: String,
    pub short_hash: String,
    pub file: String,
    pub size: Size,
    /// The page that was blocked with the file.
    pub host: String,
    pub case: String,
    pub blocked_by: String,
    pub at: Moment,
    pub live_versions: Count,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ContentsQuery {
    after: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct UnblockForm {
    hash: String,
}

#[handler]
pub async fn show(
    request: &Request,
    Query(query): Query<ContentsQuery>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let frame = Frame::begin(request, Tab::Contents)?;
    let unknown = |()| Refusal::invalid("after", "is not a position in the list");
    let after = query.after.as_deref().map(str::parse).transpose().map_err(unknown)?;
    let list = service.blocked_contents(after.as_ref(), None).await?;
    let template = ContentsPage {
        frame: &frame,
        rows: list.contents.into_iter().map(ContentRow::from).collect(),
        next: list.next.map(|after| format!("{PATH}?after={after}")),
    };
    page(StatusCode::OK, &template)
}

#[handler]
pub async fn unblock(
    request: &Request,
    Fields(form): Fields<UnblockForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let hash: BlobHash =
        form.hash.parse().map_err(|_| Refusal::invalid("hash", "is not a SHA-256 in hexadecimal"))?;
    service.unblock_content(&operator(request)?.name, hash).await?;
    Ok(found_at(&format!("{PATH}?done=unblocked")))
}

impl From<BlockedContent> for ContentRow {
    fn from(content: BlockedContent) -> Self {
        let hash = content.hash.to_string();
        Self {
            short_hash: hash.chars().take(HASH_SHOWN).collect(),
            hash,
            file: content.path,
            size: Size(content.size_bytes),
            case: format!("{}/{}", super::QUEUE, content.host),
            host: content.host.to_string(),
            blocked_by: content.blocked_by,
            at: Moment(content.blocked_at),
            live_versions: Count(content.live_versions),
        }
    }
}
