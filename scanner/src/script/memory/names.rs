//! Interns names as numbers. A name with escapes equals the same name without them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::ids::NameId;
use crate::script::encodings;

#[derive(Debug, Default)]
pub(crate) struct Names<'s> {
    ids: HashMap<Cow<'s, str>, NameId>,
    texts: Vec<Cow<'s, str>>,
}

impl<'s> Names<'s> {
    pub(crate) fn id(&mut self, name: Cow<'s, str>) -> NameId {
        if let Some(&id) = self.ids.get(&name) {
            return id;
        }
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    /// A name as it is written in the script.
    pub(crate) fn written(&mut self, raw: &'s str) -> NameId {
        if !raw.contains('\\') {
            return self.id(Cow::Borrowed(raw));
        }
        let mut text = String::new();
        encodings::unescape(raw, &mut text);
        self.id(Cow::Owned(text))
    }

    pub(crate) fn text(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// The number of a name, if the script has it.
    pub(crate) fn known(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub(crate) fn count(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }
}
