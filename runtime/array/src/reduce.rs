//! Reductions: sums, extremes and their places, over some axes of an array.
//!
//! The elements are those of an expression, which is computed within the kernel of the reduction. Two kernels
//! share the work. Where neighbouring elements are reduced together, a workgroup reduces a row; where they belong
//! to different results, each invocation reduces a column. Long rows and columns are divided into parts, whose
//! results a further launch reduces. `stdlib/src/kernels/reduce.kps` has the functions that the kernels call.

use kps_compute::{Number, Tensor};
use kps_scalar::{Kind, Scalar};
use smallvec::SmallVec;

use crate::array::{Array, Expression, Value, View};
use crate::element::ElementType;
use crate::engine::{Engine, Size, Written};
use crate::errors::{self, Result};
use crate::expression::{self, Parameters};
use crate::layout::Layout;
use crate::places::{Places, Space};
use crate::plan::Plan;
use crate::promote;
use crate::shape::{self, Shape};

/// What becomes of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    Sum,
    Product,
    Smallest,
    Largest,
    Any,
    All,
    /// The index of the smallest element.
    ArgSmallest,
    ArgLargest,
}

/// A reduction of an array over some of its axes.
#[derive(Clone)]
pub(crate) struct Reduction {
    pub reducer: Reducer,
    pub input: Array,
    /// In ascending order.
    axes: SmallVec<[usize; 4]>,
}

impl Reducer {
    pub fn name(self) -> &'static str {
        match self {
            Reducer::Sum => "sum",
            Reducer::Product => "prod",
            Reducer::Smallest => "min",
            Reducer::Largest => "max",
            Reducer::Any => "any",
            Reducer::All => "all",
            Reducer::ArgSmallest => "argmin",
            Reducer::ArgLargest => "argmax",
        }
    }

    fn finds_index(self) -> bool {
        matches!(self, Reducer::ArgSmallest | Reducer::ArgLargest)
    }

    /// Whether elements of the type can be combined: complex numbers have no order.
    fn takes(self, input: ElementType) -> bool {
        !input.is_complex() || matches!(self, Reducer::Sum | Reducer::Product)
    }

    /// The type in which elements are combined, and that of the result.
    fn types(self, input: ElementType) -> (ElementType, ElementType) {
        let Some(real) = input.real() else { return (input, input) };
        let (combined, result) = self.real_types(real);
        (combined.into(), result.into())
    }

    fn real_types(self, input: Scalar) -> (Scalar, Scalar) {
        match self {
            // A sum of halves would stop growing at 2048 times its elements.
            Reducer::Sum | Reducer::Product if input.is_float() => (input.at_least_f32(), input),
            Reducer::Sum | Reducer::Product => (promote::as_sum(input), promote::as_sum(input)),
            Reducer::Any | Reducer::All => (Scalar::Bool, Scalar::Bool),
            Reducer::Smallest | Reducer::Largest if input == Scalar::Bool => (input, input),
            Reducer::Smallest | Reducer::Largest => (input, input),
            Reducer::ArgSmallest | Reducer::ArgLargest if input == Scalar::Bool => (Scalar::U8, Scalar::I64),
            Reducer::ArgSmallest | Reducer::ArgLargest => (input, Scalar::I64),
        }
    }

    /// The function of two values in the library, for values of this type.
    fn combine(self, ty: ElementType) -> &'static str {
        let Some(kind) = ty.kind() else {
            return if self == Reducer::Sum { "add" } else { "times" };
        };
        match (self, kind) {
            (Reducer::Sum, _) => "add",
            (Reducer::Product, _) => "multiply",
            (Reducer::Any, _) | (Reducer::Largest, Kind::Bool) => "either",
            (Reducer::All, _) | (Reducer::Smallest, Kind::Bool) => "both",
            (Reducer::Smallest, Kind::Float) => "minimum",
            (Reducer::Largest, Kind::Float) => "maximum",
            (Reducer::Smallest, _) => "min",
            (Reducer::Largest, _) => "max",
            (Reducer::ArgSmallest, _) => "smallest",
            (Reducer::ArgLargest, _) => "largest",
        }
    }

    /// The value that changes nothing.
    fn identity(self, ty: ElementType) -> Number {
        let ty = ty.part();
        let (least, most) = match ty.int_range() {
            Some((least, most)) => (Number::Int(least), Number::Int(most)),
            None => (Number::Float(f64::NEG_INFINITY), Number::Float(f64::INFINITY)),
        };
        let number = |one: bool| match ty.kind() {
            Kind::Bool => Number::Bool(one),
            Kind::Float => Number::Float(f64::from(u8::from(one))),
            _ => Number::Int(one.into()),
        };
        match self {
            Reducer::Sum | Reducer::Any | Reducer::ArgSmallest | Reducer::ArgLargest => number(false),
            Reducer::Product | Reducer::All => number(true),
            Reducer::Smallest if ty == Scalar::Bool => number(true),
            Reducer::Largest if ty == Scalar::Bool => number(false),
            Reducer::Smallest => most,
            Reducer::Largest => least,
        }
    }

    fn has_identity(self) -> bool {
        matches!(self, Reducer::Sum | Reducer::Product | Reducer::Any | Reducer::All)
    }
}

