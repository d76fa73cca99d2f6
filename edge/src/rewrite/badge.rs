//! The badge on pages of provisional accounts.

use std::sync::Arc;

use crate::closed::escape;

#[derive(Clone)]
pub struct Badge(Arc<str>);

impl Badge {
    pub fn new(base_url: &str) -> Self {
        // Valid as HTML and as XML, with inline styles that isolate it from the page's own styles as far as
        // possible.
        let markup = format!(
            "<div xmlns=\"http://www.w3.org/1999/xhtml\" data-handbill-badge=\"\" \
             style=\"all:initial;position:fixed;right:12px;bottom:12px;z-index:2147483647;\
             display:block;padding:6px 10px;border-radius:6px;background:#1d1c1a;color:#faf9f6;\
             font:13px/1.4 system-ui,sans-serif;box-shadow:0 1px 4px rgba(0,0,0,.3)\">\
             This page is hosted on <a href=\"{}/\" target=\"_blank\" rel=\"noopener noreferrer\" \
             style=\"color:inherit\">Handbill</a></div>",
            escape(base_url)
        );
        Self(markup.into())
    }

    pub fn markup(&self) -> Arc<str> {
        self.0.clone()
    }

    #[cfg(test)]
    pub fn saying(markup: &str) -> Self {
        Self(markup.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badge_names_the_host_and_escapes_its_url() {
        let markup = Badge::new("http://x/\"><script>").markup();
        assert!(markup.contains("This page is hosted on <a") && markup.contains("Handbill"));
        assert!(!markup.contains("<script>"));
    }
}
