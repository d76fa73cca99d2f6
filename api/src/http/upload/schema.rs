//! The schemas of the fields that the forms of a publish share.

use domain::{FileSet, Message, SitePath, Slug, VersionChoice};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};

/// The pattern of a `sha256`.
pub const SHA256_PATTERN: &str = "^[0-9a-f]{64}$";

/// An object must have this field. The alternative to others like it.
pub fn requiring(field: &'static str) -> MetaSchemaRef {
    inline(MetaSchema { required: vec![field], ..MetaSchema::ANY })
}

pub fn slug_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("The artifact's name on the account. If omitted, a name is generated."),
        pattern: Some(Slug::PATTERN.to_owned()),
        ..MetaSchema::new("string")
    })
}

pub fn message_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("What is new in this version. Shown in the list of versions."),
        pattern: Some(Message::PATTERN.to_owned()),
        max_length: Some(Message::LENGTH_MAX),
        ..MetaSchema::new("string")
    })
}

pub fn html_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some("One page, stored as `index.html`. Link its assets by relative paths."),
        min_length: Some(1),
        ..MetaSchema::new("string")
    })
}

pub fn files_schema() -> MetaSchemaRef {
    let file = MetaSchema { format: Some("binary"), ..MetaSchema::new("string") };
    inline(MetaSchema {
        description: Some("The files of a site; each part's filename is its path, such as `css/app.css`."),
        items: Some(Box::new(inline(file))),
        min_items: Some(1),
        max_items: Some(FileSet::FILES_MAX),
        ..MetaSchema::new("array")
    })
}

/// The field of a form that names files without sending them.
pub fn manifest_schema() -> MetaSchemaRef {
    let hash = MetaSchema { pattern: Some(SHA256_PATTERN.to_owned()), ..MetaSchema::new("string") };
    inline(MetaSchema {
        description: Some(
            "A JSON object with the path and the SHA-256 of each file that is not sent, because the account \
             holds its content already. If it does not, the response is 409 `content_missing`.",
        ),
        additional_properties: Some(Box::new(inline(hash))),
        max_properties: Some(FileSet::FILES_MAX),
        ..MetaSchema::new("object")
    })
}

const BASE: &str = "The version whose files the new one keeps: its number, or `live`. Files that you send \
                    are added or replace those of the base.";

/// The base in a form.
pub fn base_text_schema() -> MetaSchemaRef {
    inline(MetaSchema {
        description: Some(BASE),
        pattern: Some(VersionChoice::PATTERN.to_owned()),
        example: Some("live".into()),
        ..MetaSchema::new("string")
    })
}

/// The base in JSON.
pub fn base_schema() -> MetaSchemaRef {
    let live = MetaSchema { enum_items: vec!["live".into()], ..MetaSchema::new("string") };
    let number =
        MetaSchema { minimum: Some(1.0), maximum: Some(999_999_999.0), ..MetaSchema::new("integer") };
    inline(MetaSchema {
        description: Some(BASE),
        one_of: vec![inline(number), inline(live)],
        example: Some("live".into()),
        ..MetaSchema::ANY
    })
}

pub fn delete_schema() -> MetaSchemaRef {
    let path = MetaSchema {
        min_length: Some(1),
        max_length: Some(SitePath::LENGTH_MAX),
        ..MetaSchema::new("string")
    };
    inline(MetaSchema {
        description: Some("Paths of files of `base` that the new version does not have."),
        items: Some(Box::new(inline(path))),
        max_items: Some(FileSet::FILES_MAX),
        ..MetaSchema::new("array")
    })
}

pub fn inline(schema: MetaSchema) -> MetaSchemaRef {
    MetaSchemaRef::Inline(Box::new(schema))
}
