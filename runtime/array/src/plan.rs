//! The steps of one kernel: a pending node, with the pending nodes under it that join its kernel.
//!
//! A node joins if it is element by element, has the shape of the whole, and nobody else has its result. A node that
//! somebody else holds is an output of its own, unless computing it again is cheaper. What does not join is computed
//! first, and is loaded.

use std::rc::Rc;

use kps_compute::{Number, Tensor};
use kps_scalar::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::array::{Array, Expression, Node, Operand, Value, View};
use crate::element::{Constant, ElementType};
use crate::errors::Result;
use crate::layout::Layout;
use crate::ops::{Cost, Form};
use crate::pick::Picking;

/// A kernel's steps in order: each uses results of earlier ones.
#[derive(Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// What depends on the place of an element.
    pub sources: Vec<Source>,
    /// The scalar parameters.
    pub numbers: Vec<(Scalar, Number)>,
    /// The nodes besides the first one whose results are stored, with their steps.
    pub also_stored: Vec<(Array, usize)>,
    /// The nodes that joined.
    pub joined: Vec<Array>,
    known: FxHashMap<*const Node, Joined>,
}

/// Elements that a kernel loads from a tensor, or counts.
pub struct Source {
    /// `None` where the kernel computes with the place itself.
    pub tensor: Option<Tensor>,
    pub dtype: ElementType,
    /// The places, for the shape of the whole.
    pub layout: Layout,
}

/// A node that joined.
struct Joined {
    step: usize,
    /// Uses within the plan; other references are somebody else's.
    uses: usize,
    is_cheap: bool,
}

/// One value of an element.
pub struct Step {
    pub action: Action,
    pub ty: ElementType,
    /// How many later steps use the value.
    pub uses: u32,
}

pub enum Action {
    /// The element of a source.
    Load(usize),
    /// A scalar parameter.
    Number(usize),
    /// A complex number of two scalar parameters.
    Complex {
        re: usize,
        im: usize,
    },
    /// A number that is a part of the kernel.
    Literal(i128),
    /// `start + place * step`, of two scalar parameters and the place in a source.
    Count {
        source: usize,
        start: usize,
        step: usize,
    },
    Apply {
        name: &'static str,
        form: Form,
        operands: SmallVec<[usize; 3]>,
    },
    Convert(usize),
    /// The element of a source at its place and further indices.
    Pick {
        source: usize,
        picks: SmallVec<[PickStep; 2]>,
    },
}

/// An index of one axis; all three are steps.
#[derive(Clone, Copy)]
pub struct PickStep {
    pub index: usize,
    pub stride: usize,
    pub len: usize,
}

/// Results of one kernel besides the first.
const MAX_ALSO_STORED: usize = 4;

/// Exponents up to this one are part of the kernel: the compiler multiplies.
const MAX_LITERAL_EXPONENT: i128 = 16;

impl Plan {
    /// The plan for all elements of an array, and the step of its result.
    pub fn of(array: &Array) -> Result<(Plan, usize)> {
        let mut plan = Plan::default();
        let result = plan.steps_of(array, array.shape())?;
        plan.steps[result].uses += 1;
        plan.find_also_stored(array);
        Ok((plan, result))
    }

    /// The plan that only loads the elements of a tensor, in this type and shape.
    pub fn of_tensor(tensor: &Tensor, dtype: ElementType, shape: &[usize]) -> Plan {
        let mut plan = Plan::default();
        let source = plan.source(Some(tensor.clone()), dtype, Layout::contiguous(shape, 0));
        plan.push(Action::Load(source), dtype);
        plan
    }

    fn push(&mut self, action: Action, ty: ElementType) -> usize {
        let used: SmallVec<[usize; 3]> = match &action {
            Action::Apply { operands, .. } => operands.clone(),
            Action::Convert(of) => SmallVec::from_slice(&[*of]),
            // An index is tested, and used.
            Action::Pick { picks, .. } => picks.iter().flat_map(|pick| [pick.index; 2]).collect(),
            _ => SmallVec::new(),
        };
        used.into_iter().for_each(|step| self.steps[step].uses += 1);
        self.steps.push(Step { action, ty, uses: 0 });
        self.steps.len() - 1
    }

