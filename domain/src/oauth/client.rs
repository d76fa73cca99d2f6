//! The metadata of a client. The id of a registered client contains its metadata, signed, so that any
//! number of clients can be registered without filling a table.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use url::{Host, Url};

use super::RedirectUri;
use crate::signing_key::SigningKey;
use crate::{Time, TokenName};

/// A client's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMetadata {
    pub name: ClientName,
    pub redirect_uris: Vec<RedirectUri>,
}

/// The name of a client, as people see it. Nobody verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientName(String);

/// The address of a client's metadata document, which is also the client's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentAddress(Url);

/// The signed part of a client's id. The time makes the ids of two equal registrations differ.
#[derive(Serialize, Deserialize)]
struct SignedMetadata {
    n: String,
    r: Vec<String>,
    t: i64,
}

impl ClientMetadata {
    pub const REDIRECTS_MAX: usize = 10;
    /// The metadata becomes a parameter of URLs.
    pub const BYTES_MAX: usize = 1_200;
    const SIGNATURE_LENGTH: usize = 32;

    /// The id under which this client is registered; `None` if the metadata is too long.
    pub fn client_id(&self, now: Time, key: &SigningKey) -> Option<String> {
        let redirects = self.redirect_uris.iter().map(|uri| uri.as_str().to_owned()).collect();
        let signed = SignedMetadata { n: self.name.0.clone(), r: redirects, t: now.millis() };
        let json = serde_json::to_vec(&signed).ok().filter(|json| json.len() <= Self::BYTES_MAX)?;
        let payload = URL_SAFE_NO_PAD.encode(json);
        Some(format!("{payload}.{}", signature(&payload, key)))
    }

    /// The metadata in a client's id; `None` unless it was registered here.
    pub fn of_client_id(id: &str, key: &SigningKey) -> Option<Self> {
        let (payload, offered) = id.rsplit_once('.')?;
        if !bool::from(signature(payload, key).as_bytes().ct_eq(offered.as_bytes())) {
            return None;
        }
        let signed: SignedMetadata = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        let redirects = signed.r.iter().map(|uri| uri.parse()).collect::<Result<_, _>>().ok()?;
        Some(Self { name: ClientName::tidied(&signed.n)?, redirect_uris: redirects })
    }
}

fn signature(payload: &str, key: &SigningKey) -> String {
    let mut signature = key.authenticate(&format!("oauth-client:{payload}"));
    signature.truncate(ClientMetadata::SIGNATURE_LENGTH);
    signature
}

impl ClientName {
    const CHARS_MAX: usize = 60;

    /// The name without characters that could change how the text around it looks; `None` if nothing is left.
    pub fn tidied(text: &str) -> Option<Self> {
        let is_hidden = |one: char| {
            one.is_control() || matches!(one, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{206f}' | '\u{feff}')
        };
        let name: String = text.chars().filter(|one| !is_hidden(*one)).take(Self::CHARS_MAX).collect();
        let name = name.trim();
        (!name.is_empty()).then(|| Self(name.to_owned()))
    }

    /// The name of the client's tokens.
    pub fn token_name(&self) -> TokenName {
        TokenName::of_client(&self.0)
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl DocumentAddress {
    pub const LENGTH_MAX: usize = 400;

    pub fn url(&self) -> &Url {
        &self.0
    }

    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

/// `https`, a host name and the default port, a path, and nothing that another text could spell as well. An
/// address literal is refused, because it would not be resolved and so not be checked.
impl FromStr for DocumentAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let url = Url::parse(text).map_err(|_| ())?;
        let is_named =
            matches!(url.host(), Some(Host::Domain(name)) if name.contains('.') && !name.ends_with('.'));
        let is_plain = url.as_str() == text
            && text.len() <= Self::LENGTH_MAX
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        let fits = url.scheme() == "https" && url.port().is_none() && is_named && url.path().len() > 1;
        (is_plain && fits).then_some(Self(url)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);

    fn metadata() -> ClientMetadata {
        ClientMetadata {
            name: ClientName::tidied("Claude").unwrap(),
            redirect_uris: vec![
                "https://claude.ai/cb".parse().unwrap(),
                "http://localhost/cb".parse().unwrap(),
            ],
        }
    }

    #[test]
    fn client_id_contains_the_signed_metadata() {
        let key = SigningKey::new("a secret");
        let id = metadata().client_id(NOW, &key).unwrap();
        assert_eq!(ClientMetadata::of_client_id(&id, &key), Some(metadata()));
        assert_ne!(
            metadata().client_id(NOW.plus(std::time::Duration::from_millis(1)), &key),
            Some(id.clone())
        );
        assert_eq!(ClientMetadata::of_client_id(&id, &SigningKey::new("another")), None);
        for at in 0..id.len() {
            let other = if id.as_bytes()[at] == b'0' { "1" } else { "0" };
            let tampered = format!("{}{other}{}", &id[..at], &id[at + 1..]);
            assert_eq!(ClientMetadata::of_client_id(&tampered, &key), None, "{tampered}");
        }
        for bad in ["", ".", "a.b", "handbill-cli"] {
            assert_eq!(ClientMetadata::of_client_id(bad, &key), None, "{bad}");
        }
    }

    #[test]
    fn metadata_that_is_too_long_gets_no_client_id() {
        let long: RedirectUri = format!("https://a.example/{}", "a".repeat(350)).parse().unwrap();
        let client = ClientMetadata { redirect_uris: vec![long; 4], ..metadata() };
        assert_eq!(client.client_id(NOW, &SigningKey::new("a secret")), None);
    }

    #[test]
    fn client_name_is_one_short_line() {
        let tidied = |text: &str| ClientName::tidied(text).map(|name| name.to_string());
        assert_eq!(tidied(" Claude\n\u{202e} Desktop "), Some("Claude Desktop".into()));
        assert_eq!(tidied(&"ü".repeat(100)), Some("ü".repeat(60)));
        assert_eq!(tidied("\u{200b}\n"), None);
        let name = ClientName::tidied(&"x".repeat(100)).unwrap().token_name();
        assert_eq!(name.to_string(), format!("oauth:{}", "x".repeat(60)));
        assert_eq!(name.to_string().parse(), Ok(name));
    }

    #[test]
    fn document_addresses_are_https_with_a_host_name_and_a_path() {
        for good in ["https://app.example/oauth/client.json", "https://app.example/c?x=1"] {
            assert_eq!(good.parse::<DocumentAddress>().unwrap().url().as_str(), good);
        }
        for bad in [
            "",
            "http://app.example/client.json",
            "https://app.example",
            "https://app.example/",
            "https://app.example:8443/client.json",
            "https://app.example:443/client.json",
            "https://user@app.example/client.json",
            "https://app.example/client.json#x",
            "https://app.example/a/../client.json",
            "https://APP.example/client.json",
            "https://127.0.0.1/client.json",
            "https://2130706433/client.json",
            "https://0x7f.1/client.json",
            "https://[::1]/client.json",
            "https://[::ffff:169.254.169.254]/latest/meta-data",
            "https://localhost/client.json",
            "https://app.example./client.json",
            "ftp://app.example/client.json",
            "file:///etc/passwd",
            &format!("https://app.example/{}", "a".repeat(400)),
        ] {
            assert!(bad.parse::<DocumentAddress>().is_err(), "{bad}");
        }
    }
}
