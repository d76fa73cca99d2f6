//! A person at the dashboard, and assertions on its pages.

use handbill_tests::{Agent, Call, Human, Reply};

use crate::expectations::assert_page;

pub const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// A person at an account's dashboard, in a browser.
pub struct DashboardDriver<'a> {
    pub person: &'a Human,
    pub handle: String,
}

impl<'a> DashboardDriver<'a> {
    pub fn of(person: &'a Human, agent: &Agent) -> Self {
        Self { person, handle: agent.handle() }
    }

    pub fn path(&self, below: &str) -> String {
        format!("/dashboard/{}{below}", self.handle)
    }

    pub fn get(&self, below: &str) -> Call {
        self.person.get(&self.path(below)).header("Accept", BROWSER)
    }

    /// Opens an existing page of the account.
    pub async fn open(&self, below: &str) -> String {
        let page = self.get(below).await;
        assert_page(&page, 200);
        page.text()
    }

    pub fn post(&self, below: &str, fields: &[(&str, &str)]) -> Call {
        self.person.post(&self.path(below)).header("Accept", BROWSER).form(fields)
    }

    /// Posts a form that succeeds, and opens the page that it leads to.
    pub async fn submit(&self, below: &str, fields: &[(&str, &str)]) -> String {
        let done = self.post(below, fields).await.expect(302);
        let page = self.person.get(done.header("Location")).header("Accept", BROWSER).await;
        let page = match page.status {
            302 => self.person.get(page.header("Location")).header("Accept", BROWSER).await,
            _ => page,
        };
        assert_page(&page, 200);
        page.text()
    }
}

/// Expects the page again, with this message next to the field.
#[track_caller]
pub fn assert_fault(reply: &Reply, status: u16, field: &str, reported: &str) {
    assert_page(reply, status);
    let text = reply.text();
    let beside = format!("<p class=\"fault\" id=\"{field}-fault\">{reported}");
    assert!(text.contains(&beside), "{beside} is missing: {text}");
    assert!(text.contains("aria-invalid=\"true\"") && text.contains(&format!("{field}-fault\"")), "{text}");
}

/// Expects the page again, with this message above the form.
#[track_caller]
pub fn assert_warned(reply: &Reply, status: u16, reported: &str) {
    assert_page(reply, status);
    assert!(reply.text().contains("role=\"alert\"") && reply.text().contains(reported), "{reply:?}");
}

#[track_caller]
pub fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

/// The text between two others.
#[track_caller]
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("{before} is missing: {text}")) + before.len();
    &text[start..start + text[start..].find(after).expect("an end")]
}