    fn steps_of(&mut self, array: &Array, shape: &[usize]) -> Result<usize> {
        if let Some(known) = self.known.get_mut(&Rc::as_ptr(&array.0)) {
            known.uses += 1;
            return Ok(known.step);
        }
        let value = array.0.value.borrow().clone();
        match value {
            Value::Pending(expression) if joins(&expression, array.shape() == shape) => {
                let step = self.expression(array, &expression, shape)?;
                let is_cheap = is_cheap(&expression);
                self.known.insert(Rc::as_ptr(&array.0), Joined { step, uses: 1, is_cheap });
                self.joined.push(array.clone());
                Ok(step)
            }
            _ => {
                let view = array.view()?.expect("an expression with elements has operands with elements");
                self.load(view, shape)
            }
        }
    }

    fn load(&mut self, view: View, shape: &[usize]) -> Result<usize> {
        let layout = view.layout.broadcast_to(shape)?;
        let is_same = |source: &Source| {
            source.layout == layout && source.dtype == view.dtype && source.is_of(&view.tensor)
        };
        let is_loaded = |step: &Step| matches!(step.action, Action::Load(at) if is_same(&self.sources[at]));
        if let Some(known) = self.steps.iter().position(is_loaded) {
            return Ok(known);
        }
        let source = self.source(Some(view.tensor), view.dtype, layout);
        Ok(self.push(Action::Load(source), view.dtype))
    }

    fn source(&mut self, tensor: Option<Tensor>, dtype: ElementType, layout: Layout) -> usize {
        self.sources.push(Source { tensor, dtype, layout });
        self.sources.len() - 1
    }

    fn number(&mut self, ty: Scalar, number: Number) -> usize {
        self.numbers.push((ty, number));
        self.numbers.len() - 1
    }

    /// The step of a number, which fits the type.
    fn constant(&mut self, ty: ElementType, constant: Constant) -> usize {
        match constant {
            Constant::Real(number) => {
                let number = self.number(ty.part(), number);
                self.push(Action::Number(number), ty)
            }
            Constant::Complex { re, im } => {
                let [re, im] = [re, im].map(|part| self.number(ty.part(), Number::Float(part)));
                self.push(Action::Complex { re, im }, ty)
            }
        }
    }

    fn expression(&mut self, array: &Array, expression: &Expression, shape: &[usize]) -> Result<usize> {
        match expression {
            Expression::Apply { op, typed, inputs } => {
                let mut operands = SmallVec::new();
                for (at, input) in inputs.iter().enumerate() {
                    let ty = if op.chooses() && at == 0 { Scalar::Bool.into() } else { typed.operand };
                    operands.push(match input {
                        Operand::Array(input) => {
                            let step = self.steps_of(input, shape)?;
                            self.converted(step, ty)
                        }
                        Operand::Number(Constant::Real(Number::Int(n)))
                            if op.name == "pow" && at == 1 && n.abs() <= MAX_LITERAL_EXPONENT =>
                        {
                            self.push(Action::Literal(*n), ty)
                        }
                        Operand::Number(number) => self.constant(ty, *number),
                    });
                }
                Ok(match typed.form {
                    Form::Operand => operands[0],
                    form => self.push(Action::Apply { name: op.name, form, operands }, typed.result),
                })
            }
            Expression::Convert(input) => {
                let step = self.steps_of(input, shape)?;
                Ok(self.converted(step, array.dtype()))
            }
            Expression::Fill(number) => Ok(self.constant(array.dtype(), *number)),
            Expression::Count { start, step } => {
                let [start, step] = [start, step].map(|number| self.number(array.dtype().part(), *number));
                let source = self.source(
                    None,
                    array.dtype(),
                    Layout::contiguous(array.shape(), 0).broadcast_to(shape)?,
                );
                Ok(self.push(Action::Count { source, start, step }, array.dtype()))
            }
            Expression::Pick(picking) => {
                let picks = self.picks(picking, shape)?;
                let view = picking.source.view()?.expect("it has elements");
                let source = self.source(Some(view.tensor), view.dtype, picking.layout.clone());
                Ok(self.push(Action::Pick { source, picks }, array.dtype()))
            }
            Expression::Reduce(_) => unreachable!("a reduction does not join"),
        }
    }

