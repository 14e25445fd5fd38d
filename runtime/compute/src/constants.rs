//! Values for the constants of a kernel: push constants and specialisation constants.
//!
//! Both are given as numbers and converted to the declared types, so an `i32` is never the bits of a float. A
//! number whose value would change is an error that names the constant.

use std::convert::Infallible;
use std::ops::ControlFlow;

use kps_device::interface::{ADDRESS, Block, Member, MemberType, SHAPE, SpecConstant, Step};
use kps_device::{Interface, PipelineOptions};

use crate::DType;
use crate::error::{ComputeError, Result};
use crate::grid::Part;
use crate::number::Number;
use crate::tensor::Tensor;

/// The push constants of a dispatch.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Push {
    /// The algorithm's own, or none if the kernel declares none.
    #[default]
    Default,
    /// One number for each scalar of the block, in order; a vector takes one for each component.
    Numbers(Vec<Number>),
    /// The block's bytes in the module's layout.
    Bytes(Vec<u8>),
}

impl<T: Into<Number>, const N: usize> From<[T; N]> for Push {
    fn from(values: [T; N]) -> Push {
        Push::Numbers(values.into_iter().map(Into::into).collect())
    }
}

impl From<Vec<Number>> for Push {
    fn from(values: Vec<Number>) -> Push {
        Push::Numbers(values)
    }
}

/// Prefix of members that the runtime fills.
const HIDDEN: &str = "kps.";
pub(crate) const DOMAIN: &str = "kps.domain";
const BASE: &str = "kps.base";
const LEN: &str = "kps.len.";

/// A tensor with the name of its parameter.
#[derive(Debug)]
pub(crate) struct Named {
    pub name: String,
    pub tensor: Tensor,
    /// Size of one element of the parameter.
    pub element_size: usize,
}

/// The push-constant block of a kernel, split by who fills each scalar.
#[derive(Debug, Default)]
pub(crate) struct PushLayout {
    size: usize,
    visible: Vec<Place>,
    hidden: Vec<Place>,
}

/// One scalar of a block.
#[derive(Debug)]
struct Place {
    /// `color.1` is the second component of `color`; `word 0` if the module has no names.
    name: String,
    offset: usize,
    dtype: DType,
    /// Index in a vector or in a list.
    component: usize,
}

impl PushLayout {
    pub fn of(interface: &Interface) -> PushLayout {
        interface.push_constants.as_ref().map(PushLayout::of_block).unwrap_or_default()
    }

    /// For any block with the layout of push constants.
    pub fn of_block(block: &Block) -> PushLayout {
        let is_hidden = |place: &Place| place.name.starts_with(HIDDEN);
        let (hidden, visible) = places(block).into_iter().partition(is_hidden);
        PushLayout { size: block.size as usize, visible, hidden }
    }

    pub fn has_domain(&self) -> bool {
        self.hidden.iter().any(|place| member_of(&place.name) == DOMAIN)
    }

    /// Maximum number of invocations along an axis that the domain can hold.
    pub fn domain_limit(&self) -> u64 {
        let is_wide = |place: &Place| member_of(&place.name) == DOMAIN && place.dtype == DType::U64;
        if self.hidden.iter().any(is_wide) { u64::MAX } else { u32::MAX.into() }
    }

    /// Whether a launch may be several dispatches, each with its first workgroup.
    pub fn has_base(&self) -> bool {
        self.hidden.iter().any(|place| member_of(&place.name) == BASE)
    }

    /// Bytes of the block to the end of the user's members.
    fn visible_size(&self) -> usize {
        self.visible.iter().map(|place| place.offset + place.dtype.size()).max().unwrap_or(0)
    }

    /// The whole block, without the addresses, which the device fills.
    pub fn pack(&self, push: &Push, named: &[Named], part: Part) -> Result<Vec<u8>> {
        let mut block = vec![0; self.size];
        self.fill(push, &mut block)?;
        self.fill_hidden(named, part, &mut block)?;
        Ok(block)
    }

    /// The block with the members that the runtime fills.
    pub fn blank(&self, named: &[Named], part: Part) -> Result<Vec<u8>> {
        let mut block = vec![0; self.size];
        self.fill_hidden(named, part, &mut block)?;
        Ok(block)
    }

