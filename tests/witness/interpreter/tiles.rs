//! Cooperative matrices, which the invocations of a subgroup share: loads and stores, and products.
//!
//! Each invocation has consecutive components of a matrix, in column-major order. Devices distribute them in
//! other ways, and no kernel should depend on it. As for all subgroup operations, the workgroup is one
//! subgroup. The order of float sums is unspecified, so only sums that are exact in any order have a result.

use kps_kernel::ir::{BinaryOp, CoopLines, CoopMemory, CoopPlace, NodeId};
use kps_kernel::{CoopType, Scalar, Type};

use super::machine::Invocation;
use super::{Stop, Value, World, numbers, subgroups};

type Result<T> = std::result::Result<T, Stop>;

/// How a matrix is distributed.
#[derive(Clone, Copy)]
struct Tile {
    coop: CoopType,
    /// Components of one invocation.
    n_each: usize,
}

impl Tile {
    fn new(coop: CoopType, n_invocations: usize) -> Result<Tile> {
        if n_invocations > subgroups::MAX_INVOCATIONS {
            return Err(Stop::Open("subgroups of several sizes"));
        }
        Ok(Tile { coop, n_each: (coop.rows * coop.columns).div_ceil(n_invocations as u32) as usize })
    }

    /// Row and column of a component; `None` for excess components of the last invocation.
    fn element(&self, lane: usize, component: usize) -> Option<(usize, usize)> {
        let (rows, number) = (self.coop.rows as usize, lane * self.n_each + component);
        (number < rows * self.coop.columns as usize).then_some((number % rows, number / rows))
    }

    /// Each component of an invocation.
    fn elements(self, lane: usize) -> impl Iterator<Item = Option<(usize, usize)>> {
        (0..self.n_each).map(move |component| self.element(lane, component))
    }
}

impl<'k> Invocation<'k> {
    pub fn components_of(&self, coop: &CoopType) -> Result<usize> {
        Ok(self.tile(&Type::Coop(*coop))?.n_each)
    }

    pub fn coop_filled(&self, value: NodeId, ty: &Type) -> Result<Value> {
        Ok(Value::parts(vec![self.value(value); self.tile(ty)?.n_each]))
    }

    pub fn coop_load(&self, place: &CoopPlace, ty: &Type, world: &World<'k>) -> Result<Value> {
        let tile = self.tile(ty)?;
        let element = |element: Option<(usize, usize)>| match element {
            Some(element) => self.coop_element(place, self.index_of(place, element), tile.coop.scalar, world),
            None => Value::number(tile.coop.scalar, 0),
        };
        Ok(Value::parts(tile.elements(self.lane()).map(element).collect()))
    }

    pub fn coop_store(&mut self, place: &CoopPlace, value: NodeId, world: &mut World<'k>) {
        let tile = self.tile(self.function().ty(value)).expect("it was made in a subgroup that is known");
        let value = self.value(value);
        for (element, number) in tile.elements(self.lane()).zip(value.as_parts()) {
            let Some(element) = element else { continue };
            let index = self.index_of(place, element);
            let memory = self.element_type(place, world);
            let number = Value::number(memory, number.bits(tile.coop.scalar));
            let into = match place.memory {
                CoopMemory::Buffer(buffer) => world.buffers[buffer.idx()].values.get_mut(index),
                CoopMemory::Shared(local) => self.memory_mut(local, world).at_mut(&[index as i128]),
            };
            *into.expect(INSIDE) = number;
        }
    }

    fn coop_element(&self, place: &CoopPlace, index: usize, scalar: Scalar, world: &World<'k>) -> Value {
        let found = match place.memory {
            CoopMemory::Buffer(buffer) => world.buffers[buffer.idx()].values.get(index),
            CoopMemory::Shared(local) => self.local(local, world).at(&[index as i128]),
        };
        // Numbers of some types are stored as their bits.
        Value::number(scalar, found.expect(INSIDE).bits(self.element_type(place, world)))
    }

    fn element_type(&self, place: &CoopPlace, world: &World) -> Scalar {
        let element = match place.memory {
            CoopMemory::Buffer(buffer) => Some(world.buffers[buffer.idx()].element.clone()),
            CoopMemory::Shared(local) => self.function().local(local).ty.part(0),
        };
        element.and_then(|element| element.scalar()).expect("matrices lie in arrays of numbers")
    }

