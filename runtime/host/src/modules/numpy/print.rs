//! Formats arrays as NumPy does: aligned columns, wrapped rows, nested brackets, `...` for omitted elements.

use kps_array::ElementType;
use kps_compute::DType;
use kps_compute::halves::{to_bf16, to_f16};
use kps_compute::number::Number;

use super::digits::{Trim, Typed, exact_limit, load_float};

/// `np.set_printoptions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Digits after the point, at most.
    pub precision: usize,
    /// Arrays of more elements are summarised.
    pub threshold: usize,
    /// Items at each end of an axis that is summarised.
    pub edge_items: usize,
    pub line_width: usize,
    /// Never exponents because of small numbers.
    pub suppress: bool,
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions { precision: 8, threshold: 1000, edge_items: 3, line_width: 75, suppress: false }
    }
}

impl PrintOptions {
    pub fn summarises(&self, n_elements: usize) -> bool {
        n_elements > self.threshold
    }

    /// The indices of an axis that are shown.
    pub fn shown(&self, len: usize, is_summary: bool) -> Vec<usize> {
        if is_summary && len > 2 * self.edge_items {
            return (0..self.edge_items).chain(len - self.edge_items..len).collect();
        }
        (0..len).collect()
    }
}

/// The elements of an array that are shown, in the order of their indices.
pub struct Shown {
    pub dtype: ElementType,
    /// Of the array itself.
    pub shape: Vec<usize>,
    pub is_summary: bool,
    pub row: Vec<u8>,
}

/// The frame of an array's text: `array(` and `)`, with commas between elements.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub separator: &'a str,
    pub prefix: &'a str,
    pub suffix: &'a str,
}

/// `str(array)`.
pub const PLAIN: Frame<'static> = Frame { separator: " ", prefix: "", suffix: "" };
/// `repr(array)`, up to the bracket.
pub const REPR: Frame<'static> = Frame { separator: ", ", prefix: "array(", suffix: ")" };

/// The text of the elements with their brackets.
pub fn elements_text(shown: &Shown, frame: Frame, options: &PrintOptions) -> String {
    if shown.shape.contains(&0) {
        return "[]".to_owned();
    }
    let mut writer = Writer {
        words: words(shown, options).into_iter(),
        shape: &shown.shape,
        options,
        is_summary: shown.is_summary,
        separator: frame.separator,
    };
    let indent = 1 + frame.prefix.len();
    writer.axis(0, indent, options.line_width.saturating_sub(frame.suffix.len()))
}

/// `array([..], dtype=..)`.
pub fn repr_text(shown: &Shown, options: &PrintOptions) -> String {
    let elements = elements_text(shown, REPR, options);
    let mut extras = Vec::new();
    let is_empty = shown.shape.contains(&0);
    if is_empty && shown.shape != [0] || shown.is_summary {
        extras.push(format!("shape={}", shape_text(&shown.shape)));
    }
    let defaults = [DType::Bool, DType::I64, DType::F64].map(ElementType::Real);
    if is_empty || !defaults.contains(&shown.dtype) && shown.dtype != ElementType::Complex128 {
        extras.push(format!("dtype={}", shown.dtype.numpy_name()));
    }
    if extras.is_empty() {
        return format!("array({elements})");
    }
    let text = format!("array({elements},");
    let extras = extras.join(", ") + ")";
    let last_line = text.rsplit('\n').next().unwrap_or(&text);
    if last_line.len() + extras.len() + 1 > options.line_width {
        format!("{text}\n{}{extras}", " ".repeat(REPR.prefix.len()))
    } else {
        format!("{text} {extras}")
    }
}

/// A shape as a tuple: `(3,)`.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

struct Writer<'a> {
    /// The text of each element, all of one width, in order.
    words: std::vec::IntoIter<String>,
    shape: &'a [usize],
    options: &'a PrintOptions,
    is_summary: bool,
    separator: &'a str,
}

