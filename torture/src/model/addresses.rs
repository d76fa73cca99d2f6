//! The addresses of versions and the signatures of artifacts, once a response contained them.

use std::collections::BTreeMap;

use super::site::Untrue;
use super::state::OpId;

/// The address of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionAddress {
    /// The artifact, by the change that created it.
    pub made_by: OpId,
    pub version: OpId,
    /// The last part of the address.
    pub label: String,
}

#[derive(Debug, Default)]
pub struct Addresses {
    of_versions: BTreeMap<OpId, VersionAddress>,
    /// The query that opens an artifact while it is private.
    signatures: BTreeMap<OpId, String>,
}

impl Addresses {
    /// Records the address of a version. It never changes, and no other version has it.
    pub fn note(&mut self, made_by: OpId, version: OpId, url: &str) -> Result<(), Untrue> {
        let label = label_in(url).to_owned();
        let noted = VersionAddress { made_by, version, label };
        let is_other = |known: &&VersionAddress| {
            (known.version == version || known.label == noted.label) && **known != noted
        };
        if let Some(known) = self.of_versions.values().find(is_other) {
            return Err(Untrue(format!("a version has the address {noted:?}, and there is {known:?}")));
        }
        self.of_versions.insert(version, noted);
        Ok(())
    }

    /// Records the signature in an artifact's signed address. It never changes.
    pub fn note_signature(&mut self, made_by: OpId, url: &str) -> Result<(), Untrue> {
        let Some(signature) = signature_in(url) else {
            return Err(Untrue(format!("a signed address has no signature: {url}")));
        };
        let known = self.signatures.entry(made_by).or_insert_with(|| signature.to_owned());
        if known == signature {
            Ok(())
        } else {
            Err(Untrue(format!("an artifact has the signature {signature}, and had {known}")))
        }
    }

    pub fn signature_of(&self, made_by: OpId) -> Option<&str> {
        self.signatures.get(&made_by).map(String::as_str)
    }

    /// The known addresses of an artifact's versions, oldest first.
    pub fn of_artifact(&self, made_by: OpId) -> impl DoubleEndedIterator<Item = &VersionAddress> {
        self.of_versions.values().filter(move |known| known.made_by == made_by)
    }
}

/// The label of a site in its address, which has the path style.
pub fn label_in(url: &str) -> &str {
    let path = url.split('?').next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The query of a signed address.
pub fn signature_in(url: &str) -> Option<&str> {
    url.split_once('?').map(|(_, query)| query)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "http://127.0.0.1:8081/site/a-b1c2-01234567/";

    #[test]
    fn a_version_has_one_address_and_no_other_version_has_it() {
        let mut addresses = Addresses::default();
        let (artifact, first, second) = (OpId(1), OpId(1), OpId(2));
        addresses.note(artifact, first, URL).unwrap();
        addresses.note(artifact, first, &format!("{URL}?sig=0")).unwrap();
        assert_eq!(addresses.of_artifact(artifact).next().unwrap().label, "a-b1c2-01234567");
        assert!(addresses.note(artifact, second, URL).is_err());
        assert!(addresses.note(artifact, first, &URL.replace('7', "8")).is_err());
        assert!(addresses.note(second, first, URL).is_err());
        assert_eq!(addresses.of_artifact(second).count(), 0);
    }

    #[test]
    fn an_artifact_keeps_its_signature() {
        let mut addresses = Addresses::default();
        addresses.note_signature(OpId(1), &format!("{URL}?sig=0")).unwrap();
        assert_eq!(addresses.signature_of(OpId(1)), Some("sig=0"));
        assert!(addresses.note_signature(OpId(1), &format!("{URL}?sig=1")).is_err());
        assert!(addresses.note_signature(OpId(2), URL).is_err());
    }
}
