//! Arrays: numbers with a type and a shape, in memory or still to be computed.
//!
//! An operation on arrays makes a node that knows its operands, its type and its shape, and computes nothing.
//! [`Array::view`] computes it: [`crate::expression`] makes one kernel of a node and of the pending nodes under it.
//! After that the node is a view of memory, as if it had always been one.
//!
//! A storage knows the pending nodes that read it, and computes them before somebody writes it. So an expression
//! has the values that its operands had when it was written.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use kps_compute::storage::PendingRead;
use kps_compute::{ComputeError, Number, Tensor};
use kps_scalar::Scalar;
use kps_syntax::Location;
use smallvec::SmallVec;

use crate::element::{Constant, ElementType};
use crate::engine::Engine;
use crate::errors::{self, Result};
use crate::layout::{Layout, Part};
use crate::ops::{self, Op, Typed};
use crate::pick::{Pick, Picking};
use crate::promote::{self, OperandType};
use crate::reduce::Reduction;
use crate::shape::{self, Shape};
use crate::{expression, reduce};

/// Numbers of one type along any number of axes. Clones are the same array.
#[derive(Clone)]
pub struct Array(pub(crate) Rc<Node>);

pub(crate) struct Node {
    pub engine: Rc<Engine>,
    pub dtype: ElementType,
    pub shape: Shape,
    pub value: RefCell<Value>,
    /// Operations and tensors of the expression when it was made: those of pending operands are included.
    extent: Extent,
    /// The place of the program that made a pending node.
    origin: Option<Location>,
    /// The pending nodes that read it, until its memory knows them.
    readers: RefCell<Vec<Weak<Node>>>,
    /// While the launch that computes it is being started: then it need not be computed before a write.
    pub is_running: Cell<bool>,
}

/// How large a pending expression is.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    n_operations: u32,
    n_views: u32,
}

/// More operations, or more tensors, are computed in several kernels.
const MAX_OPERATIONS: u32 = 48;
const MAX_VIEWS: u32 = 8;

#[derive(Clone)]
pub(crate) enum Value {
    /// Without elements.
    Empty,
    View(View),
    Pending(Expression),
}

/// Elements in the memory of a tensor.
#[derive(Clone)]
pub struct View {
    /// All of the storage, with one axis. A complex number is two of its numbers.
    pub tensor: Tensor,
    pub dtype: ElementType,
    pub layout: Layout,
}

/// What a node computes.
#[derive(Clone)]
pub(crate) enum Expression {
    Apply {
        op: &'static Op,
        typed: Typed,
        inputs: SmallVec<[Operand; 3]>,
    },
    Convert(Array),
    /// The same number everywhere.
    Fill(Constant),
    /// `start + i * step` for the flat index i.
    Count {
        start: Number,
        step: Number,
    },
    Reduce(Reduction),
    Pick(Picking),
}

/// An operand of an operation.
#[derive(Clone)]
pub enum Operand {
    Array(Array),
    /// A number of the program: its type is that of the arrays beside it.
    Number(Constant),
}

impl From<Array> for Operand {
    fn from(array: Array) -> Operand {
        Operand::Array(array)
    }
}

impl From<Number> for Operand {
    fn from(number: Number) -> Operand {
        Operand::Number(number.into())
    }
}

impl From<Constant> for Operand {
    fn from(number: Constant) -> Operand {
        Operand::Number(number)
    }
}

impl Operand {
    fn shape(&self) -> &[usize] {
        match self {
            Operand::Array(array) => array.shape(),
            Operand::Number(_) => &[],
        }
    }

    fn ty(&self) -> OperandType {
        match self {
            Operand::Array(array) => OperandType::Array(array.dtype()),
            Operand::Number(number) => OperandType::Number(*number),
        }
    }
}

impl Array {
    /// The elements of a tensor, which stay in its memory. The tensor has numbers, not records, and is no image.
    pub fn of_tensor(engine: &Rc<Engine>, tensor: &Tensor) -> Result<Array> {
        tensor.check_init("read")?;
        let size = tensor.element_size();
        let whole = tensor.view(0, &[tensor.storage().len() / size])?;
        let layout = Layout::contiguous(tensor.shape(), tensor.byte_range().start / size);
        let dtype = tensor.dtype().into();
        Ok(Array::of_view(engine, View { tensor: whole, dtype, layout }))
    }

