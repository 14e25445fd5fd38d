//! Arrays of complex numbers, over memory that tensors share: the real part of each before its imaginary part.
//!
//! They have what results of computations are looked at with: indices, views, arithmetic, parts, sums and comparison.
//! An element is a `complex` of Python's. `complex_math.rs` has the operations.

use std::rc::Rc;

use kps_array::ElementType;
use kps_compute::{Number, Storage};
use kps_syntax::ast::UnaryOp;

use super::array::{NDARRAY, NdArray};
use super::complex_math::{self, Numbers};
use super::index::{Selection, select};
use super::layout::Layout;
use super::operators::check_room;
use super::print::{self, PrintOptions, Shown};
use super::{State, dtype, errors, methods, records, shape};
use crate::builtins::complex::Complex;
use crate::modules::kp;
use crate::ops::Side;
use crate::value::{Args, BinaryOp, CompareOp, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static COMPLEX_ARRAY: NativeType = NativeType {
    base: Some(&NDARRAY),
    methods: &[
        NativeDef::getter("shape", |_, args| Ok(methods::shape_value(this(args)?.shape()))),
        NativeDef::getter("ndim", |_, args| Ok(this(args)?.shape().len().into())),
        NativeDef::getter("size", |_, args| Ok(this(args)?.size().into())),
        NativeDef::getter("dtype", |_, args| Ok(dtype::object(this(args)?.ty))),
        NativeDef::getter("itemsize", |_, args| Ok(this(args)?.ty.size().into())),
        NativeDef::getter("nbytes", |_, args| {
            let this = this(args)?;
            Ok((this.size() * this.ty.size()).into())
        }),
        NativeDef::getter("base", |_, args| Ok(this(args)?.base.clone().unwrap_or(Value::None))),
        NativeDef::getter("real", |_, args| Ok(this(args)?.part(args.receiver()?, 0))),
        NativeDef::getter("imag", |_, args| Ok(this(args)?.part(args.receiver()?, 1))),
        NativeDef::getter("T", |_, args| {
            let this = this(args)?;
            let order: Vec<usize> = (0..this.shape().len()).rev().collect();
            Ok(Value::native(this.view(args.receiver()?, this.layout.permute(&order))))
        }),
        NativeDef::method("__abs__", |vm, args| complex_math::function(vm, "absolute", args.positional())),
        NativeDef::method("conj", |vm, args| complex_math::function(vm, "conjugate", args.positional())),
        NativeDef::method("conjugate", |vm, args| complex_math::function(vm, "conjugate", args.positional())),
        NativeDef::method("sum", |vm, args| by_parts(vm, args, "sum")),
        NativeDef::method("mean", |vm, args| by_parts(vm, args, "mean")),
        NativeDef::method("cumsum", |vm, args| by_parts(vm, args, "cumsum")),
        NativeDef::method("reshape", reshape),
        NativeDef::method("ravel", |_, args| this(args)?.reshaped(args.receiver()?, &[this(args)?.size()])),
        NativeDef::method("copy", |_, args| Ok(Value::native(this(args)?.copied(this(args)?.shape())?))),
        NativeDef::method("flatten", |_, args| Ok(Value::native(this(args)?.copied(&[this(args)?.size()])?))),
        NativeDef::method("astype", astype),
        NativeDef::method("tolist", |_, args| this(args)?.to_list()),
        NativeDef::method("item", item),
    ],
    ..NativeType::new("ndarray", "numpy")
};

/// An array of complex numbers.
pub struct ComplexArray {
    storage: Rc<Storage>,
    ty: ElementType,
    /// Its strides count complex numbers.
    layout: Layout,
    /// The object that owns the elements.
    base: Option<Value>,
}

impl ComplexArray {
    /// Elements of a storage, which may be a tensor's.
    pub fn over(storage: Rc<Storage>, ty: ElementType, layout: Layout, base: Option<Value>) -> ComplexArray {
        ComplexArray { storage, ty, layout, base }
    }

    /// A new array of numbers in the order of their indices.
    pub fn of_numbers(ty: ElementType, shape: &[usize], numbers: &[Complex]) -> Result<ComplexArray> {
        check_room(&[shape, &[2]].concat(), ty.part())?;
        let row = numbers.iter().flat_map(|number| bytes_of(ty, *number)).collect();
        Ok(ComplexArray::over(Storage::host(row), ty, Layout::contiguous(shape), None))
    }

    pub fn element_type(&self) -> ElementType {
        self.ty
    }

    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub fn size(&self) -> usize {
        self.layout.n_elements()
    }

    /// The byte offsets of the elements, in the order of their indices.
    fn starts(&self) -> Result<Vec<usize>> {
        let indices: Vec<Vec<usize>> = self.shape().iter().map(|&len| (0..len).collect()).collect();
        self.layout.bytes_of(&indices, self.ty.size())
    }

    /// The bytes of the elements, one after the other.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let (starts, size) = (self.starts()?, self.ty.size());
        let gather =
            |bytes: &[u8]| starts.iter().flat_map(|&start| &bytes[start..start + size]).copied().collect();
        self.storage.read("read", gather).map_err(errors::storage)
    }

    /// The numbers in the order of their indices.
    pub fn numbers(&self) -> Result<Vec<Complex>> {
        Ok(self.bytes()?.chunks_exact(self.ty.size()).map(|bytes| number_of(self.ty, bytes)).collect())
    }

    /// The number that begins at a byte of the storage.
    fn number_at(&self, start: usize) -> Result<Complex> {
        let range = start..start + self.ty.size();
        let number = self.storage.read_range("read", range, |bytes| number_of(self.ty, bytes));
        number.map_err(errors::storage)
    }

    /// Some of the elements, over the same memory.
    fn view(&self, this: &Value, layout: Layout) -> ComplexArray {
        let base = self.base.clone().unwrap_or_else(|| this.clone());
        ComplexArray::over(self.storage.clone(), self.ty, layout, Some(base))
    }

    /// A number if no axis remains.
    fn selected(&self, this: &Value, layout: Layout) -> Result {
        match layout.shape.is_empty() {
            true => self.number_at(layout.offset).map(Complex::value),
            false => Ok(Value::native(self.view(this, layout))),
        }
    }

    fn item(&self, this: &Value, at: usize) -> Result {
        let mut layout = self.layout.clone();
        layout.pick(0, self.ty.size(), at);
        self.selected(this, layout)
    }

    /// The real parts, or the imaginary ones, as an array over the same memory.
    fn part(&self, this: &Value, at: usize) -> Value {
        let part = self.ty.part();
        let layout = Layout {
            shape: self.layout.shape.clone(),
            strides: self.layout.strides.iter().map(|stride| 2 * stride).collect(),
            offset: self.layout.offset + at * part.size(),
        };
        let array = NdArray::from_storage(self.storage.clone(), part, self.shape());
        Value::native(array.with_layout(layout).with_base(this.clone()))
    }

    fn copied(&self, shape: &[usize]) -> Result<ComplexArray> {
        let storage = Storage::host(self.bytes()?);
        Ok(ComplexArray::over(storage, self.ty, Layout::contiguous(shape), None))
    }

    /// A view if possible, else a copy.
    fn reshaped(&self, this: &Value, shape: &[usize]) -> Result {
        Ok(Value::native(match self.layout.reshape(shape) {
            Some(layout) => self.view(this, layout),
            None => self.copied(shape)?,
        }))
    }

    /// Assigns numbers, which are broadcast to a shape, to the elements that begin at these bytes.
    fn assign(&self, starts: &[usize], shape: &[usize], given: &Numbers) -> Result<()> {
        let numbers = given.broadcast_to(shape)?;
        for (start, number) in starts.iter().zip(numbers) {
            let bytes = bytes_of(self.ty, number);
            let range = *start..start + bytes.len();
            let written = self.storage.write("write", range, |place| place.copy_from_slice(&bytes));
            written.map_err(errors::storage)?;
        }
        Ok(())
    }

    fn to_list(&self) -> Result {
        let numbers = self.numbers()?.into_iter().map(Complex::value).collect();
        Ok(records::nested(numbers, self.shape()))
    }

    fn shown(&self, options: &PrintOptions) -> Result<Shown> {
        let is_summary = options.summarises(self.size());
        let kept: Vec<Vec<usize>> = self.shape().iter().map(|&len| options.shown(len, is_summary)).collect();
        let mut row = Vec::new();
        for start in self.layout.bytes_of(&kept, self.ty.size())? {
            row.extend(bytes_of(self.ty, self.number_at(start)?));
        }
        Ok(Shown { dtype: self.ty, shape: self.shape().to_vec(), is_summary, row })
    }
}

