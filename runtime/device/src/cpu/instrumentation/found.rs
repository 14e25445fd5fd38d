//! Findings of a dispatch: each thread keeps its own, and they are put together when all have ended.
//!
//! A mistake is told with the first invocation that made it, in the order of workgroups and of the invocations in
//! each, whichever was met first; so the same dispatch finds the same, however its work is shared out and whether
//! it runs in gangs or not. A matrix or a struct is moved number by number, each at a probe of its own: what is wrong
//! with several of them is one mistake, and counts once for each time that the whole is moved.

use rustc_hash::FxHashMap;

use crate::findings::{ArrayName, Before, Element};
use crate::{Access, Finding, FindingKind, Invocation, SourceLine};

/// One mistake, however often it is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mistake {
    /// At the probe of this number.
    At(u32),
    /// There as well, of an array, with what another line did, within a workgroup or not.
    Race { site_id: u32, array: Option<ArrayName>, before: Option<SourceLine>, in_group: bool },
}

impl Mistake {
    fn site_id(&self) -> u32 {
        match self {
            Mistake::At(site_id) | Mistake::Race { site_id, .. } => *site_id,
        }
    }
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

/// Findings in the order of their invocations; of those that are the same the first one stays.
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

/// Whether two findings are of one access: of an element that is read and written, or of the numbers of a whole.
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

/// Whether two findings are races between the same two lines, whichever came first.
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

/// The names by which the two accesses of a race reach what they meet in.
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

/// An element that is read here and written there is both.
fn widen(known: &mut Finding, other: &Finding) {
    if let (FindingKind::OutOfBounds { access, .. }, FindingKind::OutOfBounds { access: other, .. }) =
        (&mut known.kind, &other.kind)
        && access != other
    {
        *access = Access::ReadWrite;
    }
}
