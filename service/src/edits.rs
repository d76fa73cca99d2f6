//! Edits of text files of the live version. The new version is published only if the edited one is still
//! live, so that no edit removes the changes of another.

use std::collections::BTreeMap;

use bytes::Bytes;
use domain::{
    CreatedVia, FileSet, Missing, PublishCondition, Refusal, Scope, Slug, Target, TextEdit, VersionChoice,
};

use crate::compute::compute;
use crate::{Caller, PublishRequest, Service, ServiceResult, SiteBase, SitePlan, UploadedFile};

/// Edits of one call.
pub const EDITS_MAX: usize = 100;

/// Edits of an artifact.
#[derive(Clone, Debug)]
pub struct EditRequest {
    pub slug: Slug,
    /// They are applied in this order.
    pub edits: Vec<TextEdit>,
    /// The number that the live version must have.
    pub expected_version: Option<u32>,
    pub created_via: CreatedVia,
}

impl Service {
    /// The publish of an edited version, before the edits are applied, and the site that it starts from.
    pub async fn begin_edit(
        &self,
        caller: &Caller,
        request: &EditRequest,
    ) -> ServiceResult<(PublishRequest, SitePlan)> {
        caller.may(Scope::ArtifactsWrite)?;
        check_edits(&request.edits)?;
        let artifact = self.artifact_alone(caller, &request.slug).await?;
        let version = match request.expected_version {
            None => VersionChoice::Live,
            Some(seq) => {
                let existing = self.0.store.artifacts().existing(caller.account, &request.slug).await?;
                match Refusal::of_condition(PublishCondition::LiveVersion(seq), existing) {
                    Some(refusal) => return Err(refusal.into()),
                    None => VersionChoice::Numbered(seq),
                }
            }
        };
        let files = self.files_of(&artifact, version).await?;
        if request.edits.iter().any(|edit| files.manifest.find(&edit.path).is_none()) {
            return Err(Refusal::NotFound(Missing::File).into());
        }
        let base = SiteBase { version: VersionChoice::Numbered(files.seq), deleted: vec![] };
        let publish = PublishRequest {
            slug: Some(request.slug.clone()),
            target: Target::If(PublishCondition::LiveVersion(files.seq)),
            ..PublishRequest::new(request.created_via, vec![])
        };
        Ok((publish, SitePlan { files: vec![], base: Some(base) }))
    }

    /// Applies the edits to the files of a publish.
    pub async fn apply_edits(
        &self,
        publish: PublishRequest,
        edits: &[TextEdit],
    ) -> ServiceResult<PublishRequest> {
        let (files, edits) = (publish.files, edits.to_vec());
        let total_bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
        let files = compute(total_bytes, move || edited(files, &edits)).await??;
        Ok(PublishRequest { files, ..publish })
    }
}

fn check_edits(edits: &[TextEdit]) -> Result<(), Refusal> {
    if edits.is_empty() {
        return Err(Refusal::invalid("edits", "is empty; send at least one edit"));
    }
    if edits.len() > EDITS_MAX {
        return Err(Refusal::invalid("edits", format!("has more than {EDITS_MAX} edits")));
    }
    match edits.iter().position(|edit| edit.old.is_empty()) {
        Some(number) => Err(Refusal::invalid(format!("edits[{number}].old"), "is empty")),
        None => Ok(()),
    }
}

fn edited(mut files: Vec<UploadedFile>, edits: &[TextEdit]) -> Result<Vec<UploadedFile>, Refusal> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for (number, edit) in edits.iter().enumerate() {
        let text = match texts.remove(&*edit.path) {
            Some(text) => text,
            None => text_of(&files, number, edit)?,
        };
        let edited =
            edit.apply(number, &text).map_err(|mismatch| Refusal::EditMismatch(Box::new(mismatch)))?;
        texts.insert(&edit.path, edited);
    }
    let mut set = FileSet::default();
    for file in &mut files {
        if let Some(text) = texts.remove(file.path.as_str()) {
            file.bytes = Bytes::from(text);
        }
        set.grow(file.bytes.len())?;
    }
    Ok(files)
}

fn text_of(files: &[UploadedFile], number: usize, edit: &TextEdit) -> Result<String, Refusal> {
    let file = files.iter().find(|file| file.path.as_str() == edit.path);
    let file = file.ok_or(Refusal::NotFound(Missing::File))?;
    let text = std::str::from_utf8(&file.bytes);
    text.map(str::to_owned).map_err(|_| {
        let fault =
            format!("names {:?}, which is not text in UTF-8; publish it with base and files", edit.path);
        Refusal::invalid(format!("edits[{number}].path"), fault)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, old: &str, new: &str) -> TextEdit {
        TextEdit { path: path.into(), old: old.into(), new: new.into() }
    }

    fn files() -> Vec<UploadedFile> {
        let file = |path: &str, bytes: &'static [u8]| UploadedFile {
            path: path.parse().unwrap(),
            bytes: Bytes::from_static(bytes),
        };
        vec![file("a.css", b"h1 {}"), file("dot.bin", b"\0\xff"), file("index.html", b"one two")]
    }

    #[test]
    fn edits_are_applied_in_order_and_other_files_stay() {
        let edits = [
            edit("index.html", "one", "two two"),
            edit("a.css", "{}", "{ top: 0 }"),
            edit("index.html", "two two two", "three"),
        ];
        let edited = edited(files(), &edits).unwrap();
        let contents: Vec<&[u8]> = edited.iter().map(|file| &*file.bytes).collect();
        assert_eq!(contents, [&b"h1 { top: 0 }"[..], b"\0\xff", b"three"]);
    }

    #[test]
    fn an_edit_that_does_not_apply_is_named() {
        for (edits, code, message) in [
            (
                vec![edit("index.html", "one", "two"), edit("index.html", "two", "")],
                "edit_mismatch",
                "edits[1].old: ",
            ),
            (vec![edit("dot.bin", "a", "b")], "invalid_request", "edits[0].path: "),
            (vec![edit("index.htm", "a", "b")], "not_found", ""),
        ] {
            let refusal = edited(files(), &edits).unwrap_err();
            assert!(refusal.code() == code && refusal.message().starts_with(message), "{refusal}");
        }
        let long = edit("index.html", "one", &"x".repeat(FileSet::BYTES_MAX as usize));
        assert_eq!(edited(files(), &[long]).unwrap_err().code(), "too_large");
    }

    #[test]
    fn number_of_edits_is_bounded_and_no_old_text_is_empty() {
        for (edits, field) in [
            (vec![], "edits: "),
            (vec![edit("a", "b", "c"); EDITS_MAX + 1], "edits: "),
            (vec![edit("a", "b", "c"), edit("a", "", "c")], "edits[1].old: "),
        ] {
            assert!(check_edits(&edits).unwrap_err().message().starts_with(field));
        }
        assert_eq!(check_edits(&vec![edit("a", "b", "c"); EDITS_MAX]), Ok(()));
    }
}