impl Native for ComplexArray {
    fn native_type(&self) -> &'static NativeType {
        &COMPLEX_ARRAY
    }

    fn set_attr(&self, this: &Value, vm: &mut Vm, name: &str, value: &Value) -> Result<bool> {
        let at = match name {
            "real" => 0,
            "imag" => 1,
            _ => return Ok(false),
        };
        let part = self.part(this, at);
        vm.set_item(&part, &Value::Ellipsis, value.clone()).map(|()| true)
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        self.shape().first().map(|len| Some(*len)).ok_or_else(errors::unsized_array)
    }

    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        match select(vm, (&self.layout, self.ty.size()), index)? {
            Selection::View(layout) => self.selected(this, layout).map(Some),
            Selection::Elements { shape, offsets } => {
                let numbers = offsets.iter().map(|at| self.number_at(*at)).collect::<Result<Vec<_>>>()?;
                ComplexArray::of_numbers(self.ty, &shape, &numbers).map(|array| Some(Value::native(array)))
            }
        }
    }

    fn set_item(&self, this: &Value, vm: &mut Vm, index: &Value, item: &Value) -> Result<bool> {
        let given = Numbers::required(vm, item)?;
        match select(vm, (&self.layout, self.ty.size()), index)? {
            Selection::View(layout) => {
                let part = self.view(this, layout);
                part.assign(&part.starts()?, part.shape(), &given)?;
            }
            Selection::Elements { shape, offsets } => self.assign(&offsets, &shape, &given)?,
        }
        Ok(true)
    }

    fn iter(&self, this: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        let Some(&n) = self.shape().first() else { return Err(errors::not_iterated()) };
        let items = (0..n).map(|at| self.item(this, at)).collect::<Result<Vec<_>>>()?;
        vm.iter(&Value::list(items)).map(Some)
    }

    fn contains(&self, _: &Value, _: &mut Vm, item: &Value) -> Result<Option<bool>> {
        let Some(wanted) = Complex::of(item)? else { return Ok(Some(false)) };
        Ok(Some(self.numbers()?.contains(&wanted)))
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
        complex_math::binary(vm, op, side, this, other)
    }

    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        let Some(made) = complex_math::binary(vm, op, Side::Left, this, other)? else { return Ok(None) };
        let made = Numbers::required(vm, &made)?;
        if made.shape != self.shape() {
            return Err(errors::not_broadcast(&[self.shape(), &made.shape]));
        }
        self.assign(&self.starts()?, self.shape(), &made)?;
        Ok(Some(this.clone()))
    }

    fn unary(&self, this: &Value, vm: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        let name = match op {
            UnaryOp::Plus => "positive",
            UnaryOp::Minus => "negative",
            UnaryOp::Invert | UnaryOp::Not => return Ok(None),
        };
        complex_math::function(vm, name, std::slice::from_ref(this)).map(Some)
    }

    fn compare(&self, this: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let name = match op {
            _ if kp::is_tensor(other) => return Ok(None),
            CompareOp::Eq => "equal",
            CompareOp::NotEq => "not_equal",
            _ => return Ok(None),
        };
        complex_math::function(vm, name, &[this.clone(), other.clone()]).map(Some)
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        match self.numbers()?[..] {
            [] => Err(errors::empty_truth()),
            [only] => Ok(only != Complex { re: 0.0, im: 0.0 }),
            _ => Err(errors::ambiguous_truth()),
        }
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let options = vm.state::<State>().print_options.get();
        Ok(print::repr_text(&self.shown(&options)?, &options))
    }

    fn str(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        if self.shape().is_empty() {
            let number = self.number_at(self.layout.offset)?;
            return Ok(if self.ty == ElementType::Complex64 { number.short_text() } else { number.text() });
        }
        let options = vm.state::<State>().print_options.get();
        Ok(print::elements_text(&self.shown(&options)?, print::PLAIN, &options))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

/// The number in the bytes of an element.
pub fn number_of(ty: ElementType, bytes: &[u8]) -> Complex {
    let (re, im) = bytes.split_at(ty.part().size());
    let [re, im] = [re, im].map(|part| Number::load(ty.part(), part).as_f64());
    Complex { re, im }
}

fn bytes_of(ty: ElementType, number: Complex) -> Vec<u8> {
    let size = ty.part().size();
    let mut bytes = vec![0; 2 * size];
    Number::Float(number.re).wrap(ty.part(), &mut bytes[..size]);
    Number::Float(number.im).wrap(ty.part(), &mut bytes[size..]);
    bytes
}

/// The complex type that a new array has: the one that is asked for, or complex128 for complex numbers; `None` for
/// other arrays.
pub fn wanted(vm: &mut Vm, dtype: Option<&Value>, object: Option<&Value>) -> Result<Option<ElementType>> {
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) {
        return Ok(dtype::element_type(vm, dtype).ok().filter(|ty| ty.is_complex()));
    }
    let Some(object) = object else { return Ok(None) };
    if let Some(array) = object.downcast::<ComplexArray>() {
        return Ok(Some(array.ty));
    }
    Ok(kp::has_complex(vm, object)?.then_some(ElementType::Complex128))
}

