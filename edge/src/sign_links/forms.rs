//! Forms: which of a page's forms may carry the `sig` as a field. Never one that a button sends out of the site: the
//! field would go along.
//!
//! That is known at the end of a form, or never: a button may belong to a form that it does not stand in.

use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    Within,
    Out,
}

#[derive(Clone, Default)]
pub struct Forms {
    open: Option<Form>,
    /// Whether any has the field.
    has_told: bool,
    /// The `id`s of those that have the field.
    told: HashSet<String>,
    /// The `id`s of those that a button leads out.
    led_out: HashSet<String>,
}

#[derive(Clone)]
struct Form {
    id: Option<String>,
    leads: Leads,
}

impl Forms {
    pub fn enter(&mut self, id: Option<String>, leads: Leads) {
        match &mut self.open {
            // Whose fields are whose in a form within a form, browsers do not agree on.
            Some(outer) => outer.leads = Leads::Out,
            None => self.open = Some(Form { id, leads }),
        }
    }

    /// Notes that a button leads its form out of the site. The form is named, or the one that the button stands in.
    /// False when that form has the field already, or may have it: where tags are not nested well, a button after the end
    /// of a form may be part of it.
    pub fn may_be_led_out(&mut self, named: Option<&str>) -> bool {
        let Some(id) = named else {
            let Some(form) = &mut self.open else { return !self.has_told };
            form.leads = Leads::Out;
            return true;
        };
        self.led_out.insert(id.to_owned());
        !self.told.contains(id)
    }

    /// Whether the form that ends here gets the field.
    pub fn leave(&mut self) -> bool {
        let Some(form) = self.open.take() else { return false };
        let is_led_out = form.id.as_ref().is_some_and(|id| self.led_out.contains(id));
        if form.leads == Leads::Out || is_led_out {
            return false;
        }
        self.has_told = true;
        self.told.extend(form.id);
        true
    }
}
