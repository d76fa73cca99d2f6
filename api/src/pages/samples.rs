//! Sample data that several pages share.

use domain::{Artifact, Retention, Time, Visibility};
use service::PageGlance;

/// A page of its own.
pub fn page_glance() -> PageGlance {
    let url = "http://127.0.0.1:8081/site/my-page-a1b2/";
    PageGlance {
        artifact: artifact("my-page"),
        url: url.into(),
        preview_url: "http://127.0.0.1:8081/site/my-page-a1b2-0z9y8x7w/".into(),
        title: Some("Sales in the third quarter".into()),
        is_single_page: true,
    }
}

/// A site without a front page and without a title.
pub fn site_glance() -> PageGlance {
    let page = page_glance();
    PageGlance {
        url: format!("{}about.html", page.url),
        preview_url: format!("{}about.html", page.preview_url),
        title: None,
        is_single_page: false,
        ..page
    }
}

fn artifact(slug: &str) -> Artifact {
    let now = Time::from_millis(1_790_000_000_000);
    Artifact {
        id: domain::ArtifactId::from_ulid(1.into()),
        account: domain::AccountId::from_ulid(1.into()),
        slug: slug.parse().unwrap(),
        host: format!("{slug}-a1b2").parse().unwrap(),
        visibility: Visibility::Public,
        link_generation: domain::LinkGeneration::FIRST,
        live: None,
        title: None,
        created_at: now,
        updated_at: now,
        retention: Retention::default(),
    }
}
