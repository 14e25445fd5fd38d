//! Tensors: a type and a shape over a [`Storage`].

use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

use crate::DType;
use crate::element::{self, Element};
use crate::error::{ComputeError, Result};
use crate::fields::Field;
use crate::number::Number;
use crate::storage::{MemoryType, Storage};
use crate::written::Written;

/// An array of elements on the host, on a device, or on both. Clones share the tensor, and a slice shares its
/// memory.
///
/// ```
/// use kps_compute::{DType, Tensor};
/// let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0])?;
/// tensor.set(0, 5.5)?;
/// assert_eq!(tensor.to_vec::<f32>()?, [5.5, 2.0, 3.0]);
/// assert_eq!((tensor.dtype(), tensor.shape()), (DType::F32, &[3][..]));
/// # Ok::<(), kps_compute::ComputeError>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    storage: Rc<Storage>,
    /// The bytes of the storage that are the tensor's.
    bytes: (usize, usize),
    dtype: DType,
    shape: Rc<[usize]>,
    /// Size of one element: of its type, or of a record.
    element_size: usize,
    /// The numbers of a record; `None` if an element is one number.
    fields: Option<Rc<[Field]>>,
}

impl Tensor {
    /// A tensor with one axis.
    pub fn from_slice<T: Element>(elements: &[T]) -> Result<Tensor> {
        Tensor::from_bytes(T::DTYPE, &[elements.len()], element::to_bytes(elements))
    }

