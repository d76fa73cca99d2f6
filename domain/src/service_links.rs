//! The operator's own pages, which every page of the service links to.

/// The links that the operator has set. Each is a URI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceLinks {
    pub terms: Option<String>,
    pub privacy: Option<String>,
    pub imprint: Option<String>,
    /// How people reach the operator, such as `mailto:abuse@example.com`.
    pub contact: Option<String>,
}

impl ServiceLinks {
    /// Text and target of each link, in the order in which pages show them.
    pub fn shown(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("Terms", &self.terms),
            ("Privacy", &self.privacy),
            ("Imprint", &self.imprint),
            ("Contact", &self.contact),
        ];
        all.into_iter().filter_map(|(text, target)| Some((text, target.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_links_that_are_set_are_shown() {
        assert_eq!(ServiceLinks::default().shown().count(), 0);
        let links = ServiceLinks {
            terms: Some("https://example.com/terms".into()),
            contact: Some("mailto:abuse@example.com".into()),
            ..ServiceLinks::default()
        };
        let shown: Vec<_> = links.shown().collect();
        assert_eq!(shown, [("Terms", "https://example.com/terms"), ("Contact", "mailto:abuse@example.com")]);
    }
}
