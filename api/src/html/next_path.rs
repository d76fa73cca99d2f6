//! The path to go to after a sign-in. It must never lead to another site, so only plain paths of our own are
//! accepted.

/// A path of this service, with its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextPath(String);

impl NextPath {
    /// The query of a consent page has the client's metadata.
    const LENGTH_MAX: usize = 4_096;

    /// `None` for anything that a browser might read as another site's address: `//evil`, `/\evil`, an
    /// absolute URL, or control characters, which browsers strip before they parse.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let is_path = text.starts_with('/') && !text.starts_with("//") && text.len() <= Self::LENGTH_MAX;
        (is_plain && is_path).then(|| Self(text.to_owned()))
    }

    pub fn dashboard() -> Self {
        Self("/dashboard".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<NextPath> for String {
    fn from(path: NextPath) -> String {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_path_accepts_local_paths() {
        for path in ["/", "/dashboard", "/invite/abc?x=1#y", "/a//b", "/%5c%5cevil.example"] {
            assert_eq!(NextPath::parse(path).map(String::from), Some(path.to_owned()));
        }
    }

    #[test]
    fn next_path_rejects_paths_that_could_leave_the_site() {
        let long = format!("/{}", "a".repeat(NextPath::LENGTH_MAX));
        for elsewhere in [
            "",
            "dashboard",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/a\\b",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "\t//evil.example",
            "/\r\nSet-Cookie: a=b",
            "/\u{0}",
            " /dashboard",
            "/ä",
            &long,
        ] {
            assert_eq!(NextPath::parse(elsewhere), None, "{elsewhere:?}");
        }
    }
}
