//! `numpy.ndarray`: a typed, strided view of a [`Storage`], which tensors share.
//!
//! All element accesses use `Storage::read` and `Storage::write`. So an array over a tensor sees what kernels
//! wrote, and kernels see what was written through it.

use std::ops::Range;
use std::rc::Rc;

use kps_compute::number::Number;
use kps_compute::{DType, Storage, Written};
use kps_syntax::ast::UnaryOp;

use super::kernel::source::Source;
use super::layout::Layout;
use super::operand::Operand;
use super::print::{self, PrintOptions, Shown};
use super::scalar::Scalar;
use super::tensor_data::{self, TENSOR_DATA};
use super::{State, complex_math, errors, flat, index, kernel, methods, operators, strided};
use crate::builtins::complex::Complex;
use crate::modules::kp;
use crate::ops::Side;
use crate::value::{BinaryOp, CompareOp, Native, NativeIter, NativeType, Result, Value};
use crate::vm::{Vm, collect_all};

pub static NDARRAY: NativeType =
    NativeType { methods: methods::METHODS, ..NativeType::new("ndarray", "numpy") };

/// Copying fewer bytes costs less than sharing them and copying at the next write.
const SHARED_SIZE: usize = 64 << 10;

/// An array. Clones are views of the same elements.
#[derive(Clone)]
pub struct NdArray {
    storage: Rc<Storage>,
    dtype: DType,
    layout: Layout,
    /// The object that owns the elements: another array, a tensor.
    base: Option<Value>,
    is_read_only: bool,
    /// Whether it is shown and compared as a list: `tensor.data()`.
    is_list: bool,
}

impl NdArray {
    /// All elements of a storage, which may be a tensor's.
    pub fn from_storage(storage: Rc<Storage>, dtype: DType, shape: &[usize]) -> NdArray {
        let layout = Layout::contiguous(shape);
        NdArray { storage, dtype, layout, base: None, is_read_only: false, is_list: false }
    }

    /// The owner of its bytes.
    pub fn storage(&self) -> &Rc<Storage> {
        &self.storage
    }

    /// A new array of elements in the order of their indices.
    pub fn from_row(dtype: DType, shape: &[usize], row: Vec<u8>) -> NdArray {
        debug_assert_eq!(row.len(), shape.iter().product::<usize>() * dtype.size());
        NdArray::from_storage(Storage::host(row), dtype, shape)
    }

    /// The value of `.base`.
    pub fn with_base(self, base: Value) -> NdArray {
        NdArray { base: Some(base), ..self }
    }

    pub fn read_only(self) -> NdArray {
        NdArray { is_read_only: true, ..self }
    }

    pub fn in_form_of_list(self) -> NdArray {
        NdArray { is_list: true, ..self }
    }

    pub fn is_in_form_of_list(&self) -> bool {
        self.is_list
    }

    /// The same elements as a plain array.
    pub fn plain(&self) -> NdArray {
        NdArray { is_list: false, ..self.clone() }
    }

    /// The same storage seen in another layout. `this` is the array as a value.
    pub fn view(&self, this: &Value, layout: Layout) -> NdArray {
        let base = match &self.base {
            // A view of a view belongs to the array that owns the elements.
            Some(base) if base.downcast::<NdArray>().is_some() => base.clone(),
            _ => this.clone(),
        };
        NdArray { layout, base: Some(base), ..self.plain() }
    }

    /// The same storage in another layout, for one assignment.
    pub fn with_layout(self, layout: Layout) -> NdArray {
        NdArray { layout, ..self }
    }

