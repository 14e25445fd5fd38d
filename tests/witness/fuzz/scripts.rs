//! Fuzzes the host with whole scripts: cases and examples, cut up and mixed; scripts from a grammar; and
//! calls of everything in the host with arguments that are too large, too many or of the wrong kind. A script
//! must end by itself or by its limits, and never in a panic, an abort or a signal.

use std::panic::catch_unwind;
use std::time::Duration;

use kps::{Host, Program};

use super::corpus::Corpus;
use super::mutate::mutated;
use crate::random::Random;

/// Time limit of a script. One that exceeds it for long counts as endless.
const TIME: Duration = Duration::from_millis(200);
/// Memory limit of a script.
const MEMORY: usize = 128 << 20;

/// The script of a seed.
pub fn script(corpus: &Corpus, seed: u64) -> String {
    let mut random = Random::new(seed);
    match random.below(4) {
        0 => mutated(corpus, seed),
        1 => calls(seed, &mut random),
        _ => Grammar::new(&mut random).script(),
    }
}

/// Runs a script in its own host. Returns its failure, if there was one.
pub fn attempt(text: &str) -> Option<String> {
    let run = || {
        let Ok(program) = Program::parse("fuzzed.kps", text) else { return };
        let host = Host::builder().device("cpu").output(std::io::sink());
        let mut host = host.time_limit(TIME).memory_limit(MEMORY).build();
        let _ = host.run(&program);
    };
    let panic = catch_unwind(run).err()?;
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
    Some(format!("panicked: {text}"))
}

/// Argument values, and the calls: methods of any value by name, and functions of modules.
const POOL: &str = include_str!("pool.kps");

/// A script of random calls.
fn calls(seed: u64, random: &mut Random) -> String {
    let n_calls = 5 + random.below(60);
    format!("{POOL}\ncall_at_random({seed}, {n_calls})\n")
}

/// A script of random statements.
struct Grammar<'r> {
    random: &'r mut Random,
    text: String,
    depth: usize,
    n_functions: usize,
}

const NAMES: [&str; 8] = ["a", "b", "c", "d", "items", "text", "table", "_x"];

const LITERALS: [&str; 36] = [
    "0",
    "1",
    "-1",
    "3",
    "255",
    "2**31",
    "-2**63",
    "2**63",
    "10**40",
    "-(10**40)",
    "0.5",
    "-0.0",
    "1e308",
    "float('inf')",
    "float('nan')",
    "True",
    "None",
    "...",
    "''",
    "'a'",
    "'é\\u2028z'",
    "'%s %d'",
    "b''",
    "b'ab\\xff'",
    "[]",
    "[1, 2, 3]",
    "()",
    "(1, 'a')",
    "{}",
    "{'a': 1, 2: [3]}",
    "set()",
    "{1, 2}",
    "frozenset([1])",
    "range(10)",
    "range(10**18)",
    "slice(1, None, -2)",
];

const BINARY: [&str; 24] = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "<",
    "<=",
    "==",
    "!=",
    ">",
    "in",
    "not in",
    "is",
    "and",
    "or",
    "if True else",
];

const CALLABLES: [&str; 34] = [
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "bytearray",
    "chr",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "hash",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "pow",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "zip",
];

const METHODS: [&str; 40] = [
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "sort",
    "index",
    "count",
    "copy",
    "clear",
    "update",
    "get",
    "items",
    "keys",
    "values",
    "setdefault",
    "add",
    "union",
    "split",
    "join",
    "replace",
    "find",
    "format",
    "strip",
    "upper",
    "encode",
    "zfill",
    "center",
    "partition",
    "translate",
    "startswith",
    "hex",
    "bit_length",
    "to_bytes",
    "is_integer",
    "send",
    "close",
    "throw",
    "__class__",
    "__dict__",
];

const EXCEPTIONS: [&str; 8] = [
    "Exception",
    "ValueError",
    "TypeError",
    "KeyError",
    "StopIteration",
    "BaseException",
    "(OSError, IndexError)",
    "MemoryError",
];

