//! Findings of a dispatch. Each thread collects its own, and they are combined when all threads have ended.
//!
//! A mistake has the first invocation that made it, in the order of workgroups and of invocations, whichever
//! ran first. So a dispatch has the same findings for all numbers of threads, and with or without SIMD
//! groups. A matrix or a struct is accessed number by number, each at its own site. Findings of several of
//! them are one mistake, which counts once for each access of the whole.

use rustc_hash::FxHashMap;

use crate::findings::{ArrayName, Before, Element};
use crate::{Access, Finding, FindingKind, Invocation, SourceLine};

/// Identifies a mistake, however often it is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mistake {
    /// At the site with this id.
    At(u32),
    /// A race at this site, of an array, with the access of another line, within a workgroup or not.
    Race { site_id: u32, array: Option<ArrayName>, before: Option<SourceLine>, in_group: bool },
}

impl Mistake {
    fn site_id(&self) -> u32 {
        match self {
            Mistake::At(site_id) | Mistake::Race { site_id, .. } => *site_id,
        }
    }
}

/// In the order of discovery.
#[derive(Default)]
pub struct Found {
    all: Vec<(Mistake, Finding)>,
    places: FxHashMap<Mistake, usize>,
}

impl Found {
    /// Counts a mistake. `finding` is called if its invocation is the first.
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

/// The order of workgroups along x, then y, then z, and then of invocations in the same way.
fn rank(invocation: Invocation) -> [[u32; 3]; 2] {
    [invocation.group, invocation.local].map(|[x, y, z]| [z, y, x])
}

/// Combines the findings of all threads, with one finding for each mistake.
pub fn combined(threads: impl IntoIterator<Item = Found>) -> Vec<Finding> {
    let mut all = Found::default();
    threads.into_iter().for_each(|found| all.absorb(found));
    let mut found = all.all;
    found.sort_by_key(|(mistake, finding)| (rank(finding.invocation), mistake.site_id()));
    let found: Vec<Finding> = found.into_iter().map(|(_, finding)| finding).collect();
    let independent = found.iter().filter(|finding| !is_part_of_race(finding, &found)).cloned();
    let wholes = merged(independent, is_part_of_one_value, |known, other| known.max(other));
    merged(wholes, is_one_mistake, |known, other| known + other)
}

/// Merges findings, in the order of their invocations. The first of equal ones remains.
fn merged(
    findings: impl IntoIterator<Item = Finding>,
    is_same: fn(&Finding, &Finding) -> bool,
    count: fn(u64, u64) -> u64,
) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        match merged.iter_mut().find(|known| is_same(known, &finding)) {
            Some(known) => {
                known.count = count(known.count, finding.count);
                widen(known, &finding);
            }
            None => merged.push(finding),
        }
    }
    merged
}

fn place(line: &SourceLine) -> (&str, u32) {
    (&line.file, line.line)
}

/// Whether an uninitialised read is a consequence of a race on the same element.
fn is_part_of_race(finding: &Finding, all: &[Finding]) -> bool {
    let FindingKind::Uninitialised(Element { array, .. }) = &finding.kind else { return false };
    all.iter().any(|other| match &other.kind {
        FindingKind::Race { element, before, .. } => {
            element.array == *array && (other.line == finding.line || before.line == finding.line)
        }
        _ => false,
    })
}

/// Whether two findings belong to one access: a read and write of an element, or several numbers of a whole.
fn is_part_of_one_value(a: &Finding, b: &Finding) -> bool {
    match (&a.kind, &b.kind) {
        (
            FindingKind::OutOfBounds { array: m, index: i, shape: s, .. },
            FindingKind::OutOfBounds { array: n, index: j, shape: t, .. },
        ) => {
            a.line.as_ref().map(place) == b.line.as_ref().map(place)
                && a.invocation == b.invocation
                && (m, i, s) == (n, j, t)
        }
        (FindingKind::Uninitialised(one), FindingKind::Uninitialised(other)) => {
            a.line.is_some() && a.line == b.line && one.array == other.array
        }
        (
            FindingKind::Race { access: does, before: m, .. },
            FindingKind::Race { access: other, before: n, .. },
        ) => {
            a.line.is_some() && a.line == b.line && does == other && m.line == n.line && is_one_mistake(a, b)
        }
        _ => false,
    }
}

/// Whether two findings are races between the same two lines, in either order.
fn is_one_mistake(a: &Finding, b: &Finding) -> bool {
    let (FindingKind::Race { element: m, before: x, .. }, FindingKind::Race { element: n, before: y, .. }) =
        (&a.kind, &b.kind)
    else {
        return false;
    };
    let in_group = |finding: &Finding, before: &Before| finding.invocation.group == before.invocation.group;
    are_same(arrays(m, x), arrays(n, y))
        && lines([&a.line, &x.line]) == lines([&b.line, &y.line])
        && in_group(a, x) == in_group(b, y)
}

/// The names through which the two accesses of a race reach the element.
fn arrays<'f>(element: &'f Element, before: &'f Before) -> [Option<&'f ArrayName>; 2] {
    let array = element.array.as_ref();
    [array, before.alias.as_ref().or(array)]
}

fn are_same<T: PartialEq + Copy>(a: [T; 2], [x, y]: [T; 2]) -> bool {
    a == [x, y] || a == [y, x]
}

fn lines(of: [&Option<SourceLine>; 2]) -> [Option<(&str, u32)>; 2] {
    let mut lines = of.map(|line| line.as_ref().map(place));
    lines.sort();
    lines
}

/// A read and a write of one element become one access that does both.
fn widen(known: &mut Finding, other: &Finding) {
    if let (FindingKind::OutOfBounds { access, .. }, FindingKind::OutOfBounds { access: other, .. }) =
        (&mut known.kind, &other.kind)
        && access != other
    {
        *access = Access::ReadWrite;
    }
}
