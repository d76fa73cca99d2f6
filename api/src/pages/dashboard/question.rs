//! What is asked before something is taken away: in a dialog where scripts run, on a page of its own where not. Both
//! post the same form.

use askama::Template;
use poem::{Request, Response};
use service::Service;

use super::page::{Frame, shown};
use crate::http::refusal::RefusedCall;

#[derive(Clone, Debug)]
pub struct Question {
    /// The dialog's, unique on its page.
    pub id: String,
    /// Where it is asked without scripts, and where the answer goes.
    pub path: String,
    /// What leads to it, in a word.
    pub verb: &'static str,
    /// What it is about.
    pub subject: String,
    pub title: String,
    /// What will happen, and whether it can be undone.
    pub words: String,
    /// The way back.
    pub keep: &'static str,
    /// What may be done besides: a box that is ticked at first.
    pub option: Option<QuestionOption>,
}

/// A box in the form of a question.
#[derive(Clone, Copy, Debug)]
pub struct QuestionOption {
    /// The name of the field, whose value is `true`.
    pub field: &'static str,
    pub label: &'static str,
}

#[derive(Template)]
#[template(path = "dashboard/ask.html")]
pub struct AskPage<'a> {
    pub frame: &'a Frame,
    pub question: &'a Question,
    pub back: &'a str,
}

impl Question {
    /// The page on which it stands alone.
    pub fn asked(
        &self,
        request: &Request,
        service: &Service,
        frame: &Frame,
        back: &str,
    ) -> Result<Response, RefusedCall> {
        shown(request, service, None, &AskPage { frame, question: self, back })
    }
}