impl Grammar<'_> {
    fn new(random: &mut Random) -> Grammar<'_> {
        Grammar { random, text: String::new(), depth: 0, n_functions: 0 }
    }

    fn script(mut self) -> String {
        for name in NAMES {
            let value = self.expression();
            self.line(&format!("{name} = {value}"));
        }
        for _ in 0..4 + self.random.below(20) {
            self.statement();
        }
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += line;
        self.text.push('\n');
    }

    fn block(&mut self, head: &str) {
        self.line(head);
        self.depth += 1;
        for _ in 0..1 + self.random.below(3) {
            self.statement();
        }
        self.depth -= 1;
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.random.below(NAMES.len())]
    }

    fn statement(&mut self) {
        let (name, value) = (self.name(), self.expression());
        if self.depth > 4 {
            return self.line(&format!("{name} = {value}"));
        }
        match self.random.below(20) {
            0..4 => self.line(&format!("{name} = {value}")),
            4 => {
                let op = *self.random.pick(&BINARY[..13]);
                self.line(&format!("{name} {op}= {value}"));
            }
            5 => {
                let target = self.expression();
                self.line(&format!("{name}[{target}] = {value}"));
            }
            6 => {
                let member = self.name();
                self.line(&format!("{name}.{member} = {value}"));
            }
            7 => self.line(&format!("del {name}")),
            8 => self.line(&format!("a, *b = {value}")),
            9 => self.block(&format!("if {value}:")),
            10 => self.block(&format!("for {name} in {value}:")),
            11 => self.block(&format!("while {value}:")),
            12 | 13 => {
                self.block("try:");
                let kind = *self.random.pick(&EXCEPTIONS);
                self.block(&format!("except {kind} as {name}:"));
                if self.random.one_in(3) {
                    self.block("finally:");
                }
            }
            14 => {
                let head = format!("def f{}(a=1, *b, c=2, **d):", self.n_functions);
                self.n_functions += 1;
                self.block(&head);
                let last = ["return a", "yield a", "return f0(a, c)", "yield from a", "raise a"];
                self.depth += 1;
                let last = *self.random.pick(&last);
                self.line(last);
                self.depth -= 1;
            }
            15 => {
                let base =
                    *self.random.pick(&["", "(list)", "(int)", "(str)", "(dict)", "(Exception)", "(a)"]);
                let head = format!("class C{}{base}:", self.n_functions);
                self.n_functions += 1;
                self.line(&head);
                self.depth += 1;
                let dunders = [
                    "repr", "str", "eq", "hash", "len", "iter", "next", "getattr", "getitem", "call", "bool",
                    "del", "enter",
                ];
                for _ in 0..2 {
                    let dunder = *self.random.pick(&dunders);
                    self.line(&format!("def __{dunder}__(self, *args):"));
                    self.depth += 1;
                    let value = self.expression();
                    self.line(&format!("return {value}"));
                    self.depth -= 1;
                }
                self.depth -= 1;
                self.line(&format!("{name} = C{}()", self.n_functions - 1));
            }
            16 => {
                self.line(&format!("match {value}:"));
                self.depth += 1;
                let pattern =
                    *self.random.pick(&["[x, *_]", "{'a': x}", "int(x)", "(1 | 2)", "str()", "x if x"]);
                self.block(&format!("case {pattern}:"));
                self.block("case _:");
                self.depth -= 1;
            }
            17 => self.block(&format!("with {value} as {name}:")),
            18 => self.line(&format!("assert {value}, {name}")),
            _ => self.line(&format!("print({value}, {name}, sep={name})")),
        }
    }

    fn expression(&mut self) -> String {
        self.nested(0)
    }

    fn nested(&mut self, depth: usize) -> String {
        if depth > 3 || self.random.one_in(3) {
            return match self.random.below(2) {
                0 => self.name().to_owned(),
                _ => (*self.random.pick(&LITERALS)).to_owned(),
            };
        }
        let (first, second) = (self.nested(depth + 1), self.nested(depth + 1));
        match self.random.below(14) {
            0..3 => format!("({first} {} {second})", self.random.pick(&BINARY)),
            3 | 4 => format!("{}({first})", self.random.pick(&CALLABLES)),
            5 => format!("{}({first}, {second})", self.random.pick(&CALLABLES)),
            6 => format!("{first}.{}({second})", self.random.pick(&METHODS)),
            7 => format!("({first})[{second}]"),
            8 => format!("({first})[{second}:]"),
            9 => format!("[{first} for {} in {second}]", self.name()),
            10 => format!("(lambda {}: {first})({second})", self.name()),
            11 => format!("f'{{{}!r:>{{{}}}}}'", self.name(), self.name()),
            12 => format!("({} := {first})", self.name()),
            _ => format!("({first} if {second} else -{first})"),
        }
    }
}
