//! Specialisation constants of GLSL where naga cannot leave them open: `float tile[N]`, `const int M = N * 2`,
//! `local_size_x_id`.
//!
//! A text goes in; one as long comes out, in which each constant is a plain one: places in it are places in the text.
//! Values that are given are macros in it. Constants of other types than `int`, `uint`, `float` and `bool`, and those
//! whose id is no number, stay as they are.

use std::ops::Range;

use naga::{Literal, Module};

use super::tokens::{Token, closing, tokens};
use crate::Given;
use crate::specialise::{Declared, value};

/// What the value of a constant is called in the text.
const VALUE: &str = "kps_constant_";

const AXES: [&str; 3] = ["local_size_x", "local_size_y", "local_size_z"];

/// The specialisation constants that a text declares.
#[derive(Default)]
pub(super) struct Constants {
    declarations: Vec<Declaration>,
    sizes: Vec<Size>,
}

/// `layout(constant_id = 0) const uint N = 64;`
struct Declaration {
    id: u32,
    ty: String,
    name: String,
    /// The brackets with their `layout`.
    layout: Range<usize>,
    /// From `layout` to the end of the value.
    whole: Range<usize>,
}

/// `local_size_x_id = 0`
struct Size {
    id: u32,
    axis: usize,
    range: Range<usize>,
}

impl Constants {
    pub fn of(text: &str) -> Constants {
        let mut found = Constants::default();
        // Most texts have none, and are not looked at any further.
        if !text.contains("constant_id") && !text.contains("_id") {
            return found;
        }
        let tokens = tokens(text);
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "layout") {
            let Some(end) = closing(&tokens, at + 1) else { continue };
            for qualifier in tokens[at + 2..end].split(|token| token.text == ",") {
                let [name, equals, id] = qualifier else { continue };
                let (Ok(id), "=") = (id.text.parse(), equals.text) else { continue };
                let range = name.range.start..qualifier[2].range.end;
                if name.text == "constant_id" {
                    let layout = token.range.start..tokens[end].range.end;
                    found.declarations.extend(declaration(id, layout, &tokens[end + 1..]));
                } else if let Some(axis) = axis_of(name.text) {
                    found.sizes.push(Size { id, axis, range });
                }
            }
        }
        found
    }

    /// Whether naga would refuse the text for one of them.
    pub fn have_sizes(&self) -> bool {
        !self.sizes.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.declarations.is_empty() && self.sizes.is_empty()
    }

    /// The text with plain constants, and what its macros stand for.
    pub fn settle(&self, text: &str, given: &[Given]) -> (String, Vec<(String, String)>) {
        let (mut settled, mut macros) = (text.to_owned(), Vec::new());
        for one in &self.declarations {
            match value_of(given, one.id) {
                None => put(&mut settled, one.layout.clone(), ""),
                Some(value) => {
                    let name = format!("{VALUE}{}", one.id);
                    put(&mut settled, one.whole.clone(), &format!("const {} {} = {name}", one.ty, one.name));
                    macros.push((name, written(&one.ty, value)));
                }
            }
        }
        for size in &self.sizes {
            put(&mut settled, size.range.clone(), &format!("{}=1", AXES[size.axis]));
        }
        (settled, macros)
    }

    /// The constants that a module knows as plain ones, and its workgroup's size from those that say it.
    pub fn take(&self, module: &mut Module, given: &[Given]) -> Vec<Declared> {
        let mut declared: Vec<Declared> = Vec::new();
        for one in &self.declarations {
            let constant = module.constants.iter().find(|(_, known)| known.name.as_ref() == Some(&one.name));
            let Some(value) = constant.and_then(|(_, constant)| value(module, constant.init)) else {
                continue;
            };
            if declared.iter().all(|known| known.id != one.id) {
                declared.push(Declared { id: one.id, name: one.name.clone(), value });
            }
        }
        for size in &self.sizes {
            let known = declared.iter().find(|known| known.id == size.id);
            let size_now = match known.map(|known| known.value) {
                Some(Literal::U32(size)) => size,
                Some(Literal::I32(size)) => size.try_into().unwrap_or(0),
                _ => value_of(given, size.id).map_or(1, |size| size as u32),
            };
            if known.is_none() {
                let name = AXES[size.axis].to_owned();
                declared.push(Declared { id: size.id, name, value: Literal::U32(size_now) });
            }
            for entry in &mut module.entry_points {
                entry.workgroup_size[size.axis] = size_now;
            }
        }
        declared
    }

    /// The first constant that is given a value which none in a text has, by its name.
    pub fn not_finite(&self, given: &[Given]) -> Option<(&str, Range<usize>)> {
        let is_odd = |one: &&Declaration| value_of(given, one.id).is_some_and(|value| !value.is_finite());
        let odd = self.declarations.iter().find(is_odd)?;
        Some((&odd.name, odd.whole.clone()))
    }
}

/// A declaration behind its layout, if it is one of a number.
fn declaration(id: u32, layout: Range<usize>, rest: &[Token]) -> Option<Declaration> {
    let [qualifier, ty, name, equals, value @ ..] = rest else { return None };
    let is_known = ["int", "uint", "float", "bool", "int32_t", "uint32_t", "float32_t"].contains(&ty.text);
    if qualifier.text != "const" || equals.text != "=" || !is_known {
        return None;
    }
    let end = value.iter().position(|token| token.text == ";")?;
    let whole = layout.start..value[..end].last()?.range.end;
    Some(Declaration { id, ty: ty.text.to_owned(), name: name.text.to_owned(), layout, whole })
}

fn axis_of(name: &str) -> Option<usize> {
    let name = name.strip_suffix("_id")?;
    AXES.iter().position(|axis| *axis == name)
}

fn value_of(given: &[Given], id: u32) -> Option<f64> {
    given.iter().find(|(known, _)| *known == id).map(|(_, value)| *value)
}

/// Puts something shorter in a place: line ends stay, in front of it, and blanks fill the rest.
fn put(text: &mut String, range: Range<usize>, new: &str) {
    let ends: String = text[range.clone()].chars().filter(|letter| *letter == '\n').collect();
    let n_blanks = range.len().saturating_sub(ends.len() + new.len());
    text.replace_range(range, &format!("{ends}{}{new}", " ".repeat(n_blanks)));
}

/// A value as the text of a constant of a type.
fn written(ty: &str, value: f64) -> String {
    match ty {
        "bool" => (value != 0.0).to_string(),
        "uint" | "uint32_t" => format!("{}u", value as u32),
        // There is no literal for it alone.
        "int" | "int32_t" if value == f64::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        "int" | "int32_t" => format!("({})", value as i32),
        _ => format!("({:?})", value as f32),
    }
}
