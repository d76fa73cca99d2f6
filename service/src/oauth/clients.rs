//! Clients: registered ones, ones that describe themselves at an address of theirs, and our command line.

use std::net::IpAddr;

use domain::Time;
use domain::oauth::{ClientMetadata, ClientName, DocumentAddress, RedirectUri};

use super::error::{OAuthCode, OAuthResult};
use crate::Service;

/// Registrations from an address per minute.
const REGISTRATIONS_PER_MINUTE: u32 = 20;
/// Documents that are looked up for an address per minute.
const DOCUMENTS_PER_MINUTE: u32 = 30;
const COMMAND_LINE: &str = "handbill-cli";
const COMMAND_LINE_NAME: &str = "Handbill command line";

/// A client, with its description of itself.
#[derive(Clone, Debug)]
pub struct OAuthClient {
    pub id: String,
    pub source: ClientSource,
    pub metadata: ClientMetadata,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientSource {
    /// It registered itself under any name.
    Registered,
    /// The owner of this host describes it.
    Document {
        host: String,
    },
    CommandLine,
}

/// What a client sends to register (RFC 7591).
#[derive(Clone, Debug, Default)]
pub struct RegistrationRequest {
    pub client_name: Option<String>,
    pub redirect_uris: Vec<String>,
    /// Whether it will use codes of devices only, which needs no redirect.
    pub uses_devices_only: DevicesOnly,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DevicesOnly {
    Yes,
    #[default]
    No,
}

/// A registered client.
#[derive(Clone, Debug)]
pub struct RegisteredClient {
    pub id: String,
    pub issued_at: Time,
    pub metadata: ClientMetadata,
}

impl Service {
    /// Registers a client. Nothing is stored: the client's id contains its metadata, signed.
    pub async fn register_client(
        &self,
        request: RegistrationRequest,
        from: IpAddr,
    ) -> OAuthResult<RegisteredClient> {
        self.take_by_address("oauth-register", from, REGISTRATIONS_PER_MINUTE).await?;
        let metadata = metadata_of(&request).map_err(|fault| match fault {
            MetadataFault::Redirects(fault) => OAuthCode::InvalidRedirectUri.because(fault),
            MetadataFault::Length => too_long(),
        })?;
        let now = self.0.clock.now();
        let id = metadata.client_id(now, &self.0.rules.signing_key).ok_or_else(too_long)?;
        Ok(RegisteredClient { id, issued_at: now, metadata })
    }

    /// The client with this id. A document is fetched, unless it was fetched recently.
    pub(super) async fn find_client(&self, id: &str, from: IpAddr) -> OAuthResult<OAuthClient> {
        let unknown = |why: &str| OAuthCode::InvalidClient.because(why);
        let client = |source, metadata| OAuthClient { id: id.to_owned(), source, metadata };
        if id == COMMAND_LINE {
            let name =
                ClientName::tidied(COMMAND_LINE_NAME).ok_or_else(|| unknown("client_id: is unknown"))?;
            return Ok(client(ClientSource::CommandLine, ClientMetadata { name, redirect_uris: Vec::new() }));
        }
        if !id.starts_with("https://") {
            let metadata = ClientMetadata::of_client_id(id, &self.0.rules.signing_key).ok_or_else(|| {
                unknown("client_id: is unknown here; register the client again at /oauth/register")
            })?;
            return Ok(client(ClientSource::Registered, metadata));
        }
        let address: DocumentAddress = id.parse().map_err(|()| {
            unknown("client_id: must be an https URL with a host name, the default port and a path")
        })?;
        self.take_by_address("oauth-document", from, DOCUMENTS_PER_MINUTE).await?;
        let metadata =
            self.0.client_documents.find(&address, from, self.0.clock.now()).await.map_err(|fault| {
                tracing::info!(client.host = address.host(), fault = %fault, "a client document was refused");
                unknown(&format!("client_id: its metadata document {fault}"))
            })?;
        Ok(client(ClientSource::Document { host: address.host().to_owned() }, metadata))
    }
}

/// What is wrong with a client's metadata.
pub(super) enum MetadataFault {
    Redirects(String),
    Length,
}

fn too_long() -> super::OAuthError {
    OAuthCode::InvalidClientMetadata.because(format!(
        "the name and the redirect URIs must have {} bytes at most",
        ClientMetadata::BYTES_MAX
    ))
}

/// Parses a client's own description. Without a name the client is called by its redirect's host.
pub(super) fn metadata_of(request: &RegistrationRequest) -> Result<ClientMetadata, MetadataFault> {
    let fault = |text: String| MetadataFault::Redirects(text);
    if request.redirect_uris.len() > ClientMetadata::REDIRECTS_MAX {
        return Err(fault(format!("redirect_uris: has more than {} entries", ClientMetadata::REDIRECTS_MAX)));
    }
    let redirect_uris = request
        .redirect_uris
        .iter()
        .map(|uri| uri.parse::<RedirectUri>().map_err(|why| fault(format!("redirect_uris: {why}"))))
        .collect::<Result<Vec<_>, _>>()?;
    if redirect_uris.is_empty() && request.uses_devices_only == DevicesOnly::No {
        return Err(fault("redirect_uris: is missing".to_owned()));
    }
    let host = redirect_uris.first().map(|uri| uri.target().to_string());
    let name = request.client_name.as_deref().and_then(ClientName::tidied);
    let name = name.or_else(|| ClientName::tidied(host.as_deref().unwrap_or("an unnamed app")));
    Ok(ClientMetadata { name: name.ok_or(MetadataFault::Length)?, redirect_uris })
}