    /// The elements of a view.
    pub fn of_view(engine: &Rc<Engine>, view: View) -> Array {
        let (dtype, shape) = (view.dtype, view.layout.shape.clone());
        Array::new(engine, dtype, shape, Value::View(view))
    }

    /// New memory, whose elements nobody has set.
    pub fn uninitialised(
        engine: &Rc<Engine>,
        dtype: impl Into<ElementType>,
        shape: &[usize],
    ) -> Result<Array> {
        let dtype = dtype.into();
        shape::check(shape)?;
        if shape::size(shape) == 0 {
            return Ok(Array::new(engine, dtype, shape.into(), Value::Empty));
        }
        let tensor = engine.allocate(dtype, shape::size(shape))?;
        Ok(Array::of_view(engine, View { tensor, dtype, layout: Layout::contiguous(shape, 0) }))
    }

    /// The same number in every element.
    pub fn filled(
        engine: &Rc<Engine>,
        dtype: impl Into<ElementType>,
        shape: &[usize],
        number: impl Into<Constant>,
    ) -> Result<Array> {
        let dtype = dtype.into();
        let number = promote::fitting(number.into(), dtype)?;
        Array::pending(engine, dtype, shape.into(), Expression::Fill(number))
    }

    /// `start`, `start + step`, `start + 2 * step`, ..
    pub fn counted(
        engine: &Rc<Engine>,
        dtype: Scalar,
        n: usize,
        start: Number,
        step: Number,
    ) -> Result<Array> {
        let (start, step) = (promote::fitting_real(start, dtype)?, promote::fitting_real(step, dtype)?);
        Array::pending(engine, dtype.into(), [n].into_iter().collect(), Expression::Count { start, step })
    }

    fn new(engine: &Rc<Engine>, dtype: ElementType, shape: Shape, value: Value) -> Array {
        let engine = engine.clone();
        Array(Rc::new(Node::new(engine, dtype, shape, value, Extent::default())))
    }

    /// A node that is computed later; at once if the engine is eager.
    pub(crate) fn pending(
        engine: &Rc<Engine>,
        dtype: ElementType,
        shape: Shape,
        expression: Expression,
    ) -> Result<Array> {
        shape::check(&shape)?;
        if shape::size(&shape) == 0 {
            return Ok(Array::new(engine, dtype, shape, Value::Empty));
        }
        let extent = Extent::of(&expression)?;
        let node = Rc::new(Node::new(engine.clone(), dtype, shape, Value::Pending(expression), extent));
        if let Value::Pending(expression) = &*node.value.borrow() {
            expression.inputs().for_each(|input| input.note_reader(&node));
        }
        let array = Array(node);
        if array.0.engine.is_eager() {
            array.evaluate()?;
        }
        Ok(array)
    }

    /// Notes who is going to read this array: in its memory, or until it has one.
    fn note_reader(&self, reader: &Rc<Node>) {
        match &*self.0.value.borrow() {
            Value::View(view) => view.note_reader(reader),
            Value::Pending(_) => self.0.readers.borrow_mut().push(Rc::downgrade(reader)),
            Value::Empty => {}
        }
    }

    /// The result of an operation, element by element; the operands are broadcast.
    pub fn apply(op: &'static Op, inputs: &[Operand]) -> Result<Array> {
        let engine = engine_of(inputs);
        let of_type = if op.chooses() { &inputs[1..] } else { inputs };
        let types: SmallVec<[OperandType; 3]> = of_type.iter().map(Operand::ty).collect();
        let typed = op.typed(promote::common_of(&types)?)?;
        let mut shape = Shape::new();
        let mut own = SmallVec::new();
        for (at, input) in inputs.iter().enumerate() {
            shape = shape::broadcast(&shape, input.shape())?;
            own.push(match input {
                Operand::Number(number) if op.chooses() && at == 0 => {
                    Operand::Number(promote::fitting(*number, Scalar::Bool.into())?)
                }
                Operand::Number(number) => Operand::Number(promote::fitting(*number, typed.operand)?),
                array => array.clone(),
            });
        }
        Array::pending(&engine, typed.result, shape, Expression::Apply { op, typed, inputs: own })
    }

