//! Structured arrays: elements that are structs, over memory that tensors share.
//!
//! `a["pos"]` is an array over the same memory, of structs if the field is one. So reads and writes of a
//! field access the struct itself. `a[i]`, with an index for each axis, is an instance of the struct.

use std::rc::Rc;

use kps_compute::{DType, Storage, Written};
use kps_kernel::{Member, Scalar, StructType, Type};
use num_integer::Integer;

use super::array::NdArray;
use super::index::{Selection, select};
use super::layout::Layout;
use super::operators::check_room;
use super::{errors, methods, shape};
use crate::modules::kernels::structs;
use crate::value::{Args, CompareOp, Native, NativeDef, NativeType, Result, Value};
use crate::vm::{Vm, collect_all};

pub static RECORD_ARRAY: NativeType = NativeType {
    methods: &[
        NativeDef::getter("shape", shape_attr),
        NativeDef::getter("ndim", ndim),
        NativeDef::getter("size", size),
        NativeDef::getter("dtype", dtype),
        NativeDef::getter("itemsize", itemsize),
        NativeDef::getter("nbytes", nbytes),
        NativeDef::getter("base", base),
        NativeDef::method("reshape", reshape),
        NativeDef::method("tolist", tolist),
        NativeDef::method("tobytes", tobytes),
        NativeDef::method("copy", copy),
    ],
    ..NativeType::new("ndarray", "numpy")
};

/// The struct that a dtype names.
pub fn type_of(dtype: &Value) -> Option<Rc<StructType>> {
    match structs::type_of(dtype) {
        Some(Type::Struct(of)) => Some(of),
        _ => None,
    }
}

/// The struct type of a function's result: a dtype that names one, or a list of fields.
pub fn wanted(vm: &mut Vm, dtype: Option<&Value>) -> Result<Option<Rc<StructType>>> {
    Ok(match dtype {
        Some(fields @ Value::List(_)) => type_of(&of_fields(vm, fields, Alignment::None)?),
        dtype => dtype.and_then(type_of),
    })
}

/// The placement of the fields of a dtype that is written as a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// One after the other.
    None,
    AsInC,
}

/// `np.dtype([("pos", np.float32, 3), ("mass", np.float32)], align=True)`; a type may itself be such a list.
pub fn of_fields(vm: &mut Vm, fields: &Value, alignment: Alignment) -> Result {
    vm.check_stack()?;
    let mut of = StructType::new(Vec::new());
    for field in vm.collect(fields)? {
        let parts = vm.collect(&field)?;
        let (Some(name), Some(ty)) = (parts.first().and_then(Value::as_str), parts.get(1)) else {
            return Err(errors::bad_field());
        };
        // The fields of a struct within.
        let inner = match ty {
            Value::List(_) => Some(of_fields(vm, ty, alignment)?),
            _ => None,
        };
        let ty = inner.as_ref().unwrap_or(ty);
        let mut ty = match structs::type_of(ty) {
            Some(ty @ (Type::Struct(_) | Type::Vector(..))) => ty,
            _ => Type::Scalar(super::dtype::from_value(vm, ty)?),
        };
        if let Some(shape) = parts.get(2) {
            for len in super::create::shape(vm, shape)?.into_iter().rev() {
                let len = u32::try_from(len).ok().filter(|len| (1..=0xffff).contains(len));
                ty = Type::array(len.ok_or_else(errors::bad_field)?, ty);
            }
        }
        of.members.push(Member::new(name, ty));
    }
    let packed = of.members.iter().map(|member| member.ty.packed_size()).sum::<u32>();
    if alignment == Alignment::None && packed != of.size() {
        return Err(errors::unaligned_fields());
    }
    Ok(structs::type_value(vm, &Rc::new(of)))
}

/// A new array of these elements: one axis of them, or the axes of another array of structs.
pub fn make(vm: &mut Vm, of: &Rc<StructType>, elements: &Value) -> Result {
    let shape = match elements.downcast::<RecordArray>() {
        Some(array) => array.shape().to_vec(),
        None => vec![vm.collect(elements)?.len()],
    };
    let bytes = packed(vm, of, elements, &shape)?;
    Ok(Value::native(RecordArray::over(Storage::host(bytes), of.clone(), &shape, None)))
}

