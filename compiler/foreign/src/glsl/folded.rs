//! Numbers that are known before a shader runs, where naga computes none: those of doubles.
//!
//! An expression's text and what the names in it stand for go in; the number comes out, of the type that it has in GLSL.
//! It is made of literals, constants, `+ - * /`, brackets and conversions of one number; of anything else there is none.

use rustc_hash::FxHashMap;

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Number {
    Int(i32),
    Uint(u32),
    Float(f32),
    Double(f64),
}

use Number::{Double, Float, Int, Uint};

/// What names stand for.
#[derive(Default)]
pub(super) struct Names<'t> {
    constants: FxHashMap<&'t str, Number>,
    /// The text of each macro without parameters that stands for one thing everywhere.
    macros: FxHashMap<&'t str, &'t str>,
}

impl<'t> Names<'t> {
    pub fn with_macros_of(text: &'t str) -> Names<'t> {
        let all = macros(text);
        let is_only = |one: &&Macro| all.iter().filter(|other| other.name == one.name).count() == 1;
        let known = all.iter().filter(|one| !one.is_conditional).filter(is_only);
        Names { macros: known.map(|one| (one.name, one.body)).collect(), ..Names::default() }
    }

    pub fn define(&mut self, name: &'t str, number: Number) {
        self.constants.insert(name, number);
    }
}

/// A macro without parameters.
pub(super) struct Macro<'t> {
    name: &'t str,
    pub body: &'t str,
    /// Where its body stands.
    pub start: usize,
    /// It stands between `#if` and `#endif`, or is the end of one: who knows which is read.
    is_conditional: bool,
}

/// The macros of a text, each as often as it is defined; `#undef` counts as well.
pub(super) fn macros(text: &str) -> Vec<Macro<'_>> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for line in text.split_inclusive('\n') {
        start += line.len();
        let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let (word, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
        match word {
            "if" | "ifdef" | "ifndef" => depth += 1,
            "endif" => depth = depth.saturating_sub(1),
            "define" | "undef" => {
                let rest = rest.trim_start();
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (name, body) = rest.split_at(end);
                let is_conditional = depth > 0 || word == "undef";
                if !name.contains('(') {
                    found.push(Macro { name, body, start: start - body.len(), is_conditional });
                }
            }
            _ => {}
        }
    }
    found
}

pub(super) struct Known {
    pub number: Number,
    /// Whether a double was converted to it, or is part of it.
    pub is_of_doubles: bool,
}

pub(super) fn number(text: &str, names: &Names) -> Option<Known> {
    number_within(text, names, MAX_DEPTH)
}

/// How deep brackets and macros nest.
const MAX_DEPTH: usize = 32;

fn number_within(text: &str, names: &Names, depth: usize) -> Option<Known> {
    let mut reader = Reader { rest: text.trim(), names, depth, is_of_doubles: false };
    let number = reader.sum()?;
    reader.rest.is_empty().then_some(Known { number, is_of_doubles: reader.is_of_doubles })
}

impl Number {
    /// Converted to a type, by its name.
    pub fn to(self, ty: &str) -> Option<Number> {
        Some(match ty {
            "int" => match self {
                Uint(number) => Int(number as i32),
                other => Int(other.value() as i32),
            },
            "uint" => match self {
                Int(number) => Uint(number as u32),
                other => Uint(other.value() as u32),
            },
            "float" => Float(self.value() as f32),
            "double" => Double(self.value()),
            _ => return None,
        })
    }

    pub fn value(self) -> f64 {
        match self {
            Int(number) => number.into(),
            Uint(number) => number.into(),
            Float(number) => number.into(),
            Double(number) => number,
        }
    }

    /// As GLSL writes it; a double, and what is not finite, has no literal.
    pub fn written(self) -> Option<String> {
        match self {
            Int(number) => (number != i32::MIN).then(|| format!("({number})")),
            Uint(number) => Some(format!("{number}u")),
            Float(number) => number.is_finite().then(|| format!("({number:?})")),
            Double(_) => None,
        }
    }

    fn negated(self) -> Number {
        match self {
            Int(number) => Int(number.wrapping_neg()),
            Uint(number) => Uint(number.wrapping_neg()),
            Float(number) => Float(-number),
            Double(number) => Double(-number),
        }
    }

    /// The result of an operator on two numbers, in the greater of their types.
    fn with(self, operator: char, other: Number) -> Option<Number> {
        Some(match (self, other) {
            (Int(one), Int(other)) => Int(match operator {
                '+' => one.wrapping_add(other),
                '-' => one.wrapping_sub(other),
                '*' => one.wrapping_mul(other),
                _ => one.checked_div(other)?,
            }),
            (Int(_) | Uint(_), Int(_) | Uint(_)) => {
                let (Uint(one), Uint(other)) = (self.to("uint")?, other.to("uint")?) else { return None };
                Uint(match operator {
                    '+' => one.wrapping_add(other),
                    '-' => one.wrapping_sub(other),
                    '*' => one.wrapping_mul(other),
                    _ => one.checked_div(other)?,
                })
            }
            (Double(_), _) | (_, Double(_)) => Double(of_floats(self.value(), operator, other.value())),
            _ => {
                // Rounded once more, what was computed in 64 bits is what 32 bits give.
                let (one, other) = (self.value() as f32, other.value() as f32);
                Float(of_floats(one.into(), operator, other.into()) as f32)
            }
        })
    }
}

