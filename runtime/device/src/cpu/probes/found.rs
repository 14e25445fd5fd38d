//! Findings of a dispatch: each thread keeps its own, and they are put together when all have ended.
//!
//! A mistake is told with the first invocation that made it, in the order of workgroups and of the invocations in
//! each, whichever was met first; so the same dispatch finds the same, however its work is shared out and whether
//! it runs in gangs or not.

use rustc_hash::FxHashMap;

use crate::findings::{ArrayName, Element};
use crate::{Access, Finding, FindingKind, Invocation, SourceLine};

/// One mistake, however often it is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mistake {
    /// At the probe of this number.
    At(u32),
    /// Of an array, between two lines, the lower one first, within a workgroup or not.
    Race { array: Option<ArrayName>, lines: [Option<(String, u32)>; 2], in_group: bool },
}

/// In the order in which they were met.
#[derive(Default)]
pub struct Found {
    all: Vec<(Mistake, Finding)>,
    places: FxHashMap<Mistake, usize>,
}

impl Found {
    /// Counts a mistake; the finding is wanted where it is the first of its kind.
    pub fn add(&mut self, mistake: Mistake, invocation: Invocation, finding: impl FnOnce() -> Finding) {
        match self.places.get(&mistake) {
            Some(&place) => {
                let known = &mut self.all[place].1;
                let count = known.count + 1;
                if rank(invocation) < rank(known.invocation) {
                    *known = finding();
                }
                known.count = count;
            }
            None => {
                self.places.insert(mistake.clone(), self.all.len());
                self.all.push((mistake, finding()));
            }
        }
    }

    fn absorb(&mut self, others: Found) {
        for (mistake, finding) in others.all {
            let Some(&place) = self.places.get(&mistake) else {
                self.places.insert(mistake.clone(), self.all.len());
                self.all.push((mistake, finding));
                continue;
            };
            let known = &mut self.all[place].1;
            let count = known.count + finding.count;
            if rank(finding.invocation) < rank(known.invocation) {
                *known = finding;
            }
            known.count = count;
        }
    }
}

/// Workgroups are counted along x, then y, then z, and so are the invocations of each.
fn rank(invocation: Invocation) -> [[u32; 3]; 2] {
    [invocation.group, invocation.local].map(|[x, y, z]| [z, y, x])
}

/// What all threads found, what is one mistake told once.
pub fn together(threads: impl IntoIterator<Item = Found>) -> Vec<Finding> {
    let mut all = Found::default();
    threads.into_iter().for_each(|found| all.absorb(found));
    let mut found: Vec<Finding> = all.all.into_iter().map(|(_, finding)| finding).collect();
    found.sort_by_key(|finding| {
        let [group, _] = rank(finding.invocation);
        group
    });
    let mut merged: Vec<Finding> = Vec::new();
    for finding in found.iter().filter(|finding| !is_part_of_race(finding, &found)).cloned() {
        let same = merged.iter_mut().find(|known| {
            known.line.as_ref().map(place) == finding.line.as_ref().map(place)
                && known.invocation == finding.invocation
                && is_same(&known.kind, &finding.kind)
        });
        match same {
            Some(known) => merge(known, finding),
            None => merged.push(finding),
        }
    }
    merged
}

fn place(line: &SourceLine) -> (&str, u32) {
    (&line.file, line.line)
}

/// Whether something is read before it is written only because nothing orders the two.
fn is_part_of_race(finding: &Finding, all: &[Finding]) -> bool {
    let FindingKind::Uninitialised(Element { array, .. }) = &finding.kind else { return false };
    all.iter().any(|other| match &other.kind {
        FindingKind::Race { element, before, .. } => {
            element.array == *array && (other.line == finding.line || before.line == finding.line)
        }
        _ => false,
    })
}

/// Whether two findings of a line are one mistake: an element that is read and written.
fn is_same(a: &FindingKind, b: &FindingKind) -> bool {
    match (a, b) {
        (
            FindingKind::OutOfBounds { array: a, index: i, shape: m, .. },
            FindingKind::OutOfBounds { array: b, index: j, shape: n, .. },
        ) => (a, i, m) == (b, j, n),
        _ => false,
    }
}

fn merge(known: &mut Finding, other: Finding) {
    known.count = known.count.max(other.count);
    if let (FindingKind::OutOfBounds { access, .. }, FindingKind::OutOfBounds { access: other, .. }) =
        (&mut known.kind, &other.kind)
        && access != other
    {
        *access = Access::ReadWrite;
    }
}
