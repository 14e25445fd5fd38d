//! Random kernels as source text: a seed becomes a script with one kernel.
//!
//! The text compiles by construction. Every expression is written for a type, from variables and operators of
//! that type, and every variable is initialised where it is declared. Loops are bounded, and an invocation
//! stores only to its own elements, so results do not depend on the order. Operations with an error bound
//! instead of one correct result (`sin`, float `%` and `//`, `**` of floats) are not generated.
//!
//! `functions.rs` writes the kernel and its functions. `groups.rs` writes kernels with shared memory, and
//! `tiles.rs` those with cooperative matrices. `forms.rs` writes methods, higher-order functions and names
//! that change their type. `guesses.rs` writes variables that begin as untyped literals, and names for rows.
//! `records.rs` writes operators of structs. `lists.rs` writes scripts over lists, which the host runs as well.

mod forms;
mod functions;
mod groups;
mod guesses;
mod lists;
mod literals;
mod matrices;
mod records;
mod statements;
mod subgroups;
mod tiles;
mod types;
mod values;

pub use lists::generate_lists;

use kps_kernel::{Scalar, Type};

use crate::random::Random;

/// The script with one kernel for a seed.
pub fn generate(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.structs();
    writer.helpers();
    writer.kernel();
    writer.lines.join("\n") + "\n"
}

/// The same, with shared memory, barriers and counters.
pub fn generate_groups(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.structs();
    writer.helpers();
    writer.group_kernel();
    writer.lines.join("\n") + "\n"
}

/// The same, with cooperative matrices.
pub fn generate_tiles(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    writer.tile_kernel();
    writer.lines.join("\n") + "\n"
}

struct Writer {
    random: Random,
    lines: Vec<String>,
    /// Depth of open blocks.
    indent: usize,
    n_names: usize,
    /// The preferred scalar types of this kernel.
    palette: Vec<Scalar>,
    structs: Vec<Type>,
    helpers: Vec<Helper>,
    methods: Vec<forms::Method>,
    appliers: Vec<forms::Applier>,
    forms: Vec<records::Form>,
    /// Variables in scope, innermost last.
    variables: Vec<Variable>,
    /// The first variable of the innermost block.
    block_start: usize,
    /// Names for arrays of an input, whose elements are only read.
    views: Vec<Variable>,
    /// Scalars that are uniform.
    uniforms: Vec<Variable>,
    /// Constant parameters.
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
    /// Whether an invocation may end early, because no barrier follows.
    may_return: bool,
    /// Arrays in which workgroups count, or that they share.
    shared: Vec<groups::Shared>,
    /// Invocations of a workgroup.
    group_size: usize,
    /// Cooperative matrices in scope.
    tiles: Vec<tiles::Tile>,
}

#[derive(Clone)]
struct Variable {
    name: String,
    ty: Type,
    /// A loop counter, which must not be assigned to.
    is_fixed: bool,
}

/// A function that the kernel may call.
struct Helper {
    name: String,
    params: Vec<Type>,
    /// Number of trailing parameters with defaults.
    n_defaults: usize,
    result: Type,
    /// Whether it uses the variables around it.
    is_lambda: bool,
}

/// What a `return` here needs.
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

    /// Writes a block under its statement; its declarations end with it.
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
        // Lambdas end with their block, too.
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
