//! Inspection of the source text around a place: enclosing brackets, neighbouring text.
//!
//! Everything in the crate that searches the text of a script for a message is here. Nothing here reads a message.

use kps_syntax::Location;

use crate::types::Scalar;

// Around a place.

/// The text before a place.
fn before(at: &Location) -> &str {
    &at.source.text()[..at.span.start as usize]
}

/// The text after a place.
fn behind(at: &Location) -> &str {
    at.source.text().get(at.span.end as usize..).unwrap_or_default()
}

/// The line of a place, without its indentation.
fn line_of(at: &Location) -> &str {
    at.source.line_text(at.source.line(at.span.start)).trim_start()
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The owner of the attribute at a place: a name, or `a`.
pub(super) fn owner(at: &Location) -> String {
    let before = before(at).trim_end_matches('.');
    let name = &before[before.trim_end_matches(is_part_of_name).len()..];
    if name.is_empty() { "a".to_owned() } else { name.to_owned() }
}

/// The names that follow a name with a dot before each: `atomic` and `add` of `cuda.atomic.add(x, 0, 1)`.
pub(super) fn members_behind(at: &Location) -> Vec<&str> {
    let rest = behind(at);
    let end = rest.find(|letter: char| !is_part_of_name(letter) && letter != '.').unwrap_or(rest.len());
    rest[..end].split('.').skip(1).collect()
}

/// Whether type arguments follow, as in `array<f32>`.
pub(super) fn has_angle_behind(at: &Location) -> bool {
    behind(at).starts_with('<')
}

/// Whether a member of it is taken.
pub(super) fn has_dot_behind(at: &Location) -> bool {
    behind(at).starts_with('.')
}

/// Whether it is the target of `+=` or `-=`.
pub(super) fn is_counted_up(at: &Location) -> bool {
    let behind = behind(at).trim_start();
    behind.starts_with("+=") || behind.starts_with("-=")
}

/// Whether a place is on the line of a `for`.
pub(super) fn is_on_line_of_for(at: &Location) -> bool {
    line_of(at).starts_with("for ")
}

/// Whether its line can have strings: that of a `print` or an `assert`.
pub(super) fn is_on_line_with_strings(at: &Location) -> bool {
    let line = line_of(at);
    line.contains("print(") || line.starts_with("assert")
}

// Expressions.

/// `f` of `f(x)`.
pub(crate) fn callee(call: &str) -> &str {
    call.split('(').next().unwrap_or(call).trim_end()
}

/// The arguments of a call.
pub(super) fn arguments_of(call: &str) -> Option<Vec<&str>> {
    let (_, args) = call.split_once('(')?;
    args.strip_suffix(')').map(split_at_commas)
}

/// A call with an argument more; `None` where it takes several lines.
pub(super) fn with_argument(call: &str, argument: &str) -> Option<String> {
    let text = call.strip_suffix(')').unwrap_or(call);
    let comma = if text.ends_with('(') { "" } else { ", " };
    (!text.contains('\n')).then(|| format!("{text}{comma}{argument})"))
}

/// Whether a call is in it.
pub(super) fn has_call(text: &str) -> bool {
    text.contains('(')
}

/// The operand of a unary operator.
pub(super) fn operand_of<'t>(text: &'t str, operator: &str) -> &'t str {
    text.strip_prefix(operator).unwrap_or(text).trim_start()
}

/// A quotient with `//` in place of `/`; `None` for other expressions.
pub(super) fn floor_divided(text: &str) -> Option<String> {
    text.contains(" / ").then(|| text.replace(" / ", " // "))
}

/// Whether it is, or has, an `a if c else b`.
pub(super) fn is_choice(text: &str) -> bool {
    text.contains(" if ")
}

/// Whether it is a list or a tuple that is written out.
pub(super) fn is_display(text: &str) -> bool {
    text.starts_with(['[', '('])
}

/// Whether it is a list that is written out.
pub(super) fn is_list_display(text: &str) -> bool {
    text.starts_with('[')
}

/// The index of `f[x]`, where `f` is the text before it.
pub(crate) fn index_behind<'t>(text: &'t str, indexed: &str) -> Option<&'t str> {
    text.strip_prefix(indexed)?.trim().strip_prefix('[')?.strip_suffix(']')
}

/// The variable of an element or a member: `a` of `a[i].x`.
pub(crate) fn root_of(text: &str) -> &str {
    text.split(['[', '.']).next().unwrap_or_default()
}

/// Every name in a text, and every other word.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !is_part_of_name(letter))
}

/// Whether the text is a list of int literals, or such a list times a number.
pub(crate) fn is_list_of_ints(text: &str) -> bool {
    text.starts_with('[')
        && text.matches('[').count() == 1
        && text.chars().all(|letter| "[]0123456789, *".contains(letter))
}

/// The operator and the value of `+= x`.
pub(crate) fn operator_and_value(text: &str) -> Option<(&str, &str)> {
    let (operator, value) = text.split_once('=')?;
    Some((operator.trim(), value.trim_start()))
}