    /// A tensor with these elements in row-major order.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: Vec<u8>) -> Result<Tensor> {
        Builder::new(dtype, shape).bytes(bytes)
    }

    /// A tensor of zeros, which takes no host memory before the host reads it.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Tensor> {
        Builder::new(dtype, shape).zeros()
    }

    pub(crate) fn over(storage: Rc<Storage>, dtype: DType, shape: &[usize]) -> Tensor {
        storage.describe(dtype, shape);
        let bytes = (0, storage.len());
        Tensor { storage, bytes, dtype, shape: shape.into(), element_size: dtype.size(), fields: None }
    }

    /// Size of a tensor with this type and shape.
    pub(crate) fn count_bytes(dtype: DType, shape: &[usize]) -> Result<usize> {
        let n = n_elements(shape)?.checked_mul(dtype.size());
        n.ok_or_else(|| ComputeError::TooLarge { shape: shape.to_vec() })
    }

    /// The same bytes in another shape of the same size.
    pub fn reshape(&self, shape: &[usize]) -> Result<Tensor> {
        let given = n_elements(shape)?;
        if given != self.size() {
            return Err(self.size_mismatch("reshape", given));
        }
        Ok(Tensor { shape: shape.into(), ..self.clone() })
    }

    /// The same bytes as elements of another type, in a shape of the same size in bytes.
    pub fn seen_as(&self, dtype: DType, shape: &[usize]) -> Result<Tensor> {
        n_elements(shape)?;
        let (expected, given) = (self.n_bytes(), Tensor::count_bytes(dtype, shape)?);
        if given != expected {
            let (what, operation, unit) = (self.label().to_owned(), "view", "bytes");
            return Err(ComputeError::SizeMismatch { what, operation, expected, given, unit });
        }
        let (element_size, fields) = (dtype.size(), None);
        Ok(Tensor { dtype, shape: shape.into(), element_size, fields, ..self.clone() })
    }

    /// The elements of a range as a tensor over the same memory, with one axis.
    ///
    /// ```
    /// let tensor = kps_compute::Tensor::from_slice(&[1.0f32, 2.0, 3.0])?;
    /// tensor.slice(1..3)?.set(0, 5.5)?;
    /// assert_eq!(tensor.to_vec::<f32>()?, [1.0, 5.5, 3.0]);
    /// # Ok::<(), kps_compute::ComputeError>(())
    /// ```
    pub fn slice(&self, range: Range<usize>) -> Result<Tensor> {
        let bytes = self.byte_range_of(&range)?;
        self.view(bytes.start, &[range.len()])
    }

    /// Elements of the same storage from a byte on, in this shape.
    pub fn view(&self, start: usize, shape: &[usize]) -> Result<Tensor> {
        if self.as_image().is_some() {
            return Err(ComputeError::ImageSlice { what: self.label().to_owned() });
        }
        let n = n_elements(shape)?;
        let size = self.element_size;
        let end = n.checked_mul(size).and_then(|n| n.checked_add(start));
        match end {
            Some(end) if end <= self.storage.len() => {
                Ok(Tensor { bytes: (start, end), shape: shape.into(), ..self.clone() })
            }
            _ => {
                let (what, len) = (self.label().to_owned(), self.storage.len() / size);
                Err(ComputeError::OutOfRange { what, index: start / size + n - 1, len })
            }
        }
    }

    /// The bytes of its storage that are its own.
    pub fn byte_range(&self) -> Range<usize> {
        self.bytes.0..self.bytes.1
    }

    /// Whether it is a part of a larger tensor.
    pub fn is_slice(&self) -> bool {
        self.byte_range() != (0..self.storage.len())
    }

    /// A tensor of records: several numbers in `size` bytes each. `name` is the record's name in errors.
    pub fn records(
        name: &str,
        size: usize,
        fields: Vec<Field>,
        shape: &[usize],
        memory: MemoryType,
        bytes: impl Into<Rc<Vec<u8>>>,
    ) -> Result<Tensor> {
        let bytes = bytes.into();
        let n = n_elements(shape)?.checked_mul(size);
        let n = n.ok_or_else(|| ComputeError::TooLarge { shape: shape.to_vec() })?;
        let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let label = format!("tensor {name}[{}]", axes.join(", "));
        if bytes.len() != n {
            let (operation, given, unit) = ("make", bytes.len(), "bytes");
            return Err(ComputeError::SizeMismatch { what: label, operation, expected: n, given, unit });
        }
        let storage = Storage::new(bytes, memory, label);
        Ok(Tensor {
            storage,
            bytes: (0, n),
            dtype: DType::U8,
            shape: shape.into(),
            element_size: size,
            fields: Some(fields.into()),
        })
    }

    /// Whether an element is more than one number.
    pub fn is_record(&self) -> bool {
        self.fields.is_some()
    }

    /// The numbers of a record; `None` if an element is one number.
    pub fn fields(&self) -> Option<&[Field]> {
        self.fields.as_deref()
    }

    /// Size of one element.
    pub fn element_size(&self) -> usize {
        self.element_size
    }

    /// The bytes of one element, by its flat index.
    pub fn element_bytes(&self, index: usize) -> Result<Vec<u8>> {
        let bytes = self.element_range(index)?;
        self.storage.read_range("read", bytes, <[u8]>::to_vec)
    }

    /// Replaces the bytes of one element, by its flat index.
    pub fn set_element_bytes(&self, index: usize, element: &[u8]) -> Result<()> {
        if element.len() != self.element_size {
            return Err(self.size_mismatch("write", element.len()));
        }
        let bytes = self.element_range(index)?;
        self.storage.write("write", bytes, |place| place.copy_from_slice(element))
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.byte_range().len() / self.element_size
    }

    /// Number of elements of the tensor in so many bytes: the numbers in one element of a kernel's array.
    pub fn numbers_in(&self, n_bytes: usize) -> usize {
        (n_bytes / self.element_size).max(1)
    }

    /// Checks that the elements of a kernel's array, each of so many bytes, divide the last axis.
    pub fn check_last_axis(&self, parameter: &str, n_bytes: usize) -> Result<()> {
        let n_numbers = self.numbers_in(n_bytes);
        match self.shape.last() {
            Some(last) if !last.is_multiple_of(n_numbers) => {
                let (parameter, shape) = (parameter.to_owned(), self.shape.to_vec());
                Err(ComputeError::ParameterAxis { parameter, n_numbers, shape })
            }
            _ => Ok(()),
        }
    }

    pub fn n_bytes(&self) -> usize {
        self.byte_range().len()
    }

    pub fn memory_type(&self) -> MemoryType {
        self.storage.memory()
    }

    pub fn storage(&self) -> &Rc<Storage> {
        &self.storage
    }

    /// The same type and shape with another storage of the same size.
    pub fn over_other(&self, storage: Rc<Storage>) -> Tensor {
        debug_assert_eq!(storage.len(), self.storage.len());
        Tensor { storage, ..self.clone() }
    }

    /// The same type in another shape, before it gets memory of that size.
    pub(crate) fn with_shape(&self, shape: &[usize]) -> Result<Tensor> {
        n_elements(shape)?;
        Ok(Tensor { shape: shape.into(), ..self.clone() })
    }

    /// The name in errors of a tensor of this type and shape.
    pub(crate) fn fresh_label(&self) -> String {
        let axes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        match self.is_record() {
            // Only the name of the record is not among the fields.
            true => format!("{}[{}]", self.label().split('[').next().unwrap_or_default(), axes.join(", ")),
            false => format!("tensor {}[{}]", self.dtype, axes.join(", ")),
        }
    }

    /// The same type over all of another storage, whose size may be another one.
    pub fn whole_of(&self, storage: Rc<Storage>) -> Tensor {
        let bytes = (0, storage.len());
        Tensor { storage, bytes, ..self.clone() }
    }

    /// The name in errors: ``tensor `x` (f32[3])`` or `tensor f32[3]`.
    pub fn label(&self) -> &str {
        self.storage.label()
    }

    /// The initialised bytes, as far as the host wrote them.
    pub fn written(&self) -> Written {
        let Ok(written) =
            self.storage.written().gathered(|marks| Ok::<_, Infallible>(marks[self.byte_range()].to_vec()));
        written
    }

    /// False after it, or its manager, was destroyed.
    pub fn is_init(&self) -> bool {
        self.storage.is_init()
    }

    /// Checks that it was not destroyed, for an operation on it.
    pub fn check_init(&self, operation: &'static str) -> Result<()> {
        self.storage.check_alive(operation)
    }

    /// Checks that the host may read it: it was not destroyed, and its memory is not `storage`.
    pub fn check_readable(&self) -> Result<()> {
        self.storage.check_alive("read")?;
        self.storage.check_readable("read")
    }

    /// Frees all memory, and makes any further use an error.
    pub fn destroy(&self) {
        self.storage.destroy();
    }

    /// Calls `look` with the newest bytes.
    pub fn with_bytes<R>(&self, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.storage.read_range("read", self.byte_range(), look)
    }

    /// The newest bytes.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        self.with_bytes(<[u8]>::to_vec)
    }

    /// The newest bytes, shared with the tensor until somebody writes them, if they are all of its memory.
    pub fn shared_bytes(&self) -> Result<Rc<Vec<u8>>> {
        match self.is_slice() {
            true => self.bytes().map(Rc::new),
            false => self.storage.shared_bytes("read"),
        }
    }

    /// The newest elements; `T` must be the tensor's type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_dtype("read", T::DTYPE)?;
        self.with_bytes(element::from_bytes)
    }

    /// The elements of a range; of a large tensor on the device, only these are downloaded.
    pub fn read_range<T: Element>(&self, range: Range<usize>) -> Result<Vec<T>> {
        self.check_dtype("read", T::DTYPE)?;
        let bytes = self.byte_range_of(&range)?;
        self.storage.read_range("read", bytes, element::from_bytes)
    }

    /// The newest elements as numbers of any type.
    pub fn numbers(&self) -> Result<Vec<Number>> {
        self.range_numbers(0..self.size())
    }

    /// The elements of a range as numbers of any type.
    pub fn range_numbers(&self, range: Range<usize>) -> Result<Vec<Number>> {
        let bytes = self.byte_range_of(&range)?;
        let load = |bytes: &[u8]| -> Vec<Number> {
            bytes.chunks_exact(self.dtype.size()).map(|one| Number::load(self.dtype, one)).collect()
        };
        self.storage.read_range("read", bytes, load)
    }

    /// One element, by its flat index.
    pub fn get(&self, index: usize) -> Result<Number> {
        let bytes = self.element_range(index)?;
        self.storage.read_range("read", bytes, |bytes| Number::load(self.dtype, bytes))
    }

    /// Assigns one element, by its flat index.
    pub fn set(&self, index: usize, value: impl Into<Number>) -> Result<()> {
        let value = value.into();
        let mut element = [0; 8];
        let unfit = |unfit| ComputeError::ElementUnfit {
            what: self.label().to_owned(),
            value,
            dtype: self.dtype,
            unfit,
        };
        value.store(self.dtype, &mut element).map_err(unfit)?;
        let bytes = self.element_range(index)?;
        let size = self.dtype.size();
        self.storage.write("write", bytes, |place| place.copy_from_slice(&element[..size]))
    }

    /// Replaces all elements; `elements` must have the same length.
    pub fn set_data<T: Element>(&self, elements: &[T]) -> Result<()> {
        self.check_dtype("set the data of", T::DTYPE)?;
        if elements.len() != self.size() {
            return Err(self.size_mismatch("set the data of", elements.len()));
        }
        self.set_bytes(element::to_bytes(elements))
    }

    /// Replaces all bytes; `bytes` must have the same size.
    pub fn set_bytes(&self, bytes: impl Into<Rc<Vec<u8>>>) -> Result<()> {
        let bytes = bytes.into();
        if bytes.len() != self.n_bytes() {
            return Err(self.size_mismatch("set the data of", bytes.len() / self.dtype.size()));
        }
        if self.is_slice() {
            return self
                .storage
                .write("set the data of", self.byte_range(), |place| place.copy_from_slice(&bytes));
        }
        self.storage.replace("set the data of", bytes)
    }

    /// Replaces the elements from `start` on.
    pub fn write_range<T: Element>(&self, start: usize, elements: &[T]) -> Result<()> {
        self.check_dtype("write", T::DTYPE)?;
        let bytes = self.byte_range_of(&(start..start.saturating_add(elements.len())))?;
        let source = element::to_bytes(elements);
        self.storage.write("write", bytes, |place| place.copy_from_slice(&source))
    }

    fn element_range(&self, index: usize) -> Result<Range<usize>> {
        self.byte_range_of(&(index..index.saturating_add(1)))
    }

    fn byte_range_of(&self, range: &Range<usize>) -> Result<Range<usize>> {
        let len = self.size();
        if range.start > range.end || range.end > len {
            let index = if range.start >= len { range.start } else { range.end.saturating_sub(1) };
            return Err(ComputeError::OutOfRange { what: self.label().to_owned(), index, len });
        }
        let (size, start) = (self.element_size, self.bytes.0);
        Ok(start + range.start * size..start + range.end * size)
    }

    fn check_dtype(&self, operation: &'static str, given: DType) -> Result<()> {
        if given == self.dtype {
            return Ok(());
        }
        let what = self.label().to_owned();
        Err(ComputeError::DTypeMismatch { what, operation, expected: self.dtype, given })
    }

    fn size_mismatch(&self, operation: &'static str, given: usize) -> ComputeError {
        let what = self.label().to_owned();
        ComputeError::SizeMismatch { what, operation, expected: self.size(), given, unit: "elements" }
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.label())
    }
}

