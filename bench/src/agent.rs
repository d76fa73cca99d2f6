//! A client as its users are: it signs up and publishes over HTTP.

use anyhow::{Context, ensure};
use reqwest::{Client, multipart};
use serde::Deserialize;

/// A client with an account of its own, on a connection of its own.
pub struct Agent {
    client: Client,
    base_url: String,
    token: String,
}

#[derive(Deserialize)]
struct SignedUp {
    token: String,
}

#[derive(Deserialize)]
struct Told {
    moderation_status: String,
}

#[derive(Deserialize)]
pub struct Published {
    pub host: String,
    pub version: u32,
}

impl Agent {
    pub async fn sign_up(base_url: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        let answer = client.post(format!("{base_url}/v1/signup")).send().await.context("sign up")?;
        let SignedUp { token } = answer.error_for_status()?.json().await?;
        Ok(Self { client, base_url: base_url.to_owned(), token })
    }

    /// Publishes a page under a new address, until the answer is read.
    pub async fn publish(&self, html: String) -> anyhow::Result<Published> {
        self.send(multipart::Form::new().text("html", html)).await
    }

    /// Publishes a page under this slug, as its next version.
    pub async fn publish_as(&self, slug: &str, html: String) -> anyhow::Result<Published> {
        self.send(multipart::Form::new().text("slug", slug.to_owned()).text("html", html)).await
    }

    /// Publishes a site of one file.
    pub async fn publish_file(&self, path: &str, content: Vec<u8>) -> anyhow::Result<Published> {
        let file = multipart::Part::bytes(content).file_name(path.to_owned());
        self.send(multipart::Form::new().part("files", file)).await
    }

    /// Makes a version the live one, until the answer is read.
    pub async fn activate(&self, slug: &str, version: u32) -> anyhow::Result<()> {
        let url = format!("{}/v1/artifacts/{slug}/activate", self.base_url);
        let body = serde_json::json!({ "version": version });
        let call = self.client.post(url).bearer_auth(&self.token).json(&body);
        call.send().await?.error_for_status().context("activate")?.bytes().await?;
        Ok(())
    }

    /// What the API says of a page's moderation.
    pub async fn moderation_status(&self, slug: &str) -> anyhow::Result<String> {
        let call = self.client.get(format!("{}/v1/artifacts/{slug}", self.base_url)).bearer_auth(&self.token);
        let told: Told = call.send().await?.error_for_status().context("look at a page")?.json().await?;
        Ok(told.moderation_status)
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
