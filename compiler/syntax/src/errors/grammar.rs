//! Errors of the parser: unexpected tokens.

use crate::Diagnostic;
use crate::source::Location;

pub(crate) fn unexpected(at: Location, what: &str, expectation: Option<String>) -> Diagnostic {
    let is_comment = what == "`//`" || comments(&at);
    let label = expectation.as_ref().map(|expected| format!("expected {expected}")).unwrap_or_default();
    let diagnostic =
        Diagnostic::error("syntax/unexpected", format!("did not expect {what} here")).label(at, label);
    match expectation {
        Some(expected) => diagnostic.help(format!("write {expected} here")),
        None if is_comment => diagnostic.help("a comment begins with `#`"),
        None => diagnostic.help("check the text before it: something is missing there, or superfluous"),
    }
}

/// `/* .. */`
fn comments(at: &Location) -> bool {
    at.source.text()[at.span.start as usize..].starts_with("/*")
}

pub(crate) fn too_many_errors(at: Location, n_errors: usize) -> Diagnostic {
    Diagnostic::error(
        "syntax/too-many-errors",
        format!("more than {n_errors} mistakes; the others are not shown"),
    )
    .label(at, "the last one shown")
    .help("correct the first ones: those after them may vanish")
}

// Headers, blocks, clauses.

pub(crate) fn unexpected_indent(at: Location, line_before: Option<u32>) -> Diagnostic {
    let help = match line_before {
        Some(line) => format!("indent it like line {line}; only a line that ends with `:` opens a block"),
        None => "begin the line in the first column".to_owned(),
    };
    Diagnostic::error("syntax/unexpected-indent", "the line is indented, but no block begins here")
        .label(at, "too deep")
        .help(help)
}

pub(crate) fn missing_block(
    at: Location,
    what: &str,
    keyword: &str,
    header: Location,
    line: u32,
) -> Diagnostic {
    let message = match what {
        "a block" => format!("expected an indented block after the `{keyword}` on line {line}"),
        _ => format!("{what} in an indented block after line {line}"),
    };
    Diagnostic::error("syntax/missing-block", message)
        .label(at, "not indented")
        .label(header, "this needs a block")
        .help("indent the lines that belong to it by four spaces; for an empty block write `pass`")
}

pub(crate) fn lone_decorator(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/lone-decorator", "no function or class follows the decorator")
        .label(at, "decorates nothing")
        .help("write a `def` or a `class` on the next line")
}

pub(crate) fn stray_clause(at: Location, clause: &str, owner: &str) -> Diagnostic {
    Diagnostic::error(
        "syntax/stray-clause",
        format!("no {owner} is open that this `{clause}` could belong to"),
    )
    .label(at, "")
    .help(format!("indent it exactly as its {owner}, with nothing in between at that level"))
}

pub(crate) fn else_if(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/else-if", "`else if` is written `elif`")
        .label(at.clone(), "")
        .help("write `elif` followed by the condition")
        .fix(at, "elif")
}

pub(crate) fn else_with_condition(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/unexpected", "an `else` has no condition")
        .label(at, "expected `:`")
        .help("write `else:`, or `elif condition:`")
}

pub(crate) fn clause_takes_nothing(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error("syntax/unexpected", format!("nothing is allowed between `{keyword}` and its colon"))
        .label(at, "expected `:`")
        .help(format!("write `{keyword}:` on a line of its own"))
}

pub(crate) fn function_without_parens(at: Location, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/function-parens", format!("the parameters of `{name}` are missing"))
        .label(at.clone(), "expected `(`")
        .help(format!("write `def {name}():`, also where it takes none"))
        .fix(at, "()")
}

pub(crate) fn missing_in(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/missing-in", "a `for` loop needs `in` after its variable")
        .label(at, "expected `in`")
        .help("write `for item in items:`")
}

pub(crate) fn c_for(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/missing-in", "a `for` loops over the items of something")
        .label(at, "")
        .help("write `for i in range(10):` to count")
}

pub(crate) fn missing_colon(at: Location, keyword: &str, is_brace: bool) -> Diagnostic {
    let help = match is_brace {
        true => "write `:` and indent the block below; braces make dicts and sets",
        false => "end the line with `:`",
    };
    Diagnostic::error("syntax/missing-colon", format!("expected `:` after the header of `{keyword}`"))
        .label(at.clone(), "")
        .help(help)
        .fix(at, ":")
}

pub(crate) fn bad_parameter(at: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/parameter", format!("a parameter must be a name, not {what}"))
        .label(at, "")
        .help("write a name; a default value follows it: `def f(size=3):`")
}

