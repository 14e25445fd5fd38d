//! The checked mode: probes that are reached where a kernel does something wrong. Each line is told of once for
//! each thing that it does wrong, with the first invocation that does it and how many do.

use rustc_hash::FxHashMap;

use super::found::{Found, Mistake};
use super::memory::Touch;
use super::races::Accesses;
use super::shared::Stamps;
use super::{Extent, Lanes, Observer, SiteKind, Sites};
use crate::findings::{Arithmetic, ArrayName, Beyond, Int, Launch, Number};
use crate::{Access, Checks, Finding, FindingKind, Invocation};

/// What is wrong where a probe is reached. Its values are those that each kind names, in order.
#[derive(Clone, Debug)]
pub enum Site {
    /// Index and length of each axis, in 64 bits.
    Index {
        array: Option<ArrayName>,
        access: Access,
        kinds: Vec<IntKind>,
        beyond: Beyond,
    },
    /// Coordinate and size along each axis of an image.
    Texel {
        image: Option<ArrayName>,
        access: Access,
        signed: bool,
    },
    /// The dividend.
    Division {
        number: NumberKind,
    },
    /// The amount.
    Shift {
        amount: IntKind,
        width: u32,
    },
    /// The float, whose type has so many binary digits.
    Conversion {
        from: FloatKind,
        n_digits: u32,
        to: IntKind,
    },
    /// Always reached: the components of what should be the same in all of the workgroup.
    Uniform {
        number: NumberKind,
    },
    Overflow {
        op: Arithmetic,
        number: IntKind,
    },
    /// The float, and the numbers that it was made of.
    Birth {
        number: FloatKind,
        of: Vec<NumberKind>,
    },
    /// Always reached: the address, and what is stored there. `offset` is added to the address. What is merely copied
    /// was loaded at the probe `copied_from`.
    Access {
        touch: Touch,
        place: Where,
        offset: u32,
        size: u32,
        copied_from: Option<u32>,
    },
    /// Always reached: the three coordinates, and the four words that are stored there.
    TexelAccess {
        touch: Touch,
        image: u32,
    },
}

impl Site {
    /// Whether it looks at the values of one lane alone, whatever others do before or behind it.
    pub fn is_of_one_lane(&self) -> bool {
        !matches!(self, Site::Uniform { .. } | Site::Access { .. } | Site::TexelAccess { .. })
    }

    /// What is done to which memory, where it is an access.
    pub fn access(&self) -> Option<(Touch, Where)> {
        match *self {
            Site::Access { touch, place, .. } => Some((touch, place)),
            Site::TexelAccess { touch, image } => Some((touch, Where::Image(image))),
            _ => None,
        }
    }
}

/// Memory that invocations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Shared,
    Buffer(u32),
    Image(u32),
    /// The address tells.
    Anywhere,
}

