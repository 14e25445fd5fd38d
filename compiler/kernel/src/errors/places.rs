//! Mistakes about lists, elements, components and assignments.

use kps_syntax::ast::{Expr, ExprKind};
use kps_syntax::{Diagnostic, Location};

use super::parts::{error, meant};
use super::source_text::{
    as_operand, floor_divided, has_call, in_list_brackets, is_choice, is_display, is_list_display,
    is_on_line_of_for, last_name, owner, split_at_commas, swizzled, with_index,
};
use super::values::cast_one;
use crate::builtins::{self, Builtin};
use crate::foreign_names;
use crate::found::{Found, SequenceKind};
use crate::signature::ArrayParam;
use crate::types::{Scalar, Type};

pub(crate) fn empty_list(at: Location) -> Diagnostic {
    error("kernel/list", at, "a list in a kernel has at least one element", "")
        .help("say how many it is to hold: `[0.0] * 16`")
}

pub(crate) fn list_too_long(at: Location, len: usize, max: u32) -> Diagnostic {
    error("kernel/list", at, format!("a list of {len} elements is too long for one invocation"), "")
        .help(format!("pass it as an array parameter; {max} elements are the most"))
}

pub(crate) fn list_too_large(at: Location, ty: &Type, max: u32) -> Diagnostic {
    error("kernel/list", at, format!("the list, `{ty}`, is too large for one invocation"), "")
        .help(format!("pass it as an array parameter; {max} bytes are the most"))
}

/// The number of elements is known, and no list has so many.
pub(crate) fn list_repeated(at: Location, n: i128, most: u32) -> Diagnostic {
    let message = format!("a list has 1 to {most} elements, and this one would have {n}");
    error("kernel/list", at, message, "").help(match n {
        ..1 => "kernels have no empty lists: keep one element, and do not use it",
        _ => "pass an array for more: a parameter `a: Array[f32]`",
    })
}

pub(crate) fn list_repeat(at: Location) -> Diagnostic {
    error("kernel/list", at, "a list is repeated a constant number of times", "")
        .help("write `[0.0] * 16`, or make the number a `const[i32]` parameter")
}

/// `cast` is the conversion that makes the elements' types equal.
pub(crate) fn list_types(
    first: (Location, &Found),
    other: (Location, &Found),
    cast: Option<String>,
) -> Diagnostic {
    if first.1.is_array() && first.1 == other.1 {
        return error(
            "kernel/list",
            first.0,
            "a list holds no arrays, but numbers and what is made of them",
            first.1,
        )
        .help("take elements of them: `[a[i], b[i]]`");
    }
    let help = match first.1.is_function() || other.1.is_function() {
        true => "a list holds numbers and what is made of them: choose among functions with `if`".to_owned(),
        false => cast_one(cast),
    };
    error("kernel/list", first.0, "the elements of a list have one type", first.1)
        .label(other.0, other.1)
        .help(help)
}

/// For `value[index]`.
pub(crate) fn not_indexable(at: Location, (value, index): (&Expr, &Expr), what: &Found) -> Diagnostic {
    let source = at.source.clone();
    let text = source.slice(value.span);
    // The range is known.
    if *what == Found::Sequence(SequenceKind::Range) {
        let message = format!("`{text}` is {what}, whose items cannot be assigned");
        return error("kernel/index", at, message, "").help("make a list of its length: `[0] * 8`");
    }
    let diagnostic = error("kernel/index", at, format!("`{text}` is {what}, which has no elements"), "");
    if let Found::Texture(_) = what {
        return diagnostic.help(format!(
            "read one texel, `{text}.read(ivec2(x, y))`, or write it, `{text}.write(ivec2(x, y), value)`"
        ));
    }
    match n_indices_in(value) {
        Some((array, n_indices)) => {
            let array = source.slice(array.span);
            let element = what.value().map_or_else(|| Scalar::F32.to_string(), Type::to_string);
            diagnostic.help(format!(
                "leave the last index out, or declare an array of more dimensions: \
                 `{array}: Array[{element}, {}]`",
                n_indices + 1
            ))
        }
        None if matches!(what, Found::Function(_)) => {
            let args = source.slice(index.span);
            diagnostic.help(format!("it is called with parentheses: `{text}({args})`"))
        }
        None => {
            diagnostic.help(format!("leave the index out, `{text}`, or make `{text}` an array or a list"))
        }
    }
}