/// An index more for `a[i]` or `a`.
pub(super) fn with_index(text: &str, index: usize) -> String {
    match text.strip_suffix(']') {
        Some(indices) => format!("{indices}, {index}]"),
        None => format!("{text}[{index}]"),
    }
}

/// `v` and `xy` of `v.xy`: a vector and the components that are taken of it.
pub(super) fn swizzled(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once('.')
}

/// The parameters of a lambda and its body; `None` for other expressions.
pub(super) fn takes_arguments(lambda: &str) -> Option<bool> {
    Some(!lambda.strip_prefix("lambda")?.trim_start().starts_with(':'))
}

/// The last name of a path: `sin` of `math.sin`.
pub(super) fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// `1,5` as the number that some write so.
pub(super) fn with_decimal_comma(text: &str) -> Option<String> {
    let (whole, rest) = text.split_once(',')?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_digits(whole.trim_start_matches('-')) && is_digits(rest)).then(|| format!("{whole}.{rest}"))
}

/// `x` of `x,`.
pub(super) fn without_last_comma(text: &str) -> Option<&str> {
    text.ends_with(',').then(|| text.trim_end_matches(','))
}

/// A list of one type: its literals take the type of the other items, else that of the first literal.
pub(super) fn list_of(items: &str, scalar: Scalar) -> Option<String> {
    let items = split_at_commas(items);
    if items.iter().any(|item| item.starts_with(['[', '(', '*'])) {
        return None;
    }
    let is_number =
        |item: &str| item.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_digit());
    let all_are_numbers = items.iter().all(|item| is_number(item));
    let is_cast = |item: &str| item.starts_with(&format!("{scalar}("));
    let stays = |at: usize, item: &str| is_number(item) && !(all_are_numbers && at == 0) || is_cast(item);
    let cast = |(at, item): (usize, &&str)| match stays(at, item) {
        true => (*item).to_owned(),
        false => format!("{scalar}({item})"),
    };
    Some(format!("[{}]", items.iter().enumerate().map(cast).collect::<Vec<_>>().join(", ")))
}

/// A list of ints, or such a list times a number, with its ints as floats.
pub(super) fn list_as_floats(text: &str) -> String {
    let (list, times) = text.split_at(text.find(']').map_or(text.len(), |end| end + 1));
    let numbers = list.trim_matches(['[', ']']).split(',').map(|item| format!("{}.0", item.trim()));
    format!("[{}]{times}", numbers.collect::<Vec<_>>().join(", "))
}

/// The items of the first brackets in a text, where none of them has brackets: those of `Vector([1.0, 2.0])`.
pub(super) fn numbers_in_brackets(text: &str) -> Option<Vec<&str>> {
    let (_, list) = text.split_once('[')?;
    let numbers: Vec<&str> = list.split_once(']')?.0.split(',').map(str::trim).collect();
    numbers.iter().all(|number| !number.is_empty() && !number.contains(['(', '['])).then_some(numbers)
}

/// The expression of a list in brackets.
pub(super) fn in_list_brackets(text: &str) -> Option<&str> {
    text.strip_prefix('[')?.strip_suffix(']')
}

/// The items of a tuple or a list literal.
pub(super) fn literal_items(text: &str) -> Option<&str> {
    let list = in_list_brackets(text);
    let inner = list.unwrap_or_else(|| without_brackets(text));
    (list.is_some() && is_whole(inner) || split_at_commas(inner).len() > 1).then_some(inner)
}

/// Whether lists are among items.
pub(super) fn is_nested(items: &str) -> bool {
    items.contains('[')
}

/// An expression without parentheses around all of it.
pub(crate) fn without_brackets(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.filter(|inner| is_whole(inner)).unwrap_or(text)
}

/// Whether brackets are pairs: those of `a) + (b` are not.
fn is_whole(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|letter| {
        depth += nesting(letter);
        depth >= 0
    })
}

fn nesting(letter: char) -> i32 {
    i32::from("([".contains(letter)) - i32::from(")]".contains(letter))
}

/// The parts between commas outside of brackets.
pub(crate) fn split_at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0i32;
    let is_comma = |letter: char| {
        depth += nesting(letter);
        letter == ',' && depth == 0
    };
    text.split(is_comma).map(str::trim).collect()
}

/// The text of an expression as a side of a comparison.
pub(super) fn as_side(text: &str) -> String {
    let binds_less = [":=", " if ", " and ", " or ", "not ", "lambda"];
    match binds_less.iter().any(|word| text.contains(word)) && without_brackets(text) == text {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// The text of an expression as a dot or an index takes it.
pub(super) fn as_operand(text: &str) -> String {
    let mut depth = 0i32;
    let has_operator = text.chars().any(|letter| {
        depth += nesting(letter);
        matches!(letter, ' ' | ',') && depth == 0
    });
    if has_operator || text.starts_with('-') { format!("({text})") } else { text.to_owned() }
}

/// Whether a text is a type with arguments: `Array` of `Array(16, f32)`.
pub(super) fn is_call_of(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
}