/// How the bits of an int are to be read. Narrow ones lie in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct IntKind {
    pub bits: u32,
    pub signed: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum FloatKind {
    F32,
    F64,
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

impl FloatKind {
    fn read(self, bits: u64) -> f64 {
        match self {
            FloatKind::F32 => f32::from_bits(bits as u32).into(),
            FloatKind::F64 => f64::from_bits(bits),
        }
    }
}

/// How the bits of a number are to be read.
#[derive(Clone, Copy, Debug)]
pub enum NumberKind {
    Bool,
    Int(IntKind),
    Float(FloatKind),
}

impl NumberKind {
    fn read(self, bits: u64) -> Number {
        match self {
            NumberKind::Bool => Number::Bool(bits != 0),
            NumberKind::Int(kind) => Number::Int(kind.read(bits)),
            NumberKind::Float(kind) => Number::Float(kind.read(bits)),
        }
    }
}

/// Collects what the probes of one thread of a dispatch tell.
pub struct Checker {
    sites: Sites,
    found: Found,
    uniforms: Vec<UniformSite>,
    accesses: Accesses,
}

/// What a workgroup's invocations told of one value that should be the same in all of them, time after time.
#[derive(Default)]
struct UniformSite {
    group: Option<[u32; 3]>,
    /// Each time's value, and who told it first.
    told: Vec<(Vec<u64>, Invocation)>,
    /// How often each invocation was here, by its local id.
    times: FxHashMap<[u32; 3], usize>,
}

impl UniformSite {
    /// Who told another value before.
    fn differs(&mut self, invocation: Invocation, values: &[u64]) -> Option<(Vec<u64>, Invocation)> {
        if self.group != Some(invocation.group) {
            *self = UniformSite { group: Some(invocation.group), ..UniformSite::default() };
        }
        let time = self.times.entry(invocation.local).or_default();
        let told = self.told.get(*time).cloned();
        *time += 1;
        match told {
            Some(told) => Some(told).filter(|(known, _)| known != values),
            None => {
                self.told.push((values.to_vec(), invocation));
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

    fn find(&mut self, probe: u32, invocation: Invocation, kind: impl FnOnce(&Site) -> FindingKind) {
        let site = &self.sites.all[probe as usize];
        let SiteKind::Check(check) = &site.kind else { return };
        let line = || site.line.clone();
        let finding =
            || Finding { kind: kind(check), line: line(), invocation, count: 1, launch: Launch::default() };
        self.found.add(Mistake::At(probe), invocation, finding);
    }

    fn uniform(&mut self, probe: u32, invocation: Invocation, values: &[u64], number: NumberKind) {
        if let Some((known, other)) = self.uniforms[probe as usize].differs(invocation, values) {
            let read = |values: &[u64]| values.iter().map(|&bits| number.read(bits)).collect();
            let values = [read(values), read(&known)];
            self.find(probe, invocation, |_| FindingKind::NotUniform { values, other });
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

    fn reached(&mut self, probe: u32, invocation: Invocation, values: &[u64]) {
        let SiteKind::Check(site) = &self.sites.all[probe as usize].kind else { return };
        match site {
            Site::Access { .. } | Site::TexelAccess { .. } => {
                self.accesses.met(&self.sites, probe, invocation, values, &mut self.found);
            }
            Site::Uniform { number } => self.uniform(probe, invocation, values, *number),
            _ => self.find(probe, invocation, |site| kind(site, values)),
        }
    }

    fn reached_together(&mut self, probe: u32, lanes: &Lanes<'_>) {
        let SiteKind::Check(site) = &self.sites.all[probe as usize].kind else { return };
        let left = self.accesses.note_atomics(site, probe, lanes);
        if left == 0 {
            return;
        }
        let mut values = vec![0; lanes.n_values()];
        for lane in lanes.each().filter(|lane| left >> lane & 1 == 1) {
            values.iter_mut().enumerate().for_each(|(i, value)| *value = lanes.value(i, lane));
            self.reached(probe, lanes.invocation(lane), &values);
        }
    }

    fn found(&mut self) -> Found {
        std::mem::take(&mut self.found)
    }
}

fn kind(site: &Site, values: &[u64]) -> FindingKind {
    match site {
        Site::Index { array, access, kinds, beyond } => {
            let axes = || values.chunks(2).zip(kinds);
            FindingKind::OutOfBounds {
                array: array.clone(),
                index: axes().map(|(pair, kind)| kind.read(pair[0])).collect(),
                shape: axes().map(|(pair, _)| pair[1]).collect(),
                access: *access,
                beyond: *beyond,
            }
        }
        Site::Texel { image, access, signed } => {
            let number = IntKind { bits: 32, signed: *signed };
            FindingKind::OutsideImage {
                image: image.clone(),
                place: values.chunks(2).map(|pair| number.read(pair[0])).collect(),
                size: values.chunks(2).map(|pair| pair[1]).collect(),
                access: *access,
            }
        }
        Site::Division { number } => FindingKind::DivisionByZero { dividend: number.read(values[0]) },
        Site::Shift { amount, width } => {
            FindingKind::ShiftAmount { amount: amount.read(values[0]), width: *width }
        }
        Site::Conversion { from, n_digits, to } => {
            let (value, n_digits) = (from.read(values[0]), *n_digits);
            FindingKind::Conversion { value, n_digits, bits: to.bits, signed: to.signed }
        }
        Site::Overflow { op, number } => {
            let [a, b] = [values[0], values[1]].map(|bits| number.read(bits));
            FindingKind::Overflow { op: *op, a, b, bits: number.bits }
        }
        Site::Birth { number, of } => {
            let parents = of.iter().zip(&values[1..]);
            let of = parents.map(|(kind, &bits)| kind.read(bits)).collect();
            FindingKind::Birth { value: number.read(values[0]), of }
        }
        Site::Uniform { .. } | Site::Access { .. } | Site::TexelAccess { .. } => {
            unreachable!("what they tell is compared first")
        }
    }
}