/// The array of `a[i][j, k]`, and its indices, as many as there are.
fn n_indices_in(value: &Expr) -> Option<(&Expr, usize)> {
    let ExprKind::Subscript { value, index } = &value.kind else { return None };
    let n = match &index.kind {
        ExprKind::Tuple(items) => items.len(),
        _ => 1,
    };
    Some(n_indices_in(value).map_or((value, n), |(array, before)| (array, before + n)))
}

/// A vector with a component for each axis of `array`; x is the index along the last.
pub(crate) fn vector_index(at: Location, array: &str, text: &str, what: &Found) -> Diagnostic {
    let (letters, vector) = match swizzled(text) {
        Some((vector, "xy" | "yx")) => ("yx", vector),
        Some((vector, "xyz" | "zyx")) => ("zyx", vector),
        _ if what.vector().is_some_and(|(n, _)| n == 2) => ("yx", text),
        _ => ("zyx", text),
    };
    let vector = as_operand(vector);
    let indices: Vec<String> = letters.chars().map(|letter| format!("{vector}.{letter}")).collect();
    error("kernel/index", at, format!("an index is an int, not {what}"), what)
        .help(format!("give each axis its component: `{array}[{}]`", indices.join(", ")))
}

/// Of an index that a loop over an array gave: it gives elements.
pub(crate) fn element_as_index(at: Location, text: &str, what: &Found, array: &str) -> Diagnostic {
    error("kernel/index", at, format!("an index is an int, not {what}"), what).help(format!(
        "`for {text} in {array}` gives elements: `for {text} in range(len({array}))` gives indices"
    ))
}

pub(crate) fn index_type(at: Location, text: &str, what: &Found) -> Diagnostic {
    let diagnostic = error("kernel/index", at, format!("an index is an int, not {what}"), what);
    match what {
        Found::Value(Type::Vector(..)) => {
            diagnostic.help(format!("take one component: `{}.x`", as_operand(text)))
        }
        what if what.is_array() => match in_list_brackets(text) {
            Some(inner) => {
                diagnostic.help(format!("brackets within brackets are a list: write `{inner}` alone"))
            }
            None => diagnostic.help(format!("take one element: `{text}[i]`")),
        },
        what if !what.is_number() => diagnostic.help("an index counts the elements of one axis, from 0"),
        // `x[i / 2]` means the whole part.
        _ if let Some(divided) = floor_divided(text) => {
            diagnostic.help(format!("`/` gives a float: write `{divided}`"))
        }
        _ => diagnostic.help(format!("write `i32({text})`")),
    }
}

/// The items of a tuple that has a name, one by one.
fn items_of(text: &str, n_items: usize) -> Vec<String> {
    let text = as_operand(text);
    (0..n_items).map(|at| format!("{text}[{at}]")).collect()
}

/// For an index that is a tuple: `wrong` are the items that are no ints, with their kinds.
pub(crate) fn index_item(at: Location, text: &str, n_items: usize, wrong: &[(usize, Found)]) -> Diagnostic {
    let mut items = items_of(text, n_items);
    for (item, what) in wrong {
        let part = if what.is_vector() { ".x" } else { "" };
        items[*item] = match what.vector() {
            Some((_, scalar)) if scalar.is_int() => format!("{}{part}", items[*item]),
            _ => format!("i32({}{part})", items[*item]),
        };
    }
    let (first, what) = &wrong[0];
    error("kernel/index", at, format!("an index is an int, and item {first} of `{text}` is {what}"), "")
        .help(format!("index by its items: `[{}]`", items.join(", ")))
}

