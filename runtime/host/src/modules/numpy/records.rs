//! Structured arrays: elements that are structs, over memory that tensors share.
//!
//! `a["pos"]` is an ndarray over the same memory, so reading and writing a field goes where the struct
//! lies; `a[i]` is an instance of the struct.

use std::rc::Rc;

use kps_compute::{Storage, Written};
use kps_kernel::{Member, StructType, Type};

use super::array::NdArray;
use super::errors;
use super::layout::Layout;
use crate::modules::kernels::structs;
use crate::ops::Span;
use crate::value::{Args, CompareOp, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static RECORD_ARRAY: NativeType = NativeType {
    methods: &[
        NativeDef::getter("shape", shape),
        NativeDef::getter("size", size),
        NativeDef::getter("dtype", dtype),
        NativeDef::getter("nbytes", nbytes),
        NativeDef::getter("base", base),
        NativeDef::method("tolist", tolist),
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

/// Where the fields of a dtype lie that is written as a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// One after the other.
    None,
    AsInC,
}

/// `np.dtype([("pos", np.float32, 3), ("mass", np.float32)], align=True)`; a type may be such a list in its turn.
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
            _ => structs::scalar_type(super::dtype::from_value(vm, ty)?),
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

/// A new array of these elements.
pub fn make(vm: &mut Vm, of: &Rc<StructType>, elements: &Value) -> Result {
    let ty = Type::Struct(of.clone());
    let items = vm.collect(elements)?;
    let mut bytes = Vec::with_capacity(items.len() * of.size() as usize);
    for (at, item) in items.iter().enumerate() {
        bytes.extend(structs::pack(vm, &ty, item, &format!("[{at}]"))?);
    }
    Ok(Value::native(RecordArray::over(Storage::host(bytes), of.clone(), items.len(), None)))
}

pub fn zeros(of: &Rc<StructType>, shape: &[usize]) -> Result {
    let [n] = *shape else { return Err(errors::record_axes()) };
    let bytes = vec![0; n.saturating_mul(of.size() as usize)];
    Ok(Value::native(RecordArray::over(Storage::host(bytes), of.clone(), n, None)))
}

pub struct RecordArray {
    storage: Rc<Storage>,
    of: Rc<StructType>,
    /// Which elements of the storage these are.
    span: Span,
    /// The object whose elements these are.
    base: Option<Value>,
}

impl RecordArray {
    pub fn over(storage: Rc<Storage>, of: Rc<StructType>, n: usize, base: Option<Value>) -> RecordArray {
        RecordArray { storage, of, span: Span { start: 0, step: 1, n }, base }
    }

    pub fn of(&self) -> &Rc<StructType> {
        &self.of
    }

    /// Who owns its bytes.
    pub fn storage(&self) -> &Rc<Storage> {
        &self.storage
    }

    pub fn size(&self) -> usize {
        self.span.n
    }

    /// The elements, one after the other.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.storage.read("read", |bytes| self.gather(bytes)).map_err(errors::storage)
    }

    /// Which bytes of the elements mean something.
    pub fn written(&self) -> Written {
        self.storage.written().gathered(|marks| self.gather(marks))
    }

    fn gather(&self, bytes: &[u8]) -> Vec<u8> {
        let size = self.of.size() as usize;
        let elements = self.span.indices().map(|at| &bytes[at * size..(at + 1) * size]);
        elements.collect::<Vec<_>>().concat()
    }

    /// Where an element lies in the storage.
    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let (size, Span { start, step, .. }) = (self.of.size() as i64, self.span);
        let first = ((start + at as i64 * step) * size) as usize;
        first..first + size as usize
    }

    /// Some of the elements, over the same memory.
    fn part(&self, this: &Value, part: Span) -> RecordArray {
        let Span { start, step, .. } = self.span;
        let span = Span { start: start + part.start * step, step: step * part.step, n: part.n };
        let (storage, of) = (self.storage.clone(), self.of.clone());
        RecordArray { storage, of, span, base: Some(this.clone()) }
    }

    fn element(&self, vm: &mut Vm, at: usize) -> Result {
        let bytes = self.storage.read_range("read", self.range(at), <[u8]>::to_vec);
        structs::unpack(vm, &Type::Struct(self.of.clone()), &bytes.map_err(errors::storage)?)
    }

    /// The ndarray over one field of all elements.
    fn field(&self, this: &Value, name: &str) -> Result<NdArray> {
        let Some((at, member)) = self.of.member(name) else {
            return Err(errors::no_field(&self.of, name));
        };
        let (inner, scalar) = match &member.ty {
            Type::Scalar(scalar) => (Vec::new(), *scalar),
            ty => structs::array_shape(ty).ok_or_else(|| errors::struct_field(name))?,
        };
        let dtype = structs::dtype(scalar);
        let mut layout = Layout::contiguous(&inner);
        layout.shape.insert(0, self.span.n);
        // A struct is a whole number of each of its scalars long.
        layout.strides.insert(0, (self.of.size() / scalar.size()) as isize * self.span.step as isize);
        let first = self.span.start as usize * self.of.size() as usize;
        layout.offset = first + self.of.offsets()[at as usize] as usize;
        let shape = layout.shape.clone();
        let array = NdArray::from_storage(self.storage.clone(), dtype, &shape).with_layout(layout);
        Ok(array.with_base(this.clone()))
    }

    fn put(&self, at: usize, bytes: &[u8]) -> Result<()> {
        let written = self.storage.write("write", self.range(at), |place| place.copy_from_slice(bytes));
        written.map_err(errors::storage)
    }

    /// Gives every element its value from a sequence of structs, or all of them one struct.
    fn fill(&self, vm: &mut Vm, given: &Value) -> Result<()> {
        let ty = Type::Struct(self.of.clone());
        let items = match structs::type_of_value(given) {
            Some(_) => vec![given.clone(); self.span.n],
            None => vm.collect(given)?,
        };
        if items.len() != self.span.n {
            return Err(errors::record_count(items.len(), self.span.n));
        }
        // All of them first: the given ones may lie where the others go.
        let mut elements = Vec::with_capacity(items.len());
        for item in &items {
            elements.push(structs::pack(vm, &ty, item, "")?);
        }
        elements.iter().enumerate().try_for_each(|(at, bytes)| self.put(at, bytes))
    }

    fn items(&self, vm: &mut Vm) -> Result<Vec<Value>> {
        (0..self.span.n).map(|at| self.element(vm, at)).collect()
    }
}

