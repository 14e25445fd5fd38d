//! The codes of mistakes in the syntax, as rows of the page on error codes.

use crate::diagnostic::ErrorCode;

/// The codes of this crate.
pub const ERROR_CODES: &[ErrorCode] = &[
    ErrorCode::new(
        "syntax/address",
        "C's `&` before a name takes an address, and Python has no addresses.",
        "Leave it out, or put an operand before it to join the bits of two ints.",
    ),
    ErrorCode::new(
        "syntax/argument-order",
        "A positional argument follows a keyword argument.",
        "Move it before the keyword arguments, or give it by its name.",
    ),
    ErrorCode::new(
        "syntax/assign-target",
        "Something that is no name, attribute or subscript is to be assigned.",
        "Assign to one of these, or write `==` to compare.",
    ),
    ErrorCode::new(
        "syntax/bad-bytes",
        "A bytes literal has a character outside ASCII.",
        "Write the bytes as `\\x..`, or encode a string.",
    ),
    ErrorCode::new(
        "syntax/bad-escape",
        "An escape sequence in a string is incomplete or stands for no character.",
        "Write the missing digits, or `\\\\` for a backslash.",
    ),
    ErrorCode::new(
        "syntax/bad-number",
        "A number has a form that Python does not have.",
        "Follow the help: it shows the digits that its base allows.",
    ),
    ErrorCode::new(
        "syntax/bare-except-first",
        "A bare `except:` stands before other handlers, which it hides.",
        "Move it to the end.",
    ),
    ErrorCode::new(
        "syntax/bare-generator",
        "A generator without parentheses stands beside other arguments.",
        "Put it into parentheses.",
    ),
    ErrorCode::new(
        "syntax/bare-walrus",
        "`:=` stands where Python asks for parentheses around it.",
        "Put it into parentheses, or write `=`.",
    ),
    ErrorCode::new(
        "syntax/bare-yield",
        "`yield` stands inside an expression without parentheses.",
        "Put it into parentheses.",
    ),
    ErrorCode::new(
        "syntax/compound-inline",
        "A compound statement such as `if` or `for` begins in the middle of a line.",
        "Give it a line of its own.",
    ),
    ErrorCode::new(
        "syntax/conditional-without-else",
        "`a if c` has no `else`.",
        "Add the value for the other case: `a if c else b`.",
    ),
    ErrorCode::new(
        "syntax/delete-target",
        "`del` is given something that is no name, attribute or subscript.",
        "Delete one of these.",
    ),
    ErrorCode::new(
        "syntax/duplicate-parameter",
        "Two parameters of a function have one name.",
        "Rename one of them.",
    ),
    ErrorCode::new("syntax/else-if", "`else if` is written in two words.", "Write `elif`."),
    ErrorCode::new(
        "syntax/exception-tuple",
        "`except` is followed by types and names with commas between them.",
        "Write `except (A, B):` for several types, and `except A as e:` for a name.",
    ),
    ErrorCode::new(
        "syntax/fstring",
        "The braces of an f-string hold no expression, or more than one.",
        "Write one expression: `{value}`, `{value!r}` or `{value:>8}`.",
    ),
    ErrorCode::new(
        "syntax/function-parens",
        "A `def` has no parentheses behind its name.",
        "Write them, empty for no parameters.",
    ),
    ErrorCode::new(
        "syntax/import",
        "An `import` is incomplete or names something that cannot be imported.",
        "Write `import module` or `from module import name`.",
    ),
    ErrorCode::new(
        "syntax/invalid-character",
        "A character has no meaning in Python.",
        "Type the plain character that is meant: text from a document often has others.",
    ),
    ErrorCode::new(
        "syntax/invalid-operator",
        "An operator belongs to another language.",
        "Write Python's: `and`, `or`, `not`, `+= 1`.",
    ),
    ErrorCode::new(
        "syntax/keyword-argument",
        "What stands before the `=` of an argument is no name.",
        "Write `==` to compare, or a name.",
    ),
    ErrorCode::new(
        "syntax/keyword-as-name",
        "A keyword stands where a name is wanted.",
        "Choose another name.",
    ),
    ErrorCode::new(
        "syntax/lone-decorator",
        "No function or class follows a decorator.",
        "Write the `def` or `class` below it.",
    ),
    ErrorCode::new(
        "syntax/mismatched-bracket",
        "A closing bracket is of another kind than the open one.",
        "Close the bracket that was opened last.",
    ),
    ErrorCode::new(
        "syntax/missing-block",
        "A header is followed by no indented block.",
        "Indent the lines that belong to it, or write `pass`.",
    ),
    ErrorCode::new(
        "syntax/missing-colon",
        "The header of a compound statement does not end in a colon.",
        "Write the colon.",
    ),
    ErrorCode::new(
        "syntax/missing-comma",
        "Two items of a list, a call or a dict have no comma between them.",
        "Write the comma.",
    ),
    ErrorCode::new("syntax/missing-in", "A `for` loop has no `in`.", "Write `for item in items:`."),
    ErrorCode::new("syntax/missing-operand", "An operator has nothing on one side.", "Write the operand."),
    ErrorCode::new(
        "syntax/missing-operator",
        "Two expressions stand beside each other with nothing between them.",
        "Write the operator that is meant, or call a type as a function.",
    ),
    ErrorCode::new(
        "syntax/mixed-braces",
        "Braces hold both items with a colon and items without.",
        "Write `key: value` for every item of a dict, and for none of a set.",
    ),
    ErrorCode::new(
        "syntax/mixed-handlers",
        "One `try` has both `except` and `except*`.",
        "Write `except` for all of them.",
    ),
    ErrorCode::new(
        "syntax/mixed-tabs",
        "Tabs and spaces are mixed, so that the indentation is not certain.",
        "Indent with four spaces everywhere.",
    ),
    ErrorCode::new(
        "syntax/operator",
        "An operator binds looser than the one before it.",
        "Put it into parentheses with its operand.",
    ),
    ErrorCode::new(
        "syntax/outside-async",
        "`await` or an asynchronous statement stands outside an `async` function.",
        "Leave `await` out: scripts run line by line.",
    ),
    ErrorCode::new(
        "syntax/outside-function",
        "`return`, `yield` or `nonlocal` stands outside a function.",
        "Indent it into a function.",
    ),
    ErrorCode::new(
        "syntax/outside-loop",
        "`break` or `continue` is outside a loop.",
        "Indent it into the loop, or write `return` to leave a function.",
    ),
    ErrorCode::new(
        "syntax/parameter",
        "A parameter has a form that Python does not have.",
        "Write `name`, `name: type` or `name=default`.",
    ),
    ErrorCode::new(
        "syntax/parameter-order",
        "Parameters stand in an order that Python does not allow.",
        "Put those with defaults after those without, and the `**` parameter last.",
    ),
    ErrorCode::new(
        "syntax/pattern",
        "A pattern of `match` contradicts itself or hides the cases after it.",
        "Follow the help: rename a capture, or move a pattern to the end.",
    ),
    ErrorCode::new(
        "syntax/print-statement",
        "`print` is written as a statement.",
        "Call it: `print(value)`.",
    ),
    ErrorCode::new("syntax/repeated-keyword", "A call gives one argument twice.", "Leave one of them out."),
    ErrorCode::new(
        "syntax/single-equal",
        "`=` stands inside an expression.",
        "Write `==` to compare, or `:=` to assign.",
    ),
    ErrorCode::new(
        "syntax/star",
        "A starred expression stands where nothing can be unpacked.",
        "Put it into a list or a tuple, and star only one target.",
    ),
    ErrorCode::new(
        "syntax/star-import",
        "`import *` stands inside a function or a class.",
        "Import the names that are needed, or move it to the outermost level.",
    ),
    ErrorCode::new(
        "syntax/statement-in-expression",
        "A word that begins a statement stands inside an expression.",
        "Give the statement a line of its own.",
    ),
    ErrorCode::new(
        "syntax/stray-backslash",
        "A backslash stands where no line is continued.",
        "Leave it out, or write the next line.",
    ),
    ErrorCode::new(
        "syntax/stray-clause",
        "An `else`, `elif`, `except` or `finally` belongs to no statement.",
        "Indent it as the `if`, `for` or `try` that it belongs to.",
    ),
    ErrorCode::new(
        "syntax/too-deep",
        "Expressions are nested too deep.",
        "Compute the value in several statements, or in a loop.",
    ),
    ErrorCode::new("syntax/too-long", "The text has more than 4 GiB.", "Divide it into several files."),
    ErrorCode::new(
        "syntax/too-many-brackets",
        "Brackets are nested too deep.",
        "Give the inner parts names of their own.",
    ),
    ErrorCode::new(
        "syntax/too-many-digits",
        "A decimal int has more digits than Python reads.",
        "Write it in hexadecimal, or compute it.",
    ),
    ErrorCode::new(
        "syntax/too-many-errors",
        "The text has more mistakes than are shown.",
        "Correct the first ones, and try again.",
    ),
    ErrorCode::new(
        "syntax/too-many-indents",
        "Blocks are nested too deep.",
        "Move the inner blocks into functions.",
    ),
    ErrorCode::new("syntax/try-alone", "A `try` has neither `except` nor `finally`.", "Add one of them."),
    ErrorCode::new(
        "syntax/two-statements",
        "Two statements stand on one line with nothing between them.",
        "Give each a line of its own.",
    ),
    ErrorCode::new(
        "syntax/unclosed-bracket",
        "A bracket was never closed.",
        "Write the closing bracket where the expression ends.",
    ),
    ErrorCode::new(
        "syntax/unexpected",
        "A word or a sign cannot stand at this place.",
        "Compare the line with the label: something before it may be missing.",
    ),
    ErrorCode::new(
        "syntax/unexpected-indent",
        "A line is indented, and no block begins there.",
        "Indent it as the line before it.",
    ),
    ErrorCode::new(
        "syntax/unknown-statement",
        "No statement begins with this word.",
        "Correct the word, or write an assignment or a call.",
    ),
    ErrorCode::new(
        "syntax/unmatched-bracket",
        "A closing bracket has no opening one.",
        "Leave it out, or open the bracket.",
    ),
    ErrorCode::new(
        "syntax/unmatched-unindent",
        "The indentation of a line matches no block around it.",
        "Indent it exactly as another line of its block.",
    ),
    ErrorCode::new(
        "syntax/unterminated-string",
        "A string does not end on its line.",
        "Write the closing quotes, or use triple quotes for several lines.",
    ),
    ErrorCode::new(
        "syntax/yield-in-comprehension",
        "`yield` stands inside a comprehension.",
        "Write a `for` loop with the `yield` in its block.",
    ),
];
