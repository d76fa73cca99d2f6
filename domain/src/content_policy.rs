//! The content security policy of published pages: where they may load resources from.

/// Hosts that pages may load resources from, besides their own site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentPolicy {
    /// For web fonts and their style sheets.
    pub font_hosts: Vec<String>,
    pub script_hosts: Vec<String>,
    pub image_hosts: Vec<String>,
    pub frame_hosts: Vec<String>,
}

/// What a browser loads a resource as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    Script,
    Style,
    Image,
    Font,
    Frame,
    /// Everything else, such as videos: always from the site itself.
    Other,
}

const OWN: &str = "'self' 'unsafe-inline' data: blob:";

impl ContentPolicy {
    /// The hosts that pages may load web fonts from by default.
    pub const DEFAULT_FONT_HOSTS: [&str; 2] = ["fonts.googleapis.com", "fonts.gstatic.com"];

    /// The value of the header. Allows inline scripts and styles, `data:` and `blob:` addresses and the
    /// hosts. Everything else must come from the site itself.
    pub fn header(&self) -> String {
        let fonts = sources(&self.font_hosts);
        let mut policy =
            format!("default-src {OWN}; style-src {OWN}{fonts}; font-src 'self' data: blob:{fonts}");
        let others = [
            ("script-src", &self.script_hosts),
            ("img-src", &self.image_hosts),
            ("frame-src", &self.frame_hosts),
        ];
        for (directive, hosts) in others {
            // Without hosts of its own, a directive inherits `default-src`.
            if !hosts.is_empty() {
                policy.push_str(&format!("; {directive} {OWN}{}", sources(hosts)));
            }
        }
        policy
    }

    /// Whether a page may load this kind of resource from the host, on the default port of its scheme.
    pub fn allows(&self, kind: ResourceKind, host: &str) -> bool {
        let hosts = match kind {
            ResourceKind::Script => &self.script_hosts,
            ResourceKind::Style | ResourceKind::Font => &self.font_hosts,
            ResourceKind::Image => &self.image_hosts,
            ResourceKind::Frame => &self.frame_hosts,
            ResourceKind::Other => return false,
        };
        hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

fn sources(hosts: &[String]) -> String {
    hosts.iter().map(|host| format!(" {host}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_hosts_everything_comes_from_the_site() {
        let policy = ContentPolicy::default();
        assert_eq!(
            policy.header(),
            "default-src 'self' 'unsafe-inline' data: blob:; style-src 'self' 'unsafe-inline' data: blob:; \
             font-src 'self' data: blob:"
        );
        assert!(!policy.allows(ResourceKind::Script, "cdn.example"));
    }

    #[test]
    fn a_host_is_allowed_for_its_kind_of_resource_only() {
        let hosts = |name: &str| vec![name.to_owned()];
        let policy = ContentPolicy {
            font_hosts: hosts("fonts.example"),
            script_hosts: hosts("cdn.example"),
            image_hosts: hosts("img.example"),
            frame_hosts: hosts("video.example"),
        };
        let own = "'self' 'unsafe-inline' data: blob:";
        assert_eq!(
            policy.header(),
            format!(
                "default-src {own}; style-src {own} fonts.example; font-src 'self' data: blob: \
                 fonts.example; \
                 script-src {own} cdn.example; img-src {own} img.example; frame-src {own} video.example"
            )
        );
        assert!(policy.allows(ResourceKind::Style, "fonts.example"));
        assert!(policy.allows(ResourceKind::Font, "fonts.example"));
        assert!(policy.allows(ResourceKind::Script, "CDN.example"));
        assert!(!policy.allows(ResourceKind::Image, "cdn.example"));
        assert!(!policy.allows(ResourceKind::Script, "a.cdn.example"));
        assert!(!policy.allows(ResourceKind::Other, "cdn.example"));
    }
}
