//! The confirmation of a destructive change: in a dialog where scripts run, otherwise on a page of its own.
//! Both post the same form.

use askama::Template;
use poem::{Request, Response};
use service::Service;

use super::page::{Frame, render_page};
use crate::http::refusal::RefusedCall;

#[derive(Clone, Debug)]
pub struct Question {
    /// The id of the dialog, unique on its page.
    pub id: String,
    /// The path of the confirmation page, and of the form.
    pub path: String,
    /// The text of the button.
    pub verb: &'static str,
    /// The object of the change.
    pub subject: String,
    pub title: String,
    /// What will happen, and whether it can be undone.
    pub text: String,
    /// The text of the button that goes back.
    pub keep: &'static str,
    /// An optional addition to the change.
    pub option: Option<QuestionOption>,
}

/// A checkbox in the form.
#[derive(Clone, Copy, Debug)]
pub struct QuestionOption {
    /// The name of the field, whose value is `true`.
    pub field: &'static str,
    pub label: &'static str,
    pub is_checked: bool,
}

#[derive(Template)]
#[template(path = "dashboard/ask.html")]
pub struct AskPage<'a> {
    pub frame: &'a Frame,
    pub question: &'a Question,
    pub back: &'a str,
}

impl Question {
    /// The confirmation page.
    pub fn render(
        &self,
        request: &Request,
        service: &Service,
        frame: &Frame,
        back: &str,
    ) -> Result<Response, RefusedCall> {
        render_page(request, service, None, &AskPage { frame, question: self, back })
    }
}