    /// The same bytes as elements of another type of the same size.
    pub fn reinterpret(&self, this: &Value, dtype: DType, layout: Layout) -> NdArray {
        NdArray { dtype, ..self.view(this, layout) }
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn base(&self) -> Option<&Value> {
        self.base.as_ref()
    }

    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Elements in all.
    pub fn size(&self) -> usize {
        self.layout.n_elements()
    }

    /// Calls `look` with the bytes of the elements in the order of their indices.
    pub fn with_row<R>(&self, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        if self.size() == 0 {
            return Ok(look(&[]));
        }
        if let Some(range) = self.byte_range_of_row() {
            return self.storage.read_range("read", range, look).map_err(errors::storage);
        }
        self.to_contiguous_bytes().map(|row| look(&row))
    }

    /// Where the bytes of the elements lie, if they are contiguous in the order of their indices.
    fn byte_range_of_row(&self) -> Option<Range<usize>> {
        let end = || self.layout.offset + self.size() * self.dtype.size();
        self.layout.is_contiguous().then(|| self.layout.offset..end())
    }

    /// Calls `look` with the elements, which are at least one, broadcast to a shape.
    pub fn with_source<R>(&self, shape: &[usize], look: impl FnOnce(Source) -> R) -> Result<R> {
        let looked = match self.byte_range_of_row() {
            Some(range) if self.shape() == shape || self.size() == 1 => {
                self.storage.read_range("read", range, |row| look(Source::row(row, self.dtype)))
            }
            _ => {
                let layout = self.layout.broadcast_to(shape).expect("the caller worked out the common shape");
                self.storage.read("read", |bytes| look(Source::strided(bytes, self.dtype, &layout)))
            }
        };
        looked.map_err(errors::storage)
    }

    /// The bytes of the elements in the order of their indices.
    pub fn to_contiguous_bytes(&self) -> Result<Vec<u8>> {
        self.row_as(self.dtype)
    }

    /// The same; what is all of the array's memory is shared with it until somebody writes one of them.
    pub fn shared_row(&self) -> Result<Rc<Vec<u8>>> {
        let n_bytes = self.size() * self.dtype.size();
        if n_bytes < SHARED_SIZE || n_bytes != self.storage.len() || !self.layout.is_contiguous() {
            return self.to_contiguous_bytes().map(Rc::new);
        }
        self.storage.shared_bytes("read").map_err(errors::storage)
    }

    /// The same as elements of another type.
    pub fn row_as(&self, dtype: DType) -> Result<Vec<u8>> {
        let mut row = kernel::empty(operators::check_room(self.shape(), dtype)?)?;
        self.append_to(dtype, &mut row)?;
        Ok(row)
    }

    /// Appends the elements, as those of another type, to a row.
    pub fn append_to(&self, dtype: DType, row: &mut Vec<u8>) -> Result<()> {
        match self.size() {
            0 => Ok(()),
            n => self.with_source(self.shape(), |source| source.cast(dtype).append_to(n, row))?,
        }
    }

    /// Which bytes of the elements mean something, in the order of their indices.
    pub fn written(&self) -> Result<Written> {
        let gather = |marks: &[u8]| strided::gather(marks, self.dtype, &self.layout);
        self.storage.written().gathered(gather)
    }

    /// A copy of the elements in a shape of the same size. Undefined elements stay undefined.
    pub fn copied(&self, shape: &[usize]) -> Result<NdArray> {
        let copy = NdArray::from_row(self.dtype, shape, self.to_contiguous_bytes()?);
        copy.storage.forget_but(self.written()?);
        Ok(copy)
    }

    /// Assigns all elements, in the order of their indices.
    pub fn write_row(&self, row: &[u8]) -> Result<()> {
        self.write(|bytes, layout| strided::scatter(bytes, self.dtype.size(), layout, row))
    }

    /// Assigns the same element to all.
    pub fn fill(&self, element: &[u8]) -> Result<()> {
        self.write(|bytes, layout| strided::fill(bytes, self.dtype.size(), layout, element))
    }

    /// Assigns the elements that begin at these bytes of the storage.
    pub fn write_at(&self, offsets: &[usize], row: &[u8]) -> Result<()> {
        if self.is_read_only {
            return Err(errors::read_only());
        }
        let (Some(&low), Some(&high)) = (offsets.iter().min(), offsets.iter().max()) else { return Ok(()) };
        let size = self.dtype.size();
        let offsets = collect_all(offsets.iter().map(|offset| offset - low))?;
        let mark = |marks: &mut [u8]| offsets.iter().for_each(|&at| marks[at..at + size].fill(1));
        let change = |bytes: &mut [u8]| strided::scatter_at(bytes, size, &offsets, row);
        self.storage.write_among("write", low..high + size, mark, change).map_err(errors::storage)?
    }

    /// Lets `change` write to the part of the storage that the elements span.
    fn write(&self, change: impl FnOnce(&mut [u8], &Layout) -> Result<()>) -> Result<()> {
        if self.is_read_only {
            return Err(errors::read_only());
        }
        if self.size() == 0 {
            return Ok(());
        }
        let size = self.dtype.size();
        let range = self.layout.byte_range(size);
        let layout = Layout { offset: self.layout.offset - range.start, ..self.layout.clone() };
        let change = |bytes: &mut [u8]| change(bytes, &layout);
        let mut marked = Ok(());
        let written = if self.layout.is_contiguous() {
            self.storage.overwrite("write", range, change)
        } else if range.len() == self.size() * size {
            self.storage.write("write", range, change)
        } else {
            let mark = |marks: &mut [u8]| marked = strided::fill(marks, size, &layout, &[1; 8]);
            self.storage.write_among("write", range, mark, change)
        };
        written.map_err(errors::storage)?.and(marked)
    }

    /// The elements that begin at these bytes of the storage.
    pub fn gather_at(&self, offsets: &[usize]) -> Result<Vec<u8>> {
        let size = self.dtype.size();
        let gather = |bytes: &[u8]| strided::gather_at(bytes, size, offsets);
        self.storage.read("read", gather).map_err(errors::storage)?
    }

    /// The element that begins at this byte of the storage.
    pub fn scalar_at(&self, offset: usize) -> Result<Scalar> {
        let range = offset..offset + self.dtype.size();
        let load = |bytes: &[u8]| Scalar::load(self.dtype, bytes);
        self.storage.read_range("read", range, load).map_err(errors::storage)
    }

    /// The only element of an array that has one.
    pub fn only(&self) -> Result<Option<Scalar>> {
        if self.size() != 1 {
            return Ok(None);
        }
        self.scalar_at(self.layout.offset).map(Some)
    }

    /// One item of the first axis: an array with an axis less, or a scalar.
    pub fn item(&self, this: &Value, at: usize) -> Result {
        if self.layout.n_axes() == 1 {
            return self.scalar_at(self.layout.byte_of(&[at], self.dtype.size())).map(Value::native);
        }
        let mut layout = self.layout.clone();
        layout.pick(0, self.dtype.size(), at);
        Ok(Value::native(self.view(this, layout)))
    }

    /// The printed text.
    pub fn shown(&self, options: &PrintOptions) -> Result<Shown> {
        let is_summary = options.summarises(self.size());
        let row = if is_summary {
            let kept: Vec<Vec<usize>> = self.shape().iter().map(|&len| options.shown(len, true)).collect();
            self.gather_at(&self.layout.bytes_of(&kept, self.dtype.size())?)?
        } else {
            self.to_contiguous_bytes()?
        };
        Ok(Shown { dtype: self.dtype.into(), shape: self.shape().to_vec(), is_summary, row })
    }

    /// Nested lists of Python's numbers.
    pub fn to_list(&self) -> Result {
        let dtype = self.dtype;
        // Every item is a value, and so is every list.
        let axes =
            self.shape().iter().position(|len| *len == 0).map_or(self.shape(), |at| &self.shape()[..at]);
        let n_lists = axes.iter().fold(1usize, |n, &len| n.saturating_mul(len));
        kernel::check_room(n_lists.saturating_mul(2 * size_of::<Value>()))?;
        self.with_row(|row| {
            let mut numbers =
                row.chunks_exact(dtype.size()).map(|element| Scalar::load(dtype, element).to_python());
            nested(self.shape(), &mut numbers)
        })
    }
}

fn nested(shape: &[usize], numbers: &mut dyn Iterator<Item = Value>) -> Value {
    match shape {
        [] => numbers.next().unwrap_or(Value::None),
        [len] => Value::list(numbers.take(*len).collect()),
        [len, rest @ ..] => Value::list((0..*len).map(|_| nested(rest, numbers)).collect()),
    }
}

impl Native for NdArray {
    fn native_type(&self) -> &'static NativeType {
        if self.is_list { &TENSOR_DATA } else { &NDARRAY }
    }

