//! The test harness: an edge with its stores, and requests to it.

use std::io::Read;

use bytes::Bytes;
use domain::{
    AccountId, ArtifactId, BlobHash, Chance, Encoding, LinkGeneration, Manifest, ManifestFile,
    ModerationStatus, Route, Time, VersionId, Visibility, content_type_of,
};
use poem::{Endpoint, Request};
use store::Layout;

use super::super::*;

pub const NOW: Time = Time::from_millis(1_800_000_000_000);
/// When the sites last changed: long enough ago for the date to be a valid validator.
pub const CHANGED_AT: Time = Time::from_millis(NOW.millis() - 3_600_000);
pub const HOST: &str = "my-page-a1b2";

pub struct EdgeHarness {
    pub edge: Edge,
    pub store: Store,
    pub blobs: Blobs,
    pub bus: Bus,
    pub clock: Clock,
    pub link_key: LinkKey,
    _folder: tempfile::TempDir,
}

pub struct Seen {
    pub status: u16,
    pub headers: poem::http::HeaderMap,
    pub body: Bytes,
}

impl EdgeHarness {
    pub async fn build() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn under(load: LoadTerms) -> Self {
        Self::with(|settings| settings.load = load).await
    }

    pub async fn with(set: impl FnOnce(&mut EdgeSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&format!("sqlite://{}", folder.path().join("h.db").display())).await.unwrap();
        store.migrate().await.unwrap();
        let blobs = Blobs::local(&folder.path().join("blobs")).unwrap();
        let (bus, clock, link_key) = (Bus::local("test"), Clock::manual(NOW), LinkKey::new("secret"));
        let mut settings = EdgeSettings {
            domain: "localhost".into(),
            serve_url: "http://127.0.0.1:8081".into(),
            url_style: UrlStyle::Path,
            base_url: "http://127.0.0.1:8080".into(),
            links: domain::ServiceLinks::default(),
            cache_bytes: 64 << 20,
            policy: ContentPolicy {
                font_hosts: vec!["https://fonts.example".into()],
                ..ContentPolicy::default()
            },
            link_key: link_key.clone(),
            vitals: Vitals::default(),
            load: LoadTerms::default(),
            network_of: Arc::new(|_| None),
            misses_per_minute: 0,
            client_network_of: Arc::new(|request| request.header("x-from")?.parse().ok()),
        };
        set(&mut settings);
        let edge = Edge::new(settings, store.clone(), blobs.clone(), &bus, clock.clone()).unwrap();
        Self { edge, store, blobs, bus, clock, link_key, _folder: folder }
    }

    /// Stores a file as a worker would.
    pub async fn file(&self, path: &str, content: impl Into<Bytes>) -> ManifestFile {
        let (path, content) = (path.parse().unwrap(), content.into());
        let (content_type, hash) = (content_type_of(&path), BlobHash::of(&content));
        let layout = Layout::of(&content, &content_type).unwrap();
        let size_bytes = content.len() as u64;
        let variants = self.blobs.put(hash, content, layout).await.unwrap();
        ManifestFile { path, hash, size_bytes, content_type, variants, bundled: None }
    }

    pub async fn site(&self, files: &[(&str, &str)]) -> Route {
        let mut manifest = Vec::new();
        for (path, content) in files {
            manifest.push(self.file(path, (*content).to_owned()).await);
        }
        route(manifest)
    }

    /// Requests a path of this site, below `/site/<host>`.
    pub async fn visit(&self, route: &Route, path: &str, headers: &[(&str, &str)]) -> Seen {
        self.know(route).await;
        let mut all = vec![("host", "127.0.0.1:8081")];
        all.extend_from_slice(headers);
        self.knock(Method::GET, &format!("/site/{}{path}", route.host), &all).await
    }

    /// Caches this route as if the edge had just read it.
    pub async fn know(&self, route: &Route) {
        let sites = &self.edge.inner.sites;
        sites.drop_host(&route.host);
        sites.fetch(&route.host, |_| false, async { Ok(Some(route.clone())) }).await.unwrap();
    }

    pub async fn knock(&self, method: Method, target: &str, headers: &[(&str, &str)]) -> Seen {
        let mut request = Request::builder().method(method).uri_str(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.edge.endpoint().get_response(request.finish()).await;
        let body = response.take_body().into_bytes().await.unwrap();
        Seen { status: response.status().as_u16(), headers: response.headers().clone(), body }
    }

    pub fn views(&self) -> u64 {
        self.edge.inner.tally.drain().iter().map(|view| view.count).sum()
    }
}

pub use poem::http::Method;

pub fn route(files: Vec<ManifestFile>) -> Route {
    let chance = Chance::seeded(1);
    Route {
        host: HOST.parse().unwrap(),
        account: AccountId::new(NOW, &chance),
        artifact: ArtifactId::new(NOW, &chance),
        version: VersionId::new(NOW, &chance),
        visibility: Visibility::Public,
        link_generation: LinkGeneration::FIRST,
        moderation: ModerationStatus::Pass,
        expires_at: None,
        is_suspended: false,
        updated_at: CHANGED_AT,
        held_from: None,
        manifest: Manifest::new(files),
    }
}

impl Seen {
    pub fn says(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    /// The body with its encoding removed.
    pub fn plain(&self) -> String {
        let mut plain = String::new();
        let encoding = self.says("content-encoding");
        match Encoding::ALL.into_iter().find(|known| Some(known.token()) == encoding) {
            None => plain.push_str(self.text()),
            Some(Encoding::Brotli) => {
                brotli::Decompressor::new(&self.body[..], 4096).read_to_string(&mut plain).unwrap();
            }
            Some(Encoding::Zstd) => {
                zstd::Decoder::new(&self.body[..]).unwrap().read_to_string(&mut plain).unwrap();
            }
            Some(Encoding::Gzip) => {
                flate2::read::GzDecoder::new(&self.body[..]).read_to_string(&mut plain).unwrap();
            }
        }
        plain
    }
}