pub(crate) fn index_out_of_range(at: Location, index: i128, len: usize, what: &str) -> Diagnostic {
    error("kernel/index", at, format!("index {index} is outside a {what} of {len}"), "").help(match len {
        0 => "it has no elements".to_owned(),
        1 => "its only index is 0".to_owned(),
        len => format!("its elements are 0 to {}, from the end -1 to -{len}", len - 1),
    })
}

pub(crate) fn too_many_indices(at: Location, name: &str, array: &ArrayParam, n_indices: usize) -> Diagnostic {
    let (dimensions, help) = match array.rank {
        1 => {
            let element = &array.element;
            let help = format!("annotate it `{name}: Array[{element}, {n_indices}]`, or compute one index");
            ("one dimension".to_owned(), help)
        }
        rank => {
            let text = at.source.slice(at.span);
            let indices = match split_at_commas(text) {
                indices if indices.len() == n_indices => indices.into_iter().map(str::to_owned).collect(),
                _ => items_of(text, n_indices),
            };
            let kept = indices[..indices.len().min(rank.into())].join(", ");
            (format!("{rank} dimensions"), format!("give one index for each: `{name}[{kept}]`"))
        }
    };
    let message = format!("`{name}` has {dimensions}, and {n_indices} indices are given");
    error("kernel/index", at, message, "").help(help)
}

pub(crate) fn no_index(at: Location) -> Diagnostic {
    error("kernel/index", at, "an empty tuple is no index", "")
        .help("give an index for each dimension: `a[i]`, or `a[i, j]`")
}

pub(crate) fn assign_row(at: Location, text: &str, name: &str, n_missing: u8) -> Diagnostic {
    let more = if n_missing == 1 { "one more index" } else { "more indices" };
    let message = format!("`{text}` is a row of `{name}`, which cannot be assigned as a whole");
    error("kernel/index", at, message, "").help(format!("give {more}, and assign the elements in a loop"))
}

pub(crate) fn element_wanted(at: Location, array: &str, n_missing: u8) -> Diagnostic {
    let more = if n_missing == 1 { "one more index" } else { "more indices" };
    error("kernel/index", at, format!("this leads to a row of `{array}`, not to an element"), "")
        .help(format!("give {more} as a tuple: `(i, j)`"))
}

pub(crate) fn array_rank(at: Location) -> Diagnostic {
    error("kernel/not-a-type", at, "an array has one to eight dimensions", "")
        .help("write `Array[f32, 2]` for an array with rows and columns")
}

pub(crate) fn list_index_tuple(at: Location, n_indices: usize) -> Diagnostic {
    error("kernel/index", at, format!("a list takes one index, not {n_indices}"), "")
        .help("index a list of lists step by step: `a[i][j]`")
}

pub(crate) fn tuple_index(at: Location) -> Diagnostic {
    error("kernel/index", at, "the index of a tuple of different things is a constant", "")
        .help("choose among them with `if`: `t[0] if k == 0 else t[1]`")
}

pub(crate) fn no_attribute(at: Location, name: &str, what: &Found) -> Diagnostic {
    let diagnostic = error("kernel/attribute", at, format!("{what} has no `{name}`"), "");
    if let Some(instead) = foreign_names::instead_of_attribute(name) {
        return diagnostic.help(instead);
    }
    let is_component = is_component(name);
    match what {
        Found::Object(_) => diagnostic
            .help("it is an object of the script, a constant in kernels: pass numbers that change as arrays"),
        Found::Sampler => diagnostic.help("an image is sampled, by a sampler: `img.sample(s, at)`"),
        _ if is_called(name) => diagnostic.help(format!("it is a function here: `{name}(..)`")),
        Found::Sequence(SequenceKind::Range) => {
            diagnostic.help("a range has `start`, `stop` and `step`; its numbers are counted by a loop")
        }
        Found::Sequence(_) => diagnostic.help("loop over it: it has no attributes"),
        Found::Type(_) | Found::Generic(_) if is_component => diagnostic
            .help(format!("make a value of it first: `v = vec3(1.0, 2.0, 3.0)`, and take `v.{name}`")),
        what if is_component && is_array_of_numbers(what) => {
            diagnostic.help("its elements are numbers: index it, `a[i]`")
        }
        what if what.is_array() && !is_array_of_numbers(what) => {
            diagnostic.help(format!("take it of one element: `a[i].{name}`"))
        }
        Found::Tuple(_) if is_component => diagnostic
            .help("count the items of a tuple, `t[0]`, or take it apart: `height, width = image.shape`"),
        what if is_component && what.is_matrix() => {
            diagnostic.help("take an element of the matrix, `m[row, column]`, or a row, `m[row]`")
        }
        Found::Function(_) => diagnostic
            .help(format!("it is a function: call it, `f(..)`, and take `.{name}` of what it gives")),
        what if is_component && what.is_number() => {
            diagnostic.help(format!("leave `.{name}` out: it is one number already"))
        }
        _ => diagnostic.help("vectors have components, `v.xy`; arrays have `shape` and `size`"),
    }
}