fn of_floats(one: f64, operator: char, other: f64) -> f64 {
    match operator {
        '+' => one + other,
        '-' => one - other,
        '*' => one * other,
        _ => one / other,
    }
}

struct Reader<'r> {
    rest: &'r str,
    names: &'r Names<'r>,
    depth: usize,
    is_of_doubles: bool,
}

impl<'r> Reader<'r> {
    fn sum(&mut self) -> Option<Number> {
        self.chain(['+', '-'], Self::product)
    }

    fn product(&mut self) -> Option<Number> {
        self.chain(['*', '/'], Self::signed)
    }

    fn chain(&mut self, operators: [char; 2], part: fn(&mut Self) -> Option<Number>) -> Option<Number> {
        let mut number = part(self)?;
        while let Some(operator) = self.rest.chars().next().filter(|next| operators.contains(next)) {
            self.skip(1);
            number = number.with(operator, part(self)?)?;
        }
        Some(number)
    }

    fn signed(&mut self) -> Option<Number> {
        match self.rest.as_bytes().first()? {
            b'-' => {
                self.skip(1);
                Some(self.single()?.negated())
            }
            b'+' => {
                self.skip(1);
                self.single()
            }
            _ => self.single(),
        }
    }

    fn single(&mut self) -> Option<Number> {
        let number = self.unmarked()?;
        self.is_of_doubles |= matches!(number, Double(_));
        Some(number)
    }

    fn unmarked(&mut self) -> Option<Number> {
        let first = self.rest.chars().next()?;
        if first == '(' {
            return self.bracketed();
        }
        if first.is_ascii_digit() || first == '.' {
            return self.literal();
        }
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let name = &self.rest[..self.rest.find(|letter| !is_of_name(letter)).unwrap_or(self.rest.len())];
        self.skip(name.len());
        if self.rest.starts_with('(') {
            return self.bracketed()?.to(name);
        }
        if let Some(constant) = self.names.constants.get(name) {
            return Some(*constant);
        }
        let known = number_within(self.names.macros.get(name)?, self.names, self.depth.checked_sub(1)?)?;
        self.is_of_doubles |= known.is_of_doubles;
        Some(known.number)
    }

    fn bracketed(&mut self) -> Option<Number> {
        self.depth = self.depth.checked_sub(1)?;
        self.skip(1);
        let number = self.sum()?;
        self.rest.starts_with(')').then(|| self.skip(1))?;
        self.depth += 1;
        Some(number)
    }

    fn literal(&mut self) -> Option<Number> {
        let mut before = ' ';
        let is_end = |letter: char| {
            let is_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E');
            before = letter;
            !(letter.is_alphanumeric() || letter == '.' || is_sign)
        };
        let text = &self.rest[..self.rest.find(is_end).unwrap_or(self.rest.len())];
        self.skip(text.len());
        let lower = text.to_ascii_lowercase();
        if let Some(digits) = lower.strip_prefix("0x") {
            let bits = |digits| u32::from_str_radix(digits, 16).ok();
            return match digits.strip_suffix('u') {
                Some(digits) => bits(digits).map(Uint),
                None => bits(digits).map(|bits| Int(bits.cast_signed())),
            };
        }
        if let Some(digits) = lower.strip_suffix("lf") {
            return digits.parse().ok().map(Double);
        }
        if let Some(digits) = lower.strip_suffix('u') {
            return digits.parse().ok().map(Uint);
        }
        // Nothing is told of octal numbers.
        let is_whole = lower.bytes().all(|one| one.is_ascii_digit());
        if is_whole {
            let is_octal = lower.len() > 1 && lower.starts_with('0');
            return lower.parse().ok().filter(|_| !is_octal).map(Int);
        }
        lower.strip_suffix('f').unwrap_or(&lower).parse().ok().map(Float)
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest[length..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_types_of_glsl() {
        let mut names =
            Names::with_macros_of("#define TAU (2.0lf * PI)\n # define PI 3.0lf\n#define F(x) x\n");
        names.define("k", Double(0.5));
        let check = |text: &str, expected: Option<Number>| {
            assert_eq!(number(text, &names).map(|known| known.number), expected, "{text}");
        };
        check("1 + 2 * 3", Some(Int(7)));
        check("7 / 2 - 1u", Some(Uint(2)));
        check("-(1 - 0.5) / 4", Some(Float(-0.125)));
        check("1.0lf / 3.0", Some(Double(1.0 / 3.0)));
        check("double(0.1f)", Some(Double(f64::from(0.1_f32))));
        check("int(k * 7e0) + .5e+1LF", Some(Double(8.0)));
        check("float(TAU)", Some(Float(6.0)));
        check("1 / 0", None);
        check("sqrt(k)", None);
        check("unknown * 2", None);
        check("010", None);
        check("1 2", None);
        check("(1", None);
        check(&"(".repeat(1000), None);
    }
}
