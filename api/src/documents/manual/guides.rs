//! The guides. Each is a Markdown template in `api/templates/docs`, with the facts of this deployment.

use askama::Template;

use super::PageLink;
use super::markdown::Article;
use crate::documents::Facts;

/// A guide, ready for its page.
#[derive(Debug)]
pub struct Guide {
    pub path: String,
    pub article: Article,
}

impl Guide {
    pub fn of(path: &str, markdown: &str) -> Self {
        Self { path: path.to_owned(), article: Article::of(markdown) }
    }

    pub fn link(&self) -> PageLink {
        let Article { title, lead, .. } = &self.article;
        let end = lead.find(". ").map_or(lead.len(), |end| end + 1);
        PageLink { path: self.path.clone(), title: title.clone(), summary: lead[..end].trim().to_owned() }
    }
}

macro_rules! guides {
    ($($name:ident $path:tt $template:tt;)+) => {
        $(
            #[derive(Template)]
            #[template(path = $template)]
            struct $name<'a> {
                facts: &'a Facts,
            }
        )+

        /// All guides, in the order in which people need them.
        pub fn all(facts: &Facts) -> Vec<Guide> {
            vec![$(Guide::of($path, &$name { facts }.render().unwrap_or_default()),)+]
        }
    };
}

guides! {
    Quickstart     "/docs/quickstart"      "docs/quickstart.md";
    PrivateSharing "/docs/private-sharing" "docs/private-sharing.md";
    Teams          "/docs/teams"           "docs/teams.md";
    Payments       "/docs/payments"        "docs/payments.md";
    Mcp            "/docs/mcp"             "docs/mcp.md";
    CommandLine    "/docs/cli"             "docs/cli.md";
    SelfHosting    "/docs/self-hosting"    "docs/self-hosting.md";
}
