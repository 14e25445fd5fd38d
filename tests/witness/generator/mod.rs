//! Random kernels, as text in the kernel language: a seed goes in, a script with one kernel comes out.
//!
//! What is written compiles by construction: every expression is written for a type, from variables and
//! operators of that type, and every variable is set where it is declared. Loops are bounded, and an
//! invocation stores to its own elements alone, so results do not depend on order. What has a bound instead
//! of one right result (`sin`, float `%` and `//`, `**` of floats) does not appear.
//!
//! `functions.rs` writes the kernel and what it calls, `groups.rs` kernels whose workgroups share memory, `tiles.rs`
//! kernels with cooperative matrices, `forms.rs` methods, functions of functions and names that change their type,
//! `guesses.rs` variables that begin as numbers without a type and names for rows, and `records.rs` operators of structs.

mod forms;
mod functions;
mod groups;
mod guesses;
mod literals;
mod matrices;
mod records;
mod statements;
mod subgroups;
mod tiles;
mod types;
mod values;

use kps_kernel::{Scalar, Type};

use crate::random::Random;

/// A script with one kernel, always the same for a seed.
pub fn generate(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.structs();
    writer.helpers();
    writer.kernel();
    writer.lines.join("\n") + "\n"
}

/// The same, with a kernel whose workgroups share memory, wait at barriers and count in arrays.
pub fn generate_groups(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.structs();
    writer.helpers();
    writer.group_kernel();
    writer.lines.join("\n") + "\n"
}

/// A kernel whose subgroups hold cooperative matrices.
pub fn generate_tiles(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.tile_kernel();
    writer.lines.join("\n") + "\n"
}

struct Writer {
    random: Random,
    lines: Vec<String>,
    /// Blocks that are open.
    indent: usize,
    n_names: usize,
    /// Scalar types that this kernel prefers.
    palette: Vec<Scalar>,
    structs: Vec<Type>,
    helpers: Vec<Helper>,
    methods: Vec<forms::Method>,
    appliers: Vec<forms::Applier>,
    forms: Vec<records::Form>,
    /// What can be used here, innermost last.
    variables: Vec<Variable>,
    /// Where those of the innermost block begin.
    block_start: usize,
    /// Names for arrays of an input, whose elements are only read.
    views: Vec<Variable>,
    /// Scalars that are the same in every invocation.
    uniforms: Vec<Variable>,
    /// Parameters that are constants.
    consts: Vec<String>,
    /// Arrays that are only read.
    inputs: Vec<Variable>,
    /// Arrays with two axes that are only read.
    planes: Vec<Variable>,
    /// Names for rows of those, with the array's name.
    rows: Vec<(String, Variable)>,
    /// The invocation's own elements of arrays.
    outputs: Vec<Variable>,
    /// Loops that a jump may leave or continue.
    n_loops: usize,
    result: Result,
    /// An invocation may end early: no barrier follows.
    may_return: bool,
    /// Arrays that workgroups count in or have in common.
    shared: Vec<groups::Shared>,
    /// Invocations of a workgroup.
    group_size: usize,
    /// Cooperative matrices that can be used here.
    tiles: Vec<tiles::Tile>,
}

#[derive(Clone)]
struct Variable {
    name: String,
    ty: Type,
    /// A counter, on which the end of a loop depends.
    is_fixed: bool,
}

/// A function that the kernel may call.
struct Helper {
    name: String,
    params: Vec<Type>,
    /// So many of the last parameters have defaults.
    n_defaults: usize,
    result: Type,
    /// It looks at the variables around it.
    is_lambda: bool,
}

/// What a `return` here has.
#[derive(Clone)]
enum Result {
    Nothing,
    Value(Type),
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let mut random = Random::new(seed);
        let mut palette = vec![Scalar::I32];
        for _ in 0..2 + random.below(4) {
            palette.push(*random.pick(&Scalar::ALL));
        }
        Writer {
            random,
            lines: Vec::new(),
            indent: 0,
            n_names: 0,
            palette,
            structs: Vec::new(),
            helpers: Vec::new(),
            methods: Vec::new(),
            appliers: Vec::new(),
            forms: Vec::new(),
            variables: Vec::new(),
            block_start: 0,
            views: Vec::new(),
            uniforms: Vec::new(),
            consts: Vec::new(),
            inputs: Vec::new(),
            planes: Vec::new(),
            rows: Vec::new(),
            outputs: Vec::new(),
            n_loops: 0,
            result: Result::Nothing,
            may_return: true,
            shared: Vec::new(),
            group_size: 1,
            tiles: Vec::new(),
        }
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.indent)));
    }

    fn name(&mut self, prefix: &str) -> String {
        self.n_names += 1;
        format!("{prefix}{}", self.n_names)
    }

    /// Writes a block under its head; what is declared in it ends with it.
    fn block(&mut self, head: &str, body: impl FnOnce(&mut Writer)) {
        self.line(head);
        self.indent += 1;
        let (n_lines, n_variables, n_helpers) = (self.lines.len(), self.variables.len(), self.helpers.len());
        let (n_views, n_rows, outer_start) = (self.views.len(), self.rows.len(), self.block_start);
        self.block_start = n_variables;
        body(self);
        self.block_start = outer_start;
        self.views.truncate(n_views);
        self.rows.truncate(n_rows);
        if self.lines.len() == n_lines {
            self.line("pass");
        }
        self.variables.truncate(n_variables);
        // Lambdas are of their block as well.
        self.helpers.truncate(n_helpers);
        self.indent -= 1;
    }

    fn declare(&mut self, name: &str, ty: &Type) {
        self.variables.push(Variable { name: name.to_owned(), ty: ty.clone(), is_fixed: false });
    }

    fn declare_fixed(&mut self, name: &str, ty: &Type) {
        self.variables.push(Variable { name: name.to_owned(), ty: ty.clone(), is_fixed: true });
    }
}