    fn is_sequence(&self) -> bool {
        self.is_list
    }

    fn set_attr(&self, _: &Value, vm: &mut Vm, name: &str, value: &Value) -> Result<bool> {
        if name == "flat" {
            flat::assign(vm, self, value)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if self.is_list {
            return tensor_data::get_item(vm, this, self, index).map(Some);
        }
        index::get(vm, this, self, index).map(Some)
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        if self.is_list {
            tensor_data::set_item(vm, self, index, value)?;
        } else {
            index::set(vm, self, index, value)?;
        }
        Ok(true)
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        match self.shape().first() {
            Some(len) => Ok(Some(*len)),
            None => Err(errors::unsized_array()),
        }
    }

    fn iter(&self, this: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        if self.is_list {
            let list = self.to_list()?;
            return vm.iter(&list).map(Some);
        }
        if self.shape().is_empty() {
            return Err(errors::not_iterated());
        }
        Ok(Some(Value::native_iter(Items { array: this.clone(), at: 0 })))
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        if self.is_list {
            let list = self.to_list()?;
            return vm.contains(&list, item).map(Some);
        }
        let equal = operators::compare(vm, CompareOp::Eq, &Operand::Array(self.clone()), item)?;
        match equal {
            Some(equal) => {
                let any = vm.call_method(&equal, "any", &[])?;
                vm.truth(&any).map(Some)
            }
            None => Ok(Some(false)),
        }
    }

    fn binary(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        // The result beside a tensor is a tensor.
        if kp::is_tensor(other) {
            return Ok(None);
        }
        // Complex numbers of the script have no operators with arrays.
        if other.downcast::<Complex>().is_some() {
            return complex_math::binary(vm, op, side, this, other);
        }
        operators::binary(vm, op, side, &Operand::Array(self.clone()), other)
    }

    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        operators::binary_in_place(vm, op, this, self, other)
    }