    fn fill_hidden(&self, named: &[Named], part: Part, block: &mut [u8]) -> Result<()> {
        self.hidden.iter().try_for_each(|place| put(place, hidden_value(place, named, part)?, block))
    }

    /// Writes the user's members.
    pub fn fill(&self, push: &Push, block: &mut [u8]) -> Result<()> {
        match push {
            Push::Default => self.numbers(&[], block),
            Push::Numbers(numbers) => self.numbers(numbers, block),
            Push::Bytes(bytes) => self.bytes(bytes, block),
        }
    }

    /// Splits the values into those of this block and those of the uniform buffer.
    pub fn split(&self, rest: &PushLayout, push: &Push) -> Result<(Push, Push)> {
        Ok(match push {
            Push::Default => (Push::Default, Push::Default),
            Push::Numbers(numbers) => {
                let n = self.visible.len();
                if numbers.len() != n + rest.visible.len() {
                    let all = self.visible.iter().chain(&rest.visible);
                    let members = all.map(|place| place.name.clone()).collect();
                    return Err(ComputeError::PushCount { members, given: numbers.len() });
                }
                (Push::Numbers(numbers[..n].to_vec()), Push::Numbers(numbers[n..].to_vec()))
            }
            Push::Bytes(bytes) => {
                let n = self.given_size().min(bytes.len());
                (Push::Bytes(bytes[..n].to_vec()), Push::Bytes(bytes[n..].to_vec()))
            }
        })
    }

    /// Number of bytes that a user gives.
    fn given_size(&self) -> usize {
        if self.hidden.is_empty() { self.size } else { self.visible_size() }
    }

    fn numbers(&self, numbers: &[Number], block: &mut [u8]) -> Result<()> {
        if numbers.len() != self.visible.len() {
            let members = self.visible.iter().map(|place| place.name.clone()).collect();
            return Err(ComputeError::PushCount { members, given: numbers.len() });
        }
        self.visible.iter().zip(numbers).try_for_each(|(place, number)| put(place, *number, block))
    }

    fn bytes(&self, bytes: &[u8], block: &mut [u8]) -> Result<()> {
        let expected = self.given_size();
        if bytes.len() != expected {
            return Err(ComputeError::PushSize { expected, given: bytes.len() });
        }
        block[..expected].copy_from_slice(bytes);
        Ok(())
    }
}

fn put(place: &Place, number: Number, block: &mut [u8]) -> Result<()> {
    let unfit = |unfit| ComputeError::PushUnfit {
        member: place.name.clone(),
        value: number,
        dtype: place.dtype,
        unfit,
    };
    number.exact(place.dtype, &mut block[place.offset..]).map_err(unfit)
}

fn hidden_value(place: &Place, named: &[Named], part: Part) -> Result<Number> {
    let member = member_of(&place.name);
    let unknown = || ComputeError::PushHidden { member: place.name.clone() };
    if member == DOMAIN || member == BASE {
        let axes = if member == DOMAIN { part.domain } else { part.base.map(u64::from) };
        return axes.get(place.component).map(|axis| Number::from(*axis)).ok_or_else(unknown);
    }
    if place.name.starts_with(ADDRESS) {
        return Ok(Number::Int(0));
    }
    let find = |parameter: &str| named.iter().find(|one| one.name == parameter).ok_or_else(unknown);
    if let Some(parameter) = place.name.strip_prefix(LEN) {
        let Named { tensor, element_size, .. } = find(parameter)?;
        return Ok(Number::Int((tensor.n_bytes() / element_size) as i128));
    }
    let (parameter, axis) = shape_axis(&place.name).ok_or_else(unknown)?;
    let Named { tensor, element_size, .. } = find(parameter)?;
    let n_axes = tensor.shape().len();
    // Several numbers in one element have axes of their own, which no kernel uses, or share the last axis.
    // Missing axes of a shape have length one.
    let len = match tensor.shape().get(axis) {
        Some(len) if axis + 1 == n_axes => {
            tensor.check_last_axis(parameter, *element_size)?;
            len / tensor.numbers_in(*element_size)
        }
        len => len.copied().unwrap_or(1),
    };
    Ok(Number::Int(len as i128))
}

/// The array and the axis in `kps.shape.NAME.AXIS`: a member of its own, or a component of one for all axes.
fn shape_axis(name: &str) -> Option<(&str, usize)> {
    let name = name.strip_prefix(SHAPE)?;
    let (parameter, axis) = name.rsplit_once('.').unwrap_or((name, "0"));
    Some((parameter, axis.parse().ok()?))
}

