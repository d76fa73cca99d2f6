//! Client ID metadata documents. The client chooses the address, so a document is fetched only from public
//! addresses, without redirects, with bounds on its length and time, and by few requests at a time.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use admission::FairShare;
use domain::Time;
use domain::oauth::{ClientMetadata, DocumentAddress, is_public_address};
use quick_cache::sync::Cache;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, ClientBuilder, Response, StatusCode, redirect};
use serde::Deserialize;
use tokio::net::lookup_host;
use url::Url;

use super::clients::{DevicesOnly, MetadataFault, RegistrationRequest, metadata_of};

/// For the whole exchange: name, connection, headers and body.
const FETCH_MAX: Duration = Duration::from_secs(5);
const DOCUMENT_BYTES_MAX: usize = 10 * 1024;
const FETCHES_AT_ONCE: usize = 8;
/// How long a document is used without being fetched again.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// How long a document is used while it cannot be fetched.
const STALE_MAX: Duration = Duration::from_secs(24 * 3600);
const CACHED_MAX: usize = 1_000;
const USER_AGENT: &str = concat!("Handbill/", env!("CARGO_PKG_VERSION"));

/// Fetches the documents, and keeps them for some minutes.
#[derive(Debug)]
pub struct ClientDocuments {
    /// Built on first use, because most processes fetch none.
    client: OnceLock<Client>,
    cache: Cache<String, CachedDocument>,
    /// Shared fairly by the addresses of the requests, so that one client's slow hosts do not block the
    /// documents of all others.
    fetches: FairShare<IpAddr>,
}

#[derive(Clone, Debug)]
struct CachedDocument {
    metadata: ClientMetadata,
    fetched_at: Time,
}

/// Why a document was refused. It reveals nothing about the server's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentFault {
    /// The host does not answer, or cannot.
    Unreachable,
    /// The host answers that there is no document.
    Missing,
    TooLong,
    NotJson,
    OtherClient,
    BadRedirects,
    NotPublic,
    Busy,
}

/// The fields that are used (draft-ietf-oauth-client-id-metadata-document).
#[derive(Deserialize)]
struct Document {
    client_id: String,
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Resolves names to public addresses only. The connection goes to exactly the addresses that were checked,
/// so a name that resolves differently the next time gains nothing.
#[derive(Debug)]
struct PublicResolver;

impl Default for ClientDocuments {
    fn default() -> Self {
        let fetches = FairShare::new(FETCHES_AT_ONCE, 0);
        Self { client: OnceLock::new(), cache: Cache::new(CACHED_MAX), fetches }
    }
}

impl ClientDocuments {
    pub(super) async fn find(
        &self,
        address: &DocumentAddress,
        from: IpAddr,
        now: Time,
    ) -> Result<ClientMetadata, DocumentFault> {
        let id = address.url().as_str();
        let cached = self.cache.get(id);
        let age = cached.as_ref().map(|cached| now.since(cached.fetched_at));
        match (cached, age) {
            (Some(cached), Some(age)) if age < FRESH => Ok(cached.metadata),
            (Some(cached), Some(age)) if age < STALE_MAX => match self.fetch(address, from, now).await {
                Err(DocumentFault::Unreachable | DocumentFault::Busy) => Ok(cached.metadata),
                fetched => fetched,
            },
            _ => self.fetch(address, from, now).await,
        }
    }

    async fn fetch(
        &self,
        address: &DocumentAddress,
        from: IpAddr,
        now: Time,
    ) -> Result<ClientMetadata, DocumentFault> {
        // Waiting would let a few slow hosts block everybody.
        let mut fetching = self.fetches.share(Some(network_of(from)));
        fetching.try_grow(1).map_err(|_| DocumentFault::Busy)?;
        let id = address.url().as_str();
        let fetched = match test_server(address.url()) {
            Some((client, at)) => fetch(&client, &at, id).await,
            None => fetch(self.client()?, address.url(), id).await,
        };
        match &fetched {
            Ok(metadata) => {
                let cached = CachedDocument { metadata: metadata.clone(), fetched_at: now };
                self.cache.insert(id.to_owned(), cached);
            }
            Err(DocumentFault::Unreachable | DocumentFault::Busy) => {}
            // The client has withdrawn what is cached.
            Err(_) => drop(self.cache.remove(id)),
        }
        fetched
    }

