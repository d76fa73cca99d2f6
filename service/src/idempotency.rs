//! Requests with an `Idempotency-Key`: claims on keys, and the comparison of repeated requests.
//!
//! A key is stored for a day with a hash of its request. A repeat is compared with the hash that an earlier
//! release stored, so the hashed bytes must never change. They are therefore written field by field, and a
//! test pins them. A change would answer every repeat across an upgrade with 409.

use std::borrow::Cow;
use std::time::Duration;

use domain::{
    AccountId, Activation, ArtifactId, JobId, Micro, PublishCondition, Refusal, Repeating, Slug, Target,
};
use sha2::{Digest, Sha256};
use store::{KeyClaim, KeyHolder};

use crate::deadline::failure_before;
use crate::{Derivation, PublishRequest, Service, ServiceResult};

/// How long a repeat gets the same response.
pub(crate) const KEY_KEPT: Duration = Duration::from_secs(24 * 3600);

/// The job that produces the response: a new one, or that of an earlier request with the same key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Begun {
    Fresh(JobId),
    Earlier(JobId),
}

/// A request with a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyedRequest<'a> {
    pub(crate) account: AccountId,
    pub(crate) key: &'a str,
    /// By [`publish_hash`] or [`credit_hash`].
    pub(crate) hash: String,
    pub(crate) repeating: Repeating,
    /// The response when the key belongs to a different request.
    pub(crate) conflict: Refusal,
}

impl Service {
    /// A request without a key is always new.
    pub(crate) fn begin(&self) -> Begun {
        Begun::Fresh(self.new_job())
    }

    /// Claims the key for a new job, unless an earlier request holds it.
    pub(crate) async fn begin_keyed(&self, request: KeyedRequest<'_>) -> ServiceResult<Begun> {
        let claim = self.claim_of(&request);
        let holder = self.0.store.outcomes().claim_key(&claim).await;
        let holder = holder.map_err(|error| failure_before(request.repeating, error))?;
        let job = claim.job;
        request.begun(holder, job)
    }

    /// The job of the earlier request that holds the key, if there is one. Claims nothing.
    pub(crate) async fn earlier_keyed(&self, request: KeyedRequest<'_>) -> ServiceResult<Option<Begun>> {
        let claim = self.claim_of(&request);
        let holder = self.0.store.outcomes().find_key_holder(&claim).await;
        let holder = holder.map_err(|error| failure_before(request.repeating, error))?;
        let job = claim.job;
        holder.map(|holder| request.begun(holder, job)).transpose()
    }

    fn claim_of<'a>(&self, request: &'a KeyedRequest<'_>) -> KeyClaim<'a> {
        let now = self.0.clock.now();
        KeyClaim {
            account: request.account,
            key: request.key,
            request_hash: &request.hash,
            job: self.new_job(),
            now,
            expires_at: now.plus(KEY_KEPT),
        }
    }

    fn new_job(&self) -> JobId {
        JobId::new(self.0.clock.now(), &self.0.chance)
    }
}

impl KeyedRequest<'_> {
    fn begun(self, holder: KeyHolder, job: JobId) -> ServiceResult<Begun> {
        match holder {
            KeyHolder::Claimant => Ok(Begun::Fresh(job)),
            KeyHolder::Earlier(job) => Ok(Begun::Earlier(job)),
            KeyHolder::Conflict => Err(self.conflict.into()),
        }
    }
}

/// Two publishes are equal if they have the same target, condition and content. The payment is not hashed,
/// because a request that got a 402 is repeated with one. The artifact that the token is pinned to is hashed,
/// so that a token for another artifact does not get this response.
pub(crate) fn publish_hash(pinned_to: Option<ArtifactId>, request: &PublishRequest) -> String {
    let mut hash = Sha256::new();
    let slug = request.slug.as_ref().map_or("", Slug::as_str);
    let (target, activation) = (target_text(request.target), activation_text(request.activation));
    let kind = if request.derivation.is_some() { "publish from" } else { "publish" };
    hash.update(format!("{kind}\0{slug}\0{target}\0{activation}\0"));
    if let Some(pin) = pinned_to {
        hash.update(format!("pin\0{pin}\0"));
    }
    if let Some(message) = &request.message {
        hash.update(format!("message\0{message}\0"));
    }
    if let Some(Derivation(asked)) = &request.derivation {
        hash.update(asked);
        return hex::encode(hash.finalize());
    }
    for file in &request.files {
        hash.update(format!("{}\0{}\0", file.path, file.bytes.len()));
        hash.update(&file.bytes);
    }
    hex::encode(hash.finalize())
}

/// Short enough to be stored unhashed. As with a publish, the payment is not part of it.
pub(crate) fn credit_hash(amount: Micro) -> String {
    format!("credits {}", amount.get())
}