impl Writer<'_> {
    fn next_word(&mut self) -> String {
        self.words.next().expect("there is a word for every element shown")
    }

    /// One array from an axis on, its lines indented and no wider than `width`, its first line not indented.
    fn axis(&mut self, axis: usize, indent: usize, width: usize) -> String {
        let axes_left = self.shape.len() - axis;
        if axes_left == 0 {
            return self.next_word();
        }
        let len = self.shape[axis];
        let edge = self.options.edge_items;
        let (leading, trailing) =
            if self.is_summary && 2 * edge < len { (edge, Some(edge)) } else { (len, None) };
        if axes_left == 1 {
            return format!("[{}]", self.row(leading, trailing, indent, width));
        }
        let line_break =
            format!("{}{}{}", self.separator.trim_end(), "\n".repeat(axes_left - 1), " ".repeat(indent));
        let mut parts = Vec::new();
        for _ in 0..leading {
            parts.push(self.axis(axis + 1, indent + 1, width - 1));
        }
        if let Some(trailing) = trailing {
            parts.push("...".to_owned());
            for _ in 0..trailing {
                parts.push(self.axis(axis + 1, indent + 1, width - 1));
            }
        }
        format!("[{}]", parts.join(&line_break))
    }

    /// The elements of a last axis, wrapped if a line would be too wide.
    fn row(&mut self, leading: usize, trailing: Option<usize>, indent: usize, width: usize) -> String {
        let mut words: Vec<String> = (0..leading).map(|_| self.next_word()).collect();
        if let Some(trailing) = trailing {
            words.push("...".to_owned());
            words.extend((0..trailing).map(|_| self.next_word()));
        }
        let width = width.saturating_sub(self.separator.trim_end().len().max(1));
        let mut text = String::new();
        let mut line = String::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                line.push_str(self.separator);
            }
            if indent + line.len() + word.len() > width && !line.is_empty() {
                text.push_str(line.trim_end());
                text.push('\n');
                text.push_str(&" ".repeat(indent));
                line.clear();
            }
            line.push_str(word);
        }
        text + &line
    }
}

fn words(shown: &Shown, options: &PrintOptions) -> Vec<String> {
    let dtype = shown.dtype.part();
    let elements = shown.row.chunks_exact(dtype.size());
    match dtype {
        _ if shown.dtype.is_complex() => {
            let floats: Vec<f64> = elements.map(|element| load_float(dtype, element)).collect();
            complex_words(&floats, dtype, options)
        }
        DType::Bool => {
            let pad = if shown.shape.is_empty() { "" } else { " " };
            elements
                .map(|element| if element[0] != 0 { format!("{pad}True") } else { "False".to_owned() })
                .collect()
        }
        dtype if dtype.is_int() => {
            let words: Vec<String> =
                elements.map(|element| Number::load(dtype, element).to_string()).collect();
            let width = words.iter().map(String::len).max().unwrap_or(0);
            words.iter().map(|word| format!("{word:>width$}")).collect()
        }
        dtype => {
            let floats: Vec<f64> = elements.map(|element| load_float(dtype, element)).collect();
            float_words(&floats, dtype, options)
        }
    }
}

/// Of pairs of floats. Both columns are aligned, and every imaginary part has a sign.
fn complex_words(parts: &[f64], dtype: DType, options: &PrintOptions) -> Vec<String> {
    let of_part = |at: usize| parts.iter().skip(at).step_by(2).copied();
    let real = float_words(&of_part(0).collect::<Vec<_>>(), dtype, options);
    let sizes = float_words(&of_part(1).map(f64::abs).collect::<Vec<_>>(), dtype, options);
    let words = real.iter().zip(of_part(1).zip(&sizes)).map(|(real, (part, size))| {
        let sign = if part.is_sign_negative() && !part.is_nan() { '-' } else { '+' };
        let digits = size.trim();
        let before = size.len() - size.trim_start().len();
        let behind = size.len() - size.trim_end().len();
        format!("{real}{}{sign}{digits}j{}", " ".repeat(before), " ".repeat(behind))
    });
    words.collect()
}

fn float_words(floats: &[f64], dtype: DType, options: &PrintOptions) -> Vec<String> {
    let finite: Vec<f64> = floats.iter().copied().filter(|x| x.is_finite()).collect();
    let format = if needs_exponents(&finite, dtype, options) {
        FloatFormat::scientific(&finite, dtype, options)
    } else {
        FloatFormat::positional(&finite, dtype, options)
    };
    let format = format.with_room_for_others(floats);
    floats.iter().map(|&value| format.word(value)).collect()
}

fn needs_exponents(finite: &[f64], dtype: DType, options: &PrintOptions) -> bool {
    let magnitudes = || finite.iter().map(|x| x.abs()).filter(|x| *x != 0.0);
    let Some(most) = magnitudes().reduce(f64::max) else { return false };
    let least = magnitudes().fold(most, f64::min);
    // Compared as floats of the array's own type.
    let small = match dtype {
        DType::F32 => f64::from(0.0001f32),
        DType::F16 => f64::from(to_f16(0.0001)),
        DType::Bf16 => f64::from(to_bf16(0.0001)),
        _ => 0.0001,
    };
    let ratio = match dtype {
        DType::F32 => f64::from(most as f32 / least as f32),
        _ => most / least,
    };
    most >= exact_limit(dtype) || !options.suppress && (least < small || ratio > 1000.0)
}

