//! `/console/authorities`: the tree of authorities, with the numbers that the person may know.

use std::collections::{HashMap, HashSet};

use askama::Template;
use handfast_registry::{AuthorityNode, AuthorityRequest, AuthorityRequestStatus, Words};
use hyper::StatusCode;

use super::here::{Answered, curl, flash, titled};
use super::path_of;
use crate::http::console::frame::{ConsoleFrame, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

/// An authority with more children than this is searched, not unfolded.
const MAX_CHILDREN: usize = 50;
/// How many authorities a page has.
const MAX_SHOWN: usize = 500;
/// How deep the tree is unfolded.
const MAX_DEPTH: usize = 24;

#[derive(Template)]
#[template(path = "console/authorities/tree.html")]
struct TreePage<'a> {
    frame: ConsoleFrame<'a>,
    q: String,
    under: String,
    is_search: bool,
    /// The tree, or what was found.
    lines: Vec<TreeLine>,
    /// Whether there are more than the page has.
    is_cut: bool,
    total: usize,
    /// Requests for authorities that have none above them here.
    requests: Vec<ShownAuthorityRequest>,
    is_administrator: bool,
}

/// A part of the tree, in the order of the page.
enum TreeLine {
    /// An authority without children.
    Leaf(TreeItem),
    /// An authority whose children follow, up to the line `Close`: how many, and whether they are
    /// shown at once.
    Open(TreeItem, usize, bool),
    /// An authority with too many children: a search follows.
    Many(TreeItem, usize),
    Close,
}

struct TreeItem {
    id: String,
    path: String,
    title: String,
    has_title: bool,
    names: u64,
    is_retired: bool,
    in_query: String,
}

struct ShownAuthorityRequest {
    path: String,
    id: String,
    by: String,
}

impl From<&AuthorityNode> for TreeItem {
    fn from(node: &AuthorityNode) -> Self {
        Self {
            path: path_of(&node.path),
            title: titled(&node.title, &node.path),
            has_title: !node.title.trim().is_empty(),
            names: node.names,
            is_retired: node.is_retired,
            in_query: encode(&node.path, COMPONENT),
            id: node.path.clone(),
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let (registry, who) = (visit.registry(), visit.who());
    let tree = registry.authority_tree(&who)?;
    let (q, under) = (
        visit.query("q").unwrap_or_default(),
        visit.query("under").unwrap_or_default(),
    );
    let is_search = !q.is_empty() || !under.is_empty();
    let (lines, is_cut) = if is_search {
        found(&tree, q, under)
    } else {
        Unfolding::new(&tree).lines()
    };
    let requests = registry.authority_requests(&who)?;
    let is_root =
        |one: &AuthorityRequest| one.status == AuthorityRequestStatus::Open && one.parent.is_none();
    let requests = requests.into_iter().filter(is_root);
    let flash = flash(
        visit,
        &[
            (
                "requested",
                "Asked for.",
                "You read the answer here, under your requests.",
            ),
            ("declined", "Declined.", "The path is free again."),
        ],
    );
    let same = [
        "handfast authority list".to_string(),
        curl(visit, "GET", "/authorities"),
    ];
    let page = TreePage {
        frame: ConsoleFrame::new(visit, "Authorities", MenuItem::Authorities)
            .flash(flash)
            .same(same),
        q: q.to_string(),
        under: under.to_string(),
        is_search,
        lines,
        is_cut,
        total: tree.len(),
        requests: requests
            .map(|one| ShownAuthorityRequest {
                path: path_of(&one.authority),
                by: one.by.to_string(),
                id: one.authority,
            })
            .collect(),
        is_administrator: visit.person()?.is_administrator,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

/// Authorities with some words in path or title, below another one or everywhere.
fn found(tree: &[AuthorityNode], q: &str, under: &str) -> (Vec<TreeLine>, bool) {
    let words = Words::parse(q).ok();
    let parents: HashMap<&str, Option<&str>> = tree
        .iter()
        .map(|node| (node.key.as_str(), node.parent.as_deref()))
        .collect();
    let start = tree
        .iter()
        .find(|node| node.path.eq_ignore_ascii_case(under));
    let is_below = |node: &AuthorityNode| {
        let Some(start) = start else {
            return under.is_empty();
        };
        let mut next = Some(node.key.as_str());
        for _ in 0..MAX_DEPTH {
            let Some(key) = next else { break };
            if key == start.key {
                return true;
            }
            next = parents.get(key).copied().flatten();
        }
        false
    };
    let is_meant = |node: &&AuthorityNode| {
        let begins = node.path.get(..q.len());
        let begins = begins.is_some_and(|begin| begin.eq_ignore_ascii_case(q));
        let has_words = words
            .as_ref()
            .is_some_and(|words| words.are_in(&[&node.path, &node.title]));
        (begins || has_words) && is_below(node)
    };
    let mut found = tree.iter().filter(is_meant);
    let lines = found.by_ref().take(MAX_SHOWN);
    let lines = lines.map(|node| TreeLine::Leaf(node.into())).collect();
    (lines, found.next().is_some())
}

/// The tree, unfolded as far as a page has room.
struct Unfolding<'t> {
    children: HashMap<Option<&'t str>, Vec<&'t AuthorityNode>>,
    lines: Vec<TreeLine>,
    shown: usize,
    is_cut: bool,
}

impl<'t> Unfolding<'t> {
    fn new(tree: &'t [AuthorityNode]) -> Self {
        let known: HashSet<&str> = tree.iter().map(|node| node.key.as_str()).collect();
        let mut children: HashMap<Option<&str>, Vec<&AuthorityNode>> = HashMap::new();
        for node in tree {
            let parent = node.parent.as_deref().filter(|key| known.contains(key));
            children.entry(parent).or_default().push(node);
        }
        Self {
            children,
            lines: Vec::new(),
            shown: 0,
            is_cut: false,
        }
    }

    fn lines(mut self) -> (Vec<TreeLine>, bool) {
        self.unfold(None, 0);
        (self.lines, self.is_cut)
    }

    fn unfold(&mut self, parent: Option<&'t str>, depth: usize) {
        for node in self.children.remove(&parent).unwrap_or_default() {
            if self.shown == MAX_SHOWN {
                self.is_cut = true;
                return;
            }
            self.shown += 1;
            let key = Some(node.key.as_str());
            let item = TreeItem::from(node);
            let line = match self.children.get(&key).map(Vec::len) {
                None => TreeLine::Leaf(item),
                Some(number) if number > MAX_CHILDREN || depth > MAX_DEPTH => {
                    TreeLine::Many(item, number)
                }
                Some(number) => TreeLine::Open(item, number, depth == 0),
            };
            let is_open = matches!(line, TreeLine::Open(..));
            self.lines.push(line);
            if is_open {
                self.unfold(key, depth + 1);
                self.lines.push(TreeLine::Close);
            }
        }
    }
}
