//! Labels: elements whose text names a field, by standing around it, by `for`, or by being pointed at.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::field::{LABEL_CHARS_MAX, clip};
use super::{Part, Role};
use crate::document::{Document, Element, NodeId};
use crate::words::Text;

/// Ids in one `aria-labelledby` that are followed.
const LABELLED_BY_MAX: usize = 8;
/// Labels `for` one field that count.
const LABELS_FOR_MAX: usize = 4;
/// Labels that are put together of several elements; past so many each stands for itself.
const JOINED_MAX: usize = 1_000;
/// A longer one is no label.
const JOINED_BYTES_MAX: usize = 200;

/// A label that is being read.
pub(super) struct OpenLabel {
    node: NodeId,
    /// What eyes see of it.
    pub(super) seen: String,
    fields_before: usize,
    blocks_before: usize,
}

/// What a closed label said, and the blocks in which it stands.
struct Said {
    text: Rc<Text>,
    blocks: Range<usize>,
}

/// What names fields by their ids. It is put to the fields when the document has been read to its end.
#[derive(Default)]
pub(super) struct Labels<'d> {
    open: Vec<OpenLabel>,
    for_id: HashMap<&'d str, Vec<Said>>,
    /// Fields that want a label from elsewhere: their number, their id, what they say that labels them.
    wanting: Vec<Wanting<'d>>,
}

struct Wanting<'d> {
    field: usize,
    id: &'d str,
    /// Lists of ids.
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

    /// Text goes to the innermost label.
    pub(super) fn take_text(&mut self, text: &str) {
        if let Some(label) = self.open.last_mut()
            && label.seen.len() < LABEL_CHARS_MAX
        {
            label.seen.push_str(clip(text));
        }
    }

    pub(super) fn close(&mut self, document: &Document, element: Element<'d>, part: &mut Part) {
        let Some(label) = self.open.pop() else { return };
        // A label may be for screen readers only. It still says what the field is for.
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
            // An id means the first element that bears it.
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

/// What elements say that fields point at. Many fields may name the same long element.
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

    /// The labels that a list of ids makes: each element's, and when they are short all of them read as one.
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
    /// The first element of each id, if any is asked for.
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

/// Gives a label to its field. Beside a box to tick, it is a choice.
fn give(said: &Said, field: usize, part: &mut Part) {
    let Some(field) = part.fields.get_mut(field) else { return };
    field.add_label(said.text.clone());
    if field.shape.is_tick {
        let blocks = part.blocks.get_mut(said.blocks.clone()).unwrap_or_default();
        blocks.iter_mut().for_each(|block| block.role = Role::Choice);
    }
}
