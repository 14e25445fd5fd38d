//! Expressions as kernels: the plan of an array goes in, the text of a kernel and its launch come out.

use kps_compute::{Number, Tensor};
use kps_scalar::Scalar;
use smallvec::SmallVec;

use crate::array::{Array, View};
use crate::element::ElementType;
use crate::engine::{Argument, Size, Written};
use crate::errors::Result;
use crate::layout::Layout;
use crate::ops::{Form, Precedence};
use crate::pick::Picking;
use crate::places::{Places, Space};
use crate::plan::{Action, PickStep, Plan};
use crate::vectors;

/// A result that a kernel stores.
pub struct Stored {
    pub view: View,
    pub step: usize,
    /// Indices that are added to the place.
    pub picks: SmallVec<[PickStep; 2]>,
}

impl Stored {
    fn new(view: View, step: usize) -> Stored {
        Stored { view, step, picks: SmallVec::new() }
    }

    /// In new memory.
    fn fresh(node: &Array, step: usize) -> Result<Stored> {
        let tensor = node.engine().allocate(node.dtype(), node.size())?;
        let layout = Layout::contiguous(node.shape(), 0);
        Ok(Stored::new(View { tensor, dtype: node.dtype(), layout }, step))
    }
}

/// Starts the kernel that computes an array element by element.
pub fn compute(array: &Array) -> Result<()> {
    let (plan, result) = Plan::of(array)?;
    let stored = Stored::fresh(array, result)?;
    let view = stored.view.clone();
    run(array, &plan, stored)?;
    array.is_now(view);
    Ok(())
}

/// Starts the kernel that writes an array into a view, which has its type and its shape.
pub fn store(array: &Array, target: &View) -> Result<()> {
    let (plan, result) = Plan::of(array)?;
    if plan.overlaps(target) {
        drop(plan);
        array.evaluate()?;
        // What the computed array reads is its own memory.
        let (plan, result) = Plan::of(array)?;
        if plan.overlaps(target) {
            return store(&array.copy()?, target);
        }
        return run(array, &plan, Stored::new(target.clone(), result));
    }
    run(array, &plan, Stored::new(target.clone(), result))
}

/// Starts the kernel that writes an array into elements of a view that indices pick.
pub fn store_at(array: &Array, target: &View, picking: &Picking) -> Result<()> {
    let (mut plan, result) = Plan::of(array)?;
    let picks = plan.picks(picking, array.shape())?;
    if plan.reads(target) {
        drop(plan);
        return store_at(&array.copy()?, target, picking);
    }
    for pick in &picks {
        plan.steps[pick.index].uses += 2;
    }
    run(array, &plan, Stored { view: target.clone(), step: result, picks })
}

/// Starts the kernels that store a result, and those of other nodes that somebody holds.
fn run(array: &Array, plan: &Plan, stored: Stored) -> Result<()> {
    let mut all = vec![stored];
    for (node, step) in &plan.also_stored {
        all.push(Stored::fresh(node, *step)?);
    }
    let kernels = kernels(array, plan, &all);
    let is_running = |on: bool| plan.joined.iter().for_each(|node| node.0.is_running.set(on));
    is_running(true);
    let started = kernels.iter().try_for_each(|written| array.engine().launch(written));
    is_running(false);
    started?;
    for ((node, _), stored) in plan.also_stored.iter().zip(all.into_iter().skip(1)) {
        node.is_now(stored.view);
    }
    Ok(())
}

/// The text of the kernel that would compute an array.
pub fn source(array: &Array) -> Result<String> {
    let (plan, result) = Plan::of(array)?;
    let stored = Stored::fresh(array, result)?;
    Ok(kernels(array, &plan, &[stored])[0].source())
}

/// Arrays with more elements than this are computed in vectors.
const MAX_SINGLE: usize = 1 << 14;

/// The kernels that store the results of some steps for all elements of an array: one, and where vectors leave some
/// elements, another one for these.
fn kernels(array: &Array, plan: &Plan, stored: &[Stored]) -> SmallVec<[Written; 2]> {
    let results = stored.iter().map(|stored| &stored.view.layout);
    let space = Space::of(array.shape(), layouts(plan).chain(results));
    // A CPU makes vectors of neighbouring invocations itself.
    if space.size() > MAX_SINGLE && !array.engine().is_cpu() {
        let (first, rest) = space.clone().divided(vectors::WIDTH);
        if let Some(written) = vectors::write(plan, &first, stored) {
            return [Some(written), rest.map(|rest| write(plan, &rest, stored))]
                .into_iter()
                .flatten()
                .collect();
        }
    }
    SmallVec::from_iter([write(plan, &space, stored)])
}