/// Of `settings.scale = 5.0`, where `settings` is an object of the script.
pub(crate) fn assign_captured_attribute(at: Location, object: &str, name: &str) -> Diagnostic {
    let message = format!("`{object}` is an object of the script, which kernels cannot change");
    error("kernel/assign-captured", at, message, "").help(format!(
        "assign it before the launch; a number that the kernel computes goes into an array, `{name}: Array[f32]`"
    ))
}

/// Whether it is a function of kernels, as NumPy's arrays have some as methods.
fn is_called(name: &str) -> bool {
    matches!(builtins::lookup(name).or_else(|| builtins::member(name)), Some(Builtin::Function(_)))
}

fn is_component(name: &str) -> bool {
    matches!(name, "x" | "y" | "z" | "w" | "r" | "g" | "b" | "a")
}

/// Whether no element has parts.
fn is_array_of_numbers(what: &Found) -> bool {
    matches!(what.element(), Some(Type::Scalar(_)))
}

pub(crate) fn array_attribute_assigned(at: Location, what: &Found, name: &str) -> Diagnostic {
    error("kernel/assignment", at, format!("the `{name}` of {what} cannot be assigned in a kernel"), "")
        .help("give the tensor another shape before the launch: `t.reshape(h, w)`")
}

pub(crate) fn view_without_type(at: Location) -> Diagnostic {
    let of = owner(&at);
    error("kernel/view", at, "`view` takes one type, that of its elements", "")
        .help(format!("such as `{of}.view(uvec4)`"))
}

/// Of a row of an array.
pub(crate) fn view_of_a_part(at: Location, what: &Found) -> Diagnostic {
    error("kernel/view", at, format!("a view is of a whole array, not of {what}"), "")
        .help("take a view of the array, which has one axis, and compute the index of the first element")
}

/// Of a list or of shared memory.
pub(crate) fn view_of_a_list(at: Location, what: &Found) -> Diagnostic {
    error("kernel/view", at, format!("a view is of an array parameter, not of {what}"), "")
        .help("make it of the elements that are loaded: `shared(uvec4, 64)`")
}

pub(crate) fn view_of_a_choice(at: Location, name: &str) -> Diagnostic {
    error("kernel/view", at, format!("`{name}` is one of several arrays, and a view is of one"), "")
        .help("take a view of each array, and choose among the views")
}

pub(crate) fn view_sizes(at: Location, from: &Type, to: &Type) -> Diagnostic {
    let size = |ty: &Type| ty.packed_size();
    let message = format!(
        "an array of `{from}`, of {} bytes each, has no view as `{to}`, of {} bytes: one size must divide the other",
        size(from),
        size(to)
    );
    error("kernel/view", at, message, "")
        .help("choose a type of as many bytes, or of a multiple or a fraction of them")
}

