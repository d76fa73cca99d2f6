//! A client that behaves as users do: it signs up and publishes over HTTP.

use anyhow::{Context, ensure};
use domain::Chance;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LINK};
use reqwest::{Client, multipart};
use serde::Deserialize;

use crate::page::SiteFile;

/// A client with an account and a connection of its own.
pub struct Agent {
    client: Client,
    base_url: String,
    token: String,
    claim_url: String,
}

/// A password that satisfies the rules, for claiming accounts.
const PASSWORD: &str = "Paste-no-bills-1";

#[derive(Deserialize)]
struct SignedUp {
    token: String,
    claim_url: String,
}

#[derive(Deserialize)]
struct PublishAnswer {
    moderation_status: String,
}

#[derive(Deserialize)]
pub struct Published {
    pub url: String,
    pub host: String,
    pub version: u32,
}

impl Agent {
    pub async fn sign_up(base_url: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        let answer = client.post(format!("{base_url}/v1/signup")).send().await.context("sign up")?;
        let SignedUp { token, claim_url } = answer.error_for_status()?.json().await?;
        Ok(Self { client, base_url: base_url.to_owned(), token, claim_url })
    }

    /// Claims the account. Its storage then has no limit, and its pages are served without a badge.
    pub async fn claim(&self) -> anyhow::Result<()> {
        let username = format!("bench-{}", Chance::from_system().base36(12));
        let form = format!("username={username}&password={PASSWORD}");
        let call = self.client.post(&self.claim_url).header(ACCEPT, "application/json");
        let call = call.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form);
        call.send().await?.error_for_status().context("claim an account")?.bytes().await?;
        Ok(())
    }

    /// Publishes a page under a new address, and reads the response.
    pub async fn publish(&self, html: String) -> anyhow::Result<Published> {
        self.send(multipart::Form::new().text("html", html)).await
    }

    /// Publishes a page under this slug, as its next version.
    pub async fn publish_as(&self, slug: &str, html: String) -> anyhow::Result<Published> {
        self.send(multipart::Form::new().text("slug", slug.to_owned()).text("html", html)).await
    }

    /// Publishes a site under this slug, as its next version.
    pub async fn publish_site(&self, slug: &str, files: &[SiteFile]) -> anyhow::Result<Published> {
        let form = multipart::Form::new().text("slug", slug.to_owned());
        let form = files.iter().fold(form, |form, file| {
            let part = multipart::Part::bytes(file.content.clone()).file_name(file.path.clone());
            form.part("files", part)
        });
        self.send(form).await
    }

    /// Publishes a site of one file.
    pub async fn publish_file(&self, path: &str, content: Vec<u8>) -> anyhow::Result<Published> {
        let file = multipart::Part::bytes(content).file_name(path.to_owned());
        self.send(multipart::Form::new().part("files", file)).await
    }

    /// Activates a version, and reads the response.
    pub async fn activate(&self, slug: &str, version: u32) -> anyhow::Result<()> {
        let url = format!("{}/v1/artifacts/{slug}/activate", self.base_url);
        let body = serde_json::json!({ "version": version });
        let call = self.client.post(url).bearer_auth(&self.token).json(&body);
        call.send().await?.error_for_status().context("activate")?.bytes().await?;
        Ok(())
    }

    /// The moderation status of a page, from the API.
    pub async fn moderation_status(&self, slug: &str) -> anyhow::Result<String> {
        let call = self.client.get(format!("{}/v1/artifacts/{slug}", self.base_url)).bearer_auth(&self.token);
        let published: PublishAnswer =
            call.send().await?.error_for_status().context("read a page")?.json().await?;
        Ok(published.moderation_status)
    }

    /// Reads the list of artifacts: up to this many pages, or everything in one response if a page has no
    /// limit. Returns the number of artifacts.
    pub async fn list(&self, page_rows: Option<usize>, pages_max: usize) -> anyhow::Result<usize> {
        let limit = page_rows.map(|rows| format!("?limit={rows}")).unwrap_or_default();
        let mut next = Some(format!("{}/v1/artifacts{limit}", self.base_url));
        let mut rows = 0;
        for _ in 0..pages_max {
            let Some(url) = next else { break };
            let call = self.client.get(url).bearer_auth(&self.token);
            let answer = call.send().await?.error_for_status().context("list the artifacts")?;
            let link = answer.headers().get(LINK).map(|link| link.to_str().map(str::to_owned)).transpose()?;
            next = link.and_then(|link| Some(link.strip_prefix('<')?.split_once('>')?.0.to_owned()));
            rows += answer.json::<Vec<serde::de::IgnoredAny>>().await?.len();
        }
        Ok(rows)
    }

    async fn send(&self, form: multipart::Form) -> anyhow::Result<Published> {
        let url = format!("{}/v1/publish", self.base_url);
        let call = self.client.post(url).bearer_auth(&self.token).multipart(form);
        let answer = call.send().await.context("publish")?;
        let status = answer.status();
        let body = answer.bytes().await?;
        ensure!(
            status.as_u16() == 201,
            "a publish was answered {status}: {}",
            String::from_utf8_lossy(&body)
        );
        Ok(serde_json::from_slice(&body)?)
    }
}