pub fn zeros(of: &Rc<StructType>, shape: &[usize]) -> Result {
    let axes: Vec<usize> = shape.iter().copied().chain([of.size() as usize]).collect();
    let size = check_room(&axes, DType::U8)?;
    Ok(Value::native(RecordArray::over(Storage::host(vec![0; size]), of.clone(), shape, None)))
}

/// The structs in nested lists of this shape, packed in sequence.
fn packed(vm: &mut Vm, of: &Rc<StructType>, given: &Value, shape: &[usize]) -> Result<Vec<u8>> {
    let [n, inner @ ..] = shape else { return structs::pack(vm, &Type::Struct(of.clone()), given, "") };
    let items = vm.collect(given)?;
    if items.len() != *n {
        return Err(errors::record_count(items.len(), *n));
    }
    let mut bytes = Vec::new();
    for (at, item) in items.iter().enumerate() {
        bytes.extend(match inner {
            [] => structs::pack(vm, &Type::Struct(of.clone()), item, &format!("[{at}]"))?,
            inner => packed(vm, of, item, inner)?,
        });
    }
    Ok(bytes)
}

pub struct RecordArray {
    storage: Rc<Storage>,
    of: Rc<StructType>,
    /// The layout of the structs in the storage; its strides count steps.
    layout: Layout,
    /// In bytes: as long as a struct, but for structs that are fields of others.
    step: usize,
    /// The object that owns the elements.
    base: Option<Value>,
}

impl RecordArray {
    /// The structs of a storage, from its first byte on.
    pub fn over(
        storage: Rc<Storage>,
        of: Rc<StructType>,
        shape: &[usize],
        base: Option<Value>,
    ) -> RecordArray {
        let step = of.size() as usize;
        RecordArray { storage, of, layout: Layout::contiguous(shape), step, base }
    }

    /// The same structs from a byte of the storage on.
    pub fn with_start(mut self, start: usize) -> RecordArray {
        self.layout.offset = start;
        self
    }

    /// The first byte of the elements, if they are stored one after the other.
    pub fn start_in_one_piece(&self) -> Option<usize> {
        (self.step == self.n_bytes() && self.layout.is_contiguous()).then_some(self.layout.offset)
    }

    pub fn base(&self) -> Option<&Value> {
        self.base.as_ref()
    }

    pub fn of(&self) -> &Rc<StructType> {
        &self.of
    }

    /// The owner of its bytes.
    pub fn storage(&self) -> &Rc<Storage> {
        &self.storage
    }

    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub fn size(&self) -> usize {
        self.layout.n_elements()
    }