pub(crate) fn no_array_attribute(
    at: Location,
    name: &str,
    what: &Found,
    nearest: Option<&str>,
) -> Diagnostic {
    let of = owner(&at);
    let diagnostic = error("kernel/attribute", at, format!("{what} has no `{name}`"), "");
    match (foreign_names::instead_of_array_attribute(name), nearest) {
        (Some(instead), _) => diagnostic.help(instead),
        (None, Some(_)) => meant(diagnostic, nearest),
        (None, None) if is_called(name) => {
            diagnostic.help(format!("it is a function here: `{name}({of}, ..)`"))
        }
        (None, None) if is_component(name) && is_array_of_numbers(what) => {
            diagnostic.help(format!("its elements are numbers: index it, `{of}[i]`"))
        }
        (None, None) if is_component(name) || !is_array_of_numbers(what) => {
            diagnostic.help(format!("take it of one element: `{of}[i].{name}`"))
        }
        (None, None) => diagnostic.help("an array has `shape`, `size`, `ndim` and `view`"),
    }
}

pub(crate) fn unknown_swizzle(at: Location, letters: &str, ty: &Type) -> Diagnostic {
    let diagnostic = error("kernel/swizzle", at, format!("`{ty}` has no components `{letters}`"), "");
    match letters {
        "shape" | "size" | "ndim" | "len" => {
            diagnostic.help("it is a vector in kernels: `len(v)` counts its components")
        }
        "dot" | "cross" | "reflect" | "distance" => {
            diagnostic.help(format!("it is a function of two vectors here: `{letters}(v, w)`"))
        }
        "norm" | "magnitude" | "mag" => diagnostic.help("the length of a vector is `length(v)`"),
        "normalized" | "unit" => diagnostic.help("write `normalize(v)`"),
        name if is_called(name) => diagnostic.help(format!("it is a function here: `{name}(v)`")),
        _ => diagnostic.help("one to four letters of `xyzw`, `rgba` or `stpq`"),
    }
}

pub(crate) fn swizzle_too_wide(at: Location, letters: &str, ty: &Type) -> Diagnostic {
    let last = &"xyzw"[..usize::from(ty.n_components()).min(4)];
    error("kernel/swizzle", at, format!("`{ty}` has no components `{letters}`"), "")
        .help(format!("it has `{last}`"))
}

pub(crate) fn repeated_component(at: Location, letters: &str) -> Diagnostic {
    error("kernel/swizzle", at, format!("`{letters}` assigns a component twice"), "")
        .help("name each component once: `v.xy = v.yx`")
}

pub(crate) fn not_assignable(at: Location, text: &str) -> Diagnostic {
    error("kernel/assignment", at, format!("cannot assign to `{text}`"), "")
        .help("assign to a name, an element or a component: `x = ..`, `a[i] = ..`, `v.x = ..`")
}

pub(crate) fn augmented_tuple(at: Location) -> Diagnostic {
    error("kernel/assignment", at, "an augmented assignment has one target", "")
        .help("write one for each: `a += 1`, `b += 1`")
}

pub(crate) fn not_unpackable(at: Location, what: &Found, n_targets: usize) -> Diagnostic {
    let text = at.source.slice(at.span).to_owned();
    let is_of_a_loop = is_on_line_of_for(&at);
    let diagnostic =
        error("kernel/unpack", at, format!("cannot unpack {what} into {n_targets} targets"), what);
    match is_of_a_loop && n_targets == 2 {
        true => diagnostic.help("an element comes with its index by `for i, x in enumerate(xs):`"),
        // Its elements may be meant.
        false
            if let Found::Array(array) = what
                && array.rank == 1
                && n_targets <= 4
                && !has_call(&text) =>
        {
            let items = (0..n_targets).map(|at| with_index(&text, at));
            diagnostic.help(format!("name its elements: `{}`", items.collect::<Vec<_>>().join(", ")))
        }
        false => diagnostic.help("give as many values: `a, b = x, y`"),
    }
}

pub(crate) fn unpack_count(at: Location, n_targets: usize, n_values: usize) -> Diagnostic {
    let help = match n_targets < n_values && n_values <= 4 {
        true => {
            let names = ["a", "b", "c", "d"].into_iter().take(n_targets);
            let names: Vec<&str> = names.chain(std::iter::repeat("_")).take(n_values).collect();
            format!(
                "write as many names as values; `_` takes what is not needed: `{} = ..`",
                names.join(", ")
            )
        }
        false => "write as many names as values; `_` takes one that is not needed".to_owned(),
    };
    error("kernel/unpack", at, format!("{n_targets} targets for {n_values} values"), "").help(help)
}

