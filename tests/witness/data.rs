//! Arguments for a kernel. A parameter's value depends only on the seed and its name, so a kernel has the
//! same arguments after it was shrunk.

use std::fmt;

use kps_kernel::ir::Kernel;
use kps_kernel::{Kind, Scalar, Type};

use crate::interpreter::{Memory, Value};
use crate::random::Random;

/// Prefix of arrays in which each invocation has its own element.
pub const OWN: &str = "out";
/// Prefix of arrays in which all invocations count.
pub const SUMS: &str = "counts";

/// Prefix of arrays with whole matrices.
pub const TILES: &str = "tile";

/// The number of invocations.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    pub domain: [u32; 3],
    pub groups: [u32; 3],
}

pub struct Array {
    pub name: String,
    pub element: Type,
    pub shape: Vec<u32>,
    pub bytes: Vec<u8>,
}

pub struct Arguments {
    /// In the order of the kernel's bindings.
    pub arrays: Vec<Array>,
    pub scalars: Vec<(String, Value)>,
}

/// Limits of invocations along x, for domains with one, two and three axes, and along the other axes.
const REACH: [(usize, usize); 3] = [(70, 1), (9, 7), (5, 4)];

impl Launch {
    /// With as many axes as the kernel's workgroup.
    pub fn new(kernel: &Kernel, seed: u64) -> Launch {
        let mut random = Random::named(seed, "domain");
        let size = kernel.local_size;
        let rank = (1..3).rev().find(|axis| size[*axis] > 1).map_or(1, |axis| axis + 1);
        let (along_x, along_others) = REACH[rank - 1];
        let mut domain = [1; 3];
        for axis in 0..rank {
            domain[axis] = match kernel.whole_groups {
                true => size[axis] * (1 + random.below(3) as u32),
                false => 1 + random.below(if axis == 0 { along_x } else { along_others }) as u32,
            };
        }
        Launch { domain, groups: [0, 1, 2].map(|axis| domain[axis].div_ceil(size[axis])) }
    }

    pub fn n_invocations(&self) -> usize {
        self.domain.iter().product::<u32>() as usize
    }

    /// Axes of an array in which each invocation has an element: the domain's, from the last on. The first
    /// may be too short.
    fn own_shape(&self, rank: usize, random: &mut Random) -> Vec<u32> {
        let mut shape: Vec<u32> =
            self.domain[..rank].iter().rev().map(|n| n + random.below(2) as u32).collect();
        if random.one_in(4) {
            shape[0] = 1 + random.below(shape[0] as usize) as u32;
        }
        shape
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.scalars {
            writeln!(f, "{name} = {value}")?;
        }
        for array in &self.arrays {
            let elements = array.bytes.chunks_exact(array.element.packed_size() as usize);
            let elements: Vec<String> =
                elements.map(|at| Value::read(&array.element, at).to_string()).collect();
            writeln!(f, "{}: {} {:?} = [{}]", array.name, array.element, array.shape, elements.join(", "))?;
        }
        Ok(())
    }
}

impl Arguments {
    pub fn new(kernel: &Kernel, launch: &Launch, seed: u64) -> Arguments {
        let arrays = kernel.buffers.iter().map(|buffer| {
            let mut random = Random::named(seed, &buffer.name);
            let n = launch.n_invocations();
            // Some arrays are too short, so that loads give zeros and stores have no effect.
            let is_of_tiles = buffer.name.starts_with(TILES);
            let n = match random.one_in(4) {
                _ if is_of_tiles => 100 + random.below(900),
                true => 1 + random.below(n),
                false => n + random.below(3),
            };
            let shape = match buffer.rank {
                1 => vec![n as u32],
                rank if buffer.name.starts_with(OWN) => launch.own_shape(rank.into(), &mut random),
                _ => vec![(1 + n / 8) as u32, 1 + random.below(9) as u32],
            };
            let n = shape.iter().product::<u32>();
            let number = match buffer.name.starts_with(SUMS) {
                _ if is_of_tiles => smallest,
                true => small,
                false => number,
            };
            let bytes = (0..n).flat_map(|_| bytes(&buffer.element, number, &mut random)).collect();
            Array { name: buffer.name.to_string(), element: buffer.element.clone(), shape, bytes }
        });
        let scalars = kernel.scalars.iter().map(|scalar| {
            let bytes = bytes(&scalar.ty, number, &mut Random::named(seed, &scalar.name));
            (scalar.name.to_string(), Value::read(&scalar.ty, &bytes))
        });
        Arguments { arrays: arrays.collect(), scalars: scalars.collect() }
    }

    pub fn array(&self, name: &str) -> &Array {
        self.arrays.iter().find(|array| array.name == name).expect("an array for every parameter")
    }

    pub fn scalar(&self, name: &str) -> &Value {
        let found = self.scalars.iter().find(|(known, _)| known == name);
        &found.expect("a value for every parameter").1
    }

    /// The value of `kps.shape.NAME.AXIS`.
    pub fn axis(&self, member: &str) -> u32 {
        let place = member.trim_start_matches("kps.shape.").rsplit_once('.');
        let (name, axis) = place.expect("an array and its axis");
        self.array(name).shape[axis.parse::<usize>().expect("an axis is a number")]
    }

    pub fn memories(&self) -> Vec<Memory> {
        let memory = |array: &Array| Memory::from_bytes(&array.element, array.shape.clone(), &array.bytes);
        self.arrays.iter().map(memory).collect()
    }
}

/// One element; padding between its members is zero.
fn bytes(ty: &Type, number: fn(Scalar, &mut Random) -> Value, random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0; ty.packed_size() as usize];
    for (offset, scalar) in ty.numbers() {
        number(scalar, random).write(&scalar.into(), &mut bytes[offset as usize..]);
    }
    bytes
}

/// A small number, so that sums of many do not depend on their order.
fn small(scalar: Scalar, random: &mut Random) -> Value {
    match scalar.kind() {
        Kind::Float => Value::Float(random.below(64) as f64 / 4.0),
        _ => number(scalar, random),
    }
}

/// A small integer, so that sums of many products are exact in every type.
fn smallest(scalar: Scalar, random: &mut Random) -> Value {
    let value = random.below(7) as i128;
    match scalar.kind() {
        Kind::Float => Value::Float((value - 3) as f64),
        Kind::Unsigned => Value::Int(value),
        _ => Value::Int(value - 3),
    }
}

/// Mostly an ordinary number, sometimes a boundary value. Subnormal numbers are left to the conformance
/// table.
fn number(scalar: Scalar, random: &mut Random) -> Value {
    match scalar.kind() {
        Kind::Bool => Value::Bool(random.one_in(2)),
        Kind::Float => Value::number(scalar, Value::Float(float(random)).bits(scalar)),
        _ => {
            let (min, max) = scalar.int_range().expect("an int type");
            Value::Int(match random.below(10) {
                0 => min,
                1 => max,
                2 => i128::from(random.bits()).rem_euclid(max - min + 1) + min,
                3 | 4 if scalar.is_signed() => -(random.below(20) as i128),
                _ => random.below(20) as i128,
            })
        }
    }
}

fn float(random: &mut Random) -> f64 {
    let quarter = |random: &mut Random| random.below(200) as f64 / 4.0 - 25.0;
    match random.below(16) {
        0 => *random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0]),
        1 => *random.pick(&[1e30, -65504.0, 2147483648.0, 1e300, -3e38, 255.5]),
        2 | 3 => random.below(1 << 30) as f64 / 1e6 * quarter(random),
        _ => quarter(random),
    }
}