    fn index_of(&self, place: &CoopPlace, (row, column): (usize, usize)) -> usize {
        let (line, within) = match place.lines {
            CoopLines::Rows => (row, column),
            CoopLines::Columns => (column, row),
        };
        let [start, stride] = [place.start, place.stride].map(|node| self.value(node).as_int());
        usize::try_from(start + line as i128 * stride + within as i128).expect(INSIDE)
    }

    fn tile(&self, ty: &Type) -> Result<Tile> {
        let Type::Coop(coop) = ty else { panic!("{ty} is no matrix, which `verify` holds it to be") };
        Tile::new(*coop, self.kernel.local_size.iter().product::<u32>() as usize)
    }

    fn lane(&self) -> usize {
        let [nx, ny, _] = self.kernel.local_size;
        let [x, y, z] = self.local;
        ((z * ny + y) * nx + x) as usize
    }
}

const INSIDE: &str = "a matrix that is moved as a whole lies inside its array";

/// The sum with a product, for each invocation.
pub fn multiply_add(invocations: &[Invocation], sum: NodeId, a: NodeId, b: NodeId) -> Result<Vec<Value>> {
    let whole = |id: NodeId| whole(invocations, id);
    let (tile, sums) = whole(sum)?;
    let ((factor, a), (_, b)) = (whole(a)?, whole(b)?);
    let (n, scalar) = (factor.coop.columns as usize, tile.coop.scalar);
    let at = |of: &Tile, (row, column): (usize, usize)| row * of.coop.columns as usize + column;
    let element = |(row, column): (usize, usize)| {
        let factors = (0..n).map(|k| (&a[row * n + k], &b[k * tile.coop.columns as usize + column]));
        match scalar.is_float() {
            true => exact_sum(&sums[at(&tile, (row, column))], factors, scalar),
            false => Ok(factors.fold(sums[at(&tile, (row, column))].clone(), |sum, (a, b)| {
                let product = numbers::binary(BinaryOp::Mul, scalar, a, b);
                numbers::binary(BinaryOp::Add, scalar, &sum, &product)
            })),
        }
    };
    let zero = || Ok(Value::number(scalar, 0));
    let of_lane = |lane: usize| -> Result<Value> {
        let parts = tile.elements(lane).map(|place| place.map_or_else(zero, element));
        Ok(Value::parts(parts.collect::<Result<_>>()?))
    };
    (0..invocations.len()).map(of_lane).collect()
}

/// A matrix in row-major order, from the components of all invocations.
fn whole(invocations: &[Invocation], id: NodeId) -> Result<(Tile, Vec<Value>)> {
    let tile = invocations[0].tile(invocations[0].function().ty(id))?;
    let columns = tile.coop.columns as usize;
    let mut elements = vec![Value::number(tile.coop.scalar, 0); tile.coop.rows as usize * columns];
    for (lane, invocation) in invocations.iter().enumerate() {
        for (place, number) in tile.elements(lane).zip(invocation.value(id).as_parts()) {
            if let Some((row, column)) = place {
                elements[row * columns + column] = number.clone();
            }
        }
    }
    Ok((tile, elements))
}

/// The sum of all products, if it is exact in any order: all are multiples of one power of two, and their sum
/// is not too large for it.
fn exact_sum<'v>(
    sum: &Value,
    factors: impl Iterator<Item = (&'v Value, &'v Value)>,
    scalar: Scalar,
) -> Result<Value> {
    let products = factors.map(|(a, b)| a.as_float() * b.as_float());
    let terms: Vec<f64> = [sum.as_float()].into_iter().chain(products).filter(|term| *term != 0.0).collect();
    let size: f64 = terms.iter().map(|term| term.abs()).sum();
    let quantum = terms.iter().copied().map(lowest_bit).fold(f64::INFINITY, f64::min);
    let digits = match scalar {
        Scalar::F16 => 11,
        Scalar::Bf16 => 8,
        Scalar::F32 => 24,
        _ => 53,
    };
    let is_exact = terms.is_empty() || size <= quantum * f64::from(digits).exp2();
    match is_exact && size < 65504.0 {
        true => Ok(Value::Float(terms.iter().fold(0.0, |sum, term| sum + term))),
        false => Err(Stop::Open("the order of floats in a product")),
    }
}

/// The power of two of a number's last digit.
fn lowest_bit(number: f64) -> f64 {
    let bits = number.to_bits();
    let digits = (bits & ((1 << 52) - 1)) | 1 << 52;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    f64::from(exponent + digits.trailing_zeros() as i32).exp2()
}