/// The kernel that stores the results of some steps.
fn write(plan: &Plan, space: &Space, stored: &[Stored]) -> Written {
    let n_sources = plan.sources.len();
    let names = names(plan, stored.len());
    let places = Places::of(space, &names, "i");
    let indices = places.indices();
    let (int, id) = space.index();
    let mut lines = vec![format!("i = {id}")];
    lines.extend(places.lines.iter().cloned());
    let load = |at: usize| format!("{}[{}]", array_name(at), indices[at]);
    let texts = values(plan, &load, &|at| indices[at].clone(), &mut lines);
    let mut parameters = Parameters::of(plan);
    for (at, Stored { view, step, picks }) in stored.iter().enumerate() {
        let (name, place) = (&names[n_sources + at], &indices[n_sources + at]);
        let (place, is_inside) = picked(place, picks, &texts);
        let store = format!("{name}[{place}] = {}", texts[*step].0);
        lines.push(match is_inside {
            Some(is_inside) => format!("if {is_inside}:\n        {store}"),
            None => store,
        });
        parameters.array(name, view.dtype.in_kernels(), &view.tensor);
    }
    parameters.numbers(plan);
    parameters.ints(int, &places.ints);
    let text = format!("def {}({}):\n    {}\n", title(plan), parameters.text(), lines.join("\n    "));
    let size = Size::Invocations(space.size() as u64);
    Written { text, local_size: None, arguments: parameters.arguments, size }
}

/// A place with the indices that pick from it, and the condition that these are in range.
fn picked(place: &str, picks: &[PickStep], texts: &[(String, Precedence)]) -> (String, Option<String>) {
    let text = |step: usize| &texts[step].0;
    let mut terms: Vec<String> = Vec::new();
    if place != "0" || picks.is_empty() {
        terms.push(place.to_owned());
    }
    let mut tests = Vec::new();
    for PickStep { index, stride, len } in picks {
        terms.push(format!("from_start({}, {}) * {}", text(*index), text(*len), text(*stride)));
        tests.push(format!("is_index({}, {})", text(*index), text(*len)));
    }
    (terms.join(" + "), (!tests.is_empty()).then(|| tests.join(" and ")))
}

/// The places of a plan's sources.
pub fn layouts(plan: &Plan) -> impl Iterator<Item = &Layout> {
    plan.sources.iter().map(|source| &source.layout)
}

/// The parameters of a kernel, with their arguments.
#[derive(Default)]
pub struct Parameters {
    texts: Vec<String>,
    pub arguments: Vec<Argument>,
}

impl Parameters {
    /// The tensors that a plan reads.
    pub fn of(plan: &Plan) -> Parameters {
        let mut parameters = Parameters::default();
        for (at, source) in plan.sources.iter().enumerate() {
            if let Some(tensor) = &source.tensor {
                parameters.array(&array_name(at), source.dtype.in_kernels(), tensor);
            }
        }
        parameters
    }

    pub fn array(&mut self, name: &str, element: &str, tensor: &Tensor) {
        self.texts.push(format!("{name}: Array[{element}]"));
        self.arguments.push(Argument::Tensor(tensor.clone()));
    }

    /// The scalars of a plan.
    pub fn numbers(&mut self, plan: &Plan) {
        for (at, (ty, number)) in plan.numbers.iter().enumerate() {
            self.number(&number_name(at), ty.name(), *number);
        }
    }

    pub fn ints(&mut self, int: &str, ints: &[(String, Number)]) {
        ints.iter().for_each(|(name, number)| self.number(name, int, *number));
    }

    pub fn number(&mut self, name: &str, ty: &str, number: Number) {
        self.texts.push(format!("{name}: {ty}"));
        self.arguments.push(Argument::Number(number));
    }

    pub fn text(&self) -> String {
        self.texts.join(", ")
    }
}

/// The text of each step, for sources whose elements and whose places have these texts. Values that are used several
/// times get names, by statements.
pub fn values(
    plan: &Plan,
    load: &dyn Fn(usize) -> String,
    place: &dyn Fn(usize) -> String,
    lines: &mut Vec<String>,
) -> Vec<(String, Precedence)> {
    let mut texts: Vec<(String, Precedence)> = Vec::with_capacity(plan.steps.len());
    let mut n_named = 0;
    for step in &plan.steps {
        let (text, precedence) = match &step.action {
            Action::Load(at) => (load(*at), Precedence::Atom),
            Action::Number(at) => (number_name(*at), Precedence::Atom),
            Action::Complex { re, im } => {
                let (re, im) = (number_name(*re), number_name(*im));
                (format!("{}({re}, {im})", step.ty.in_kernels()), Precedence::Atom)
            }
            Action::Literal(n) if *n < 0 => (n.to_string(), Precedence::Sign),
            Action::Literal(n) => (n.to_string(), Precedence::Atom),
            Action::Count { source, start, step: by } => {
                let (start, by) = (number_name(*start), number_name(*by));
                (format!("{start} + {}({}) * {by}", step.ty, place(*source)), Precedence::Sum)
            }
            Action::Pick { source, picks } => {
                let (place, is_inside) = picked(&place(*source), picks, &texts);
                let nothing = match step.ty {
                    ElementType::Real(Scalar::Bool) => "False".to_owned(),
                    ElementType::Real(_) => "0".to_owned(),
                    complex => format!("{}(0)", complex.in_kernels()),
                };
                let is_inside = is_inside.expect("it has indices");
                (
                    format!("{}[{place}] if {is_inside} else {nothing}", array_name(*source)),
                    Precedence::Choice,
                )
            }
            Action::Convert(of) => converted(plan.steps[*of].ty, step.ty, &texts[*of]),
            Action::Apply { form, operands, .. } => applied(*form, operands, &texts),
        };
        let is_worth_a_name = step.uses > 1 && !matches!(step.action, Action::Number(_) | Action::Literal(_));
        if is_worth_a_name {
            let name = format!("v{n_named}");
            n_named += 1;
            lines.push(format!("{name} = {text}"));
            texts.push((name, Precedence::Atom));
        } else {
            texts.push((text, precedence));
        }
    }
    texts
}