/// The member of a scalar: names of components end in a number.
fn member_of(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((member, component)) if component.bytes().all(|byte| byte.is_ascii_digit()) => member,
        _ => name,
    }
}

/// The scalars of a block with their names.
fn places(block: &Block) -> Vec<Place> {
    let mut places = Vec::new();
    let ControlFlow::Continue(()) = block.each_number::<Infallible>(&mut |way, offset, scalar| {
        let component = match way.last() {
            Some(Step::Part(at)) => *at as usize,
            _ => 0,
        };
        places.push(Place { name: name_of(way), offset, dtype: scalar, component });
        ControlFlow::Continue(())
    });
    places
}

fn name_of(way: &[Step]) -> String {
    way.iter().fold(String::new(), |before, step| {
        let name = match step {
            Step::Part(at) => at.to_string(),
            Step::Member(Member { name: Some(name), .. }, _) => name.clone(),
            // In modules from GLSL and WGSL, the block is inside an unnamed one.
            Step::Member(Member { ty: MemberType::Struct(_), .. }, _) => return before,
            Step::Member(_, offset) => return format!("word {}", offset / 4),
        };
        if before.is_empty() { name } else { format!("{before}.{name}") }
    })
}

/// Values of specialisation constants.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SpecValues {
    numbers: Vec<Number>,
    /// The constant's id of each value; `None` for a list.
    ids: Option<Vec<u32>>,
}

impl SpecValues {
    /// The value at index `i` is for the constants with id `i`, as in Kompute; indices without a constant are
    /// skipped. If no index is the id of a constant, the constants take the values in the order of their ids.
    pub fn list(numbers: impl IntoIterator<Item = Number>) -> SpecValues {
        SpecValues { numbers: numbers.into_iter().collect(), ids: None }
    }

