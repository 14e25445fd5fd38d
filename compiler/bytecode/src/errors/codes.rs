//! The codes of mistakes that the compiler of host code finds, as rows of the page on error codes.

use kps_syntax::ErrorCode;

pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode::new(
        "compile/async",
        "`async` and `await` are not part of the language.",
        "Write a plain function: work on a device is awaited with `eval_await`.",
    ),
    ErrorCode::new(
        "compile/break-outside-loop",
        "`break` or `continue` is outside a loop.",
        "Move it into a loop.",
    ),
    ErrorCode::new(
        "compile/cannot-assign",
        "The expression is nothing that can be assigned to.",
        "Assign to a name, an attribute or a subscript.",
    ),
    ErrorCode::new(
        "compile/cannot-delete",
        "The expression is nothing that can be deleted.",
        "Delete a name, an attribute or a subscript.",
    ),
    ErrorCode::new(
        "compile/declared-after-use",
        "A name is used before its `global` or `nonlocal` declaration.",
        "Move the declaration to the start of the function.",
    ),
    ErrorCode::new(
        "compile/default-except-last",
        "A bare `except:` stands before other handlers.",
        "Move it to the end.",
    ),
    ErrorCode::new(
        "compile/duplicate-key",
        "A mapping pattern checks one key twice.",
        "Write the key once, with all that its value shall match.",
    ),
    ErrorCode::new(
        "compile/duplicate-keyword",
        "A call gives one keyword argument twice.",
        "Leave one of them out.",
    ),
    ErrorCode::new(
        "compile/duplicate-parameter",
        "Two parameters of a function have one name.",
        "Rename one of them.",
    ),
    ErrorCode::new(
        "compile/eval",
        "`eval` and `exec` are not part of the language.",
        "Parse data with `json.loads`, `int` or `float`, and choose code with a dict of functions.",
    ),
    ErrorCode::new("compile/except-star", "`except*` is not part of the language.", "Write `except`."),
    ErrorCode::new(
        "compile/metaclass",
        "Keyword arguments of a class, such as `metaclass=`, are not part of the language.",
        "Use a class decorator.",
    ),
    ErrorCode::new(
        "compile/multiple-inheritance",
        "A class has more than one base.",
        "Hold an object of the other class as an attribute.",
    ),
    ErrorCode::new(
        "compile/no-nonlocal",
        "`nonlocal` names a variable that no enclosing function has.",
        "Assign it in an enclosing function, or declare it `global`.",
    ),
    ErrorCode::new(
        "compile/nonlocal-at-module",
        "`nonlocal` stands outside a function.",
        "Write `global` inside a function; names of a module need no declaration.",
    ),
    ErrorCode::new(
        "compile/return-outside-function",
        "`return` stands outside a function.",
        "Move it into a function.",
    ),
    ErrorCode::new(
        "compile/star-alone",
        "A starred expression stands where nothing can be unpacked.",
        "Write it in a list or a tuple: `[*items]`.",
    ),
    ErrorCode::new(
        "compile/too-large",
        "A function has more variables, constants or instructions than the bytecode can number.",
        "Divide it into several functions.",
    ),
    ErrorCode::new(
        "compile/too-many-blocks",
        "Blocks are nested too deep.",
        "Move the inner ones to a function of their own.",
    ),
    ErrorCode::new("compile/two-stars", "One assignment has two starred targets.", "Star only one of them."),
    ErrorCode::new(
        "compile/walrus-in-class",
        "`:=` stands in a comprehension in the body of a class.",
        "Write a loop, or do it in a method.",
    ),
    ErrorCode::new(
        "compile/walrus-rebinds",
        "`:=` assigns the variable of the comprehension that it stands in.",
        "Assign another name.",
    ),
    ErrorCode::new(
        "compile/yield-outside-function",
        "`yield` stands outside a function.",
        "Move it into a function.",
    ),
];
