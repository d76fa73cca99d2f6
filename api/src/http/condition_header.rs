//! The headers that make a publish conditional on the live version. Version 7 has the entity tag `"v7"`.

use domain::{PublishCondition, Refusal};
use poem::Request;
use poem::http::HeaderValue;
use poem_openapi::registry::MetaSchema;

use crate::http::call_header::CallHeader;
use crate::http::refusal::RefusedCall;

const IF_MATCH: &str = "If-Match";
const IF_NONE_MATCH: &str = "If-None-Match";

/// `If-Match`: the number of the live version, or `*` for any artifact with the slug.
pub struct IfMatch(pub Option<PublishCondition>);

/// `If-None-Match: *`: no artifact has the slug.
pub struct IfNoneMatch(pub Option<PublishCondition>);

/// The condition of a publish from its headers.
pub fn condition(
    IfMatch(present): IfMatch,
    IfNoneMatch(absent): IfNoneMatch,
) -> Result<Option<PublishCondition>, Refusal> {
    match (present, absent) {
        (Some(_), Some(_)) => {
            Err(Refusal::invalid(IF_MATCH, "cannot be sent together with If-None-Match; send one of them"))
        }
        (condition, None) | (None, condition) => Ok(condition),
    }
}

/// The condition of a publish from its headers and from `expected_version`, which must say the same.
pub fn with_expected_version(
    condition: Option<PublishCondition>,
    expected: Option<u32>,
) -> Result<Option<PublishCondition>, Refusal> {
    let Some(seq) = expected else { return Ok(condition) };
    let expected = PublishCondition::LiveVersion(seq);
    match condition {
        Some(other) if other != expected => Err(Refusal::invalid(
            "expected_version",
            "contradicts If-Match or If-None-Match; send one of them",
        )),
        _ => Ok(Some(expected)),
    }
}

/// The number in `expected_version`. Versions are numbered from 1.
pub fn expected_version(seq: u32) -> Result<u32, Refusal> {
    match seq {
        0 => Err(Refusal::invalid("expected_version", "must be at least 1; the first version has number 1")),
        seq => Ok(seq),
    }
}

/// A number beyond all versions is well-formed and matches none.
fn version_of(tag: &str) -> Option<PublishCondition> {
    let digits = tag.strip_prefix("\"v")?.strip_suffix('"')?;
    let is_number =
        !digits.starts_with('0') && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| PublishCondition::LiveVersion(digits.parse().unwrap_or(u32::MAX)))
}

fn parse_if_match(value: &str) -> Result<PublishCondition, Refusal> {
    let parsed = if value == "*" { Some(PublishCondition::SlugExists) } else { version_of(value) };
    parsed.ok_or_else(|| {
        Refusal::invalid(IF_MATCH, "must be one version number with its quotes, such as \"v7\", or *")
    })
}

fn parse_if_none_match(value: &str) -> Result<PublishCondition, Refusal> {
    match value {
        "*" => Ok(PublishCondition::SlugIsNew),
        _ => Err(Refusal::invalid(IF_NONE_MATCH, "must be *, which means that the slug is new")),
    }
}

fn read(
    value: Option<&HeaderValue>,
    parse: fn(&str) -> Result<PublishCondition, Refusal>,
) -> Result<Option<PublishCondition>, RefusedCall> {
    let Some(value) = value else { return Ok(None) };
    // No accepted value is empty.
    Ok(Some(parse(value.to_str().unwrap_or_default().trim())?))
}

impl CallHeader for IfMatch {
    fn read(value: Option<&HeaderValue>, _request: &Request) -> Result<Self, RefusedCall> {
        read(value, parse_if_match).map(Self)
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some(r#"^(\*|"v[1-9][0-9]*")$"#.to_owned()),
            example: Some("\"v7\"".into()),
            ..MetaSchema::new("string")
        }
    }
}

impl CallHeader for IfNoneMatch {
    fn read(value: Option<&HeaderValue>, _request: &Request) -> Result<Self, RefusedCall> {
        read(value, parse_if_none_match).map(Self)
    }

    fn schema() -> MetaSchema {
        MetaSchema { enum_items: vec!["*".into()], example: Some("*".into()), ..MetaSchema::new("string") }
    }
}

#[cfg(test)]
mod tests {
    use domain::PublishCondition::{LiveVersion, SlugExists, SlugIsNew};

    use super::*;

    #[test]
    fn if_match_is_one_strong_tag_of_a_version_or_a_star() {
        for (value, condition) in
            [("\"v7\"", LiveVersion(7)), ("\"v99999999999\"", LiveVersion(u32::MAX)), ("*", SlugExists)]
        {
            assert_eq!(parse_if_match(value), Ok(condition), "{value}");
        }
        for bad in [
            "",
            "v7",
            "7",
            "\"7\"",
            "W/\"v7\"",
            "\"v7\", \"v8\"",
            "\"v0\"",
            "\"v07\"",
            "\"v-7\"",
            "\"v\"",
            "\"V7\"",
            "\"v7",
            "\"v+7\"",
            "**",
            "\"*\"",
        ] {
            assert!(parse_if_match(bad).unwrap_err().message().starts_with("If-Match: "), "{bad}");
        }
    }

    #[test]
    fn if_none_match_is_a_star() {
        assert_eq!(parse_if_none_match("*"), Ok(SlugIsNew));
        for bad in ["", "\"v7\"", "\"*\"", "*, *"] {
            assert!(parse_if_none_match(bad).unwrap_err().message().starts_with("If-None-Match: "), "{bad}");
        }
    }

    #[test]
    fn conditions_of_a_request_must_not_contradict_each_other() {
        let headers = |present, absent| condition(IfMatch(present), IfNoneMatch(absent));
        assert_eq!(headers(Some(SlugExists), None), Ok(Some(SlugExists)));
        assert_eq!(headers(None, Some(SlugIsNew)), Ok(Some(SlugIsNew)));
        assert_eq!(headers(None, None), Ok(None));
        assert!(headers(Some(SlugExists), Some(SlugIsNew)).is_err());
        assert_eq!(with_expected_version(None, Some(7)), Ok(Some(LiveVersion(7))));
        assert_eq!(with_expected_version(Some(LiveVersion(7)), Some(7)), Ok(Some(LiveVersion(7))));
        assert_eq!(with_expected_version(Some(SlugIsNew), None), Ok(Some(SlugIsNew)));
        for other in [LiveVersion(8), SlugExists, SlugIsNew] {
            assert!(with_expected_version(Some(other), Some(7)).is_err(), "{other:?}");
        }
        assert!(expected_version(0).is_err());
        assert_eq!(expected_version(1), Ok(1));
    }
}
