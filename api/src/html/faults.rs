//! The faults of a form, shown beside the field, or above the form when no field is at fault.

use domain::{Missing, Refusal};

use super::error_text::{ErrorText, sentence};

/// The faults of a form. Empty for a form that was not submitted yet.
#[derive(Debug, Default)]
pub struct Faults {
    fields: Vec<(&'static str, String)>,
    whole: Option<ErrorText>,
}

impl Faults {
    /// The faults of a form with these fields on the page at `path`.
    pub fn of(refusal: &Refusal, fields: &[&'static str], path: &str) -> Self {
        let beside = named(refusal).and_then(|(name, text)| {
            let field = fields.iter().find(|field| **field == name)?;
            Some((*field, text))
        });
        match beside {
            Some(field) => Self { fields: vec![field], whole: None },
            None => Self { fields: Vec::new(), whole: Some(ErrorText::of(refusal, path)) },
        }
    }

    /// A fault with the page's own text.
    pub fn beside_field(field: &'static str, text: &str) -> Self {
        Self::default().and_beside(field, text)
    }

    /// These and another fault.
    pub fn and_beside(mut self, field: &'static str, text: &str) -> Self {
        self.fields.push((field, text.to_owned()));
        self
    }

    pub fn beside(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, text)| text.as_str())
    }

    /// Whether the fault of this field is the first of the form. Only its field gets the focus.
    pub fn is_first(&self, field: &str) -> bool {
        self.fields.first().is_some_and(|(first, _)| *first == field)
    }

    pub fn are_any(&self) -> bool {
        !self.fields.is_empty() || self.whole.is_some()
    }

    pub fn whole(&self) -> Option<&ErrorText> {
        self.whole.as_ref()
    }
}

/// The field that a refusal is about, and the text to show beside it.
fn named(refusal: &Refusal) -> Option<(&str, String)> {
    Some(match refusal {
        Refusal::InvalidRequest { field, .. } if field == "username" => {
            (field, "Use 3 to 30 letters, digits, - or _, starting with a letter or digit.".into())
        }
        Refusal::InvalidRequest { field, .. } if field == "host" => {
            (field, "This is not a page on this service. A page's name looks like my-page-a1b2.".into())
        }
        // A fault of one of several files has its own subject.
        Refusal::InvalidRequest { field, fault } if fault.starts_with("the ") || fault.starts_with("a ") => {
            (field, sentence(fault))
        }
        Refusal::InvalidRequest { field, fault } => (field, sentence(&format!("this {fault}"))),
        Refusal::WeakPassword { rule } => ("password", sentence(&format!("too weak: {rule}"))),
        Refusal::UsernameTaken { username } => (
            "username",
            format!("The username {username} is taken. Choose another, or sign in if it is yours."),
        ),
        Refusal::NotFound(Missing::Host) => {
            ("host", "No page has this name. It may have been deleted, or the name may be misspelled.".into())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[&str] = &["username", "password"];

    #[test]
    fn field_error_is_shown_only_beside_its_field() {
        let faults = Faults::of(&Refusal::WeakPassword { rule: "it is short".into() }, FIELDS, "/signin");
        assert_eq!(faults.beside("password"), Some("Too weak: it is short."));
        assert_eq!((faults.beside("username"), faults.whole()), (None, None));
        let faults = Faults::of(&Refusal::UsernameTaken { username: "ada".into() }, FIELDS, "/signin");
        assert!(faults.beside("username").is_some_and(|text| text.contains("ada")));
        let both = faults.and_beside("password", "Enter your password again.");
        assert!(both.is_first("username") && !both.is_first("password"));
    }

    #[test]
    fn error_without_a_field_is_shown_for_the_whole_form() {
        for refusal in [Refusal::InvalidCredentials, Refusal::invalid("elsewhere", "is empty")] {
            let faults = Faults::of(&refusal, FIELDS, "/signin");
            assert!(faults.whole().is_some() && faults.beside("password").is_none(), "{refusal}");
        }
    }
}
