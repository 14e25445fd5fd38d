//! Four elements an invocation: the form of an expression's kernel for large arrays.
//!
//! Devices move memory fastest in vectors. Where neighbouring elements of a view lie side by side, its array
//! consists of vectors of four; a view that repeats one element along the last axis is loaded once for all four.
//! The expression itself stays a function of single elements, `element`, which is called for each component.

use kps_compute::Tensor;
use kps_scalar::Scalar;

use crate::engine::{Size, Written};
use crate::expression::{self, Parameters, Stored, array_name};
use crate::places::{Places, Space};
use crate::plan::{Action, Plan};

/// The components of a vector.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Elements of a vector.
pub const WIDTH: usize = COMPONENTS.len();

/// The kernel that stores the results of some steps; `None` where views do not allow vectors, and for complex numbers,
/// which are vectors themselves.
pub fn write(plan: &Plan, space: &Space, stored: &[Stored]) -> Option<Written> {
    let n_sources = plan.sources.len();
    let vectors = space.in_vectors(WIDTH)?;
    let are_whole = (n_sources..n_sources + stored.len()).all(|view| vectors.is_vector(view));
    let are_picked_singly = plan.steps.iter().all(|step| match step.action {
        Action::Pick { source, .. } => !vectors.is_vector(source),
        _ => true,
    });
    let has_complex = plan.steps.iter().any(|step| step.ty.is_complex());
    if has_complex || !are_whole || !are_picked_singly || stored.iter().any(|stored| !stored.picks.is_empty())
    {
        return None;
    }

    let names = expression::names(plan, stored.len());
    let places = Places::of(&vectors.space, &names, "i");
    let indices = places.indices();
    let (int, id) = vectors.space.index();
    let mut lines = vec![format!("i = {id}")];
    lines.extend(places.lines.iter().cloned());

    // What `element` takes: the components of vectors, and the places that are counted.
    let mut components: Vec<(String, [String; WIDTH])> = Vec::new();
    let mut parameters = Parameters::default();
    for (at, source) in plan.sources.iter().enumerate() {
        let (name, place) = (array_name(at), &indices[at]);
        match &source.tensor {
            None if vectors.is_vector(at) => {
                let place = if place.contains('+') { format!("({place})") } else { place.clone() };
                lines.push(format!("{name}4 = {WIDTH} * {place}"));
                components.push((name.clone(), std::array::from_fn(|n| format!("{name}4 + {n}"))));
            }
            None => lines.push(format!("{name} = {place}")),
            Some(tensor) if vectors.is_vector(at) => {
                lines.push(format!("{name}4 = {name}[{place}]"));
                components.push((name.clone(), COMPONENTS.map(|component| format!("{name}4.{component}"))));
                parameters.array(&name, &vector_type(tensor.dtype()), &in_whole_vectors(tensor)?);
            }
            Some(tensor) => {
                if plan.loads(at) {
                    lines.push(format!("{name}1 = {name}[{place}]"));
                }
                parameters.array(&name, source.dtype.in_kernels(), tensor);
            }
        }
    }

    let mut body = Vec::new();
    let load = |at: usize| array_name(at) + if vectors.is_vector(at) { "" } else { "1" };
    let place_of =
        |at: usize| if plan.sources[at].tensor.is_none() { array_name(at) } else { indices[at].clone() };
    let texts = expression::values(plan, &load, &place_of, &mut body);
    let results: Vec<&str> = stored.iter().map(|stored| texts[stored.step].0.as_str()).collect();
    body.push(format!("return {}", results.join(", ")));
    let own: Vec<&str> = components.iter().map(|(name, _)| name.as_str()).collect();
    lines.push(format!("def element({}):\n        {}", own.join(", "), body.join("\n        ")));
    let calls: [String; WIDTH] = std::array::from_fn(|n| {
        let own: Vec<&str> = components.iter().map(|(_, each)| each[n].as_str()).collect();
        format!("element({})", own.join(", "))
    });
    if let [_, _, ..] = stored {
        let results: [String; WIDTH] = std::array::from_fn(|n| format!("r{n}"));
        lines.push(format!("{} = {}", results.join(", "), calls.join(", ")));
    }
    for (at, Stored { view, .. }) in stored.iter().enumerate() {
        let (name, place) = (&names[n_sources + at], &indices[n_sources + at]);
        let vector = vector_type(view.tensor.dtype());
        let values: [String; WIDTH] = match stored {
            [_] => calls.clone(),
            _ => std::array::from_fn(|n| format!("r{n}[{at}]")),
        };
        lines.push(format!("{name}[{place}] = {vector}({})", values.join(", ")));
        parameters.array(name, &vector, &in_whole_vectors(&view.tensor)?);
    }
    parameters.numbers(plan);
    parameters.ints(int, &places.ints);
    let text =
        format!("def {}({}):\n    {}\n", expression::title(plan), parameters.text(), lines.join("\n    "));
    let size = Size::Invocations(vectors.space.size() as u64);
    Some(Written { text, local_size: None, arguments: parameters.arguments, size })
}

/// The memory as far as vectors fill it.
fn in_whole_vectors(tensor: &Tensor) -> Option<Tensor> {
    tensor.view(0, &[tensor.size() / WIDTH * WIDTH]).ok()
}

/// The type of a vector of four, by its short name if it has one.
fn vector_type(element: Scalar) -> String {
    match element {
        Scalar::F32 => "vec4".to_owned(),
        Scalar::F64 => "dvec4".to_owned(),
        Scalar::F16 => "hvec4".to_owned(),
        Scalar::I32 => "ivec4".to_owned(),
        Scalar::U32 => "uvec4".to_owned(),
        Scalar::Bool => "bvec4".to_owned(),
        other => format!("Vector({WIDTH}, {other})"),
    }
}
