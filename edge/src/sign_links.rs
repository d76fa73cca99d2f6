//! Sign links: carries the `sig` of a private site on to the links within its pages.
//!
//! Only links that stay within the site are signed: the `sig` must not be told to anybody else.

use domain::Host;
use lol_html::html_content::ContentType;
use lol_html::send::Element;
use url::Url;

use crate::form::{Signature, SignedLinks};

/// Knows where a page lies, and so which of its links stay within the site.
pub struct LinkSigner {
    signature: Signature,
    root: Url,
    base: Base,
}

/// What relative links are relative to: the first `<base>` of a page decides.
enum Base {
    Page(Url),
    Declared(Url),
}

/// The page's own origin is of no matter to relative links; this one is nobody's.
const ORIGIN: &str = "http://site.invalid";

const LINKS: [&str; 7] = ["href", "src", "poster", "action", "formaction", "background", "xlink:href"];
const LINK_SETS: [&str; 2] = ["srcset", "imagesrcset"];

impl LinkSigner {
    pub fn new(links: &SignedLinks, host: &Host) -> anyhow::Result<Self> {
        let root = Url::parse(ORIGIN)?.join(&links.mount.root(host))?;
        // The names of the folders do not matter to what leads out of them.
        let page = root.join(&"folder/".repeat(usize::from(links.depth)))?;
        Ok(Self { signature: links.signature, root, base: Base::Page(page) })
    }

    pub fn sign_element(&mut self, element: &mut Element<'_, '_>) -> lol_html::HandlerResult {
        match element.tag_name().as_str() {
            "base" => {
                self.note_base(element);
                return Ok(());
            }
            "meta" => self.sign_refresh(element)?,
            "form" => self.sign_form(element),
            "object" => self.sign_attribute(element, "data", |signer, value| signer.sign(value))?,
            _ => {}
        }
        for name in LINKS {
            self.sign_attribute(element, name, |signer, value| signer.sign(value))?;
        }
        for name in LINK_SETS {
            self.sign_attribute(element, name, |signer, value| signer.sign_set(value))?;
        }
        Ok(())
    }

    fn sign_attribute(
        &self,
        element: &mut Element<'_, '_>,
        name: &str,
        sign: impl Fn(&Self, &str) -> Option<String>,
    ) -> lol_html::HandlerResult {
        if let Some(signed) = element.get_attribute(name).and_then(|value| sign(self, &value)) {
            element.set_attribute(name, &signed)?;
        }
        Ok(())
    }

    fn note_base(&mut self, element: &Element<'_, '_>) {
        if let Base::Page(page) = &self.base
            && let Some(declared) = element.get_attribute("href").and_then(|href| page.join(&href).ok())
        {
            self.base = Base::Declared(declared);
        }
    }

    /// A form that is sent by GET drops the query of its address, so the `sig` goes in as a field.
    fn sign_form(&self, element: &mut Element<'_, '_>) {
        let is_get = element.get_attribute("method").is_none_or(|method| method.eq_ignore_ascii_case("get"));
        let action = element.get_attribute("action").unwrap_or_default();
        if is_get && self.stays_within(&action) {
            let field = format!("<input type=\"hidden\" name=\"sig\" value=\"{}\">", self.signature.as_str());
            element.prepend(&field, ContentType::Html);
        }
    }

    /// `<meta http-equiv="refresh" content="5; url=next.html">`
    fn sign_refresh(&self, element: &mut Element<'_, '_>) -> lol_html::HandlerResult {
        let kind = element.get_attribute("http-equiv").unwrap_or_default();
        if !kind.eq_ignore_ascii_case("refresh") {
            return Ok(());
        }
        self.sign_attribute(element, "content", |signer, content| {
            let link_at = content.to_ascii_lowercase().find("url=")? + "url=".len();
            let (wait, link) = content.split_at(link_at);
            Some(format!("{wait}{}", signer.sign(link.trim_matches(['\'', '"', ' ']))?))
        })
    }

    /// The link with its `sig`, as attribute text; none when it stays as it is.
    fn sign(&self, link: &str) -> Option<String> {
        let link = link.trim();
        if link.is_empty() || link.starts_with('#') || !self.stays_within(link) {
            return None;
        }
        let (address, fragment) = link.split_at(fragment_at(link));
        let joint = if address.contains('?') { "&amp;" } else { "?" };
        Some(format!("{address}{joint}sig={}{fragment}", self.signature.as_str()))
    }