impl Native for RecordArray {
    fn native_type(&self) -> &'static NativeType {
        &RECORD_ARRAY
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.span.n))
    }

    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if let Some(name) = index.as_str() {
            return Ok(Some(Value::native(self.field(this, name)?)));
        }
        if let Value::Slice(slice) = index {
            let part = self.part(this, slice.span(vm, self.span.n)?);
            return Ok(Some(Value::native(part)));
        }
        let at = vm.position(index, self.span.n, "array")?;
        self.element(vm, at).map(Some)
    }

    fn set_item(&self, this: &Value, vm: &mut Vm, index: &Value, item: &Value) -> Result<bool> {
        if let Some(name) = index.as_str() {
            let field = Value::native(self.field(this, name)?);
            vm.set_item(&field, &Value::Ellipsis, item.clone())?;
            return Ok(true);
        }
        if let Value::Slice(slice) = index {
            let part = self.part(this, slice.span(vm, self.span.n)?);
            return part.fill(vm, item).map(|()| true);
        }
        let at = vm.position(index, self.span.n, "array")?;
        let bytes = structs::pack(vm, &Type::Struct(self.of.clone()), item, "")?;
        self.put(at, &bytes)?;
        Ok(true)
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        let items = self.items(vm)?;
        vm.iter(&Value::list(items)).map(Some)
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let (Some(other), CompareOp::Eq | CompareOp::NotEq) = (other.downcast::<RecordArray>(), op) else {
            return Ok(None);
        };
        let (left, right) = (Value::list(self.items(vm)?), Value::list(other.items(vm)?));
        vm.compare(op, &left, &right).map(Some)
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let items = Value::list(self.items(vm)?);
        Ok(format!("array({}, dtype={})", vm.repr(&items)?, self.of))
    }
}

fn shape(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::tuple([args.this::<RecordArray>()?.size().into()]))
}

fn size(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<RecordArray>()?.size().into())
}

fn dtype(vm: &mut Vm, args: &Args) -> Result {
    let of = args.this::<RecordArray>()?.of.clone();
    Ok(structs::type_value(vm, &of))
}

fn nbytes(_: &mut Vm, args: &Args) -> Result {
    let this: &RecordArray = args.this()?;
    Ok((this.size() * this.of.size() as usize).into())
}

fn base(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<RecordArray>()?.base.clone().unwrap_or(Value::None))
}

fn tolist(vm: &mut Vm, args: &Args) -> Result {
    let items = args.this::<RecordArray>()?.items(vm)?;
    Ok(Value::list(items))
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    let this: &RecordArray = args.this()?;
    let storage = Storage::host(this.bytes()?);
    storage.forget_but(this.written());
    Ok(Value::native(RecordArray::over(storage, this.of.clone(), this.size(), None)))
}
