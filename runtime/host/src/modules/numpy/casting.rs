//! Conversions between element types: the rules of `casting=`, and the effect of `out=`.

use kps_compute::DType;

use super::array::NdArray;
use super::errors;
use super::kernel::cast::cast_row;
use super::layout::broadcast_shapes;
use super::operand::{self, Operand};
use super::operators::OpResult;
use super::promote::{promote_types, same_kind};
use crate::value::{Result, Value};
use crate::vm::Vm;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Casting {
    /// The same type.
    No,
    /// Every value is preserved.
    Safe,
    /// Within a kind, or to a wider kind.
    #[default]
    SameKind,
    Unsafe,
}

impl Casting {
    /// The rule that an argument `casting` names.
    pub fn from_argument(value: Option<&Value>, default: Casting) -> Result<Casting> {
        let Some(value) = value else { return Ok(default) };
        Ok(match value.as_str() {
            Some("no" | "equiv") => Casting::No,
            Some("safe") => Casting::Safe,
            Some("same_kind") => Casting::SameKind,
            Some("unsafe") => Casting::Unsafe,
            Some(other) => return Err(errors::bad_casting(other)),
            None => return Err(errors::casting_not_text(value)),
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Casting::No => "no",
            Casting::Safe => "safe",
            Casting::SameKind => "same_kind",
            Casting::Unsafe => "unsafe",
        }
    }

    pub fn allows(self, from: DType, to: DType) -> bool {
        match self {
            Casting::No => from == to,
            Casting::Safe => promote_types(from, to) == to,
            Casting::SameKind => same_kind(from, to),
            Casting::Unsafe => true,
        }
    }

    /// An input of a universal function, converted to the type of its loop.
    pub fn input(self, name: &str, at: usize, operand: &Operand, dtype: DType) -> Result<Operand> {
        let fits = match operand {
            // A Python int adopts any number type, a Python float any float type.
            Operand::Int(_) => dtype != DType::Bool || self == Casting::Unsafe,
            Operand::Float(_) => dtype.is_float() || self == Casting::Unsafe,
            other => self.allows(other.dtype(), dtype),
        };
        if !fits {
            return Err(errors::input_not_cast(name, at, operand.dtype(), dtype, self));
        }
        Ok(Operand::Array(NdArray::from_row(dtype, operand.shape(), operand.row_as(dtype)?)))
    }
}

/// Where results are stored: the array of `out=`, the elements that `where=` selects, the rule for casts.
#[derive(Default)]
pub struct Target {
    pub output: Option<Value>,
    pub mask: Option<Operand>,
    pub casting: Casting,
}

impl Target {
    pub fn new(
        vm: &mut Vm,
        output: Option<&Value>,
        mask: Option<&Value>,
        casting: Casting,
    ) -> Result<Target> {
        let output = match output {
            Some(Value::Tuple(outputs)) if outputs.len() == 1 => Some(outputs[0].clone()),
            other => other.cloned(),
        };
        let output = output.and_then(Value::not_none);
        if output.as_ref().is_some_and(|output| output.downcast::<NdArray>().is_none()) {
            return Err(errors::not_an_output());
        }
        Ok(Target { output, mask: self::mask(vm, mask)?, casting })
    }

    /// The type of the elements of the array that is there.
    pub fn dtype(&self) -> Option<DType> {
        self.output.as_ref().and_then(|output| output.downcast::<NdArray>()).map(NdArray::dtype)
    }

    /// The result itself, or the array of `out=` with the result in it.
    pub fn finish(&self, name: &str, made: OpResult) -> Result {
        let output = self.output.as_ref();
        let Some((output, array)) = output.and_then(|value| Some((value, value.downcast::<NdArray>()?)))
        else {
            return Ok(self.without_output(made)?.into_value());
        };
        write(name, array, made, self.mask.as_ref(), self.casting)?;
        Ok(output.clone())
    }

    /// Without an output array, a mask still affects the shape. Elements that it excludes are zero.
    fn without_output(&self, made: OpResult) -> Result<OpResult> {
        let Some(mask) = &self.mask else { return Ok(made) };
        let zero = Operand::Array(NdArray::from_row(made.dtype, &[], vec![0; made.dtype.size()]));
        super::join::choose(mask, &Operand::Array(made.into_array()), &zero)
    }

    /// The result of a reduction, whose output array must have exactly its shape.
    pub fn finish_reduction(&self, name: &str, made: OpResult) -> Result {
        if let Some(array) = self.output.as_ref().and_then(|output| output.downcast::<NdArray>())
            && *array.shape() != *made.shape
        {
            return Err(errors::reduction_output_shape(name, array.shape(), &made.shape));
        }
        Target { mask: None, output: self.output.clone(), casting: self.casting }.finish(name, made)
    }
}

/// The mask of an argument `where`; `None` if it is absent or selects all.
pub fn mask(vm: &mut Vm, value: Option<&Value>) -> Result<Option<Operand>> {
    match value {
        None | Some(Value::Bool(true)) => Ok(None),
        Some(value) => {
            let mask = operand::required(vm, value)?;
            match mask.dtype() {
                DType::Bool => Ok(Some(mask)),
                other => Err(errors::data_not_cast(other, DType::Bool, Casting::Safe)),
            }
        }
    }
}

/// Stores a result in an existing array, where the mask is true.
pub fn write(
    name: &str,
    output: &NdArray,
    made: OpResult,
    mask: Option<&Operand>,
    casting: Casting,
) -> Result<()> {
    let dtype = output.dtype();
    if !casting.allows(made.dtype, dtype) {
        return Err(errors::output_not_cast(name, made.dtype, dtype, casting));
    }
    let mask_shape = mask.map_or(&[][..], Operand::shape);
    let shape = broadcast_shapes(&[&made.shape, mask_shape, output.shape()]);
    if shape.as_deref() != Some(output.shape()) {
        let shape = broadcast_shapes(&[&made.shape, mask_shape]).unwrap_or_else(|| made.shape.clone());
        return Err(errors::bad_output_shape(output.shape(), &shape));
    }
    if mask.is_none() && *made.shape == *output.shape() {
        return output.write_row(&cast_row(made.row, made.dtype, dtype)?);
    }
    let made = Operand::Array(made.into_array());
    let Some(mask) = mask else {
        return made.with_row_of(dtype, output.shape(), |row| output.write_row(row))?;
    };
    let kept = Operand::Array(NdArray::from_row(dtype, output.shape(), output.to_contiguous_bytes()?));
    let chosen = super::join::choose_as(dtype, mask, &made, &kept, output.shape())?;
    output.write_row(&chosen)
}
