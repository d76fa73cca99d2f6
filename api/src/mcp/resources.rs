//! The pages of the account as resources: the files of their live versions. They are listed one for each
//! page, and the template reaches the other files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{Artifact, AtPath, List, Missing, Page, PageStart, Refusal, Slug, VersionChoice};
use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use service::{VersionFile, VersionFiles};

use super::endpoint::McpExchange;
use crate::http::paging;
use crate::http::refusal::{RefusedCall, linked_json_of};

const SCHEME: &str = "handbill://pages/";
const TEMPLATE: &str = "handbill://pages/{slug}/{+path}";
const PAGES: u32 = 100;
const LISTS: &[List] = &[List::Artifacts];
/// The largest file in a response. A larger one is read over REST.
const BYTES_MAX: u64 = 1_048_576;

/// A page of the list. Pages without a live version are left out.
pub async fn list(exchange: &McpExchange, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let listed = exchange.counting(artifacts(exchange, cursor)).await;
    listed.map_err(|refused| refused_by(exchange, &refused))
}

async fn artifacts(
    McpExchange { service, caller, .. }: &McpExchange,
    cursor: Option<String>,
) -> Result<ListResourcesResult, RefusedCall> {
    let cursor = cursor.map(|text| paging::cursor("cursor", &text, LISTS)).transpose()?;
    let page = Page::new(cursor.map_or(PageStart::First, PageStart::After), PAGES);
    let artifacts = service.artifacts(caller, &page).await?;
    let live = artifacts.rows.iter().filter(|artifact| artifact.live.is_some());
    let resources = live.map(|artifact| described(artifact, &service.addresses().page(&artifact.host)));
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = artifacts.next.map(|next| next.to_string());
    Ok(result)
}

fn described(artifact: &Artifact, url: &str) -> Resource {
    let slug = &artifact.slug;
    let visibility = artifact.visibility.as_str();
    Resource::new(format!("{SCHEME}{slug}/"), slug.to_string())
        .with_description(format!("The front page of {url} ({visibility})."))
        .with_mime_type("text/html")
}

/// The address of every file of a page.
pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "page_file")
        .with_title("A file of a page")
        .with_description("A file of the live version of a page. The tool list_files lists the paths.")
}

pub async fn read(exchange: &McpExchange, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    match exchange.counting(contents(exchange, uri)).await {
        Ok(contents) => Ok(ReadResourceResult::new(vec![contents])),
        Err(refused) if matches!(*refused.0, Refusal::NotFound(_)) => {
            let mut data = linked_json_of(&refused.0, &exchange.service.addresses().base_url);
            data["uri"] = uri.into();
            Err(ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, refused.0.message(), Some(data)))
        }
        Err(refused) => Err(refused_by(exchange, &refused)),
    }
}

fn refused_by(exchange: &McpExchange, refused: &RefusedCall) -> ErrorData {
    exchange.record_missing(refused);
    error_of(refused, &exchange.service.addresses().base_url)
}

async fn contents(exchange: &McpExchange, uri: &str) -> Result<ResourceContents, RefusedCall> {
    let McpExchange { service, caller, .. } = exchange;
    let (slug, path) = parsed(uri)?;
    let VersionFiles { seq, manifest } = service.version_files(caller, &slug, VersionChoice::Live).await?;
    let file = match manifest.at(&path) {
        Some(AtPath::File(file) | AtPath::OnlyPage(file)) => Some(file),
        _ => manifest.find(&path),
    };
    let file = file.ok_or(Refusal::NotFound(Missing::File))?;
    if file.size_bytes > BYTES_MAX {
        let fault = format!(
            "the file has {} bytes, and a resource at most {BYTES_MAX}; GET /v1/artifacts/{slug}/files/{} \
             returns it",
            file.size_bytes, file.path
        );
        return Err(Refusal::invalid("uri", fault).into());
    }
    // The response has the content as text, or in base64.
    let mut memory = exchange.memory.enter();
    memory.grow(usize::try_from(file.size_bytes * 3).unwrap_or(usize::MAX)).await?;
    let content_type = file.content_type.clone();
    let bytes = service.read_file(&VersionFile { version: seq, file: file.clone() }).await?;
    let contents = match std::str::from_utf8(&bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(_) => ResourceContents::blob(STANDARD.encode(&bytes), uri),
    };
    Ok(contents.with_mime_type(content_type))
}

/// The slug and the path of a file. An empty path is the front page.
fn parsed(uri: &str) -> Result<(Slug, String), Refusal> {
    let unknown = Refusal::NotFound(Missing::Artifact);
    let Some(page) = uri.strip_prefix(SCHEME) else { return Err(unknown) };
    let (slug, path) = page.split_once('/').unwrap_or((page, ""));
    let slug = slug.parse().map_err(|_| unknown)?;
    let path = percent_decode_str(path).decode_utf8().map_err(|_| Refusal::NotFound(Missing::File))?;
    Ok((slug, path.into_owned()))
}

/// A refusal as an error of the protocol. Its data is the body that REST has.
pub fn error_of(RefusedCall(refusal): &RefusedCall, base_url: &str) -> ErrorData {
    let code = match **refusal {
        Refusal::Internal => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_PARAMS,
    };
    let data = linked_json_of(refusal, base_url);
    ErrorData::new(code, refusal.message(), Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_page_and_a_file() {
        for (uri, slug, path) in [
            ("handbill://pages/my-page", "my-page", ""),
            ("handbill://pages/my-page/", "my-page", ""),
            ("handbill://pages/my-page/css/app.css", "my-page", "css/app.css"),
            ("handbill://pages/my-page/a%20b.txt", "my-page", "a b.txt"),
        ] {
            let (found, file) = parsed(uri).unwrap();
            assert_eq!((found.as_str(), file.as_str()), (slug, path), "{uri}");
        }
        for uri in ["", "my-page", "https://example.com/", "handbill://pages/", "handbill://pages/NO/a"] {
            assert!(matches!(parsed(uri), Err(Refusal::NotFound(_))), "{uri}");
        }
        assert!(matches!(parsed("handbill://pages/my-page/%ff"), Err(Refusal::NotFound(Missing::File))));
    }
}