/// Whether a reduced axis stays, with length 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReducedAxes {
    Kept,
    Dropped,
}

impl Array {
    /// Reduces some axes, or all of them. Axes may count from the end.
    pub fn reduced(&self, reducer: Reducer, axes: Option<&[i64]>, reduced: ReducedAxes) -> Result<Array> {
        if matches!(reducer, Reducer::Any | Reducer::All) && self.dtype() != Scalar::Bool {
            return self.converted(Scalar::Bool)?.reduced(reducer, axes, reduced);
        }
        let ndim = self.ndim();
        let axes = match axes {
            Some(axes) => shape::axes(axes, ndim)?,
            None => (0..ndim).collect(),
        };
        let length = |axis: usize| match (axes.contains(&axis), reduced) {
            (false, _) => Some(self.shape()[axis]),
            (true, ReducedAxes::Kept) => Some(1),
            (true, ReducedAxes::Dropped) => None,
        };
        let shape: Shape = (0..ndim).filter_map(length).collect();
        if !reducer.takes(self.dtype()) {
            return Err(errors::not_for(reducer.name(), self.dtype()));
        }
        let (combined, result) = reducer.types(self.dtype());
        let n: usize = axes.iter().map(|axis| self.shape()[*axis]).product();
        if n == 0 && shape::size(&shape) > 0 {
            return match reducer.has_identity() {
                true => Array::filled(self.engine(), result, &shape, reducer.identity(combined)),
                false => Err(errors::empty_reduction(reducer.name())),
            };
        }
        // Values of one element each: the type may still change.
        if n == 1 && !reducer.finds_index() && self.size() > 0 {
            let to: Vec<i64> = shape.iter().map(|len| *len as i64).collect();
            return self.converted(result)?.reshaped(&to);
        }
        let reduction = Reduction { reducer, input: self.clone(), axes };
        Array::pending(self.engine(), result, shape, Expression::Reduce(reduction))
    }
}

/// Starts the kernels that compute a reduction.
pub(crate) fn compute(array: &Array, reduction: &Reduction) -> Result<()> {
    let tensor =
        Pass::of(array.engine(), reduction).run(reduction, &mut |written| array.engine().launch(written))?;
    let layout = Layout::contiguous(array.shape(), 0);
    array.is_now(View { tensor, dtype: array.dtype(), layout });
    Ok(())
}

/// The texts of the kernels that would compute a reduction.
pub(crate) fn source(array: &Array, reduction: &Reduction) -> Result<String> {
    let mut texts: Vec<String> = Vec::new();
    Pass::of(array.engine(), reduction).run(reduction, &mut |written| {
        texts.push(written.source());
        Ok(())
    })?;
    texts.dedup();
    Ok(texts.join("\n\n"))
}

/// The plan of the elements. What somebody else holds of them is computed before.
fn producer(input: &Array) -> Result<(Plan, usize)> {
    // Two references are the reduction's, which is being computed.
    let is_held = std::rc::Rc::strong_count(&input.0) > 2;
    let is_dear =
        matches!(&*input.0.value.borrow(), Value::Pending(expression) if !crate::plan::is_cheap(expression));
    if is_held && is_dear {
        input.evaluate()?;
    }
    let (plan, result) = Plan::of(input)?;
    if plan.also_stored.is_empty() {
        return Ok((plan, result));
    }
    for (node, _) in &plan.also_stored {
        node.evaluate()?;
    }
    drop(plan);
    Plan::of(input)
}

/// What is the same in all launches of a reduction.
struct Pass<'a> {
    engine: &'a Engine,
    reducer: Reducer,
    combined: ElementType,
    stored: ElementType,
}

/// What becomes of a kernel.
type Launch<'a> = &'a mut dyn FnMut(&Written) -> Result<()>;

/// How the work of one launch is divided.
struct Division {
    by: By,
    /// Elements of each result.
    n_reduced: usize,
    n_results: usize,
    /// Elements of a part.
    part: usize,
    n_parts: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// A workgroup reduces a part of a row.
    Workgroups { local: u32 },
    /// An invocation reduces a part of a column.
    Invocations,
}

/// Fewer elements than these are reduced by one invocation.
const MIN_ROW: usize = 64;
/// Invocations of a workgroup.
const WORKGROUP: u32 = 256;
/// Elements of an invocation, at least, before a row or a column is divided.
const MIN_PER_INVOCATION: usize = 16;

