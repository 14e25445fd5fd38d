//! Templates of the text that a kernel writes for the host.
//!
//! In go types and formats; out comes a template. `{{` and `}}` are braces. `{f32}`, `{i32:>5}`, `{bool!r}` are
//! placeholders for one number or bool, with the conversion and the format spec that the host applies. `{f32[3]}`,
//! `{f32[2,3]!r}` take as many numbers as a NumPy array of that shape has: vectors and matrices are such arrays on the
//! host. Other composite values have a placeholder for each of their parts. No node is made here:
//! `passes/instrument/records.rs` splits the values into the numbers of a template.

use crate::types::{Scalar, Type};

/// How a value is formatted.
#[derive(Clone, Copy)]
pub(crate) struct Format<'t> {
    /// `!r:spec`, or empty.
    pub spec: &'t str,
    within: Within,
}

/// The context of a value, which determines how vectors and matrices are formatted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// As `print` formats them.
    Line,
    /// A list or a tuple, which shows the `repr` of its items.
    Sequence,
    /// As lists. A matrix is a list of its rows.
    Struct,
    /// As constructor calls, which fit on one line. The arguments of a matrix are its columns.
    Step,
}

impl<'t> Format<'t> {
    pub const PRINTED: Format<'static> = Format { spec: "", within: Within::Line };

    /// For a step of a trace.
    pub const STEP: Format<'static> = Format { spec: "", within: Within::Step };

    /// As `print` formats a value, with a conversion and a spec.
    pub fn printed(spec: &'t str) -> Format<'t> {
        Format { spec, ..Format::PRINTED }
    }

    /// For the items of a list or a tuple.
    pub fn in_sequence(self) -> Format<'t> {
        self.within(Within::Sequence)
    }

    fn within(self, of: Within) -> Format<'t> {
        match self.within {
            Within::Line | Within::Sequence => Format { within: of, ..self },
            Within::Struct | Within::Step => self,
        }
    }
}

/// Appends text without placeholders.
pub(crate) fn push_literal(template: &mut String, text: &str) {
    template.push_str(&text.replace('{', "{{").replace('}', "}}"));
}

/// Appends the placeholders of a value of this type, and the text between them.
pub(crate) fn push_value(template: &mut String, ty: &Type, format: Format) {
    match (ty, shape_on_host(ty), format.within) {
        (Type::Scalar(scalar), ..) => *template += &format!("{{{scalar}{}}}", format.spec),
        (_, Some((scalar, shape)), Within::Line | Within::Sequence) => {
            let spec = match (format.within, format.spec.is_empty()) {
                (Within::Sequence, true) => "!r",
                _ => format.spec,
            };
            let shape: Vec<String> = shape.iter().map(u32::to_string).collect();
            *template += &format!("{{{scalar}[{}]{spec}}}", shape.join(","));
        }
        (_, Some((scalar, shape)), Within::Struct) if ty.is_matrix() => {
            let row = vec![format!("{{{scalar}{}}}", format.spec); shape[1] as usize].join(", ");
            let rows = vec![format!("[{row}]"); shape[0] as usize].join(", ");
            *template += &format!("[{rows}]");
        }
        _ => push_parts(template, ty, format),
    }
}

fn push_parts(template: &mut String, ty: &Type, format: Format) {
    let [open, close] = brackets(ty, format.within);
    let format = format.within(match ty {
        Type::Struct(_) => Within::Struct,
        _ => Within::Sequence,
    });
    push_literal(template, &open);
    for at in 0..ty.n_parts().unwrap_or(0) {
        if at > 0 {
            push_literal(template, ", ");
        }
        if let Type::Struct(of) = ty {
            push_literal(template, &format!("{}=", of.members[at as usize].name));
        }
        let part = ty.part(at).expect("it is below the number of parts");
        push_value(template, &part, format);
    }
    push_literal(template, &close);
}

/// The element type and shape of the host array for a vector or a matrix.
fn shape_on_host(ty: &Type) -> Option<(Scalar, Vec<u32>)> {
    match (ty.is_matrix(), ty.is_vector()) {
        (true, _) => Some((ty.part(0)?.scalar()?, vec![ty.part(0)?.n_parts()?, ty.n_parts()?])),
        (false, true) => Some((ty.scalar()?, vec![ty.n_parts()?])),
        (false, false) => None,
    }
}

/// The text before and after the parts of a value.
fn brackets(ty: &Type, within: Within) -> [String; 2] {
    match ty {
        Type::Vector(..) if within == Within::Struct => ["[".to_owned(), "]".to_owned()],
        Type::Array(_) => ["[".to_owned(), "]".to_owned()],
        Type::Tuple(_) => ["(".to_owned(), ")".to_owned()],
        Type::Struct(of) => [format!("{}(", of.name.as_deref().unwrap_or("Struct")), ")".to_owned()],
        ty => [format!("{ty}("), ")".to_owned()],
    }
}

/// How many numbers and bools a value of this type consists of. `None` if it has other parts.
pub(crate) fn n_numbers(ty: &Type) -> Option<u32> {
    if let Type::Scalar(_) = ty {
        return Some(1);
    }
    let n_parts = ty.n_parts()?;
    if let Type::Array(_) = ty {
        return Some(n_parts.saturating_mul(n_numbers(&ty.part(0)?)?));
    }
    (0..n_parts).try_fold(0u32, |sum, at| Some(sum.saturating_add(n_numbers(&ty.part(at)?)?)))
}

/// Calls `visit` with the type of each number in a value; once for all elements of an array.
pub(crate) fn each_scalar(ty: &Type, visit: &mut dyn FnMut(Scalar)) {
    let n_parts = match ty {
        Type::Scalar(scalar) => return visit(*scalar),
        Type::Array(_) | Type::Vector(..) | Type::Matrix { .. } => ty.n_parts().unwrap_or(0).min(1),
        _ => ty.n_parts().unwrap_or(0),
    };
    (0..n_parts).filter_map(|at| ty.part(at)).for_each(|part| each_scalar(&part, visit));
}