/// Builds a tensor with options beyond type and shape.
pub struct Builder<'a> {
    dtype: DType,
    shape: &'a [usize],
    memory: MemoryType,
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    pub fn new(dtype: DType, shape: &'a [usize]) -> Builder<'a> {
        Builder { dtype, shape, memory: MemoryType::Device, name: None }
    }

    pub fn memory(self, memory: MemoryType) -> Builder<'a> {
        Builder { memory, ..self }
    }

    /// The name in errors.
    pub fn name(self, name: &'a str) -> Builder<'a> {
        Builder { name: Some(name), ..self }
    }

    pub fn bytes(self, bytes: impl Into<Rc<Vec<u8>>>) -> Result<Tensor> {
        let (bytes, n) = (bytes.into(), self.n_bytes()?);
        if bytes.len() != n {
            let (what, unit) = (self.label(), "bytes");
            return Err(ComputeError::SizeMismatch {
                what,
                operation: "make",
                expected: n,
                given: bytes.len(),
                unit,
            });
        }
        let storage = Storage::new(bytes, self.memory, self.label());
        Ok(Tensor::over(storage, self.dtype, self.shape))
    }

    pub fn zeros(self) -> Result<Tensor> {
        let storage = Storage::zeros(self.n_bytes()?, self.memory, self.label());
        Ok(Tensor::over(storage, self.dtype, self.shape))
    }

    /// Memory for the results of a kernel that writes all elements. Before it runs, their values are not defined.
    pub fn overwritten(self) -> Result<Tensor> {
        let storage = Storage::overwritten(self.n_bytes()?, self.memory, self.label());
        Ok(Tensor::over(storage, self.dtype, self.shape))
    }

    fn n_bytes(&self) -> Result<usize> {
        Tensor::count_bytes(self.dtype, self.shape)
    }

    fn label(&self) -> String {
        let axes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let kind = format!("{}[{}]", self.dtype, axes.join(", "));
        match self.name {
            Some(name) => format!("tensor `{name}` ({kind})"),
            None => format!("tensor {kind}"),
        }
    }
}