    /// Each value with the id of its constant.
    pub fn by_id(values: impl IntoIterator<Item = (u32, Number)>) -> SpecValues {
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_by_key(|(id, _)| *id);
        let (ids, numbers) = values.into_iter().unzip();
        SpecValues { numbers, ids: Some(ids) }
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The values in the given order.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    /// The values by id, for constants with these sorted ids.
    fn dealt(&self, ids: &[u32]) -> Result<Vec<(u32, Number)>> {
        let numbers = self.numbers.iter().copied();
        if let Some(given) = &self.ids {
            return match given.iter().find(|id| ids.binary_search(id).is_err()) {
                Some(id) => Err(ComputeError::SpecId { id: *id, ids: ids.to_vec() }),
                None => Ok(given.iter().copied().zip(numbers).collect()),
            };
        }
        let Some(last) = self.numbers.len().checked_sub(1).map(|last| last as u32) else {
            return Ok(Vec::new());
        };
        let is_contiguous = (0..).zip(ids).all(|(at, id)| at == *id);
        if self.numbers.len() > ids.len() && is_contiguous {
            return Err(ComputeError::SpecCount { expected: ids.len(), given: self.numbers.len() });
        }
        if ids.first().is_some_and(|first| *first > last) && self.numbers.len() <= ids.len() {
            return Ok(ids.iter().copied().zip(numbers).collect());
        }
        if ids.binary_search(&last).is_err() {
            return Err(ComputeError::SpecId { id: last, ids: ids.to_vec() });
        }
        Ok((0..).zip(numbers).filter(|(id, _)| ids.binary_search(id).is_ok()).collect())
    }
}

/// The bits of each given specialisation constant, by id.
pub(crate) fn specialize(interface: &Interface, values: &SpecValues) -> Result<Vec<(u32, u64)>> {
    let given = given(interface, values)?;
    if let Some((constant, number, _)) =
        given.iter().find(|(constant, _, bits)| interface.specialised && *bits != constant.default)
    {
        return Err(ComputeError::SpecFixed { constant: title(constant), value: *number });
    }
    Ok(given.iter().map(|(constant, _, bits)| (constant.id, *bits)).collect())
}

/// The checked values of a module's specialisation constants, by id.
pub fn spec_constants(words: &[u32], values: &SpecValues) -> Result<Vec<(u32, Number)>> {
    let interface = Interface::reflect(words, &PipelineOptions::default())?;
    let given = given(&interface, values)?;
    Ok(given.iter().map(|(constant, number, _)| (constant.id, *number)).collect())
}

/// For each id: its first constant, the given value, and its bits in the constant's type. Several constants
/// may share one id and its bits, so the value must be the same in all their types.
fn given<'i>(interface: &'i Interface, values: &SpecValues) -> Result<Vec<(&'i SpecConstant, Number, u64)>> {
    let constants = &interface.spec_constants;
    let mut ids: Vec<u32> = constants.iter().map(|constant| constant.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut given = Vec::new();
    for (id, number) in values.dealt(&ids)? {
        let mut sharing = constants.iter().filter(|constant| constant.id == id);
        let first = sharing.next().expect("values are dealt to ids that there are");
        let bits = bits_of(first, number)?;
        for other in sharing {
            if other.scalar.size() != first.scalar.size() || bits_of(other, number)? != bits {
                let types = [first, other].map(|constant| constant.scalar);
                return Err(ComputeError::SpecShared { id, value: number, types });
            }
        }
        given.push((first, number, bits));
    }
    Ok(given)
}

fn bits_of(constant: &SpecConstant, number: Number) -> Result<u64> {
    let dtype = constant.scalar;
    let mut bits = [0; 8];
    let unfit = |unfit| ComputeError::SpecUnfit { constant: title(constant), value: number, dtype, unfit };
    number.exact(dtype, &mut bits).map_err(unfit)?;
    Ok(u64::from_le_bytes(bits))
}

/// For messages.
fn title(constant: &SpecConstant) -> String {
    constant.name.clone().unwrap_or_else(|| format!("id {}", constant.id))
}

#[cfg(test)]
mod tests {
    use kps_scalar::Scalar;

    use super::*;

    /// The bits of constants with these ids and types as `id=bits`, or the message.
    fn specialized(constants: &[(u32, Scalar)], values: &SpecValues) -> String {
        let constant = |&(id, scalar): &(u32, Scalar)| SpecConstant { id, name: None, scalar, default: 0 };
        let spec_constants = constants.iter().map(constant).collect();
        match specialize(&Interface { spec_constants, ..Interface::default() }, values) {
            Ok(given) => {
                let given: Vec<_> = given.iter().map(|(id, bits)| format!("{id}={bits}")).collect();
                given.join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_go_to_constants_by_their_ids() {
        use Scalar::{F32, I32, U32};
        let list = |constants: &[(u32, Scalar)], numbers: &[i32], expect: &str| {
            let values = SpecValues::list(numbers.iter().map(|number| Number::from(*number)));
            assert_eq!(specialized(constants, &values), expect, "{constants:?} {numbers:?}");
        };
        let two = [(0, U32), (1, U32)];
        list(&two, &[], "");
        list(&two, &[6], "0=6");
        list(&two, &[6, 7], "0=6 1=7");
        list(&two, &[6, 7, 8], "the kernel has 2 specialisation constants, 3 were given");
        // Several constants share an id.
        list(&[(0, U32), (0, I32), (1, U32)], &[6, 7], "0=6 1=7");
        list(&[(0, U32), (0, F32)], &[0], "0=0");
        list(
            &[(0, U32), (0, F32)],
            &[6],
            "specialisation constants of id 0 have the types u32 and f32, and 6 has not the same bits in both",
        );
        // With gaps between ids, the values between are ignored.
        list(&[(0, U32), (2, U32)], &[6, 7, 8], "0=6 2=8");
        list(&[(1, U32), (4, U32)], &[6, 7], "1=7");
        list(&[(0, U32), (2, U32)], &[6, 7], "no specialisation constant has the id 1: there are 0, 2");
        list(&[(0, U32), (2, U32)], &[6, 7, 8, 9], "no specialisation constant has the id 3: there are 0, 2");
        // No index is the id of a constant.
        list(&[(3, U32), (9, U32)], &[6, 7], "3=6 9=7");
        list(&[], &[6], "the kernel has 0 specialisation constants, 1 was given");

        let by_id = |constants: &[(u32, Scalar)], values: &[(u32, i32)], expect: &str| {
            let values = SpecValues::by_id(values.iter().map(|(id, number)| (*id, Number::from(*number))));
            assert_eq!(specialized(constants, &values), expect, "{constants:?} {values:?}");
        };
        by_id(&[(0, U32), (9, U32), (9, U32)], &[(9, 5)], "9=5");
        by_id(&two, &[(1, 5), (0, 4)], "0=4 1=5");
        by_id(&two, &[(2, 5)], "no specialisation constant has the id 2: there are 0, 1");
        by_id(&[], &[(2, 5)], "no specialisation constant has the id 2: there are none");
    }

    fn layout(members: &[(&str, u32, MemberType)], size: u32) -> PushLayout {
        let member = |(name, offset, ty): &(&str, u32, MemberType)| Member {
            name: Some((*name).to_owned()),
            offset: *offset,
            ty: ty.clone(),
        };
        let block = Block { size, members: members.iter().map(member).collect() };
        PushLayout::of(&Interface {
            entry_point: "main".to_owned(),
            local_size: [1; 3],
            push_constants: Some(block),
            ..Interface::default()
        })
    }

    fn mixed() -> PushLayout {
        let f32 = MemberType::Scalar(Scalar::F32);
        let domain = MemberType::Vector { n: 3, scalar: Scalar::U32 };
        let shape = MemberType::Vector { n: 2, scalar: Scalar::I32 };
        let u32 = || MemberType::Scalar(Scalar::U32);
        let hidden = [("kps.domain", 8, domain), ("kps.shape.x", 20, shape), ("kps.shape.x.1", 28, u32())];
        let [domain, shape, axis] = hidden;
        layout(&[("a", 0, f32), ("n", 4, u32()), domain, shape, axis], 32)
    }

    #[test]
    fn numbers_take_the_declared_types_and_hidden_members_are_filled() {
        let x = Tensor::zeros(DType::F32, &[4, 5]).expect("a small shape");
        let push = Push::Numbers(vec![2.into(), 7.0.into()]);
        let part = Part { domain: [9, 8, 1], base: [0; 3], groups: [1; 3] };
        let block = mixed()
            .pack(&push, &[Named { name: "x".to_owned(), tensor: x, element_size: 4 }], part)
            .expect("everything fits");
        let words: Vec<u32> = crate::element::from_bytes(&block);
        assert_eq!(words, [2f32.to_bits(), 7, 9, 8, 1, 4, 5, 5]);
    }

    #[test]
    fn scalars_are_named_by_their_way() {
        let pair = MemberType::Vector { n: 2, scalar: Scalar::F32 };
        let of_pairs = MemberType::Array { len: Some(2), stride: 8, element: Box::new(pair) };
        let matrix =
            MemberType::Matrix { columns: 2, rows: 2, scalar: Scalar::F32, stride: 8, row_major: false };
        let inner = Member { name: Some("n".to_owned()), offset: 4, ty: MemberType::Scalar(Scalar::I32) };
        let of_one = MemberType::Struct(Block { size: 8, members: vec![inner] });
        let layout = layout(&[("v", 0, of_pairs), ("m", 16, matrix), ("s", 32, of_one)], 40);
        let places: Vec<String> =
            layout.visible.iter().map(|place| format!("{}@{}", place.name, place.offset)).collect();
        let of_lists = ["v.0.0@0", "v.0.1@4", "v.1.0@8", "v.1.1@12"];
        let of_others = ["m.0@16", "m.1@20", "m.2@24", "m.3@28", "s.n@36"];
        assert_eq!(places, [&of_lists[..], &of_others[..]].concat());
    }

    #[test]
    fn mistakes_name_the_member() {
        let check = |push: Push, message: &str| {
            let part = Part { domain: [1; 3], base: [0; 3], groups: [1; 3] };
            let error = mixed().pack(&push, &[], part).expect_err(message);
            assert_eq!(error.to_string(), message);
        };
        check(Push::Default, "the kernel takes 2 push constants (a, n), 0 were given");
        check([1.0].into(), "the kernel takes 2 push constants (a, n), 1 was given");
        check([1.0, 2.5].into(), "push constant `n` cannot be 2.5: it would lose its value as u32");
        check([1, -1].into(), "push constant `n` cannot be -1: u32 holds 0 to 4294967295");
        check(Push::Bytes(vec![0; 32]), "the kernel's push constants are 8 bytes, 32 were given");
        check([1, 1].into(), "push constant `kps.shape.x.0` cannot be filled in: no tensor is named so");
    }
}