    fn client(&self) -> Result<&Client, DocumentFault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let built = careful(FETCH_MAX).https_only(true).dns_resolver(PublicResolver).build();
        let built = built.map_err(|error| {
            tracing::error!(error = %error, "the HTTP client for documents could not be built");
            DocumentFault::Unreachable
        })?;
        Ok(self.client.get_or_init(|| built))
    }
}

/// A client has at least a whole /64.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

/// The client's bounds, except for those on addresses.
fn careful(fetch_max: Duration) -> ClientBuilder {
    Client::builder()
        .timeout(fetch_max)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0)
        .user_agent(USER_AGENT)
}

/// The server of a test, which has the documents of all hosts: see decision 0009.
#[cfg(debug_assertions)]
fn test_server(url: &Url) -> Option<(Client, Url)> {
    let server = std::env::var("HANDBILL_TEST_CLIENT_DOCUMENTS").ok()?;
    Some((careful(FETCH_MAX).build().ok()?, format!("{server}{}", url.path()).parse().ok()?))
}

#[cfg(not(debug_assertions))]
fn test_server(_url: &Url) -> Option<(Client, Url)> {
    None
}

/// Fetches the document of the client with this id.
async fn fetch(client: &Client, url: &Url, id: &str) -> Result<ClientMetadata, DocumentFault> {
    let request = client.get(url.clone()).header(ACCEPT, "application/json");
    let response = request.send().await.map_err(|_| DocumentFault::Unreachable)?;
    match response.status() {
        StatusCode::OK => {}
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            return Err(DocumentFault::Unreachable);
        }
        _ => return Err(DocumentFault::Missing),
    }
    if !is_json(&response) {
        return Err(DocumentFault::NotJson);
    }
    let document: Document =
        serde_json::from_slice(&body(response).await?).map_err(|_| DocumentFault::NotJson)?;
    if document.client_id != id {
        return Err(DocumentFault::OtherClient);
    }
    if document.token_endpoint_auth_method.is_some_and(|method| method != "none") {
        return Err(DocumentFault::NotPublic);
    }
    let (client_name, redirect_uris) = (document.client_name, document.redirect_uris);
    let request = RegistrationRequest { client_name, redirect_uris, uses_devices_only: DevicesOnly::No };
    metadata_of(&request).map_err(|fault| match fault {
        MetadataFault::Redirects(_) => DocumentFault::BadRedirects,
        MetadataFault::Length => DocumentFault::TooLong,
    })
}

fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

async fn body(mut response: Response) -> Result<Vec<u8>, DocumentFault> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| DocumentFault::Unreachable)? {
        if body.len() + chunk.len() > DOCUMENT_BYTES_MAX {
            return Err(DocumentFault::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = lookup_host((name.as_str(), 0)).await?.collect();
            let addresses: Addrs = Box::new(all_public(found)?.into_iter());
            Ok(addresses)
        })
    }
}

/// A name with one private address is refused altogether.
fn all_public(found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, std::io::Error> {
    if !found.is_empty() && found.iter().all(|address| is_public_address(address.ip())) {
        return Ok(found);
    }
    Err(std::io::Error::other("the name does not resolve to public addresses"))
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable | Self::Missing => {
                "could not be fetched with status 200 from a public address within 5 seconds"
            }
            Self::TooLong => "is longer than 10 KiB, or its name and redirect URIs are too long",
            Self::NotJson => "is not a JSON object with client_id and redirect_uris, as application/json",
            Self::OtherClient => "has another client_id",
            Self::BadRedirects => "has no redirect_uris, too many, or one that is not allowed",
            Self::NotPublic => {
                "requires client authentication; only token_endpoint_auth_method none works here"
            }
            Self::Busy => "was not fetched, because too many are being fetched; try again",
        })
    }
}

#[cfg(test)]
mod tests;
