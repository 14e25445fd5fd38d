//! Lowering: the typed kernel as it is inferred in, a kernel of primitive operations out.
//!
//! A node of the inferred kernel is an operation of the script, such as `log10(x)` or `a ** n`. Lowering computes those
//! that are no single operation of the emitter, the same way for every target. What only some targets lack is left to
//! `passes/legalise`. It never sees a syntax tree, decides no type of the script, and reports no mistake but that the
//! compilation was cancelled. A kernel with mistakes passes through, too: every id exists, and nothing else is certain.
//!
//! Each function is walked once, in the order of its statements. What a node needs is evaluated right before it, and
//! its last step takes its place, so that no other node changes. Functions that a node calls are added to the kernel:
//! those of the library are inferred for the types of their arguments, and walked as well.
//!
//! | Chapter | Computes |
//! |---|---|
//! | `powers` | `a ** n` |
//! | `functions` | math functions, by an instruction, a formula or a function of the library |
//! | `formulas` | functions of floats that GLSL.std.450 lacks, by operations on one type |

mod formulas;
mod functions;
mod powers;

use kps_syntax::Diagnostics;

use self::functions::instruction;
use crate::infer::LibraryFunctions;
use crate::ir::build::{Builder, rewrite_nodes};
use crate::ir::{Body, Function, FunctionId, Kernel, NodeId, NodeKind};
use crate::remark::FunctionRemark;
use crate::types::Scalar;

/// What lowering did beside the kernel.
pub(crate) struct Lowered {
    /// What is computed in a wider type.
    pub remarks: Vec<FunctionRemark>,
    pub mistakes: Diagnostics,
    /// The id of each function of the inferred kernel.
    pub ids: Vec<FunctionId>,
}

pub(crate) fn lower(kernel: &mut Kernel, library: LibraryFunctions) -> Lowered {
    let n_inferred = kernel.functions.len() as u32;
    let mut lowering = Lowering { library, int_powers: Vec::new(), remarks: Vec::new(), id: FunctionId(0) };
    for (function, id) in kernel.functions.iter_mut().zip(0..) {
        lowering.function(function, FunctionId(id));
    }
    let mut added: Vec<Function> = Vec::new();
    while let Some(mut function) = lowering.library.take_next() {
        lowering.function(&mut function, FunctionId(n_inferred + added.len() as u32));
        added.push(function);
    }
    let mut ids: Vec<FunctionId> = (0..n_inferred).map(FunctionId).collect();
    if !added.is_empty() {
        let functions = std::mem::take(&mut kernel.functions);
        (kernel.functions, ids) = callees_first(functions, added);
    }
    let Lowering { library, mut remarks, .. } = lowering;
    remarks.iter_mut().for_each(|(id, _)| *id = ids[id.idx()]);
    ids.truncate(n_inferred as usize);
    Lowered { remarks, mistakes: library.into_mistakes(), ids }
}

/// The state of lowering a kernel. Ids of added functions follow those of the kernel.
struct Lowering<'a> {
    library: LibraryFunctions<'a>,
    /// Functions for powers of ints.
    int_powers: Vec<(Scalar, FunctionId)>,
    remarks: Vec<FunctionRemark>,
    /// The function that is lowered.
    id: FunctionId,
}

impl Lowering<'_> {
    fn function(&mut self, function: &mut Function, id: FunctionId) {
        let mut is_primitive = true;
        for at in 0..function.nodes.len() {
            match &function.nodes[at].kind {
                NodeKind::Math(math, args) => match function.body_of(math, args) {
                    Body::Instruction(of) => function.nodes[at].kind = instruction(of, args),
                    _ => is_primitive = false,
                },
                NodeKind::Power(..) => is_primitive = false,
                _ => {}
            }
        }
        if !is_primitive {
            self.id = id;
            rewrite_nodes(function, needs_steps, &mut |builder, node| self.node(builder, node));
        }
    }

    /// Computes a node by steps before it.
    fn node(&mut self, builder: &mut Builder, node: NodeId) {
        let result = match builder.function.node(node).kind {
            NodeKind::Power(base, exponent) => {
                builder.begin_steps(node, &[base, exponent]);
                self.power(builder, base, exponent)
            }
            NodeKind::Math(function, ref args) => {
                let args = args.clone();
                builder.begin_steps(node, &args);
                self.math(builder, function, args, &builder.ty(node))
            }
            _ => return,
        };
        if let Some(result) = result {
            builder.replace_by_last(node, result);
        }
    }
}

/// Whether steps compute this. Instructions were given to the nodes that have one.
fn needs_steps(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Power(..) | NodeKind::Math(..))
}

/// All functions, with callees before their callers and the kernel itself last, and the new id of each.
fn callees_first(mut inferred: Vec<Function>, added: Vec<Function>) -> (Vec<Function>, Vec<FunctionId>) {
    let main = inferred.len() - 1;
    inferred.extend(added);
    let n_functions = inferred.len();
    let mut order = Order {
        functions: inferred.into_iter().map(Some).collect(),
        ids: vec![FunctionId(0); n_functions],
        placed: Vec::with_capacity(n_functions),
    };
    (0..main).chain(main + 1..n_functions).for_each(|at| order.place(at));
    order.place(main);
    let Order { ids, placed: mut functions, .. } = order;
    for node in functions.iter_mut().flat_map(|function| &mut function.nodes) {
        if let NodeKind::Call { function, .. } = &mut node.kind {
            *function = ids[function.idx()];
        }
    }
    (functions, ids)
}

struct Order {
    /// Those that have no place yet.
    functions: Vec<Option<Function>>,
    ids: Vec<FunctionId>,
    placed: Vec<Function>,
}

impl Order {
    /// Inferred functions have their callees before them, so this recurses through functions of the library alone.
    fn place(&mut self, at: usize) {
        let Some(function) = self.functions[at].take() else { return };
        for node in &function.nodes {
            if let NodeKind::Call { function: callee, .. } = node.kind {
                self.place(callee.idx());
            }
        }
        self.ids[at] = FunctionId(self.placed.len() as u32);
        self.placed.push(function);
    }
}