    /// `small.png 1x, large.png 2x`
    fn sign_set(&self, set: &str) -> Option<String> {
        let mut signed = Vec::new();
        let mut rest = set.trim_start_matches(is_gap);
        while !rest.is_empty() {
            let (link, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
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

    fn stays_within(&self, link: &str) -> bool {
        let (Base::Page(base) | Base::Declared(base)) = &self.base;
        let Ok(target) = base.join(link) else { return false };
        let is_signed = target.query_pairs().any(|(name, _)| name == "sig" || name == "amp;sig");
        target.origin() == self.root.origin() && target.path().starts_with(self.root.path()) && !is_signed
    }
}

fn is_gap(character: char) -> bool {
    character.is_whitespace() || character == ','
}

/// Where the fragment begins. A `#` after `&` belongs to a character reference.
fn fragment_at(link: &str) -> usize {
    let bytes = link.as_bytes();
    let is_fragment = |at: &usize| bytes[*at] == b'#' && (*at == 0 || bytes[*at - 1] != b'&');
    (0..bytes.len()).find(is_fragment).unwrap_or(bytes.len())
}

#[cfg(test)]
pub mod tests {
    use domain::link::SigningKey;

    use super::*;
    use crate::find::Mount;

    /// For pages of `my-page-a1b2`.
    pub fn signer(mount: Mount, depth: u16) -> LinkSigner {
        let host: Host = "my-page-a1b2".parse().unwrap();
        let signature = Signature::of(&host, &SigningKey::new("secret")).unwrap();
        LinkSigner::new(&SignedLinks { signature, mount, depth }, &host).unwrap()
    }

    /// With an `S` in the signature's place.
    pub fn short(signed: String) -> String {
        signed.replace(signer(Mount::Name, 0).signature.as_str(), "S")
    }

    fn signed(mount: Mount, depth: u16, link: &str) -> String {
        signer(mount, depth).sign(link).map_or_else(|| link.to_owned(), short)
    }

    #[test]
    fn links_within_the_site_carry_the_signature() {
        for (link, expected) in [
            ("next.html", "next.html?sig=S"),
            ("css/app.css", "css/app.css?sig=S"),
            ("./", "./?sig=S"),
            ("..", "..?sig=S"),
            ("../x.png", "../x.png?sig=S"),
            ("a.html#part", "a.html?sig=S#part"),
            ("a.html?b=c", "a.html?b=c&amp;sig=S"),
            ("a.html?b=c&amp;d#e", "a.html?b=c&amp;d&amp;sig=S#e"),
            ("?page=2", "?page=2&amp;sig=S"),
            (" a.html ", "a.html?sig=S"),
            ("/site/my-page-a1b2/b.html", "/site/my-page-a1b2/b.html?sig=S"),
            ("../../my-page-a1b2/b.html", "../../my-page-a1b2/b.html?sig=S"),
            ("x&#38;y.html", "x&#38;y.html?sig=S"),
        ] {
            assert_eq!(signed(Mount::Path, 1, link), expected, "{link}");
        }
    }

    #[test]
    fn links_out_of_the_site_stay_as_they_are() {
        for link in [
            "https://example.com/",
            "//example.com/a",
            "mailto:a@b.example",
            "javascript:void(0)",
            "data:text/plain,x",
            "blob:x",
            "#part",
            "",
            "/",
            "/site/other-c3d4/",
            "../../",
            "../../other-c3d4/x.html",
            "..\\..\\other-c3d4\\x.html",
            "%2e%2e/%2e%2e/other-c3d4/",
            "a.html?sig=0123",
            "a.html?x&amp;sig=0123",
        ] {
            assert_eq!(signed(Mount::Path, 1, link), link, "{link}");
        }
    }

    #[test]
    fn on_a_name_of_its_own_everything_below_the_root_is_the_site() {
        assert_eq!(signed(Mount::Name, 0, "/img/a.png"), "/img/a.png?sig=S");
        assert_eq!(signed(Mount::Name, 0, "../../a.png"), "../../a.png?sig=S");
        assert_eq!(signed(Mount::Name, 0, "//example.com/a.png"), "//example.com/a.png");
    }

    #[test]
    fn each_candidate_of_a_set_is_signed() {
        let signer = signer(Mount::Name, 0);
        for (set, expected) in [
            ("a.png", "a.png?sig=S"),
            ("a.png 1x, b.png 2x", "a.png?sig=S 1x, b.png?sig=S 2x"),
            ("a.png, b.png", "a.png?sig=S, b.png?sig=S"),
            ("\n a.png   100w ,\n b.png 200w\n", "a.png?sig=S   100w, b.png?sig=S 200w"),
            ("data:image/png;base64,AA 1x, b.png 2x", "data:image/png;base64,AA 1x, b.png?sig=S 2x"),
            ("https://example.com/a.png 1x", "https://example.com/a.png 1x"),
        ] {
            assert_eq!(short(signer.sign_set(set).unwrap()), expected, "{set}");
        }
        assert_eq!(signer.sign_set(" , "), None);
    }
}