/// How all floats of one array are written, so that their points are in line.
struct FloatFormat {
    dtype: DType,
    has_exponent: bool,
    precision: usize,
    /// Digits of the exponent.
    exponent_digits: usize,
    /// Characters before the point, sign included.
    left: usize,
    /// Characters after the point.
    right: usize,
}

impl FloatFormat {
    fn positional(finite: &[f64], dtype: DType, options: &PrintOptions) -> FloatFormat {
        let (mut left, mut right) = (0, 0);
        for &value in finite {
            let text = Typed { value, dtype }.positional(Some(options.precision), Trim::ToPoint);
            let (whole, fraction) = text.split_once('.').expect("a float's text has a point");
            left = left.max(whole.len());
            right = right.max(fraction.len());
        }
        FloatFormat {
            dtype,
            has_exponent: false,
            precision: options.precision,
            exponent_digits: 0,
            left,
            right,
        }
    }

    fn scientific(finite: &[f64], dtype: DType, options: &PrintOptions) -> FloatFormat {
        let (mut left, mut precision, mut exponent_digits) = (0, 0, 0);
        for &value in finite {
            let text = Typed { value, dtype }.scientific(Some(options.precision), Trim::ToPoint, 2);
            let (mantissa, exponent) = text.split_once('e').expect("scientific text has an exponent");
            let (whole, fraction) = mantissa.split_once('.').expect("a float's text has a point");
            left = left.max(whole.len());
            precision = precision.max(fraction.len());
            exponent_digits = exponent_digits.max(exponent.len() - 1);
        }
        let right = exponent_digits + 2 + precision;
        FloatFormat { dtype, has_exponent: true, precision, exponent_digits, left, right }
    }

    /// `nan` and `inf` may be wider than all numbers.
    fn with_room_for_others(mut self, floats: &[f64]) -> FloatFormat {
        if floats.iter().any(|x| !x.is_finite()) {
            let longest = if floats.contains(&f64::NEG_INFINITY) { 4 } else { 3 };
            self.left = self.left.max(usize::saturating_sub(longest, self.right + 1));
        }
        self
    }

    fn word(&self, value: f64) -> String {
        let width = self.left + self.right + 1;
        if !value.is_finite() {
            let text = Typed { value, dtype: self.dtype }.scalar_text();
            return format!("{text:>width$}");
        }
        let typed = Typed { value, dtype: self.dtype };
        if self.has_exponent {
            let text = typed.scientific(Some(self.precision), Trim::Keep, self.exponent_digits);
            return format!("{text:>width$}");
        }
        let text = typed.positional(Some(self.precision), Trim::ToPoint);
        let (whole, fraction) = text.split_once('.').expect("a float's text has a point");
        let (left, right) = (self.left, self.right);
        format!("{whole:>left$}.{fraction:<right$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kps_compute::Element;
    use kps_compute::element::to_bytes;

    fn shown<T: Element>(elements: &[T], shape: &[usize]) -> Shown {
        Shown { dtype: T::DTYPE.into(), shape: shape.to_vec(), is_summary: false, row: to_bytes(elements) }
    }

    fn check<T: Element>(elements: &[T], shape: &[usize], expect: &str) {
        assert_eq!(elements_text(&shown(elements, shape), PLAIN, &PrintOptions::default()), expect);
    }

    #[test]
    fn floats_are_aligned_at_their_points() {
        check(&[1.0f64, 2.5], &[2], "[1.  2.5]");
        check(&[1e-5f64, 1.0], &[2], "[1.e-05 1.e+00]");
        check(&[1.0f64, f64::NAN, f64::NEG_INFINITY], &[3], "[  1.  nan -inf]");
        check(&[0.1f32, 2.0], &[2, 1], "[[0.1]\n [2. ]]");
        check(&[f64::NAN], &[1], "[nan]");
        check(&[1.5f64], &[], "1.5");
    }

    #[test]
    fn ints_and_bools_are_aligned() {
        check(&[1i32, -10], &[2], "[  1 -10]");
        check(&[true, false], &[2], "[ True False]");
        check(&[0i64; 2], &[2, 1, 1], "[[[0]]\n\n [[0]]]");
    }

    #[test]
    fn repr_shows_what_the_elements_do_not() {
        fn check<T: Element>(elements: &[T], shape: &[usize], expect: &str) {
            assert_eq!(repr_text(&shown(elements, shape), &PrintOptions::default()), expect);
        }
        check(&[1i64], &[1], "array([1])");
        check(&[1i32, 2], &[2], "array([1, 2], dtype=int32)");
        check::<f64>(&[], &[0, 3], "array([], shape=(0, 3), dtype=float64)");
    }
}
