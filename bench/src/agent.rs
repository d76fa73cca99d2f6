//! A client as its users are: it signs up and publishes over HTTP.

use anyhow::{Context, ensure};
use reqwest::{Client, multipart};
use serde::Deserialize;

/// A client with an account of its own, on a connection of its own.
pub struct Agent {
    client: Client,
    publish_url: String,
    token: String,
}

#[derive(Deserialize)]
struct SignedUp {
    token: String,
}

#[derive(Deserialize)]
pub struct Published {
    pub url: String,
}

impl Agent {
    pub async fn sign_up(base_url: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        let answer = client.post(format!("{base_url}/v1/signup")).send().await.context("sign up")?;
        let SignedUp { token } = answer.error_for_status()?.json().await?;
        Ok(Self { client, publish_url: format!("{base_url}/v1/publish"), token })
    }

    /// Publishes a page under a new address, until the answer is read.
    pub async fn publish(&self, html: String) -> anyhow::Result<Published> {
        let form = multipart::Form::new().text("html", html);
        let answer = self
            .client
            .post(&self.publish_url)
            .bearer_auth(&self.token)
            .multipart(form)
            .send()
            .await
            .context("publish")?;
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
