//! Decides which forms of a page carry the `sig` as a field. A form that a button sends out of the site must
//! not, because the field would be sent along.
//!
//! This is known at the end of a form at the earliest, because a button may belong to a form that does not
//! contain it.

use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    Within,
    Out,
}

#[derive(Clone, Default)]
pub struct Forms {
    open: Option<Form>,
    /// Whether any form got the field.
    has_any_field: bool,
    /// The `id`s of the forms with the field.
    with_field: HashSet<String>,
    /// The `id`s of the forms that a button sends out of the site.
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
            // Browsers disagree on which form owns the fields of a nested form.
            Some(outer) => outer.leads = Leads::Out,
            None => self.open = Some(Form { id, leads }),
        }
    }

    /// Records that a button sends its form out of the site: the named form, or the one that contains the
    /// button. Returns false if that form has the field already or may have it. With badly nested tags, a
    /// button after the end of a form may belong to it.
    pub fn may_be_led_out(&mut self, named: Option<&str>) -> bool {
        let Some(id) = named else {
            let Some(form) = &mut self.open else { return !self.has_any_field };
            form.leads = Leads::Out;
            return true;
        };
        self.led_out.insert(id.to_owned());
        !self.with_field.contains(id)
    }

    /// Whether the form that ends here gets the field.
    pub fn leave(&mut self) -> bool {
        let Some(form) = self.open.take() else { return false };
        let is_led_out = form.id.as_ref().is_some_and(|id| self.led_out.contains(id));
        if form.leads == Leads::Out || is_led_out {
            return false;
        }
        self.has_any_field = true;
        self.with_field.extend(form.id);
        true
    }
}