/// `written` is the same parameter as it is written here.
pub(crate) fn typed_parameter(at: Location, written: &str) -> Diagnostic {
    let message = match at.source.slice(at.span).contains(':') {
        true => "a type has none of C's signs here",
        false => "the type of a parameter follows its name and a colon",
    };
    Diagnostic::error("syntax/parameter", message)
        .label(at.clone(), "")
        .help(format!("write `{written}`"))
        .fix(at, written)
}

/// `v: vec3<f32> = ..`
pub(crate) fn angled_type(at: Location, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/single-equal", "a type takes no `<..>` here")
        .label(at, "")
        .help(format!("variables have the type of their value: write `{name} = ..`"))
}

/// WGSL's `arrayLength(&x)`
pub(crate) fn length_of(at: Location, name: &str) -> Diagnostic {
    Diagnostic::error("syntax/address", "`&` takes no address here, it joins the bits of two ints")
        .label(at, "")
        .help(format!("write `len({name})`"))
}

pub(crate) fn address(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/address", "`&` takes no address here, it joins the bits of two ints")
        .label(at, "")
        .help("leave it out: objects and arrays are passed by name")
}

pub(crate) fn compound_inline(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error("syntax/compound-inline", format!("`{keyword}` cannot begin in the middle of a line"))
        .label(at, "opens a block of its own")
        .help("write it on the next line, indented where it belongs to the header before it")
}

pub(crate) fn lambda_colon(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/missing-colon", "expected `:` after the parameters of the `lambda`")
        .label(at, "")
        .help("write `lambda x: x + 1`")
}

// Operators.

pub(crate) fn other_language_operator(at: Location, written: &str, meant: &str) -> Diagnostic {
    let help = match written {
        "=>" => "write `>=` to compare; a small function is `lambda x: x + 1`".to_owned(),
        _ => format!("write `{meant}`"),
    };
    Diagnostic::error("syntax/invalid-operator", format!("`{written}` is not an operator"))
        .label(at.clone(), "")
        .help(help)
        .fix(at, meant)
}

pub(crate) fn dotted_range(at: Location, first: &str, last: &str) -> Diagnostic {
    Diagnostic::error("syntax/invalid-operator", "`..` is not an operator")
        .label(at.clone(), "")
        .help(format!("write `range({first}, {last})`, which leaves out `{last}` itself"))
        .fix(at, format!("range({first}, {last})"))
}

/// `is_whole_statement` if nothing of the statement precedes `place`.
pub(crate) fn increment(at: Location, sign: &str, place: &str, is_whole_statement: bool) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("syntax/invalid-operator", format!("`{sign}{sign}` is not an operator"))
            .label(at.clone(), "");
    let line = format!("`{place} {sign}= 1`");
    match is_whole_statement {
        true => diagnostic.help(format!("write {line}")).fix(at, format!(" {sign}= 1")),
        false => diagnostic.help(format!("write {line} on a line of its own")).fix(at, ""),
    }
}

pub(crate) fn single_equal(at: Location, in_parens: bool) -> Diagnostic {
    let help = match in_parens {
        true => "write `==` to compare, or `:=` to assign inside an expression",
        false => "write `==` to compare",
    };
    Diagnostic::error("syntax/single-equal", "`=` assigns and is not allowed in an expression")
        .label(at.clone(), "")
        .help(help)
        .fix(at, "==")
}

pub(crate) fn equal_in_braces(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/single-equal", "`=` is not allowed in a dict")
        .label(at.clone(), "")
        .help("write `key: value`, or `dict(key=value)`")
        .fix(at, ":")
}

pub(crate) fn declared_with_value(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error("syntax/single-equal", format!("a `{keyword}` statement cannot assign"))
        .label(at, "")
        .help("assign in a statement of its own on the next line")
}

pub(crate) fn arrow(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/invalid-operator", "`->` is only allowed before the result type of a function")
        .label(at, "")
        .help("an attribute is written with a dot: `value.name`")
}

// Words.

pub(crate) fn print_statement(at: Location, word: &str, argument: &str) -> Diagnostic {
    let help = match argument.contains('\n') {
        true => format!("put the arguments into parentheses: `{word}(..)`"),
        false => format!("write `{word}({argument})`"),
    };
    Diagnostic::error("syntax/print-statement", format!("`{word}` is a function and needs parentheses"))
        .label(at, "")
        .help(help)
}

pub(crate) fn raise_comma(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/unexpected", "a `raise` takes one exception")
        .label(at, "")
        .help("give the text to the exception: `raise ValueError(\"text\")`")
}

pub(crate) fn keyword_as_name(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error("syntax/keyword-as-name", format!("`{keyword}` is a keyword and cannot be a name"))
        .label(at.clone(), "")
        .help(format!("write another name, such as `{keyword}_`"))
        .fix(at, format!("{keyword}_"))
}

pub(crate) fn other_language_statement(at: Location, word: &str, help: String) -> Diagnostic {
    Diagnostic::error("syntax/unknown-statement", format!("no statement begins with `{word}`"))
        .label(at, "")
        .help(help)
}

