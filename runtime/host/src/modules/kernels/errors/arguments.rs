//! Arguments that a parameter does not accept.

use std::fmt;

use kps_compute::{ComputeError, Number, Tensor};
use kps_kernel::{KernelTemplate, TextureType, Type};

use crate::errors::type_error;
use crate::modules::kernels::is_kernel;
use crate::modules::kp;
use crate::modules::numpy::NdArray;
use crate::value::{Raise, Value};

/// What a parameter accepts.
#[derive(PartialEq)]
pub enum Wanted {
    /// What a parameter without an annotation accepts.
    Anything,
    Tensor,
    Image,
    Sampler,
    Number(Type),
    /// A vector, or another value of several numbers.
    Numbers(usize),
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Anything => f.write_str("a tensor, an image, a sampler, a number or a function"),
            Wanted::Tensor => f.write_str("a tensor"),
            Wanted::Image => f.write_str("an image"),
            Wanted::Sampler => f.write_str("a sampler"),
            Wanted::Number(ty) => write!(f, "a number of type {ty}"),
            Wanted::Numbers(n) => write!(f, "{n} numbers"),
        }
    }
}

/// `called` is the argument's name in the script.
pub fn argument_kind(
    template: &KernelTemplate,
    parameter: &str,
    wanted: &Wanted,
    given: &Value,
    called: Option<&str>,
) -> Raise {
    let takes = takes(template, parameter, wanted);
    let is_for_tensors = matches!(wanted, Wanted::Tensor | Wanted::Anything);
    let is_for_numbers = matches!(wanted, Wanted::Number(_) | Wanted::Anything);
    if let Some(part) = kp::unbound_part(given).filter(|_| is_for_tensors) {
        return type_error(format!("{takes}, not {part}")).help(kp::SCATTERED_HELP);
    }
    let given_type = given.type_name();
    let raise = type_error(format!("{takes}, not {given_type}"));
    match given {
        Value::List(_) | Value::Tuple(_) if is_for_tensors => raise.help(match called {
            Some(name) => format!("make a tensor of it first: {name} = Tensor({name})"),
            None => "make a tensor of it first: Tensor([..])".to_owned(),
        }),
        Value::Int(_) | Value::Float(_) if *wanted == Wanted::Tensor => raise
            .help(format!("declare it as a number in the kernel, `{parameter}: f32`, or pass Tensor([..])")),
        Value::Str(_) if is_for_numbers => raise.help("make a number of it first: float(text)"),
        _ if given_type == "Tensor" && is_for_numbers => {
            raise.help("pass one element, t[0], or change the order of the arguments")
        }
        Value::Class(class) => raise.help(format!("make an object of the class: {}(..)", class.name)),
        Value::Function(_) => raise.help(format!(
            "a parameter takes a function if it has no annotation: declare it as `{parameter}` alone"
        )),
        _ if *wanted == Wanted::Anything && is_kernel(given) => {
            raise.help("a kernel calls plain functions: pass the function without its decorator")
        }
        _ if *wanted == Wanted::Anything && is_function_of_the_host(given) => raise.help(
            "pass a function of the script, a lambda, or a function that kernels have, such as `math.sin`",
        ),
        Value::NativeFunction(function) => {
            raise.help(format!("call it, and pass what it gives: {}(..)", function.name))
        }
        Value::None => {
            raise.help("kernels have no None: give a value, or write a kernel without the parameter")
        }
        _ if given_type == "ndarray" && is_for_tensors => {
            let tensor = format!("make a tensor of it first: Tensor({})", called.unwrap_or("array"));
            raise.help(match *wanted == Wanted::Anything {
                true => format!("{tensor}; a vector is declared in the kernel: `{parameter}: vec3`"),
                false => tensor,
            })
        }
        _ if *wanted == Wanted::Sampler => raise.help("make one: Sampler(filter=\"nearest\")"),
        _ => raise,
    }
}

/// A function, which kernels cannot call.
fn is_function_of_the_host(value: &Value) -> bool {
    matches!(&*value.type_name(), "builtin_function_or_method" | "method" | "ufunc")
}

fn takes(template: &KernelTemplate, parameter: &str, wanted: &Wanted) -> String {
    format!("parameter `{parameter}` of kernel `{}` takes {wanted}", template.name())
}

/// Of a parameter that is a number, or a vector of several.
pub fn argument_numbers(template: &KernelTemplate, parameter: &str, ty: &Type, given: &Value) -> Raise {
    let n = usize::from(ty.n_components());
    if n <= 1 {
        return argument_kind(template, parameter, &Wanted::Number(ty.clone()), given, None);
    }
    let wanted = Wanted::Numbers(n);
    let items = match given {
        Value::Tuple(items) => Some(items.to_vec()),
        Value::List(items) => Some(items.borrow().to_vec()),
        _ => None,
    };
    let n_given = match (&items, given.downcast::<NdArray>().map(NdArray::shape)) {
        (Some(items), _) => Some(items.len()),
        (None, Some([len])) => Some(*len),
        _ => None,
    };
    if let Some(n_given) = n_given.filter(|n_given| *n_given != n) {
        let verb = if n_given == 1 { "was" } else { "were" };
        let raise = type_error(format!("{}, {n_given} {verb} given", takes(template, parameter, &wanted)));
        let components = ["x", "y", "z", "w"].get(..n).map(|letters| letters.join(", "));
        return match components {
            Some(components) if ty.is_vector() => {
                raise.help(format!("give one for each component: `({components})`"))
            }
            _ => raise,
        };
    }
    let number = |value: &Value| kp::number(value).ok().flatten();
    let other = items.iter().flatten().find(|item| number(item).is_none());
    let raise = argument_kind(template, parameter, &wanted, other.unwrap_or(given), None);
    match number(given) {
        Some(number @ (Number::Int(_) | Number::Float(_))) => {
            let each = vec![number.to_string(); n].join(", ");
            raise.help(format!("give one for each component: `({each})`"))
        }
        _ => raise,
    }
}

/// `declared` is the image type of the parameter.
pub fn argument_for_image(
    template: &KernelTemplate,
    parameter: &str,
    declared: TextureType,
    given: &Value,
) -> Raise {
    let raise = argument_kind(template, parameter, &Wanted::Image, given, None);
    let has_values = match given {
        Value::List(_) | Value::Tuple(_) => true,
        given => matches!(&*given.type_name(), "Tensor" | "ndarray"),
    };
    match has_values {
        true => raise.help(format!("make an image of the values: `{}`", image_of(declared))),
        false => raise,
    }
}

/// A call that creates an image of the declared type.
fn image_of(declared: TextureType) -> String {
    let sides = match declared.n_axes {
        1 => ", width=n",
        2 => "",
        _ => ", width, height, depth=n",
    };
    let texels = declared.to_string();
    match texels.split_once(' ').filter(|_| declared.format.is_some()) {
        Some((_, format)) => format!("Image(values{sides}, format=\"{format}\")"),
        None => format!("Image(values{sides})"),
    }
}

/// `seen` is the declaration of a parameter for the image that an array parameter was given.
pub fn image_for_array(parameter: &str, image: &Tensor, seen: TextureType) -> Raise {
    let error =
        ComputeError::ParameterBuffer { parameter: parameter.to_owned(), image: image.label().to_owned() };
    kp::compute(error).help(format!("pass a `Tensor`, or declare an image: `{parameter}: Image[\"{seen}\"]`"))
}