    /// The elements, one after the other.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.gathered(&self.starts()?)
    }

    fn gathered(&self, starts: &[usize]) -> Result<Vec<u8>> {
        self.storage.read("read", |bytes| gather(bytes, self.n_bytes(), starts)).map_err(errors::storage)?
    }

    /// Which bytes of the elements mean something.
    pub fn written(&self) -> Result<Written> {
        let starts = self.starts()?;
        self.storage.written().gathered(|marks| gather(marks, self.n_bytes(), &starts))
    }

    /// Of one element.
    fn n_bytes(&self) -> usize {
        self.of.size() as usize
    }

    /// The byte offsets of the elements, in the order of their indices.
    fn starts(&self) -> Result<Vec<usize>> {
        let indices: Vec<Vec<usize>> = self.shape().iter().map(|&len| (0..len).collect()).collect();
        self.layout.bytes_of(&indices, self.step)
    }

    /// Some of the elements, over the same memory.
    fn view(&self, this: &Value, layout: Layout) -> RecordArray {
        let (storage, of) = (self.storage.clone(), self.of.clone());
        RecordArray { storage, of, layout, step: self.step, base: Some(this.clone()) }
    }

    /// The item at an index of the first axis: a struct, or an array of them.
    fn item(&self, this: &Value, vm: &mut Vm, at: usize) -> Result {
        let mut layout = self.layout.clone();
        layout.pick(0, self.step, at);
        self.part(this, vm, layout)
    }

    /// A struct if no axis remains.
    fn part(&self, this: &Value, vm: &mut Vm, layout: Layout) -> Result {
        match layout.shape.is_empty() {
            true => self.element(vm, layout.offset),
            false => Ok(Value::native(self.view(this, layout))),
        }
    }

    /// The struct that begins at a byte of the storage.
    fn element(&self, vm: &mut Vm, start: usize) -> Result {
        let bytes = self.storage.read_range("read", start..start + self.n_bytes(), <[u8]>::to_vec);
        structs::unpack(vm, &Type::Struct(self.of.clone()), &bytes.map_err(errors::storage)?)
    }

    /// The array over one field of all elements.
    fn field(&self, this: &Value, name: &str) -> Result {
        let Some((at, member)) = self.of.member(name) else {
            return Err(errors::no_field(&self.of, name));
        };
        let offset = self.layout.offset + self.of.offsets()[at as usize] as usize;
        let (shape, ty) = axes_of(&member.ty);
        Ok(match ty {
            Type::Struct(of) => {
                let size = of.size() as usize;
                // Neither may be a whole number of the other long.
                let step = size.gcd(&self.step);
                let layout = self.layout_within(&shape, size, step, offset);
                let (storage, base) = (self.storage.clone(), Some(this.clone()));
                Value::native(RecordArray { storage, of, layout, step, base })
            }
            ty => {
                let scalar = ty.scalar().unwrap_or(Scalar::F32);
                // A struct is a whole number of each of its scalars long.
                let size = scalar.size();
                let layout = self.layout_within(&shape, size, size, offset);
                let array = NdArray::from_storage(self.storage.clone(), scalar, &layout.shape);
                Value::native(array.with_layout(layout).with_base(this.clone()))
            }
        })
    }

    /// The layout of parts within each element, each with this many bytes, in strides of `step`.
    fn layout_within(&self, shape: &[usize], size: usize, step: usize, offset: usize) -> Layout {
        let inner = Layout::contiguous(shape);
        let [outer_step, inner_step] = [self.step, size].map(|bytes| (bytes / step) as isize);
        let outer_strides = self.layout.strides.iter().map(|stride| stride * outer_step);
        Layout {
            shape: self.shape().iter().copied().chain(inner.shape).collect(),
            strides: outer_strides.chain(inner.strides.iter().map(|stride| stride * inner_step)).collect(),
            offset,
        }
    }

    /// Assigns every element from structs in nested lists, or all of them from one struct.
    fn fill(&self, vm: &mut Vm, starts: &[usize], shape: &[usize], given: &Value) -> Result<()> {
        let n_bytes = self.n_bytes();
        // Copies all of them first: the sources may overlap the destinations.
        let bytes = match structs::type_of_value(given) {
            Some(_) => packed(vm, &self.of, given, &[])?.repeat(starts.len()),
            None => packed(vm, &self.of, given, shape)?,
        };
        for (start, bytes) in starts.iter().zip(bytes.chunks_exact(n_bytes)) {
            let range = *start..start + n_bytes;
            let written = self.storage.write("write", range, |place| place.copy_from_slice(bytes));
            written.map_err(errors::storage)?;
        }
        Ok(())
    }

    /// A copy of the elements.
    fn copied(&self, shape: &[usize]) -> Result<RecordArray> {
        let storage = Storage::host(self.bytes()?);
        storage.forget_but(self.written()?);
        Ok(RecordArray::over(storage, self.of.clone(), shape, None))
    }

    fn items(&self, this: &Value, vm: &mut Vm) -> Result<Vec<Value>> {
        let Some(&n) = self.shape().first() else { return Err(errors::not_iterated()) };
        (0..n).map(|at| self.item(this, vm, at)).collect()
    }

    /// The structs in as many lists as there are axes.
    fn to_list(&self, vm: &mut Vm) -> Result {
        let ty = Type::Struct(self.of.clone());
        let bytes = self.bytes()?;
        let mut elements = Vec::with_capacity(self.size());
        for element in bytes.chunks_exact(self.n_bytes()) {
            elements.push(structs::unpack(vm, &ty, element)?);
        }
        Ok(nested(elements, self.shape()))
    }
}

/// The axes of a field, and the type of its elements: numbers, or structs.
fn axes_of(ty: &Type) -> (Vec<usize>, Type) {
    if let Some((shape, scalar)) = structs::array_shape(ty) {
        return (shape, scalar.into());
    }
    match (ty, ty.part(0)) {
        (Type::Array(array), Some(part)) => {
            let (inner, element) = axes_of(&part);
            ([&[array.len as usize][..], &inner].concat(), element)
        }
        _ => (Vec::new(), ty.clone()),
    }
}

/// The elements at these byte offsets, in sequence.
fn gather(bytes: &[u8], size: usize, starts: &[usize]) -> Result<Vec<u8>> {
    collect_all(starts.iter().flat_map(|&start| &bytes[start..start + size]).copied())
}