/// A new array of the numbers in an array, or in nested lists.
pub fn make(vm: &mut Vm, ty: ElementType, object: &Value) -> Result {
    let numbers = Numbers::required(vm, object)?;
    ComplexArray::of_numbers(ty, &numbers.shape, &numbers.numbers).map(Value::native)
}

/// The array that a value with complex numbers is, or is made into.
pub fn array(vm: &mut Vm, value: &Value) -> Result {
    match value.downcast::<ComplexArray>() {
        Some(_) => Ok(value.clone()),
        None if kp::is_tensor(value) => vm.call_method(value, "numpy", &[]),
        None => make(vm, ElementType::Complex128, value),
    }
}

/// The same number everywhere.
pub fn filled(ty: ElementType, shape: &[usize], number: Complex) -> Result {
    check_room(&[shape, &[2]].concat(), ty.part())?;
    let numbers = vec![number; shape.iter().product()];
    ComplexArray::of_numbers(ty, shape, &numbers).map(Value::native)
}

fn this<'a>(args: &'a Args) -> Result<&'a ComplexArray> {
    args.this()
}

/// A method of both parts, whose results are the parts of its result.
fn by_parts(vm: &mut Vm, args: &Args, name: &str) -> Result {
    let this = this(args)?;
    let rest = args.rest();
    let mut results = Vec::with_capacity(2);
    for at in 0..2 {
        let part = this.part(args.receiver()?, at);
        let method = vm.get_attr(&part, name)?;
        results.push(vm.call_with(&method, &rest)?);
    }
    complex_math::combined(vm, this.ty, &results[0], &results[1])
}

fn reshape(vm: &mut Vm, args: &Args) -> Result {
    let this = this(args)?;
    let shape = shape::shape_of_arguments(vm, args, this.size())?;
    this.reshaped(args.receiver()?, &shape)
}

fn astype(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("astype");
    let given = parser.required("dtype")?;
    parser.finish()?;
    match wanted(vm, Some(given), None)? {
        Some(ty) => make(vm, ty, args.receiver()?),
        None => Err(errors::no_real_numbers()),
    }
}

fn item(_: &mut Vm, args: &Args) -> Result {
    args.method_parser("item").finish()?;
    match this(args)?.numbers()?[..] {
        [only] => Ok(only.value()),
        _ => Err(errors::not_one_element()),
    }
}
