//! Adds the `sig` of a private site to the links within its pages.
//!
//! Only links that stay within the site are signed, because the `sig` must not leak to other sites. Links are
//! resolved as a browser does it, with character references decoded. A link whose target cannot be determined
//! is not signed.
//!
//! A `<base>` that comes late changes the links before it. A page that is cached is then read a second time.
//! One that is dressed as a stream has already been sent by then, so links before a late base that leads out
//! of the site carry the `sig` with them.
//!
//! A browser identifies modules by the requested address. A script that a page references (signed here) and
//! another script imports (redirected to its signed address) is therefore two modules to the browser and runs
//! twice.

mod bases;
mod forms;
mod refresh;

use anyhow::Context;
use domain::link::{Addresses, UrlStyle};
use domain::{Host, SiteLabel};
use url::{Position, Url};

use crate::form::{Signature, SignedLinks};
use bases::Bases;
use forms::{Forms, Leads};

/// A start tag in either markup. Attribute values are text with character references decoded.
pub trait Tag {
    /// In lower case, without a prefix.
    fn name(&self) -> String;
    /// Whether it may be an element of another namespace with an HTML name.
    fn may_be_foreign(&self) -> bool;
    fn attribute(&self, name: &str) -> Option<String>;
    fn set_attribute(&mut self, name: &str, text: &str) -> anyhow::Result<()>;
}

/// The public addresses of sites, in both URL styles.
pub struct Origins {
    scheme: String,
    styles: [Addresses; 2],
}

/// Knows the location of a page, and so which of its links stay within the site. A clone that reads the same
/// page again already knows its bases.
#[derive(Clone)]
pub struct LinkSigner {
    signature: Signature,
    /// The addresses of the site's root, each with a slash at its end.
    roots: Vec<String>,
    bases: Bases,
    forms: Forms,
}

/// A placeholder, because the visitor's name for the site does not affect relative links.
const NAME: &str = "site.invalid";
/// A tag name that does not occur in a head.
const FOREIGN: &str = "";
/// Schemes whose addresses name a host.
const SPECIAL_SCHEMES: [&str; 6] = ["http", "https", "ws", "wss", "ftp", "file"];

const LINKS: [&str; 7] = ["href", "src", "poster", "action", "formaction", "background", "xlink:href"];
const LINK_SETS: [&str; 2] = ["srcset", "imagesrcset"];

impl Origins {
    pub fn new(serve_url: &Url, domain: &str) -> Self {
        let style = |url_style| Addresses {
            base_url: String::new(),
            serve_url: serve_url.as_str().trim_end_matches('/').to_owned(),
            edge_domain: domain.to_owned(),
            url_style,
        };
        Self { scheme: serve_url.scheme().to_owned(), styles: [style(UrlStyle::Path), style(UrlStyle::Host)] }
    }

    /// Identifies this set of addresses in `ETag`s.
    pub fn mark(&self) -> String {
        let [by_path, _] = &self.styles;
        format!("{} {}", by_path.serve_url, by_path.edge_domain)
    }

    fn roots(&self, label: &SiteLabel) -> impl Iterator<Item = String> {
        let pages = self.styles.iter().map(move |style| style.site(label));
        // Not every host is a valid DNS label.
        pages.filter_map(|page| Url::parse(&page).ok()).map(String::from)
    }
}

impl LinkSigner {
    pub fn new(links: &SignedLinks, host: &Host, origins: &Origins) -> anyhow::Result<Self> {
        let label = SiteLabel { host: host.clone(), version: links.version };
        let root = Url::parse(&format!("{}://{NAME}{}", origins.scheme, links.mount.root(&label)))?;
        // The folder names do not affect whether a link leads out of them.
        let page =
            root.join(&"folder/".repeat(usize::from(links.depth))).context("build a page's address")?;
        // A version's links to the live page are signed too: the page has one `sig` for all of its addresses.
        let live = links.version.map(|_| SiteLabel::from(host.clone()));
        let roots = std::iter::once(root.into()).chain(origins.roots(&label));
        let roots = roots.chain(live.iter().flat_map(|live| origins.roots(live))).collect();
        Ok(Self { signature: links.signature, roots, bases: Bases::of(page), forms: Forms::default() })
    }

    pub fn sign_tag(&mut self, tag: &mut impl Tag) -> anyhow::Result<()> {
        let name = tag.name();
        self.bases.pass(if tag.may_be_foreign() { FOREIGN } else { &name });
        match name.as_str() {
            "base" => {
                if let Some(href) = tag.attribute("href") {
                    self.bases.declare(&href);
                }
                return Ok(());
            }
            "meta" => self.sign_refresh(tag)?,
            "form" => self.enter_form(tag),
            "button" | "input" => self.note_button(tag)?,
            "object" => self.sign_attribute(tag, "data", Self::sign)?,
            _ => {}
        }
        for name in LINKS {
            self.sign_attribute(tag, name, Self::sign)?;
        }
        for name in LINK_SETS {
            self.sign_attribute(tag, name, Self::sign_set)?;
        }
        Ok(())
    }

    /// At the end of a form, returns the field that carries the `sig`, as markup, if this form gets one.
    pub fn leave_form(&mut self) -> Option<String> {
        // Valid as HTML and as XML.
        let field = format!(
            "<input xmlns=\"http://www.w3.org/1999/xhtml\" type=\"hidden\" name=\"sig\" value=\"{}\" />",
            self.signature.as_str()
        );
        self.forms.leave().then_some(field)
    }

