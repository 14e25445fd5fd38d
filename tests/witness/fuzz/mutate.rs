//! Mutates texts. Most mutations replace something by another of its kind, so that the parser accepts it and
//! the compiler has to find the mistake, or there is none.

use kps_syntax::Source;

use super::corpus::Corpus;
use crate::generator;
use crate::random::Random;

/// A text of the corpus or a random kernel, with a few mutations.
pub fn mutated(corpus: &Corpus, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = match random.below(8) {
        0 | 1 => generator::generate(seed),
        2 | 3 => generator::generate_groups(seed),
        4 | 5 => random.pick(&corpus.texts).clone(),
        _ => random.pick(&corpus.kernels).clone(),
    };
    for _ in 0..1 + random.below(4) {
        text = match random.one_in(12) {
            true => torn(&text, corpus, &mut random),
            false => {
                let varied = varied(&text, corpus, &mut random);
                if parses(&varied) { varied } else { text }
            }
        };
    }
    text
}

fn parses(text: &str) -> bool {
    let (_, mistakes) = kps_syntax::parse(&Source::new("varied.kps", text));
    !mistakes.has_errors()
}

/// Tokens that can replace each other.
const FAMILIES: [&[&str]; 10] = [
    &[
        "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "int",
        "float",
    ],
    &[
        "vec2", "vec3", "vec4", "ivec2", "ivec3", "uvec4", "bvec3", "dvec2", "hvec4", "mat2", "mat3",
        "mat2x3", "mat4",
    ],
    &["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"],
    &["<", "<=", ">", ">=", "==", "!=", "in", "is"],
    &["and", "or"],
    &["=", "+=", "-=", "*=", "//=", "%=", "<<=", "&=", "@=", "**="],
    &[
        "abs", "min", "max", "divmod", "sqrt", "floor", "round", "len", "any", "all", "sum", "fma", "pow",
        "bitcast",
    ],
    &[
        "atomic_add",
        "atomic_min",
        "atomic_exchange",
        "atomic_or",
        "subgroup_add",
        "subgroup_shuffle",
        "uniform",
    ],
    &["global_id", "local_id", "group_id", "num_groups", "local_size", "global_size", "subgroup_lane"],
    &["if", "while", "elif", "for", "match", "return", "break", "continue", "pass", "print", "assert"],
];

const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "31",
    "255",
    "0x7FFFFFFF",
    "0xFFFFFFFF",
    "9223372036854775807",
    "0.0",
    "0.5",
    "1e30",
    "True",
];

/// Wrappers for a value.
const WRAPS: [&str; 22] = [
    "(-{})",
    "(~{})",
    "(not {})",
    "abs({})",
    "i8({})",
    "u64({})",
    "f64({})",
    "bf16({})",
    "bool({})",
    "vec3({})",
    "({}).x",
    "({})[0]",
    "({})[i]",
    "[{}, {}]",
    "({}, {})",
    "({} if {} else {})",
    "len({})",
    "uniform({})",
    "min({}, 1)",
    "(lambda q: {})(1)",
    "({} ** 2)",
    "({} or {})",
];

/// Statements for a block.
const HEADS: [&str; 7] = [
    "if i > 2:",
    "for k in range(3):",
    "while True:",
    "for k in range(i, 0, -1):",
    "if False:",
    "match i:\n    case 1:",
    "def inner(q):",
];

/// Mostly keeps the syntax of a script.
fn varied(text: &str, corpus: &Corpus, random: &mut Random) -> String {
    let changed = match random.below(12) {
        0..3 => in_family(text, random),
        3 | 4 => other_name(text, random),
        5 => other_number(text, random),
        6 => other_brackets(text, random),
        7 => wrapped(text, random),
        8 | 9 => other_block(text, corpus, random),
        10 => under_head(text, random),
        _ => Some(format!("{}\n{text}", random.pick(&corpus.definitions))),
    };
    changed.unwrap_or_else(|| torn(text, corpus, random))
}

type Span = (usize, usize);

fn with(text: &str, (from, to): Span, new: &str) -> String {
    format!("{}{new}{}", &text[..from], &text[to..])
}

/// Tokens of a text that satisfy a predicate.
fn spans(text: &str, holds: impl Fn(&str) -> bool) -> Vec<Span> {
    words(text).into_iter().filter(|(from, to)| holds(&text[*from..*to])).collect()
}

fn pick(spans: &[Span], random: &mut Random) -> Option<Span> {
    (!spans.is_empty()).then(|| *random.pick(spans))
}

fn in_family(text: &str, random: &mut Random) -> Option<String> {
    let family = *random.pick(&FAMILIES);
    let span = pick(&spans(text, |word| family.contains(&word)), random)?;
    let new = *random.pick(family);
    Some(with(text, span, new))
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn other_name(text: &str, random: &mut Random) -> Option<String> {
    let names = spans(text, |word| is_name(word) && !FAMILIES[9].contains(&word) && word != "def");
    let (old, new) = (pick(&names, random)?, pick(&names, random)?);
    Some(with(text, old, &text[new.0..new.1]))
}

fn other_number(text: &str, random: &mut Random) -> Option<String> {
    let span = pick(&spans(text, |word| word.starts_with(|c: char| c.is_ascii_digit())), random)?;
    let new = *random.pick(&NUMBERS);
    Some(with(text, span, new))
}

/// Bracketed parts, with their brackets.
fn brackets(text: &str) -> Vec<Span> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => open.push(at),
            ')' | ']' => found.extend(open.pop().map(|from| (from, at + 1))),
            _ => {}
        }
    }
    found
}