pub(crate) fn misspelt_keyword(at: Location, word: &str, meant: &str) -> Diagnostic {
    Diagnostic::error("syntax/unknown-statement", format!("no statement begins with `{word}`"))
        .label(at.clone(), format!("did you mean `{meant}`?"))
        .help(format!("write `{meant}`"))
        .fix(at, meant)
}

pub(crate) fn bare_yield(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/bare-yield", "a `yield` inside an expression needs parentheses")
        .label(at, "")
        .help("write `(yield value)`")
}

pub(crate) fn statement_in_expression(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error(
        "syntax/statement-in-expression",
        format!("`{keyword}` begins a statement, not a value"),
    )
    .label(at, "expected a value")
    .help("write the statement on a line of its own")
}

pub(crate) fn neighbours(at: Location, what: &str, before: Location) -> Diagnostic {
    Diagnostic::error(
        "syntax/missing-operator",
        format!("did not expect {what} behind a complete expression"),
    )
    .label(at, "")
    .label(before, "the expression ends here")
    .help("write an operator or a comma between them, or begin a new line")
}

pub(crate) fn c_cast(at: Location, ty: &str, operand: &str) -> Diagnostic {
    Diagnostic::error("syntax/missing-operator", "a cast is written as a call")
        .label(at, "")
        .help(format!("write `{ty}({operand})`"))
}

pub(crate) fn two_statements(at: Location, before: Location) -> Diagnostic {
    Diagnostic::error("syntax/two-statements", "there are two statements on one line")
        .label(at, "the second one")
        .label(before, "the first one ends here")
        .help("begin a new line, or write `;` between them")
}

// Missing parts.

pub(crate) fn missing_operand(at: Location, sign: &str) -> Diagnostic {
    let is_launch = at.source.text()[at.span.start as usize..].starts_with("<<<");
    let diagnostic =
        Diagnostic::error("syntax/missing-operand", format!("`{sign}` has nothing on its right"))
            .label(at, "expected a value after this");
    match is_launch {
        true => diagnostic.help("a kernel is launched by a call, its domain in brackets: `k[n](x, y)`"),
        false => diagnostic.help(format!("write the value, or remove the `{sign}`")),
    }
}

pub(crate) fn missing_value(at: Location, sign: &str) -> Diagnostic {
    Diagnostic::error("syntax/missing-operand", format!("no value follows the `{sign}`"))
        .label(at, "expected a value after this")
        .help("write the value")
}

pub(crate) fn nothing_after_dot(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/missing-operand", "no name follows the `.`")
        .label(at, "expected a name after this")
        .help("write the name of an attribute, or remove the dot")
}

pub(crate) fn nothing_after_keyword(at: Location, keyword: &str) -> Diagnostic {
    Diagnostic::error("syntax/missing-operand", format!("nothing follows the `{keyword}`"))
        .label(at, "expected more after this")
        .help("complete the statement")
}

pub(crate) fn empty_between_commas(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/missing-operand", "there is no value before the comma")
        .label(at, "")
        .help("write the value, or remove the comma")
}

pub(crate) fn missing_comma(at: Location, next: Location, what: &str) -> Diagnostic {
    Diagnostic::error("syntax/missing-comma", format!("expected a comma before {what}"))
        .label(at.clone(), "")
        .label(next, "belongs to the next item, or an operator is missing before it")
        .help("write `,` between the two")
        .fix(at, ",")
}

pub(crate) fn conditional_without_else(at: Location, end: Location) -> Diagnostic {
    Diagnostic::error("syntax/conditional-without-else", "a conditional expression needs its `else`")
        .label(at, "begins here")
        .label(end, "expected `else`")
        .help("write `a if condition else b`")
}

// Imports.

pub(crate) fn import_from_order(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/import", "`from` comes before `import`")
        .label(at, "")
        .help("write `from module import name`")
}

pub(crate) fn import_nothing(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/import", "the import names nothing")
        .label(at, "expected a name")
        .help("write `import module` or `from module import name`")
}

pub(crate) fn import_trailing_comma(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/import", "an import without parentheses cannot end with a comma")
        .label(at.clone(), "")
        .help("remove the comma, or put the names into parentheses")
        .fix(at, "")
}

pub(crate) fn from_without_import(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/import", "`import` is missing after the module of a `from`")
        .label(at, "expected `import`")
        .help("write `from module import name`, or `import module`")
}

pub(crate) fn import_star(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/import", "`*` needs the module before it")
        .label(at, "")
        .help("write `from module import *`")
}

pub(crate) fn import_string(at: Location) -> Diagnostic {
    Diagnostic::error("syntax/import", "a module is imported by its name, not by a string")
        .label(at, "")
        .help("write the name without quotes and without `.py`: `import module`")
}