pub(crate) fn not_spreadable(at: Location, what: &Found) -> Diagnostic {
    error("kernel/unpack", at, format!("{what} has no items to spread"), what)
        .help("a tuple, a vector or a list of a known length has")
}

pub(crate) fn tuple_item_assigned(at: Location, text: &str) -> Diagnostic {
    error("kernel/assignment", at, format!("`{text}` is an item of a tuple, which cannot be assigned"), "")
        .help("make a new tuple, or use a list")
}

pub(crate) fn part_replaced(
    at: Location,
    name: &str,
    named: (Location, Option<&str>),
    by: (Location, &str),
) -> Diagnostic {
    let message = match named.1 {
        Some(part) => format!("`{name}` is `{part}` itself, which may have been replaced since"),
        None => format!("the value of `{name}` may have been replaced since"),
    };
    error("kernel/replaced", at, message, "used here")
        .label(named.0, format!("`{name}` names it here"))
        .label(by.0, format!("`{}` is replaced here", by.1))
        .help(match named.1 {
            Some(part) => {
                format!("copy it: `{name} = [*{part}]`; or swap in one line: `a[0], a[1] = a[1], a[0]`")
            }
            None => "go through the indices, and copy what is to be kept: `row = [*a[i]]`".to_owned(),
        })
}

pub(crate) fn copy_written(at: Location, copied: Location, text: &str) -> Diagnostic {
    let (what, copy) = match text {
        _ if is_display(text) => (format!("what `{text}` holds"), "`[*a]` of each".to_owned()),
        _ if is_choice(text) => (format!("the list that `{text}` is"), format!("`[*({text})]`")),
        _ => (format!("the list that `{text}` is"), format!("`[*{text}]`")),
    };
    error("kernel/copy-written", at, format!("this would be written into a copy of {what}"), "")
        .label(copied, "this gives a copy")
        .help(format!("write into the list itself, by its own name; where a copy is meant, say so: {copy}"))
}

/// After a join of paths; on one of them `name` is `what`.
pub(crate) fn perhaps_one_written(at: Location, given: Location, name: &str, what: &str) -> Diagnostic {
    let message = format!("whether `{name}` is {what} here is known only at run time");
    error("kernel/copy-written", at, message, "this would write to it as well, or not")
        .label(given, format!("on one path `{name}` is {what}"))
        .help(format!(
            "where a list of its own is meant, give it one before it is written to: `{name} = [*{name}]`"
        ))
}

pub(crate) fn stored_list_written(at: Location, stored: Location, text: &str) -> Diagnostic {
    let message = format!("`{text}` was stored into another list, which has it as it was then");
    let error = error("kernel/copy-written", at, message, "this would change both")
        .label(stored, "this stores a copy");
    match is_list_display(text) {
        true => error.help("let each have a list of its own, written out in an assignment of its own"),
        false => {
            error.help(format!("write to it before it is stored; where a copy is meant, say so: `[*{text}]`"))
        }
    }
}

pub(crate) fn walked_list_replaced(at: Location, walked: Location, text: &str) -> Diagnostic {
    let message = format!("`{text}` is replaced while a loop goes over it");
    error("kernel/copy-written", at, message, "this puts another list in its place")
        .label(walked, "the loop goes over it")
        .help(format!("go over a copy: `for .. in [*{text}]:`"))
}

pub(crate) fn walked_list_written(at: Location, walked: Location, text: &str) -> Diagnostic {
    let message = format!("whether this changes `{text}`, which a loop goes over, is known only at run time");
    error("kernel/copy-written", at, message, "this writes to what may be that list")
        .label(walked, "the loop goes over it")
        .help(format!("go over a copy: `for .. in [*{text}]:`"))
}

