//! Labels: elements whose text names a field, because they contain it, have a `for` attribute or are referred
//! to by id.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::field::{LABEL_CHARS_MAX, clip};
use super::{Part, Role};
use crate::document::{Document, Element, NodeId};
use crate::words::Text;

/// The number of ids in one `aria-labelledby` that are followed.
const LABELLED_BY_MAX: usize = 8;
/// The number of labels `for` one field that count.
const LABELS_FOR_MAX: usize = 4;
/// The number of labels that are joined from several elements. Beyond it, each element is a label of its own.
const JOINED_MAX: usize = 1_000;
/// Longer texts are not labels.
const JOINED_BYTES_MAX: usize = 200;

/// A label that is being read.
pub(super) struct OpenLabel {
    node: NodeId,
    /// Its visible text.
    pub(super) seen: String,
    fields_before: usize,
    blocks_before: usize,
}

/// The text of a closed label, and the blocks that contain it.
struct Said {
    text: Rc<Text>,
    blocks: Range<usize>,
}

/// Labels that refer to fields by id. They are added to the fields at the end of the document.
#[derive(Default)]
pub(super) struct Labels<'d> {
    open: Vec<OpenLabel>,
    for_id: HashMap<&'d str, Vec<Said>>,
    /// Fields that may have a label elsewhere: their number, their id and their references.
    wanting: Vec<Wanting<'d>>,
}

struct Wanting<'d> {
    field: usize,
    id: &'d str,
    labelled_by: [&'d str; 2],
}

impl<'d> Labels<'d> {
    pub(super) fn open(&mut self, node: NodeId, part: &Part) {
        let (fields_before, blocks_before) = (part.fields.len(), part.blocks.len());
        self.open.push(OpenLabel { node, seen: String::new(), fields_before, blocks_before });
    }

    pub(super) fn is_in_label(&self) -> bool {
        !self.open.is_empty()
    }

    /// Adds text to the innermost label.
    pub(super) fn take_text(&mut self, text: &str) {
        if let Some(label) = self.open.last_mut()
            && label.seen.len() < LABEL_CHARS_MAX
        {
            label.seen.push_str(clip(text));
        }
    }

    pub(super) fn close(&mut self, document: &Document, element: Element<'d>, part: &mut Part) {
        let Some(label) = self.open.pop() else { return };
        // A label may be visible only to screen readers. It still says what the field is for.
        let text = match label.seen.trim().is_empty() {
            true => document.text_below(label.node, LABEL_CHARS_MAX),
            false => label.seen,
        };
        let said = Said { text: Rc::new(Text::of(&text)), blocks: label.blocks_before..part.blocks.len() };
        match element.get("for") {
            Some(id) => {
                let texts = self.for_id.entry(id).or_default();
                if texts.len() < LABELS_FOR_MAX {
                    texts.reserve_exact(1);
                    texts.push(said);
                }
            }
            // As in browsers, a label without `for` names the first field in it.
            None => give(&said, label.fields_before, part),
        }
    }

    pub(super) fn want(&mut self, element: Element<'d>, field: usize) {
        let labelled_by = ["aria-labelledby", "aria-describedby"].map(|name| element.text(name));
        self.wanting.push(Wanting { field, id: element.text("id"), labelled_by });
    }

    pub(super) fn put(self, document: &'d Document, part: &mut Part) {
        let mut pointed = Pointed::new(document, self.elements_by_id(document));
        let mut given: HashSet<&str> = HashSet::new();
        for wanting in &self.wanting {
            // An id refers to the first element that has it.
            if given.insert(wanting.id) {
                let said = self.for_id.get(wanting.id).into_iter().flatten();
                said.for_each(|said| give(said, wanting.field, part));
            }
            let Some(field) = part.fields.get_mut(wanting.field) else { continue };
            for list in wanting.labelled_by {
                pointed.labels(list).into_iter().for_each(|label| field.add_label(label));
            }
        }
    }
}

/// The texts of elements that fields refer to, cached because many fields may refer to the same long element.
struct Pointed<'d> {
    document: &'d Document,
    element_by_id: HashMap<&'d str, NodeId>,
    labels: HashMap<NodeId, (String, Rc<Text>)>,
    joined: usize,
}

impl<'d> Pointed<'d> {
    fn new(document: &'d Document, element_by_id: HashMap<&'d str, NodeId>) -> Self {
        Self { document, element_by_id, labels: HashMap::new(), joined: 0 }
    }

    /// The labels for a list of ids: one for each element, and if they are short also one for all of them
    /// together.
    fn labels(&mut self, list: &'d str) -> Vec<Rc<Text>> {
        let nodes: Vec<NodeId> = ids(list).filter_map(|id| self.element_by_id.get(id).copied()).collect();
        let (texts, mut labels): (Vec<String>, Vec<Rc<Text>>) =
            nodes.iter().map(|node| self.label(*node)).unzip();
        if nodes.len() > 1 && self.joined < JOINED_MAX {
            self.joined += 1;
            let whole = texts.join(" ");
            labels.extend((whole.len() <= JOINED_BYTES_MAX).then(|| Rc::new(Text::of(&whole))));
        }
        labels
    }

    fn label(&mut self, node: NodeId) -> (String, Rc<Text>) {
        let known = self.labels.entry(node).or_insert_with(|| {
            let text = self.document.text_below(node, LABEL_CHARS_MAX);
            let label = Rc::new(Text::of(&text));
            (text, label)
        });
        known.clone()
    }
}

impl<'d> Labels<'d> {
    /// The first element of each id, if any field refers to ids.
    fn elements_by_id(&self, document: &'d Document) -> HashMap<&'d str, NodeId> {
        let mut by_id = HashMap::new();
        if self.wanting.iter().any(|wanting| wanting.ids().next().is_some()) {
            let with_id = |node| Some((document.element(node)?.get("id")?, node));
            document.nodes().filter_map(with_id).for_each(|(id, node)| {
                by_id.entry(id).or_insert(node);
            });
        }
        by_id
    }
}

impl<'d> Wanting<'d> {
    fn ids(&self) -> impl Iterator<Item = &'d str> {
        self.labelled_by.into_iter().flat_map(ids)
    }
}

fn ids(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace().take(LABELLED_BY_MAX)
}

/// Adds a label to its field. Next to a checkbox or radio button it is an option.
fn give(said: &Said, field: usize, part: &mut Part) {
    let Some(field) = part.fields.get_mut(field) else { return };
    field.add_label(said.text.clone());
    if field.shape.is_tick {
        let blocks = part.blocks.get_mut(said.blocks.clone()).unwrap_or_default();
        blocks.iter_mut().for_each(|block| block.role = Role::Choice);
    }
}
