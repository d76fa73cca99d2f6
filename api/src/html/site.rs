//! What every page shows of the service: its address and the operator's links. `base.html` reads it.

use std::sync::Arc;

use domain::ServiceLinks;

tokio::task_local! {
    static SITE: Arc<Site>;
}

/// Settings that are the same on every page. A request carries them in its task, because a template only sees
/// the fields of its own page.
#[derive(Debug, Default)]
pub struct Site {
    /// For the addresses that must be absolute, such as that of the picture in link previews.
    pub base_url: String,
    pub links: ServiceLinks,
}

impl Site {
    /// The site of the request that this task handles. Outside of a request, everything is empty.
    pub fn current() -> Arc<Self> {
        SITE.try_with(Arc::clone).unwrap_or_default()
    }

    /// Handles a request with this site.
    pub async fn handle<F: Future>(self: Arc<Self>, request: F) -> F::Output {
        SITE.scope(self, request).await
    }
}