    fn sign_attribute(
        &self,
        tag: &mut impl Tag,
        name: &str,
        sign: fn(&Self, &str) -> Option<String>,
    ) -> anyhow::Result<()> {
        match tag.attribute(name).and_then(|value| sign(self, &value)) {
            Some(signed) => tag.set_attribute(name, &signed),
            None => Ok(()),
        }
    }

    /// Whether links were resolved before a base that affects them. The page must then be read again.
    pub fn settle_late_base(&self) -> bool {
        self.bases.settle_if_late()
    }

    /// A form that is sent by GET drops the query of its address, so it needs the `sig` as a field.
    fn enter_form(&mut self, tag: &impl Tag) {
        let method = tag.attribute("method").unwrap_or_default().to_ascii_lowercase();
        let is_get = !matches!(method.as_str(), "post" | "dialog");
        let leads = if is_get { self.sends_to(tag.attribute("action")) } else { Leads::Out };
        self.forms.enter(tag.attribute("id"), leads);
    }

    /// A button may send its form elsewhere, with all fields.
    fn note_button(&mut self, tag: &mut impl Tag) -> anyhow::Result<()> {
        if self.sends_to(tag.attribute("formaction")) == Leads::Out
            && !self.forms.may_be_led_out(tag.attribute("form").as_deref())
        {
            // Its form already has the field. A button without a form sends nothing.
            tag.set_attribute("form", "")?;
        }
        Ok(())
    }

    /// Without an action, a form is sent to its own page.
    fn sends_to(&self, action: Option<String>) -> Leads {
        let action = action.unwrap_or_default();
        let action = action.trim_matches(is_stripped);
        let stays = action.is_empty() || self.is_within(&self.targets(action));
        if stays { Leads::Within } else { Leads::Out }
    }

    /// `<meta http-equiv="refresh" content="5; url=next.html">`
    fn sign_refresh(&self, tag: &mut impl Tag) -> anyhow::Result<()> {
        let kind = tag.attribute("http-equiv").unwrap_or_default();
        if !kind.eq_ignore_ascii_case("refresh") {
            return Ok(());
        }
        self.sign_attribute(tag, "content", |signer, content| {
            let range = refresh::address_in(content)?;
            let signed = signer.sign(&content[range.clone()])?;
            Some(format!("{}{signed}{}", &content[..range.start], &content[range.end..]))
        })
    }

    /// The signed link, or `None` if it stays unchanged.
    fn sign(&self, link: &str) -> Option<String> {
        let link = link.trim_matches(is_stripped);
        if link.is_empty() || (link.starts_with('#') && self.bases.is_page_alone()) {
            return None;
        }
        let targets = self.targets(link);
        let has_sig = |target: &Url| target.query_pairs().any(|(name, _)| name == "sig");
        if !self.is_within(&targets) || targets.iter().any(has_sig) {
            return None;
        }
        let (address, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
        let joint = if address.contains('?') { '&' } else { '?' };
        Some(format!("{address}{joint}sig={}{fragment}", self.signature.as_str()))
    }

    /// `small.png 1x, large.png 2x`
    fn sign_set(&self, set: &str) -> Option<String> {
        let mut signed = Vec::new();
        let mut rest = set.trim_start_matches(is_gap);
        while !rest.is_empty() {
            let (link, after) = rest.split_at(rest.find(is_space).unwrap_or(rest.len()));
            let bare = link.trim_end_matches(',');
            let ends_here = bare.len() < link.len();
            let (descriptor, next) =
                if ends_here { ("", after) } else { after.split_at(after.find(',').unwrap_or(after.len())) };
            let candidate = format!("{}{descriptor}", self.sign(bare).unwrap_or_else(|| bare.to_owned()));
            signed.push(candidate.trim_end().to_owned());
            rest = next.trim_start_matches(is_gap);
        }
        (!signed.is_empty()).then(|| signed.join(", "))
    }

    /// The possible targets of a link. Empty if they cannot be determined.
    fn targets(&self, link: &str) -> Vec<Url> {
        if is_ambiguous(link) {
            return vec![];
        }
        Url::parse(link).map_or_else(|_| self.bases.join(link), |target| vec![target])
    }

    /// Whether every possible target is within the site.
    fn is_within(&self, targets: &[Url]) -> bool {
        let is_within = |target: &Url| {
            let address = &target[..Position::AfterPath];
            let is_below =
                |root: &String| address.starts_with(root) || Some(address) == root.strip_suffix('/');
            self.roots.iter().any(is_below)
        };
        !targets.is_empty() && targets.iter().all(is_within)
    }
}

/// Browsers treat `https:a` as relative on a page with the same scheme and as a host on any other.
fn is_ambiguous(link: &str) -> bool {
    let link: String = link.chars().filter(|character| !matches!(character, '\t' | '\n' | '\r')).collect();
    let Some((scheme, rest)) = link.trim_start_matches(is_stripped).split_once(':') else { return false };
    SPECIAL_SCHEMES.iter().any(|special| scheme.eq_ignore_ascii_case(special)) && !rest.starts_with("//")
}

/// Characters that browsers strip from both ends of a link.
fn is_stripped(character: char) -> bool {
    character <= ' '
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

fn is_gap(character: char) -> bool {
    is_space(character) || character == ','
}

#[cfg(test)]
pub mod tests;
