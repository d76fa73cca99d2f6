//! Publishes files whose content is in the call.

use domain::{FileSet, Message, Refusal, SitePath};
use serde::Deserialize;
use serde_json::{Value, json};
use service::{FileSource, PlannedFile, SitePlan};

use super::publication::{self, Content, PublishTerms, Wait};
use crate::http::refusal::RefusedCall;
use crate::http::upload::{ContentEncoding, GivenBase, GivenContent, JsonVersion, SHA256_PATTERN};
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::consent::Price;
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

pub struct PublishArtifact;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: Option<GivenSlug>,
    expected_version: Option<WholeNumber>,
    #[serde(default, deserialize_with = "arguments::message")]
    message: Option<Message>,
    activate: Option<bool>,
    wait: Option<Wait>,
    dry_run: Option<bool>,
    files: Vec<File>,
    base: Option<JsonVersion>,
    delete: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with path, and content or sha256")]
struct File {
    #[serde(deserialize_with = "arguments::new_path")]
    path: SitePath,
    content: Option<String>,
    /// Omitted and null both mean the default.
    encoding: Option<ContentEncoding>,
    sha256: Option<String>,
    size_bytes: Option<WholeNumber>,
}

impl Tool for PublishArtifact {
    const NAME: &'static str = "publish_artifact";
    const TITLE: &'static str = "Publish a page or a site";
    const DESCRIPTION: &'static str = "\
Publish a web page or a static site and get its URL. Use it whenever somebody wants HTML online. A new \
slug creates a page; an existing one adds a version and keeps the URL. Include index.html, link your own \
files by relative paths (css/app.css), and include scripts, styles and images: CDNs are blocked. At most \
50 files and 10 MB; use stage_upload for large or binary files. To change some files send base \"live\" \
and only those. Returns url, version, version_url, account and warnings: fix what they report and \
publish again. Give url to your human (signed_url if the page is private). If account.expires_at is not \
null, the page expires then: give them the claim_url of get_account, which keeps it. Costs a free \
publish, or {publish_price} USD after those: a payment_required refusal publishes nothing, so tell your \
human the price, then call add_credits, then repeat the call. Needs the scope artifacts:write.";
    const EFFECT: Effect = Effect::Publishes;

    type Arguments = Arguments;
    type Output = wire::PublishOrRehearsal;

    fn schema() -> Value {
        let properties = json!({
            "slug": publication::slug_schema(),
            "expected_version": publication::expected_version_schema(),
            "message": publication::message_schema(),
            "activate": publication::activate_schema(),
            "wait": publication::wait_schema(),
            "dry_run": {
                "type": "boolean",
                "default": false,
                "description": "true publishes nothing and costs nothing. Returns {price_usd, warnings, added, \
                                changed, removed, unchanged}: what the call would cost and how the files differ \
                                from the live version. A refusal is the one that the call would get.",
            },
            "files": {
                "type": "array",
                "maxItems": FileSet::FILES_MAX,
                "description": "The files of the site. For one page: [{\"path\": \"index.html\", \"content\": \
                                \"<!doctype html>…\"}]. Without base a publish replaces the whole site, so \
                                send every file of it.",
                "items": file_schema(),
            },
            "base": {
                "oneOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "enum": ["live"] }],
                "description": "The version of the same slug to keep the other files of: its number, or \
                                \"live\". Then send only the files that change, or none.",
            },
            "delete": {
                "type": "array",
                "maxItems": FileSet::FILES_MAX,
                "items": { "type": "string" },
                "description": "With base: the paths of files to leave out.",
            },
        });
        arguments::object(properties, &["files"])
    }