/// Values in nested lists of this shape.
pub fn nested(mut values: Vec<Value>, shape: &[usize]) -> Value {
    for &len in shape.iter().skip(1).rev() {
        if len == 0 {
            return empty(shape);
        }
        values = values.chunks(len).map(|row| Value::list(row.to_vec())).collect();
    }
    match shape {
        [] => values.pop().expect("an array without axes has one element"),
        _ => Value::list(values),
    }
}

/// The lists of an array without elements.
fn empty(shape: &[usize]) -> Value {
    match shape {
        [] | [0, ..] => Value::list(Vec::new()),
        [n, inner @ ..] => Value::list((0..*n).map(|_| empty(inner)).collect()),
    }
}

impl Native for RecordArray {
    fn native_type(&self) -> &'static NativeType {
        &RECORD_ARRAY
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(self.shape().first().copied())
    }

    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if let Some(name) = index.as_str() {
            return self.field(this, name).map(Some);
        }
        if !matches!(index, Value::Slice(_) | Value::Tuple(_))
            && self.shape().len() == 1
            && vm.try_index(index)?.is_some()
        {
            let at = vm.position(index, self.shape()[0], "array")?;
            return self.item(this, vm, at).map(Some);
        }
        match select(vm, (&self.layout, self.step), index)? {
            Selection::View(layout) => self.part(this, vm, layout).map(Some),
            Selection::Elements { shape, offsets } => {
                let storage = Storage::host(self.gathered(&offsets)?);
                Ok(Some(Value::native(RecordArray::over(storage, self.of.clone(), &shape, None))))
            }
        }
    }

    fn set_item(&self, this: &Value, vm: &mut Vm, index: &Value, item: &Value) -> Result<bool> {
        if let Some(name) = index.as_str() {
            let field = self.field(this, name)?;
            vm.set_item(&field, &Value::Ellipsis, item.clone())?;
            return Ok(true);
        }
        match select(vm, (&self.layout, self.step), index)? {
            Selection::View(layout) => {
                let part = self.view(this, layout);
                part.fill(vm, &part.starts()?, part.shape(), item)?;
            }
            Selection::Elements { shape, offsets } => self.fill(vm, &offsets, &shape, item)?,
        }
        Ok(true)
    }

    fn iter(&self, this: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        let items = self.items(this, vm)?;
        vm.iter(&Value::list(items)).map(Some)
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let (Some(other), CompareOp::Eq | CompareOp::NotEq) = (other.downcast::<RecordArray>(), op) else {
            return Ok(None);
        };
        let (left, right) = (self.to_list(vm)?, other.to_list(vm)?);
        vm.compare(op, &left, &right).map(Some)
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let items = self.to_list(vm)?;
        Ok(format!("array({}, dtype={})", vm.repr(&items)?, self.of))
    }
}

fn shape_attr(_: &mut Vm, args: &Args) -> Result {
    Ok(methods::shape_value(args.this::<RecordArray>()?.shape()))
}

fn ndim(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<RecordArray>()?.shape().len().into())
}

/// A view if possible, else a copy.
fn reshape(vm: &mut Vm, args: &Args) -> Result {
    let this: &RecordArray = args.this()?;
    let shape = shape::shape_of_arguments(vm, args, this.size())?;
    Ok(Value::native(match this.layout.reshape(&shape) {
        Some(layout) => this.view(args.receiver()?, layout),
        None => this.copied(&shape)?,
    }))
}

fn size(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<RecordArray>()?.size().into())
}

fn dtype(vm: &mut Vm, args: &Args) -> Result {
    let of = args.this::<RecordArray>()?.of.clone();
    Ok(structs::type_value(vm, &of))
}

fn itemsize(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<RecordArray>()?.of.size().into())
}

fn nbytes(_: &mut Vm, args: &Args) -> Result {
    let this: &RecordArray = args.this()?;
    Ok((this.size() * this.of.size() as usize).into())
}

fn base(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<RecordArray>()?.base.clone().unwrap_or(Value::None))
}

fn tolist(vm: &mut Vm, args: &Args) -> Result {
    args.this::<RecordArray>()?.to_list(vm)
}

fn tobytes(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::bytes(args.this::<RecordArray>()?.bytes()?))
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    let this: &RecordArray = args.this()?;
    this.copied(this.shape()).map(Value::native)
}