impl Division {
    fn new(engine: &Engine, n_results: usize, n_reduced: usize, is_row: bool) -> Division {
        // Enough to keep every core busy.
        let (n_groups, n_invocations) = if engine.is_cpu() { (16, 4096) } else { (2048, 1 << 18) };
        let (by, wanted, per_part) = if is_row && n_reduced >= MIN_ROW {
            let local = (n_reduced as u32).next_power_of_two().clamp(32, WORKGROUP);
            (By::Workgroups { local }, n_groups / n_results, MIN_PER_INVOCATION * local as usize)
        } else {
            (By::Invocations, n_invocations / n_results, MIN_PER_INVOCATION)
        };
        let n_parts = wanted.clamp(1, n_reduced.div_ceil(per_part));
        let unit = match by {
            By::Workgroups { local } => local as usize,
            By::Invocations => 1,
        };
        let part = n_reduced.div_ceil(n_parts).next_multiple_of(unit);
        Division { by, n_reduced, n_results, part, n_parts: n_reduced.div_ceil(part) }
    }
}

impl<'a> Pass<'a> {
    fn of(engine: &'a Engine, reduction: &Reduction) -> Pass<'a> {
        let (combined, stored) = reduction.reducer.types(reduction.input.dtype());
        Pass { engine, reducer: reduction.reducer, combined, stored }
    }

    fn run(&self, reduction: &Reduction, launch: Launch) -> Result<Tensor> {
        let Reduction { input, axes, .. } = reduction;
        let (plan, result) = producer(input)?;
        let kept: SmallVec<[usize; 4]> = (0..input.ndim()).filter(|axis| !axes.contains(axis)).collect();
        self.reduce(&plan, result, input.shape(), (&kept, axes), None, launch)
    }

    /// Reduces the elements of a plan, whose axes are those that stay and those that are reduced. `indices` has the
    /// index that belongs to each element, if that is not its place.
    fn reduce(
        &self,
        plan: &Plan,
        value: usize,
        shape: &[usize],
        (kept, reduced): (&[usize], &[usize]),
        indices: Option<&Tensor>,
        launch: Launch,
    ) -> Result<Tensor> {
        let part_of = |axes: &[usize]| -> Shape { axes.iter().map(|axis| shape[*axis]).collect() };
        let restricted = |axes: &[usize], start: bool| -> Vec<Layout> {
            let restrict = |layout: &Layout| {
                let own = layout.permuted(axes);
                Layout { start: if start { own.start } else { 0 }, ..own }
            };
            expression::layouts(plan).map(restrict).collect()
        };
        let results = Space::of(&part_of(kept), restricted(kept, true).iter());
        let elements = Space::of(&part_of(reduced), restricted(reduced, false).iter());
        let is_row = results.size() == 1 || elements.is_inner_to(&results);
        let division = Division::new(self.engine, results.size(), elements.size(), is_row);
        let n = division.n_results * division.n_parts;
        let is_last = division.n_parts == 1;
        let finds_index = self.reducer.finds_index();
        let value_type = if is_last && !finds_index { self.stored } else { self.combined };
        let out = self.engine.allocate(value_type, n)?;
        let found = match finds_index {
            true => Some(self.engine.allocate(Scalar::I64.into(), n)?),
            false => None,
        };
        let outputs = (&out, value_type, found.as_ref());
        launch(&self.write(plan, value, (&results, &elements), &division, indices, outputs))?;
        if is_last {
            return Ok(found.unwrap_or(out));
        }
        let (shape, axes): ([usize; 2], _) = match division.by {
            By::Workgroups { .. } => ([division.n_results, division.n_parts], ([0], [1])),
            By::Invocations => ([division.n_parts, division.n_results], ([1], [0])),
        };
        let partial = Plan::of_tensor(&out, value_type, &shape);
        self.reduce(&partial, 0, &shape, (&axes.0, &axes.1), found.as_ref(), launch)
    }

    /// The kernel of one launch.
    fn write(
        &self,
        plan: &Plan,
        value: usize,
        (results, elements): (&Space, &Space),
        division: &Division,
        indices: Option<&Tensor>,
        (out, out_type, found): (&Tensor, ElementType, Option<&Tensor>),
    ) -> Written {
        let names: Vec<String> = (0..plan.sources.len()).map(expression::array_name).collect();
        let result_places = Places::of(results, &names, "row");
        let element_places = Places::of(elements, &names, "i");
        let at = result_places.indices_with(&element_places);
        let is_narrow = results.is_narrow()
            && elements.is_narrow()
            && i32::try_from(results.size() as u128 * elements.size() as u128).is_ok();
        let int = if is_narrow { "i32" } else { "i64" };

        let mut load = element_places.lines.clone();
        let element = |source: usize| format!("{}[{}]", expression::array_name(source), at[source]);
        let texts = expression::values(plan, &element, &|source| at[source].clone(), &mut load);
        let element = match plan.steps[value].ty == self.combined || self.combined == Scalar::Bool {
            true => texts[value].0.clone(),
            false => format!("{}({})", self.combined.in_kernels(), texts[value].0),
        };
        match (found, indices) {
            (None, _) => load.push(format!("return {element}")),
            (Some(_), None) => load.push(format!("return {element}, i")),
            (Some(_), Some(_)) => load.push(format!("return {element}, indices[{}]", at[0])),
        }

        // The place of an element is an index of it; the second pass loads indices.
        let index_type = if indices.is_some() { "i64" } else { int };
        let mut parameters = Parameters::of(plan);
        if let Some(indices) = indices {
            parameters.array("indices", Scalar::I64.name(), indices);
        }
        parameters.array("out", out_type.in_kernels(), out);
        if let Some(found) = found {
            parameters.array("found", Scalar::I64.name(), found);
        }
        parameters.numbers(plan);
        parameters.number("identity", self.combined.part().name(), self.reducer.identity(self.combined));
        let count = |n: usize| Number::Int(n as i128);
        parameters.number("n", int, count(division.n_reduced));
        parameters.number("part", int, count(division.part));
        parameters.number("n_parts", int, count(division.n_parts));
        parameters.number("n_results", int, count(division.n_results));
        parameters.ints(int, &result_places.ints);
        parameters.ints(int, &element_places.ints);

        let mut lines = Vec::new();
        let (size, local_size) = match division.by {
            By::Workgroups { local } => {
                let y = if is_narrow { "group_id.y" } else { "i64(group_id.y)" };
                lines.push(format!("group = {y} * num_groups.x + group_id.x"));
                lines.push("if group >= n_results * n_parts:\n        return".to_owned());
                lines.push("row, of_row = divmod(group, n_parts)".to_owned());
                (groups(division, self.engine), Some([local, 1, 1]))
            }
            By::Invocations => {
                let id = if is_narrow { "global_id.x" } else { "global_id64.x" };
                lines.push(format!("of_row, row = divmod({id}, n_results)"));
                (Size::Invocations((division.n_results * division.n_parts) as u64), None)
            }
        };
        lines.extend(result_places.lines.iter().cloned());
        lines.push(format!("def load(i):\n        {}", load.join("\n        ")));
        lines.push("first = of_row * part".to_owned());
        lines.push("last = min(first + part, n)".to_owned());
        let (combine, ty) = (self.reducer.combine(self.combined), self.combined.in_kernels());
        let identity = match self.combined.is_complex() {
            true => format!("{ty}(identity, 0)"),
            false => "identity".to_owned(),
        };
        let out_value = match out_type == self.combined {
            true => "value".to_owned(),
            false => format!("{}(value)", out_type.in_kernels()),
        };
        match (division.by, found.is_some()) {
            (By::Workgroups { local }, false) => {
                lines.push(format!(
                    "value = lane_reduce(first + local_id.x, last, {local}, load, {combine}, {identity})"
                ));
                lines.push(format!("value = workgroup_reduce({ty}, value, {combine}, {local})"));
                lines.push(format!("if local_id.x == 0:\n        out[group] = {out_value}"));
            }
            (By::Workgroups { local }, true) => {
                lines.push(format!(
                    "value, index = lane_find(first + local_id.x, last, {local}, load, {combine}, identity, {index_type}(-1))"
                ));
                lines.push(format!(
                    "value, index = workgroup_find({ty}, {index_type}, value, index, {combine}, {local})"
                ));
                lines.push(
                    "if local_id.x == 0:\n        out[group], found[group] = value, i64(index)".to_owned(),
                );
            }
            (By::Invocations, false) => {
                lines.push(format!("value = lane_reduce(first, last, 1, load, {combine}, {identity})"));
                lines.push(format!("out[of_row * n_results + row] = {out_value}"));
            }
            (By::Invocations, true) => {
                lines.push(format!(
                    "value, index = lane_find(first, last, 1, load, {combine}, identity, {index_type}(-1))"
                ));
                lines.push("at = of_row * n_results + row".to_owned());
                lines.push("out[at], found[at] = value, i64(index)".to_owned());
            }
        }
        let text =
            format!("def {}({}):\n    {}\n", self.reducer.name(), parameters.text(), lines.join("\n    "));
        Written { text, local_size, arguments: parameters.arguments, size }
    }
}

/// The workgroups along x and y.
fn groups(division: &Division, engine: &Engine) -> Size {
    let n = (division.n_results * division.n_parts) as u64;
    let [limit, ..] = engine.manager().info().limits.max_groups;
    let along_x = n.min(u64::from(limit).min(1 << 15));
    Size::Groups([along_x as u32, n.div_ceil(along_x) as u32, 1])
}
