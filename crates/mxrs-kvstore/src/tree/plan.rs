//! The plans of all roots, which a store follows.

use super::kernighan_lin::{self, Random};
use super::score::weight;
use super::{LinkFacts, Links, Tree, backtrack, chain};
use mxrs_types::Result;
use std::ops::Range;

/// One step of a sum: device `to` adds what device `from` has summed so far. Devices are positions in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// The device that sends.
    pub from: usize,
    /// The device that adds.
    pub to: usize,
}

/// The steps after which one device has the sum of all. In the opposite order and direction, they spread a value from that
/// device to all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumPlan {
    /// The device that has the sum after the last step.
    pub root: usize,
    /// The steps, in order.
    pub sends: Vec<Send>,
}

/// How trees are built, and when arrays are cut into slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Whether to search all trees for the best one, instead of partitioning the devices.
    pub backtrack: bool,
    /// The factor by which the weight of a link is multiplied after a tree uses it, so that later trees prefer other links.
    pub link_penalty: f64,
    /// Arrays with more elements than this are cut into one slice per device.
    pub array_bound: u64,
    /// Whether to log the links and the trees.
    pub log: bool,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self { backtrack: false, link_penalty: 0.7, array_bound: 10_000_000, log: false }
    }
}

/// One plan for each device as root.
#[derive(Clone, Debug, PartialEq)]
pub struct Plans {
    /// The plan of each root, in the order of devices.
    pub plans: Vec<SumPlan>,
    /// The tree of each root; empty if the links allow no tree and a chain is used.
    pub trees: Vec<Tree>,
    n: usize,
    array_bound: u64,
}

impl Plans {
    /// Makes the plans for devices with these links. If there is a root without a tree, all plans follow a chain, and a
    /// warning is logged.
    ///
    /// # Errors
    /// Fails if the facts have a wrong size.
    pub fn new(facts: &LinkFacts, options: &TreeOptions) -> Result<Self> {
        let all = Links::of_facts(facts)?;
        if options.log {
            tracing::info!("devices that copy to each other directly:\n{}", facts.direct_matrix());
        }
        Ok(Self::of_links(&all, options))
    }

    /// Makes the plans for given weights of links, where the weight 1 stands for PCIe.
    pub fn of_links(all: &Links, options: &TreeOptions) -> Self {
        let (n, links) = (all.n(), all.without_slow());
        let trees = trees(&links, options).unwrap_or_default();
        let plans = if trees.is_empty() {
            tracing::warn!("the links of {n} devices allow no tree, so sums follow a chain of devices:\n{links}");
            let order = chain::order(&links);
            (0..n).map(|root| chain::plan(&order, root)).collect()
        } else {
            trees.iter().map(|tree| SumPlan { root: tree.root(), sends: tree.sends() }).collect()
        };
        let plans = Self { plans, trees, n, array_bound: options.array_bound };
        if options.log {
            let method = if options.backtrack { "a search of all trees" } else { "partitions of the devices" };
            tracing::info!("trees of {n} devices, by {method}:");
            plans.log(all, &links);
        }
        plans
    }

    fn log(&self, all: &Links, links: &Links) {
        tracing::info!("links between devices:\n{all}links that trees may use:\n{links}");
        for tree in &self.trees {
            tracing::info!("Tree {}, of weight {}:\n{tree}", tree.root(), weight(links, tree));
        }
        for (from, to, n_uses) in self.link_uses() {
            tracing::info!("link {from} - {to}: used by {n_uses} trees");
        }
    }

    /// How many plans use each link: both devices, the smaller number first, and the count.
    pub fn link_uses(&self) -> Vec<(usize, usize, usize)> {
        let mut uses = std::collections::BTreeMap::new();
        for Send { from, to } in self.plans.iter().flat_map(|plan| &plan.sends) {
            *uses.entry((*from.min(to), *from.max(to))).or_insert(0) += 1;
        }
        uses.into_iter().map(|((from, to), n_uses)| (from, to, n_uses)).collect()
    }

    /// The rows of axis 0 that each plan sums, for an array of `n_rows` rows and `n_elements` elements. An array that is
    /// not large, or has fewer than two rows per device, is summed by the plan of device 0 alone.
    pub fn slices(&self, n_rows: usize, n_elements: usize) -> Vec<Range<usize>> {
        if n_elements as u64 <= self.array_bound || n_rows < 2 * self.n {
            return std::iter::once(0..n_rows).collect();
        }
        let rows = n_rows / self.n;
        (0..self.n).map(|i| i * rows..if i + 1 == self.n { n_rows } else { (i + 1) * rows }).collect()
    }
}

/// The trees of all roots, or `None` if a root has none.
fn trees(links: &Links, options: &TreeOptions) -> Option<Vec<Tree>> {
    let mut links = links.clone();
    let mut random = Random::new(1);
    let mut trees = Vec::with_capacity(links.n());
    for root in 0..links.n() {
        let partitioned = if options.backtrack { None } else { kernighan_lin::tree(&links, root, &mut random) };
        let tree = partitioned.or_else(|| backtrack::best_tree(&links, root))?;
        for Send { from, to } in tree.sends() {
            links.scale(from, to, options.link_penalty as f32);
        }
        trees.push(tree);
    }
    Some(trees)
}