fn target_text(target: Target) -> Cow<'static, str> {
    Cow::Borrowed(match target {
        Target::NewOrExisting => "NewOrExisting",
        Target::Existing => "Existing",
        Target::If(PublishCondition::LiveVersion(seq)) => return format!("If LiveVersion {seq}").into(),
        Target::If(PublishCondition::SlugExists) => "If SlugExists",
        Target::If(PublishCondition::SlugIsNew) => "If SlugIsNew",
    })
}

fn activation_text(activation: Activation) -> &'static str {
    match activation {
        Activation::Live => "Live",
        Activation::Staged => "Staged",
    }
}

#[cfg(test)]
mod tests {
    use domain::{BlobHash, CreatedVia, VersionChoice};

    use super::*;
    use crate::{FileSource, PlannedFile, SiteBase, SitePlan, StoredContent, UploadedFile};

    fn request() -> PublishRequest {
        PublishRequest {
            slug: None,
            files: vec![UploadedFile { path: "index.html".parse().unwrap(), bytes: "<h1>Hi</h1>".into() }],
            target: Target::NewOrExisting,
            activation: Activation::Live,
            payment: None,
            idempotency_key: Some("k".into()),
            upload: None,
            created_via: CreatedVia::Api,
            message: None,
            derivation: None,
            live_base: None,
        }
    }

    /// Earlier releases hash the same bytes, which the comments show. If this test fails, repeats across an
    /// upgrade are refused.
    #[test]
    fn request_hashes_match_those_of_earlier_releases() {
        // publish\0\0NewOrExisting\0Live\0index.html\011\0<h1>Hi</h1>
        let shortest = publish_hash(None, &request());
        assert_eq!(shortest, "98981fcd0bccfe97262cfe836fd046298459186eb0dda58c036b8694300737a6");
        // publish\0my-page\0Existing\0Staged\0pin\001AB…\0message\0Fix the
        // title\0index.html\011\0<h1>Hi</h1>a/b.css\00\0
        let pin = "01ABCDEFGHJKMNPQRSTVWXYZ00".parse().unwrap();
        let mut longest = PublishRequest {
            slug: Some("my-page".parse().unwrap()),
            target: Target::Existing,
            activation: Activation::Staged,
            message: Some("Fix the title".parse().unwrap()),
            ..request()
        };
        longest.files.push(UploadedFile { path: "a/b.css".parse().unwrap(), bytes: "".into() });
        let longest = publish_hash(Some(pin), &longest);
        assert_eq!(longest, "015812d08d773e446a0c67cdf9c2e5f945161af00d77d3cfabf78a2b4b92f939");
        // publish\0my-page\0If LiveVersion 7\0Live\0index.html\011\0<h1>Hi</h1>
        let hash_under = |condition| {
            let (slug, target) = (Some("my-page".parse().unwrap()), Target::If(condition));
            publish_hash(None, &PublishRequest { slug, target, ..request() })
        };
        assert_eq!(
            hash_under(PublishCondition::LiveVersion(7)),
            "5fccb99cb88e9d255733ecaaf47f6a2f2cfed466598b4bbd9cc1d0356ba64306"
        );
        assert_eq!(
            hash_under(PublishCondition::SlugExists),
            "0cca3baee5b0bc6ab52b65864e6ca80f140447c2ce76a1a39b8b84f9925e9add"
        );
        assert_eq!(
            hash_under(PublishCondition::SlugIsNew),
            "e141e9de8bf1c4787729ca07484232b9353d160068853b555800daadd67a83b8"
        );
        assert_eq!(credit_hash(Micro::new(2_500_000)), "credits 2500000");
    }

    /// A request with a base is hashed as it was sent: neither its order nor its form matters.
    #[test]
    fn request_with_a_base_is_hashed_as_it_was_sent() {
        let content = StoredContent { hash: BlobHash::of(b"x"), size_bytes: Some(1) };
        let sent =
            |path: &str| PlannedFile { path: path.parse().unwrap(), source: FileSource::Sent("x".into()) };
        let named = |path: &str| PlannedFile { source: FileSource::Stored(content), ..sent(path) };
        let hash_of = |files: Vec<PlannedFile>, deleted: [&str; 2]| {
            let deleted = deleted.map(str::to_owned).into();
            let plan = SitePlan { files, base: Some(SiteBase { version: VersionChoice::Live, deleted }) };
            let (slug, target) = (Some("my-page".parse().unwrap()), Target::Existing);
            publish_hash(None, &PublishRequest { slug, target, derivation: plan.derivation(), ..request() })
        };
        // publish from\0my-page\0Existing\0Live\0base\0live\0delete\0a\0delete\0old.html\0file\0a.css\0…
        let expected = "b5d442b7af0e8d449d41e98a953ddea9f385e3db67322518ab760ceef6f37bb6";
        assert_eq!(hash_of(vec![sent("index.html"), named("a.css")], ["old.html", "a"]), expected);
        assert_eq!(hash_of(vec![sent("a.css"), named("index.html")], ["a", "old.html"]), expected);
        assert_ne!(hash_of(vec![sent("a.css")], ["a", "old.html"]), expected);
    }
}