    fn unary(&self, _: &Value, _: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        operators::unary(op, &Operand::Array(self.clone()))
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        if self.is_list
            && let Some(compared) = tensor_data::compare(vm, op, self, other)?
        {
            return Ok(Some(compared));
        }
        let compared = operators::compare(vm, op, &Operand::Array(self.clone()), other)?;
        let is_equality = matches!(op, CompareOp::Eq | CompareOp::NotEq);
        if compared.is_some() || !is_equality {
            return Ok(compared);
        }
        // A value that is not a number equals no element, so each result is the same.
        kernel::check_room(self.size())?;
        let answers = vec![u8::from(op == CompareOp::NotEq); self.size()];
        Ok(Some(operators::wrap(DType::Bool, self.shape(), answers)))
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        match self.size() {
            n if self.is_list => Ok(n != 0),
            0 => Err(errors::empty_truth()),
            1 => Ok(self.only()?.is_some_and(|scalar| !scalar.number.is_zero())),
            _ => Err(errors::ambiguous_truth()),
        }
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        if self.is_list {
            let list = self.to_list()?;
            return vm.repr(&list);
        }
        let options = vm.state::<State>().print_options.get();
        Ok(print::repr_text(&self.shown(&options)?, &options))
    }

    fn str(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        if self.is_list {
            return self.repr(this, vm);
        }
        let options = vm.state::<State>().print_options.get();
        if self.shape().is_empty()
            && let Some(scalar) = self.only()?
        {
            return Ok(scalar.text());
        }
        Ok(print::elements_text(&self.shown(&options)?, print::PLAIN, &options))
    }

    fn format(&self, this: &Value, vm: &mut Vm, spec: &str) -> Result<Option<String>> {
        if spec.is_empty() {
            return self.str(this, vm).map(Some);
        }
        if let (true, Some(scalar)) = (self.shape().is_empty(), self.only()?) {
            return scalar.format(this, vm, spec);
        }
        Err(crate::errors::type_error("unsupported format string passed to numpy.ndarray.__format__"))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

/// The items of the first axis.
struct Items {
    array: Value,
    at: usize,
}

impl NativeIter for Items {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        let array = self.array.downcast::<NdArray>().expect("only arrays have items");
        if self.at >= array.shape()[0] {
            return Ok(None);
        }
        self.at += 1;
        array.item(&self.array, self.at - 1).map(Some)
    }
}

/// An element of a type that is 0 or 1.
pub fn element(dtype: DType, number: impl Into<Number>) -> Vec<u8> {
    let mut bytes = vec![0; dtype.size()];
    number.into().wrap(dtype, &mut bytes);
    bytes
}