/// A value as another type.
fn converted(from: ElementType, to: ElementType, value: &(String, Precedence)) -> (String, Precedence) {
    let (ty, text) = (to.in_kernels(), &value.0);
    match (from.is_complex(), to.is_complex()) {
        (true, false) => (format!("is_not_zero({text})"), Precedence::Atom),
        (false, true) => (format!("{ty}({text}, 0)"), Precedence::Atom),
        (false, false) if to == Scalar::Bool => {
            (format!("{} != 0", within(value, Precedence::BitOr)), Precedence::Compare)
        }
        _ => (format!("{ty}({text})"), Precedence::Atom),
    }
}

/// An operand, in brackets if it binds more weakly than this.
fn within((text, own): &(String, Precedence), least: Precedence) -> String {
    if *own < least { format!("({text})") } else { text.clone() }
}

/// The next tighter binding.
fn tighter(than: Precedence) -> Precedence {
    use Precedence::{
        And, Atom, BitAnd, BitOr, BitXor, Choice, Compare, Not, Or, Power, Product, Shift, Sign, Sum,
    };
    match than {
        Choice => Or,
        Or => And,
        And => Not,
        Not => Compare,
        Compare => BitOr,
        BitOr => BitXor,
        BitXor => BitAnd,
        BitAnd => Shift,
        Shift => Sum,
        Sum => Product,
        Product => Sign,
        Sign => Power,
        Power | Atom => Atom,
    }
}

fn applied(form: Form, operands: &[usize], texts: &[(String, Precedence)]) -> (String, Precedence) {
    let text = |at: usize| &texts[operands[at]];
    match form {
        Form::Infix(symbol, precedence) => {
            // Operators group from the left, but for the power; comparisons do not group at all.
            let (left, right) = match precedence {
                Precedence::Power => (Precedence::Atom, Precedence::Sign),
                Precedence::Compare => (Precedence::BitOr, Precedence::BitOr),
                other => (other, tighter(other)),
            };
            (format!("{} {symbol} {}", within(text(0), left), within(text(1), right)), precedence)
        }
        Form::Prefix(symbol, precedence) => (format!("{symbol}{}", within(text(0), precedence)), precedence),
        Form::Call(name) => {
            let operands: Vec<&str> = (0..operands.len()).map(|at| text(at).0.as_str()).collect();
            (format!("{name}({})", operands.join(", ")), Precedence::Atom)
        }
        Form::Choice => {
            let [condition, yes] = [text(0), text(1)].map(|of| within(of, Precedence::Or));
            (format!("{yes} if {condition} else {}", text(2).0), Precedence::Choice)
        }
        Form::Operand => texts[operands[0]].clone(),
        Form::Always(text) => (text.to_owned(), Precedence::Atom),
    }
}

/// The names of a plan's sources, then those of the results.
pub fn names(plan: &Plan, n_results: usize) -> Vec<String> {
    let result = |at: usize| if at == 0 { "out".to_owned() } else { format!("out{at}") };
    (0..plan.sources.len()).map(array_name).chain((0..n_results).map(result)).collect()
}

/// `a` to `z`, but for `i`, which is the index.
pub fn array_name(at: usize) -> String {
    const NAMES: &[u8] = b"abcdefghjklmnopqrstuvwxyz";
    match NAMES.get(at) {
        Some(letter) => char::from(*letter).to_string(),
        None => format!("a{at}"),
    }
}

pub fn number_name(at: usize) -> String {
    format!("k{at}")
}

/// The name of a kernel in profiles: its first operations.
pub fn title(plan: &Plan) -> String {
    let mut names: Vec<&str> = Vec::new();
    for step in &plan.steps {
        let name = match &step.action {
            Action::Apply { name, .. } => *name,
            Action::Convert(_) => "convert",
            Action::Pick { .. } => "take",
            Action::Count { .. } => "count",
            _ => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] if plan.sources.is_empty() => "fill".to_owned(),
        [] => "copy".to_owned(),
        names => names[..names.len().min(4)].join("_"),
    }
}
