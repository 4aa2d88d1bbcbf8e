//! From paths like `job.content[0].reader.name` to nodes, and back.

use super::{Document, Node, NodeKind};

/// How far a path leads.
#[derive(Clone, Copy)]
struct Found<'d, 'p> {
    node: &'d Node,
    /// The key of the last member on the way, or the last item of a list.
    place: usize,
    /// What of the path leads nowhere.
    left: &'p str,
}

impl Document {
    /// The deepest node that a path leads to, and whether that is all of the path. Keys that contain dots are found too. Where the
    /// path says `[0]` and there is no list, the value stands for a list of one.
    pub fn find(&self, path: &str) -> (&Node, bool) {
        let found = self.follow(path);
        (found.node, found.left.is_empty())
    }

    /// Where a person should look for a path: at the key of the deepest member on it, or at the item of a list.
    pub fn place(&self, path: &str) -> usize {
        self.follow(path).place
    }

    /// The path of the innermost node around a byte of the text. A key belongs to its value; the root has the empty path.
    pub fn path_at(&self, at: usize) -> String {
        let (mut node, mut path, mut separator) = (&self.root, String::new(), "");
        loop {
            let inside = match &node.kind {
                NodeKind::Scalar(_) => None,
                NodeKind::List(items) => item_at(items, at).map(|(index, item)| (format!("[{index}]"), item)),
                NodeKind::Object(members) => members
                    .iter()
                    .find(|member| (member.key_at..member.node.span.end).contains(&at))
                    .map(|member| (format!("{separator}{}", in_path(&member.key)), &member.node)),
            };
            let Some((step, inner)) = inside else { return path };
            path.push_str(&step);
            node = inner;
            separator = ".";
        }
    }

    /// Whether a byte of the text is part of a scalar: not of a key, nor of what stands between.
    pub fn is_in_value(&self, at: usize) -> bool {
        let mut node = &self.root;
        loop {
            let inside = match &node.kind {
                NodeKind::Scalar(_) => return node.span.contains(&at),
                NodeKind::List(items) => item_at(items, at).map(|(_, item)| item),
                NodeKind::Object(members) => {
                    members.iter().map(|member| &member.node).find(|node| node.span.contains(&at))
                }
            };
            let Some(inner) = inside else { return false };
            node = inner;
        }
    }

    fn follow<'p>(&self, path: &'p str) -> Found<'_, 'p> {
        let root = Found { node: &self.root, place: self.root.span.start, left: path };
        root.deepest().or_deeper(root.deepest_member(path))
    }
}

impl<'d, 'p> Found<'d, 'p> {
    /// As far as the path leads from here.
    fn deepest(mut self) -> Self {
        let items = match &self.node.kind {
            NodeKind::List(items) => items,
            _ => {
                while let Some(left) = self.left.strip_prefix("[0]") {
                    self.left = left;
                }
                return self.left.strip_prefix('.').map_or(self, |path| self.deepest_member(path));
            }
        };
        match index(self.left).and_then(|(index, left)| Some((items.get(index)?, left))) {
            Some((node, left)) => Found { node, place: node.span.start, left }.deepest(),
            None => self,
        }
    }

    /// As far as a path leads that begins with a key. The longest key comes first, and another one where that leads nowhere.
    fn deepest_member(self, path: &'p str) -> Self {
        let NodeKind::Object(members) = &self.node.kind else { return self };
        let mut steps: Vec<Self> = members
            .iter()
            .filter_map(|member| {
                let left = path.strip_prefix(in_path(&member.key))?;
                let ends = left.is_empty() || left.starts_with(['.', '[']);
                ends.then_some(Found { node: &member.node, place: member.key_at, left })
            })
            .collect();
        steps.sort_by_key(|step| step.left.len());
        steps.into_iter().map(Self::deepest).fold(self, Self::or_deeper)
    }

    /// The one that leads further.
    fn or_deeper(self, other: Self) -> Self {
        if other.left.len() < self.left.len() { other } else { self }
    }
}

/// A key as it stands in a path: the empty one would not be seen without quotes.
fn in_path(key: &str) -> &str {
    if key.is_empty() { "\"\"" } else { key }
}

/// The item of a list around a byte of the text. Items stand in the order of the text.
fn item_at(items: &[Node], at: usize) -> Option<(usize, &Node)> {
    let index = items.partition_point(|item| item.span.end <= at);
    items.get(index).filter(|item| item.span.contains(&at)).map(|item| (index, item))
}

/// The number of `[number]` at the start, and what follows it.
fn index(path: &str) -> Option<(usize, &str)> {
    let (index, left) = path.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, left))
}
