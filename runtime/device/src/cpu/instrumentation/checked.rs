//! The checked mode. Its sites report where a kernel makes a mistake. There is one finding for each kind of
//! mistake on a line, with the first invocation that made it, and the count of all.

use kps_scalar::{Kind, Scalar};
use rustc_hash::FxHashMap;

use super::found::{Found, Mistake};
use super::races::Accesses;
use super::shared::Stamps;
use super::{Extent, Lanes, Observer, Sites};
use crate::cpu::lane::{CheckSite, SiteKind};
use crate::findings::{Int, Launch, Number};
use crate::{Checks, Finding, FindingKind, Invocation};

/// Decodes an int from a lane's bits. Narrow ones are in the lowest bits.
fn read_int(scalar: Scalar, bits: u64) -> Int {
    let unused = 64 - scalar.bits();
    match scalar.is_signed() {
        true => Int::Signed(((bits << unused) as i64) >> unused),
        false => Int::Unsigned(bits << unused >> unused),
    }
}

/// Decodes a float from a lane's bits. Narrow ones are computed in 32 bits.
fn read_float(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F64 => f64::from_bits(bits),
        _ => f32::from_bits(bits as u32).into(),
    }
}

fn read(scalar: Scalar, bits: u64) -> Number {
    match scalar.kind() {
        Kind::Bool => Number::Bool(bits != 0),
        Kind::Signed | Kind::Unsigned => Number::Int(read_int(scalar, bits)),
        Kind::Float => Number::Float(read_float(scalar, bits)),
    }
}

/// Collects the findings of one thread of a dispatch.
pub struct Checker {
    sites: Sites,
    found: Found,
    uniforms: Vec<UniformSite>,
    accesses: Accesses,
}

/// The values that invocations of a workgroup have for one value that should be uniform, visit by visit.
#[derive(Default)]
struct UniformSite {
    group: Option<[u32; 3]>,
    /// Each visit's value, and the first invocation that reported it.
    values: Vec<(Vec<u64>, Invocation)>,
    /// The number of visits of each invocation, by its local id.
    times: FxHashMap<[u32; 3], usize>,
}

impl UniformSite {
    /// An earlier invocation that reported another value in the same visit.
    fn differs(&mut self, invocation: Invocation, values: &[u64]) -> Option<(Vec<u64>, Invocation)> {
        if self.group != Some(invocation.group) {
            *self = UniformSite { group: Some(invocation.group), ..UniformSite::default() };
        }
        let time = self.times.entry(invocation.local).or_default();
        let first = self.values.get(*time).cloned();
        *time += 1;
        match first {
            Some(first) => Some(first).filter(|(known, _)| known != values),
            None => {
                self.values.push((values.to_vec(), invocation));
                None
            }
        }
    }
}

impl Checker {
    pub fn new(checks: Checks, sites: Sites, local_size: [u32; 3]) -> Checker {
        let uniforms = sites.all.iter().map(|_| UniformSite::default()).collect();
        let accesses = Accesses::new(checks, &sites, local_size);
        Checker { sites, found: Found::default(), uniforms, accesses }
    }

    fn find(&mut self, site_id: u32, invocation: Invocation, kind: impl FnOnce(&CheckSite) -> FindingKind) {
        let site = &self.sites.all[site_id as usize];
        let SiteKind::Check(check) = &site.kind else { return };
        let line = || site.line.clone();
        let finding =
            || Finding { kind: kind(check), line: line(), invocation, count: 1, launch: Launch::default() };
        self.found.add(Mistake::At(site_id), invocation, finding);
    }

    fn uniform(&mut self, site_id: u32, invocation: Invocation, values: &[u64], number: Scalar) {
        if let Some((known, other)) = self.uniforms[site_id as usize].differs(invocation, values) {
            let numbers = |values: &[u64]| values.iter().map(|&bits| read(number, bits)).collect();
            let values = [numbers(values), numbers(&known)];
            self.find(site_id, invocation, |_| FindingKind::NotUniform { values, other });
        }
    }
}

impl Observer for Checker {
    fn begins(&mut self, extent: Extent) {
        self.accesses.begin(extent);
    }

    fn group_begins(&mut self) {
        self.accesses.group_begins();
    }

    fn barrier_opens(&mut self) {
        self.accesses.barrier_opens();
    }

    fn stamps(&mut self) -> Stamps {
        self.accesses.stamps()
    }

    fn reached(&mut self, site_id: u32, invocation: Invocation, values: &[u64]) {
        let SiteKind::Check(site) = &self.sites.all[site_id as usize].kind else { return };
        match site {
            CheckSite::Access { .. } | CheckSite::TexelAccess { .. } => {
                self.accesses.note(&self.sites, site_id, invocation, values, &mut self.found);
            }
            CheckSite::Uniform { number } => self.uniform(site_id, invocation, values, *number),
            _ => self.find(site_id, invocation, |site| kind(site, values)),
        }
    }

    fn reached_by_lanes(&mut self, site_id: u32, lanes: &Lanes<'_>) {
        let SiteKind::Check(site) = &self.sites.all[site_id as usize].kind else { return };
        let left = self.accesses.note_atomics(site, site_id, lanes);
        if left == 0 {
            return;
        }
        let mut values = vec![0; lanes.n_values()];
        for lane in lanes.each().filter(|lane| left >> lane & 1 == 1) {
            values.iter_mut().enumerate().for_each(|(i, value)| *value = lanes.value(i, lane));
            self.reached(site_id, lanes.invocation(lane), &values);
        }
    }

    fn found(&mut self) -> Found {
        std::mem::take(&mut self.found)
    }
}

fn kind(site: &CheckSite, values: &[u64]) -> FindingKind {
    match site {
        CheckSite::Index { array, access, indices, beyond } => {
            let axes = || values.chunks(2).zip(indices);
            FindingKind::OutOfBounds {
                array: array.clone(),
                index: axes().map(|(pair, index)| read_int(*index, pair[0])).collect(),
                shape: axes().map(|(pair, _)| pair[1]).collect(),
                access: *access,
                beyond: *beyond,
            }
        }
        CheckSite::Texel { image, access, signed } => {
            let coordinate = if *signed { Scalar::I32 } else { Scalar::U32 };
            FindingKind::OutsideImage {
                image: image.clone(),
                place: values.chunks(2).map(|pair| read_int(coordinate, pair[0])).collect(),
                size: values.chunks(2).map(|pair| pair[1]).collect(),
                access: *access,
            }
        }
        CheckSite::Division { number } => FindingKind::DivisionByZero { dividend: read(*number, values[0]) },
        CheckSite::Shift { amount, width } => {
            FindingKind::ShiftAmount { amount: read_int(*amount, values[0]), width: *width }
        }
        CheckSite::Conversion { from, n_digits, to } => {
            let (value, n_digits) = (read_float(*from, values[0]), *n_digits);
            FindingKind::Conversion { value, n_digits, bits: to.bits(), signed: to.is_signed() }
        }
        CheckSite::Overflow { op, number } => {
            let [a, b] = [values[0], values[1]].map(|bits| read_int(*number, bits));
            FindingKind::Overflow { op: *op, a, b, bits: number.bits() }
        }
        CheckSite::NonFinite { number, of } => {
            let parents = of.iter().zip(&values[1..]);
            let of = parents.map(|(scalar, &bits)| read(*scalar, bits)).collect();
            FindingKind::NonFinite { value: read_float(*number, values[0]), of }
        }
        CheckSite::Uniform { .. } | CheckSite::Access { .. } | CheckSite::TexelAccess { .. } => {
            unreachable!("handled by `reached`")
        }
    }
}