    async fn price(exchange: &McpExchange, arguments: &Arguments) -> Result<Option<Price>, RefusedCall> {
        if arguments.dry_run == Some(true) {
            return Ok(None);
        }
        publication::price(exchange, arguments.slug.as_ref()).await.map(Some)
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug, expected_version, message, activate, wait, dry_run, files, base, delete } =
            arguments;
        let base = GivenBase { version: base.map(|base| base.0), deleted: delete.unwrap_or_default() };
        let content = Content::Site(checked_site(files, base)?);
        let terms = PublishTerms { slug, expected_version, message, activate, wait };
        if dry_run == Some(true) {
            let rehearsal = publication::rehearse(exchange, terms, content).await?;
            return Ok(wire::PublishOrRehearsal::Rehearsed(rehearsal));
        }
        let result = publication::publish(exchange, terms, content).await?;
        Ok(wire::PublishOrRehearsal::Published(result))
    }
}

fn file_schema() -> Value {
    let properties = json!({
        "path": {
            "type": "string",
            "minLength": 1,
            "maxLength": SitePath::LENGTH_MAX,
            "description": "The file's path within the site, relative and with forward slashes, such as \
                            \"index.html\" or \"css/app.css\".",
        },
        "content": {
            "type": "string",
            "description": "The file's content: text, or base64 if encoding is base64.",
        },
        "encoding": {
            "type": "string",
            "enum": ["utf-8", "base64"],
            "default": "utf-8",
            "description": "base64 for a small binary file, such as an image. For larger files use stage_upload.",
        },
        "sha256": {
            "type": "string",
            "pattern": SHA256_PATTERN,
            "description": "In place of content: the hash of a content that your account has published \
                            before, from list_files.",
        },
        "size_bytes": {
            "type": "integer",
            "minimum": 0,
            "description": "The size of the content. It is checked.",
        },
    });
    arguments::object(properties, &["path"])
}

/// Checks the files against the rules of every publish.
fn checked_site(files: Vec<File>, base: GivenBase) -> Result<SitePlan, Refusal> {
    if files.is_empty() && base.version.is_none() {
        return Err(Refusal::invalid("files", "is empty; send at least one file"));
    }
    let mut set = FileSet::default();
    let mut planned = Vec::with_capacity(files.len());
    for (number, File { path, content, encoding, sha256, size_bytes }) in files.into_iter().enumerate() {
        set.add(&path)?;
        let size_bytes = size_bytes.map(|WholeNumber(size)| size.into());
        let source = GivenContent { content, encoding, sha256, size_bytes }.source(number)?;
        if let FileSource::Sent(bytes) = &source {
            set.grow(bytes.len())?;
        }
        planned.push(PlannedFile { path, source });
    }
    base.plan(planned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: impl Into<String>) -> File {
        let content = Some(content.into());
        File { path: path.parse().unwrap(), content, encoding: None, sha256: None, size_bytes: None }
    }

    #[test]
    fn mcp_files_are_checked_against_the_publish_limits() {
        let checked = |files: Vec<File>| checked_site(files, GivenBase::default());
        let code = |files: Vec<File>| checked(files).unwrap_err().code();
        assert_eq!(code(vec![]), "invalid_request");
        assert_eq!(code(vec![file("a", ""), file("a", "")]), "invalid_request");
        assert_eq!(code((0..51).map(|number| file(&format!("{number}"), "")).collect()), "too_large");
        let half = "x".repeat(usize::try_from(FileSet::BYTES_MAX / 2).unwrap());
        assert_eq!(code(vec![file("a", half.clone()), file("b", half.clone()), file("c", "x")]), "too_large");
        assert_eq!(checked(vec![file("a", half.clone()), file("b", half)]).unwrap().files.len(), 2);
    }

    #[test]
    fn publish_without_files_is_refused_and_errors_name_the_file() {
        for given in [json!({}), json!({ "slug": "my-page" }), json!({ "files": null })] {
            let Err(refusal) = arguments::read::<Arguments>(given.as_object().cloned()) else {
                panic!("accepted: {given}")
            };
            assert!(refusal.message().contains("files"), "{given}: {}", refusal.message());
        }
    }
}