    /// The steps of the indices that pick elements, for results of this shape.
    pub fn picks(&mut self, picking: &Picking, shape: &[usize]) -> Result<SmallVec<[PickStep; 2]>> {
        let view = picking.source.view()?.expect("it has elements");
        let ty = if i32::try_from(view.tensor.size()).is_ok() { Scalar::I32 } else { Scalar::I64 };
        let mut steps = SmallVec::new();
        for pick in &picking.picks {
            let index = self.steps_of(&pick.indices, shape)?;
            let index = self.converted(index, ty.into());
            let [stride, len] = [pick.stride as i128, pick.len as i128]
                .map(|n| self.constant(ty.into(), Number::Int(n).into()));
            steps.push(PickStep { index, stride, len });
        }
        Ok(steps)
    }

    fn converted(&mut self, step: usize, ty: ElementType) -> usize {
        if self.steps[step].ty == ty { step } else { self.push(Action::Convert(step), ty) }
    }

    /// Finds the nodes that somebody else holds, and that are dear to compute again.
    fn find_also_stored(&mut self, array: &Array) {
        for node in &self.joined {
            let known = &self.known[&Rc::as_ptr(&node.0)];
            // One reference is that of `joined`.
            let is_held = Rc::strong_count(&node.0) > known.uses + 1;
            let is_first = Rc::ptr_eq(&node.0, &array.0);
            if is_held && !is_first && !known.is_cheap && self.also_stored.len() < MAX_ALSO_STORED {
                self.also_stored.push((node.clone(), known.step));
                self.steps[known.step].uses += 1;
            }
        }
    }

    /// Whether a step loads elements of a source at their own places.
    pub fn loads(&self, source: usize) -> bool {
        self.steps.iter().any(|step| matches!(step.action, Action::Load(at) if at == source))
    }

    /// Whether elements of the target's memory are read at other places than they are written.
    pub fn overlaps(&self, target: &View) -> bool {
        self.sources.iter().any(|source| {
            let is_elsewhere = source.layout != target.layout || source.dtype != target.dtype;
            source.is_of(&target.tensor) && is_elsewhere
        })
    }

    /// Whether elements of the target's memory are read at all.
    pub fn reads(&self, target: &View) -> bool {
        self.sources.iter().any(|source| source.is_of(&target.tensor))
    }
}

impl Source {
    fn is_of(&self, tensor: &Tensor) -> bool {
        self.tensor.as_ref().is_some_and(|own| Rc::ptr_eq(own.storage(), tensor.storage()))
    }
}

/// Whether an expression is computed within the kernel of another one. Of those with fewer elements than the whole,
/// which are repeated, only the ones without operands are.
fn joins(expression: &Expression, is_whole: bool) -> bool {
    match expression {
        Expression::Apply { .. } | Expression::Convert(_) | Expression::Pick(_) => is_whole,
        Expression::Fill(_) | Expression::Count { .. } => true,
        Expression::Reduce(_) => false,
    }
}

/// Whether computing it again costs no more than to load the result: one cheap operation on one tensor.
pub fn is_cheap(expression: &Expression) -> bool {
    let cost = match expression {
        Expression::Apply { op, .. } => op.cost,
        Expression::Pick(_) => Cost::Dear,
        _ => Cost::Cheap,
    };
    let mut n_views = 0;
    let are_views = expression.inputs().all(|input| {
        n_views += 1;
        !input.is_pending()
    });
    cost == Cost::Cheap && are_views && n_views <= 1
}