pub(crate) fn captured_list_written(
    at: Location,
    text: &str,
    mention: Option<Location>,
    list: &Type,
    copy: &str,
) -> Diagnostic {
    let mut element = list;
    while let Type::Array(array) = element {
        element = &array.element;
    }
    // Floats of the host are f64, but few kernels use f64.
    let element = if *element == Type::from(Scalar::F64) { &Type::F32 } else { element };
    let message = format!("`{text}` belongs to the script, and is a constant in a kernel");
    let error = error("kernel/assign-captured", at, message, "");
    let error = match mention {
        Some(mention) => error.label(mention, "it comes from here"),
        None => error,
    };
    let parameter = last_name(text);
    error.help(format!(
        "for the script to see what is written, pass a tensor: `{parameter}: Array[{element}]`; for the invocation alone \
         write into a copy: `{copy}`"
    ))
}

pub(crate) fn given_list_written(
    at: Location,
    param: Location,
    name: &str,
    ty: &Type,
    copy: &str,
) -> Diagnostic {
    let message = format!("a launch gives `{name}` by value: what is stored in it is lost");
    let error = error("kernel/assign-given", at, message, "").label(param, format!("{ty}, a value"));
    let own = format!("write into a copy: `{copy}`");
    match ty {
        Type::Array(array) if !matches!(array.element, Type::Array(_)) => error.help(format!(
            "let the kernel have the tensor itself: `{name}: Array[{}]`; or {own}",
            array.element
        )),
        _ => error.help(own),
    }
}

pub(crate) fn coop_copy_written(at: Location, copied: Location, text: &str) -> Diagnostic {
    error("kernel/copy-written", at, format!("this would be written into a copy of what `{text}` holds"), "")
        .label(copied, "this gives copies")
        .help("make the matrices where the list is made: `[coop_matrix(f32, 16, 16, \"accumulator\")] * 4`")
}

pub(crate) fn part_given_twice(at: Location, first: Location, text: &str) -> Diagnostic {
    error(
        "kernel/given-twice",
        at,
        "a function that writes to a part of a list gets that part once",
        "and here again",
    )
    .label(first, "it is given here")
    .help(format!("where the function only reads it, give a copy: `[*{text}]`"))
}

/// The list has `n_rows` rows of `n_columns` elements `zero`.
pub(crate) fn one_row_written(
    at: Location,
    list: Location,
    text: &str,
    (n_rows, n_columns, zero): (u32, u32, &str),
) -> Diagnostic {
    error(
        "kernel/copy-written",
        at,
        format!("in `{text}` one list is several rows, and all of them would change"),
        "",
    )
    .label(list, "this repeats one list")
    .help(format!(
        "take one list for all, `[{zero}] * {}`, with `a[{n_columns} * i + j]` for `a[i][j]`, or write out each row: \
         `[[{zero}] * {n_columns}, [{zero}] * {n_columns}, ..]`",
        n_rows * n_columns
    ))
}

/// After a join of paths; on one of them `name` is `given`.
pub(crate) fn perhaps_one_outdated(
    at: Location,
    given: (Location, &str),
    name: &str,
    by: Location,
) -> Diagnostic {
    let what = given.1;
    let message = format!("`{name}` may be {what}, which was written to since");
    error("kernel/outdated", at, message, "used here")
        .label(given.0, format!("on one path `{name}` is {what}"))
        .label(by, "written to here")
        .help(format!(
            "where a list of its own is meant, give it one before the other is written to: `{name} = [*{name}]`"
        ))
}

pub(crate) fn copy_outdated(at: Location, name: &str, copied: (Location, &str), by: Location) -> Diagnostic {
    let text = copied.1;
    let copy = if is_choice(text) { format!("[*({text})]") } else { format!("[*{text}]") };
    error(
        "kernel/outdated",
        at,
        format!("`{name}` is a copy of a list that was written to since"),
        "used here",
    )
    .label(copied.0, "this gives a copy")
    .label(by, "written to here")
    .help(match is_display(text) {
        true => {
            "read the list itself, by its own name; where a copy is meant, say so: `[*a]` of each".to_owned()
        }
        false => {
            format!("read the list itself, by its own name; where a copy is meant, say so: `{name} = {copy}`")
        }
    })
}