    pub fn dtype(&self) -> ElementType {
        self.0.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    pub fn ndim(&self) -> usize {
        self.0.shape.len()
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        shape::size(&self.0.shape)
    }

    pub fn engine(&self) -> &Rc<Engine> {
        &self.0.engine
    }

    /// False after its memory was destroyed.
    pub fn is_init(&self) -> bool {
        match &*self.0.value.borrow() {
            Value::View(view) => view.tensor.is_init(),
            _ => true,
        }
    }

    /// Whether it is still to be computed.
    pub fn is_pending(&self) -> bool {
        matches!(&*self.0.value.borrow(), Value::Pending(_))
    }

    /// Starts the kernels that compute the elements, if they were not started before.
    pub fn evaluate(&self) -> Result<()> {
        let computed = match self.pending_reduction() {
            None => return Ok(()),
            Some(Some(reduction)) => reduce::compute(self, &reduction),
            Some(None) => expression::compute(self),
        };
        computed.map_err(|error| error.computing(self.0.origin.as_ref()))
    }

    /// The kernels that would compute the elements, as a reader would write them.
    pub fn source(&self) -> Result<String> {
        match self.pending_reduction() {
            None => Ok("# The elements are computed: no kernel runs.\n".to_owned()),
            Some(Some(reduction)) => reduce::source(self, &reduction),
            Some(None) => expression::source(self),
        }
    }

    /// The reduction that is still to be computed; `Some(None)` for another expression. That is not copied: a plan
    /// counts who holds its operands.
    fn pending_reduction(&self) -> Option<Option<Reduction>> {
        match &*self.0.value.borrow() {
            Value::Pending(Expression::Reduce(reduction)) => Some(Some(reduction.clone())),
            Value::Pending(_) => Some(None),
            _ => None,
        }
    }

    /// The node's elements are in this memory from now on.
    pub(crate) fn is_now(&self, view: View) {
        let readers = self.0.readers.take();
        readers.iter().filter_map(Weak::upgrade).for_each(|reader| view.note_reader(&reader));
        let before = self.0.value.replace(Value::View(view));
        drop(before);
    }

    /// The memory of the elements, which are computed if they were not; `None` if there are no elements.
    pub fn view(&self) -> Result<Option<View>> {
        self.evaluate()?;
        Ok(match &*self.0.value.borrow() {
            Value::View(view) => Some(view.clone()),
            _ => None,
        })
    }

    /// The elements as a tensor over the same memory; the two parts of complex numbers are along a further axis. An error
    /// if the elements are not in one piece.
    pub fn tensor(&self) -> Result<Tensor> {
        let Some(View { tensor, dtype, layout }) = self.view()? else {
            return Err(ComputeError::ZeroSized { shape: self.shape().to_vec() }.into());
        };
        if !layout.is_contiguous() {
            return Err(errors::not_in_one_piece(self.shape()));
        }
        let mut shape = self.0.shape.clone();
        if dtype.is_complex() {
            shape.push(2);
        }
        Ok(tensor.view(layout.start * dtype.size(), &shape)?)
    }

    /// The array with its elements in one piece: itself, or a copy.
    pub fn in_one_piece(&self) -> Result<Array> {
        match self.view()? {
            Some(view) if !view.layout.is_contiguous() => self.copy(),
            _ => Ok(self.clone()),
        }
    }

    /// A copy in memory of its own.
    pub fn copy(&self) -> Result<Array> {
        let copy = Array::pending(
            &self.0.engine,
            self.dtype(),
            self.0.shape.clone(),
            Expression::Convert(self.clone()),
        )?;
        copy.evaluate()?;
        Ok(copy)
    }

    /// The elements as another type: ints wrap around, floats lose their fraction and saturate, and all but 0 is
    /// true. The same array if it has the type. Complex numbers do not become real ones, but for bools.
    pub fn converted(&self, dtype: impl Into<ElementType>) -> Result<Array> {
        let dtype = dtype.into();
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        if self.dtype().is_complex() && !dtype.is_complex() && dtype != Scalar::Bool {
            return Err(errors::complex_to_real(self.dtype(), dtype));
        }
        Array::pending(&self.0.engine, dtype, self.0.shape.clone(), Expression::Convert(self.clone()))
    }

    /// Another view of the same memory.
    fn viewed(&self, look: impl FnOnce(&Layout) -> Result<Layout>) -> Result<Array> {
        match self.view()? {
            Some(view) => {
                let layout = look(&view.layout)?;
                if shape::size(&layout.shape) == 0 {
                    return Ok(Array::new(&self.0.engine, self.dtype(), layout.shape, Value::Empty));
                }
                Ok(Array::of_view(&self.0.engine, View { layout, ..view }))
            }
            None => {
                let layout = look(&Layout::contiguous(self.shape(), 0))?;
                Ok(Array::new(&self.0.engine, self.dtype(), layout.shape, Value::Empty))
            }
        }
    }

    /// The axes in another order; without one, the reverse order. Axes may count from the end.
    pub fn permuted(&self, order: &[i64]) -> Result<Array> {
        let axes = order.iter().map(|axis| shape::axis(*axis, self.ndim())).collect::<Result<Vec<_>>>()?;
        let is_whole = axes.len() == self.ndim() && (0..self.ndim()).all(|axis| axes.contains(&axis));
        if !is_whole {
            return Err(errors::not_a_permutation(order, self.ndim()));
        }
        self.viewed(|layout| Ok(layout.permuted(&axes)))
    }

    /// The elements that an index selects, over the same memory.
    pub fn indexed(&self, parts: &[Part]) -> Result<Array> {
        self.viewed(|layout| layout.indexed(parts))
    }

    pub fn broadcast_to(&self, to: &[usize]) -> Result<Array> {
        shape::check(to)?;
        self.viewed(|layout| layout.broadcast_to(to))
    }

    /// A shape for the same elements. One axis may be -1.
    fn resolved(&self, to: &[i64]) -> Result<Shape> {
        let text = || format!("({})", to.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
        shape::resolved(to, self.size()).ok_or_else(|| errors::not_reshaped(self.shape(), &text()))
    }

    /// The elements in another shape, over the same memory. An error if the order does not allow it.
    pub fn reshaped_view(&self, to: &[i64]) -> Result<Array> {
        let to_shape = self.resolved(to)?;
        let needs_copy = || errors::reshape_copies(self.shape(), &to_shape);
        self.viewed(|layout| layout.reshaped(&to_shape).ok_or_else(needs_copy))
    }

    /// The elements in another shape: a view if the order allows it, else a copy. One axis may be -1.
    pub fn reshaped(&self, to: &[i64]) -> Result<Array> {
        let to_shape = self.resolved(to)?;
        match self.view()? {
            Some(view) if view.layout.reshaped(&to_shape).is_none() => self.copy()?.reshaped(to),
            Some(_) => self.viewed(|layout| Ok(layout.reshaped(&to_shape).expect("it was just tried"))),
            None => self.viewed(|_| Ok(Layout::contiguous(&to_shape, 0))),
        }
    }

    /// Writes values into the elements of this array, which all its views see. The values are broadcast, and
    /// converted as [`Array::converted`] does.
    pub fn assign(&self, values: Operand) -> Result<()> {
        let Some(target) = self.view()? else {
            shape::broadcast(self.shape(), values.shape())?;
            return Ok(());
        };
        if target.layout.repeats() {
            return Err(errors::is_read_only());
        }
        let values = match values {
            Operand::Number(number) => Array::filled(&self.0.engine, self.dtype(), self.shape(), number)?,
            Operand::Array(array) if array.shape() != self.shape() => array.broadcast_to(self.shape())?,
            Operand::Array(array) => array,
        };
        expression::store(&values.converted(self.dtype())?, &target)
    }
}

impl View {
    /// Lets its memory compute a pending node before it is written.
    fn note_reader(&self, reader: &Rc<Node>) {
        let reader: Rc<dyn PendingRead> = reader.clone();
        self.tensor.storage().add_pending(Rc::downgrade(&reader));
    }
}

impl Node {
    fn new(engine: Rc<Engine>, dtype: ElementType, shape: Shape, value: Value, extent: Extent) -> Node {
        let (value, readers, is_running) = (RefCell::new(value), RefCell::default(), Cell::new(false));
        let origin = matches!(*value.borrow(), Value::Pending(_)).then(|| engine.origin()).flatten();
        Node { engine, dtype, shape, value, extent, origin, readers, is_running }
    }
}

impl PendingRead for Node {
    fn compute(self: Rc<Self>) -> kps_compute::Result<()> {
        if self.is_running.get() {
            return Ok(());
        }
        match Array(self).evaluate() {
            Ok(()) => Ok(()),
            Err(error) => Err(error.into_compute()),
        }
    }
}

impl Expression {
    /// The arrays that it reads.
    pub fn inputs(&self) -> impl Iterator<Item = &Array> {
        let (several, one, picks): (&[Operand], Option<&Array>, &[Pick]) = match self {
            Expression::Apply { inputs, .. } => (inputs, None, &[]),
            Expression::Convert(array) => (&[], Some(array), &[]),
            Expression::Reduce(reduction) => (&[], Some(&reduction.input), &[]),
            Expression::Fill(_) | Expression::Count { .. } => (&[], None, &[]),
            Expression::Pick(picking) => (&[], Some(&picking.source), &picking.picks),
        };
        let arrays = several.iter().filter_map(|operand| match operand {
            Operand::Array(array) => Some(array),
            Operand::Number(_) => None,
        });
        arrays.chain(one).chain(picks.iter().map(|pick| &pick.indices))
    }
}

impl Extent {
    /// The size of an expression. If it is too large for one kernel, its largest operands are computed.
    fn of(expression: &Expression) -> Result<Extent> {
        let mut inputs: SmallVec<[&Array; 3]> = expression.inputs().collect();
        inputs.sort_by_key(|input| std::cmp::Reverse(input.0.extent.n_operations));
        for input in &inputs {
            let extent = Extent::over(&inputs);
            if extent.n_operations <= MAX_OPERATIONS && extent.n_views <= MAX_VIEWS {
                return Ok(extent);
            }
            input.evaluate()?;
        }
        Ok(Extent::over(&inputs))
    }

    fn over(inputs: &[&Array]) -> Extent {
        let mut sum = Extent { n_operations: 1, n_views: 0 };
        for input in inputs {
            match &*input.0.value.borrow() {
                Value::Pending(_) => {
                    sum.n_operations += input.0.extent.n_operations;
                    sum.n_views += input.0.extent.n_views;
                }
                Value::View(_) => sum.n_views += 1,
                Value::Empty => {}
            }
        }
        sum
    }
}

fn engine_of(inputs: &[Operand]) -> Rc<Engine> {
    let arrays = inputs.iter().filter_map(|input| match input {
        Operand::Array(array) => Some(&array.0.engine),
        Operand::Number(_) => None,
    });
    arrays.into_iter().next().expect("an operation has an array among its operands").clone()
}

/// `a ** b`, with cheaper forms for common exponents. A negative power of ints is an error.
pub fn power(base: Operand, exponent: Operand) -> Result<Array> {
    let number = match &exponent {
        Operand::Number(number) => number.real(),
        Operand::Array(_) => None,
    };
    if let (Operand::Array(array), Some(Number::Int(n))) = (&base, number)
        && array.dtype().is_int()
        && n < 0
    {
        return Err(errors::negative_power(array.dtype()));
    }
    let is_float =
        matches!(&base, Operand::Array(array) if array.dtype().is_float() || array.dtype().is_complex());
    let op = match number.map(Number::as_f64) {
        Some(2.0) => Some("square"),
        Some(0.5) if is_float => Some("sqrt"),
        Some(-1.0) if is_float => Some("reciprocal"),
        _ => None,
    };
    match (op, &base, number) {
        (Some(op), Operand::Array(array), Some(number))
            if is_float || matches!(number, Number::Int(_)) && array.dtype().is_int() =>
        {
            Array::apply(ops::known(op), std::slice::from_ref(&base))
        }
        _ => Array::apply(ops::known("pow"), &[base, exponent]),
    }
}
