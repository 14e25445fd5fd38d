//! The checked mode: probes that are reached where a kernel does something wrong. Each line is told of once for
//! each thing that it does wrong, with the first invocation that does it and how many do.

use super::{Observer, SiteKind, Sites};
use crate::findings::Int;
use crate::{Finding, FindingKind, Invocation};

/// What is wrong where a probe is reached. Its values are those that each kind names, in order.
#[derive(Clone, Copy, Debug)]
pub enum Site {
    /// The dividend.
    Division { number: IntKind },
}

/// How the bits of an int are to be read. Narrow ones lie in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct IntKind {
    pub bits: u32,
    pub signed: bool,
}

impl IntKind {
    fn read(self, bits: u64) -> Int {
        let unused = 64 - self.bits;
        match self.signed {
            true => Int::Signed(((bits << unused) as i64) >> unused),
            false => Int::Unsigned(bits << unused >> unused),
        }
    }
}

/// Collects what the probes of one dispatch tell.
pub struct Checker {
    sites: Sites,
    /// Where the finding of each probe is in the list.
    found: Vec<Option<usize>>,
    findings: Vec<Finding>,
}

impl Checker {
    pub fn new(sites: Sites) -> Checker {
        let found = vec![None; sites.len()];
        Checker { sites, found, findings: Vec::new() }
    }
}

impl Observer for Checker {
    fn reached(&mut self, probe: u32, invocation: Invocation, values: &[u64]) {
        if let Some(known) = self.found[probe as usize] {
            self.findings[known].count += 1;
            return;
        }
        let site = &self.sites[probe as usize];
        let SiteKind::Check(check) = site.kind;
        self.found[probe as usize] = Some(self.findings.len());
        let (kind, line) = (kind(check, values), site.line.clone());
        self.findings.push(Finding { kind, line, invocation, count: 1 });
    }

    fn findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }
}

fn kind(site: Site, values: &[u64]) -> FindingKind {
    match site {
        Site::Division { number } => FindingKind::DivisionByZero { dividend: number.read(values[0]) },
    }
}