fn n_elements(shape: &[usize]) -> Result<usize> {
    if shape.contains(&0) {
        return Err(ComputeError::ZeroSized { shape: shape.to_vec() });
    }
    let n = shape.iter().try_fold(1usize, |n, axis| n.checked_mul(*axis));
    // Sizes beyond the limit of an allocation are an error here; the allocator would abort.
    n.filter(|n| *n <= isize::MAX as usize / 8)
        .ok_or_else(|| ComputeError::TooLarge { shape: shape.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::shape_text;

    fn check<T>(result: Result<T>, message: &str) {
        match result {
            Ok(_) => panic!("expected an error: {message}"),
            Err(error) => assert_eq!(error.to_string(), message),
        }
    }

    #[test]
    fn mistakes_name_the_tensor_and_both_sides() {
        let tensor = Tensor::from_slice(&[1i32, 2, 3]).expect("three elements are fine");
        check(Tensor::from_slice::<f32>(&[]), "cannot make a zero-sized tensor (its shape is (0,))");
        check(
            Tensor::zeros(DType::F32, &[usize::MAX, 2]),
            &format!("a tensor of shape {} holds more bytes than there are", shape_text(&[usize::MAX, 2])),
        );
        check(tensor.to_vec::<f32>(), "cannot read tensor i32[3]: its elements are i32, not f32");
        check(
            tensor.set_data(&[1i32]),
            "cannot set the data of tensor i32[3]: it has 3 elements, 1 were given",
        );
        check(tensor.get(3), "index 3 is out of range for tensor i32[3] with 3 elements");
        check(tensor.read_range::<i32>(2..5), "index 4 is out of range for tensor i32[3] with 3 elements");
        check(
            tensor.set(0, 3e9),
            "cannot store 3000000000.0 in tensor i32[3]: i32 holds -2147483648 to 2147483647",
        );
        check(tensor.reshape(&[2, 2]), "cannot reshape tensor i32[3]: it has 3 elements, 4 were given");
        check(tensor.seen_as(DType::F64, &[2]), "cannot view tensor i32[3]: it has 12 bytes, 16 were given");
    }

    #[test]
    fn elements_are_read_and_written_in_place() {
        let tensor = Tensor::zeros(DType::I16, &[2, 2]).expect("a small shape");
        tensor.set(3, 7).expect("in range");
        tensor.write_range(0, &[1i16, -2]).expect("in range");
        assert_eq!(tensor.to_vec::<i16>(), Ok(vec![1, -2, 0, 7]));
        assert_eq!(tensor.reshape(&[4]).and_then(|flat| flat.read_range::<i16>(1..3)), Ok(vec![-2, 0]));
    }

    #[test]
    fn a_view_as_another_type_has_the_same_bytes() {
        let tensor = Tensor::from_slice(&[1u16, 2, 3, 4]).expect("four elements are fine");
        let words = tensor.seen_as(DType::U32, &[2, 1]).expect("it has as many bytes");
        words.set(1, 0x0006_0005).expect("in range");
        assert_eq!(tensor.to_vec::<u16>(), Ok(vec![1, 2, 5, 6]));
        assert_eq!(words.shape(), [2, 1]);
    }

    #[test]
    fn a_destroyed_tensor_is_refused_by_name() {
        let tensor = Builder::new(DType::F32, &[2]).name("x").zeros().expect("a small shape");
        tensor.destroy();
        assert!(!tensor.is_init());
        check(tensor.bytes(), "cannot read tensor `x` (f32[2]): it was destroyed");
        check(tensor.set(0, 1), "cannot write tensor `x` (f32[2]): it was destroyed");
    }
}
