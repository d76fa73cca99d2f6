//! Detects pages that redirect elsewhere, and scripts that write content which the scanner cannot know. It
//! searches for well-known names in the scripts. That is coarse, so that rules use it only for pages that
//! show almost nothing else.

/// What a page and its scripts do besides showing content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    /// It redirects to another site as soon as it is opened.
    pub(crate) leads_away: bool,
    /// It writes markup, and reads data that comes with the request or is decrypted on the page.
    pub(crate) writes_unknown: bool,
}

/// Names by which scripts write markup.
const SINKS: [&str; 12] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "srcdoc",
    "createContextualFragment",
    "DOMParser",
    "setHTMLUnsafe",
    "createObjectURL",
    "eval(",
    "Function(",
    ".html(",
];
/// Names of data sources outside of the site, and of decryption.
const UNKNOWN: [&str; 9] = [
    "location.hash",
    "location.search",
    "URLSearchParams",
    "window.name",
    "document.referrer",
    "crypto.subtle",
    "CryptoJS",
    "decrypt",
    "TextDecoder",
];
/// Names by which scripts compute an address.
const ADDRESS_MAKERS: [&str; 6] =
    ["http", "atob", "fromCharCode", "decodeURI", "location.hash", "location.search"];

impl Flow {
    pub(crate) fn of_script(source: &str) -> Self {
        let has = |name: &&str| source.contains(*name);
        let writes_unknown = SINKS.iter().any(has) && UNKNOWN.iter().any(has);
        Self { leads_away: redirects_away(source), writes_unknown }
    }

    /// Whether a line of `_redirects` leads to another site.
    pub(crate) fn redirects_elsewhere(rules: &str) -> bool {
        let targets = rules.lines().filter_map(|line| {
            let mut parts = line.split_whitespace().take_while(|part| !part.starts_with('#'));
            parts.next().and(parts.next())
        });
        targets.into_iter().any(is_on_another_site)
    }

    /// For a `<meta>` refresh: `5; url=https://example.com`.
    pub(crate) fn of_refresh(content: &str) -> Self {
        let (_, target) = content.split_once([';', ',']).unwrap_or_default();
        let target = target.trim_start();
        let address = match target.get(..3) {
            Some(start) if start.eq_ignore_ascii_case("url") => {
                target[3..].trim_start().trim_start_matches('=')
            }
            _ => target,
        };
        let address = address.trim_start().trim_start_matches(['"', '\'']);
        Self { leads_away: is_on_another_site(address), ..Self::default() }
    }

    pub(crate) fn join(&mut self, more: Flow) {
        self.leads_away |= more.leads_away;
        self.writes_unknown |= more.writes_unknown;
    }
}

/// Whether any statement sets the page's location to another site.
fn redirects_away(source: &str) -> bool {
    let is_name = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$');
    let names = source.match_indices("location").filter(|(at, _)| !source[..*at].ends_with(is_name));
    let targets = names.filter_map(|(at, name)| target_of(&source[at + name.len()..]));
    targets.into_iter().any(|target| match target.strip_prefix(['"', '\'', '`']) {
        Some(address) => is_on_another_site(address),
        None => ADDRESS_MAKERS.iter().any(|maker| source.contains(maker)),
    })
}

/// The value that `location` is set to: `= target`, `.href = target`, `.replace(target)`.
fn target_of(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['"', '\'', ']']).trim_start();
    for call in [".replace(", ".assign("] {
        if let Some(target) = rest.strip_prefix(call) {
            return Some(target.trim_start());
        }
    }
    let rest = [".href", "['href']", "[\"href\"]"]
        .into_iter()
        .find_map(|property| rest.strip_prefix(property))
        .unwrap_or(rest);
    let target = rest.trim_start().strip_prefix('=')?;
    (!target.starts_with('=')).then(|| target.trim_start())
}

fn is_on_another_site(address: &str) -> bool {
    let starts =
        |scheme: &str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    ["//", "http:", "https:"].into_iter().any(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_to_other_sites_are_distinguished_from_internal_ones() {
        for away in [
            "location = 'https://evil.example/'",
            "window.location.href=\"//evil.example\"",
            "top.location.replace( `https://evil.example` )",
            "window['location']['href'] = 'HTTPS://evil.example'",
            "document.location.assign(atob('aHR0cHM6Ly9ldmlsLmV4YW1wbGU='))",
            "const to = 'https://evil.example'; location.href = to",
        ] {
            assert!(Flow::of_script(away).leads_away, "{away}");
        }
        for within in [
            "location = '/app/'",
            "location.href = 'start.html'",
            "if (location.hostname == 'https://a') {}",
            "location.replace(language + '.html')",
            "location.reload()",
            "let allocation = 'https://a'; ",
        ] {
            assert!(!Flow::of_script(within).leads_away, "{within}");
        }
    }

    #[test]
    fn refresh_target_is_detected_by_its_url() {
        for away in ["0;url=https://evil.example", "5; URL='//evil.example'", "0, https://evil.example"] {
            assert!(Flow::of_refresh(away).leads_away, "{away}");
        }
        for within in ["30", "0;url=start.html", "0; url=/a/https:", ""] {
            assert!(!Flow::of_refresh(within).leads_away, "{within}");
        }
    }

    #[test]
    fn markup_from_the_url_or_from_decryption_is_unknown() {
        for unknown in [
            "e.innerHTML = decodeURIComponent(location.hash.slice(1))",
            "document.write(window.name)",
            "crypto.subtle.decrypt(a, k, d).then(t => { f.srcdoc = t })",
        ] {
            assert!(Flow::of_script(unknown).writes_unknown, "{unknown}");
        }
        for known in ["e.innerHTML = '<p>Hello'", "e.textContent = location.hash"] {
            assert!(!Flow::of_script(known).writes_unknown, "{known}");
        }
    }
}