/// Replaces a bracketed part by another of the same kind.
fn other_brackets(text: &str, random: &mut Random) -> Option<String> {
    let all = brackets(text);
    let (old, new) = (pick(&all, random)?, pick(&all, random)?);
    let is_same_kind = text.as_bytes()[old.0] == text.as_bytes()[new.0];
    is_same_kind.then(|| with(text, old, &text[new.0..new.1]))
}

fn wrapped(text: &str, random: &mut Random) -> Option<String> {
    let values = match random.one_in(2) {
        true => spans(text, |word| word.starts_with(|c: char| c.is_ascii_alphanumeric())),
        false => brackets(text),
    };
    let span = pick(&values, random)?;
    Some(with(text, span, &(*random.pick(&WRAPS)).replace("{}", &text[span.0..span.1])))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A line with the lines that are indented under it.
fn block<'t>(lines: &[&'t str], at: usize) -> Vec<&'t str> {
    let own = indent(lines[at]);
    let under = lines[at + 1..].iter().take_while(|line| indent(line) > own);
    [lines[at]].into_iter().chain(under.copied()).collect()
}

/// Lines of functions, where a statement is possible.
fn inner_lines(lines: &[&str]) -> Vec<usize> {
    (0..lines.len()).filter(|at| indent(lines[*at]) >= 4).collect()
}

/// Removes a block, repeats it, or replaces it by one of the same or of another text.
fn other_block(text: &str, corpus: &Corpus, random: &mut Random) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let inner = inner_lines(&lines);
    let at = (!inner.is_empty()).then(|| *random.pick(&inner))?;
    let old = block(&lines, at);
    let end = at + old.len();
    let donor: Vec<&str> = match random.below(4) {
        0 => Vec::new(),
        1 => lines.clone(),
        _ => random.pick(&corpus.definitions).lines().collect(),
    };
    let inner = inner_lines(&donor);
    let new = match inner.is_empty() {
        true => vec!["    pass"],
        false => block(&donor, *random.pick(&inner)),
    };
    let (to, from) = (indent(lines[at]), indent(new[0]));
    let new: Vec<String> =
        new.iter().map(|line| format!("{}{}", " ".repeat(to), line.get(from..).unwrap_or(""))).collect();
    let repeated = if random.one_in(2) { &lines[at..end] } else { &[] };
    let head = lines[..at].iter().map(|line| (*line).to_owned());
    let tail = repeated.iter().chain(&lines[end..]).map(|line| (*line).to_owned());
    Some(head.chain(new).chain(tail).collect::<Vec<_>>().join("\n") + "\n")
}

fn under_head(text: &str, random: &mut Random) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let inner = inner_lines(&lines);
    let at = (!inner.is_empty()).then(|| *random.pick(&inner))?;
    let end = at + block(&lines, at).len();
    let margin = " ".repeat(indent(lines[at]));
    let mut new: Vec<String> = lines[..at].iter().map(|line| (*line).to_owned()).collect();
    let head = *random.pick(&HEADS);
    new.extend(head.lines().map(|line| format!("{margin}{line}")));
    let deeper = " ".repeat(4 * head.lines().count());
    new.extend(lines[at..end].iter().map(|line| format!("{deeper}{line}")));
    new.extend(lines[end..].iter().map(|line| (*line).to_owned()));
    Some(new.join("\n") + "\n")
}

/// Separators of tokens, and short sequences of tokens.
const SCRAPS: [&str; 30] = [
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    ".x",
    ".xyzw",
    "**",
    "//",
    "-",
    "not ",
    "if ",
    "else ",
    "for k in range(3):\n",
    "while True:\n",
    "return",
    "lambda x: x",
    "barrier()",
    "shared(f32, 4)",
    "@kernel\n",
    "global_id",
    "0xFFFFFFFF",
    "1e400",
    "-9223372036854775808",
    "yield ",
    "f64(",
    "vec3(",
    "\"",
    "match 1:\n",
];

/// Mutations that ignore the syntax.
fn torn(text: &str, corpus: &Corpus, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return (*random.pick(&SCRAPS)).to_owned();
    }
    let at = random.below(lines.len());
    let other = random.pick(&corpus.texts).lines().collect::<Vec<_>>();
    match random.below(8) {
        0 => _ = lines.remove(at),
        1 => lines.insert(random.below(lines.len()), lines[at]),
        2 => lines.swap(at, random.below(text.lines().count())),
        3 if !other.is_empty() => lines.insert(at, other[random.below(other.len())]),
        4 => {
            let scrap = *random.pick(&SCRAPS);
            return with_word(text, scrap, random);
        }
        5 => return with_word(text, "", random),
        6 => {
            let (from, to) = *random.pick(&words(text));
            return with_word(text, &text[from..to], random);
        }
        _ => {
            let line = format!("{}{}", " ".repeat(random.below(9)), lines[at].trim_start());
            lines[at] = &line;
            return lines.join("\n") + "\n";
        }
    }
    lines.join("\n") + "\n"
}

/// Replaces a token by another.
fn with_word(text: &str, word: &str, random: &mut Random) -> String {
    with(text, *random.pick(&words(text)), word)
}

/// The positions of names, numbers and operators.
fn words(text: &str) -> Vec<Span> {
    #[derive(PartialEq, Eq)]
    enum Of {
        Name,
        Sign,
        Other,
    }
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => Of::Name,
        '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '&' | '|' | '^' | '@' => Of::Sign,
        _ => Of::Other,
    };
    let mut words = vec![(0, 0)];
    let mut last = Of::Other;
    for (at, c) in text.char_indices() {
        let this = kind(c);
        match words.last_mut() {
            Some(word) if this == last && this != Of::Other => word.1 = at + c.len_utf8(),
            _ => words.push((at, at + c.len_utf8())),
        }
        last = this;
    }
    words
}
