//! The state of one function during emission: its blocks, the ids of its values, the current line.

use kps_syntax::Span;
use rspirv::spirv::{Decoration, FunctionControl, GlslStd450Op as GlslOp, Op, StorageClass, Word};
use rustc_hash::FxHashMap;

use super::debug::FunctionDebug;
use super::interface::Interface;
use super::module::{Module, Operand, begin, end, write, write_operands};
use crate::constant::Constant;
use crate::ir::{Arg, BufferId, Function, Home, Kernel, LocalId, NodeId, NodeKind, ScalarId};
use crate::push::{BlockKind, Member};
use crate::signature::Target;
use crate::types::{Scalar, Type};

pub(crate) struct FunctionEmitter<'e> {
    pub kernel: &'e Kernel,
    pub function: &'e Function,
    pub functions: &'e [Option<Word>],
    pub target: &'e Target,
    pub module: &'e mut Module,
    pub interface: &'e mut Interface,
    /// Ids of the nodes that were computed; 0 for the others.
    values: Vec<Word>,
    /// Variables and reference arguments; 0 for those that nothing uses.
    locals: Vec<Word>,
    args: Vec<Word>,
    variables: Vec<Word>,
    /// The first instructions of the first block.
    pub prologue: Vec<Word>,
    /// The lengths of buffers, in the prologue.
    pub lens: FxHashMap<BufferId, Word>,
    /// Pointers to arrays by address, made there, too.
    pub bases: FxHashMap<BufferId, Word>,
    /// Push constants that were loaded there.
    pub hidden: FxHashMap<Member, Word>,
    /// Numbers of parameters that were loaded there, by block and member.
    pub numbers: FxHashMap<(BlockKind, usize), Word>,
    /// Variables that hold such parameters, or parts of them from a number on, for indices known at run time.
    pub param_variables: FxHashMap<(ScalarId, usize, Type), Word>,
    /// Constants that optimizers cannot know, in the prologue.
    pub opaque: FxHashMap<Constant, Word>,
    /// All blocks so far, from the end of the first label.
    pub body: Vec<Word>,
    /// The instructions of the open block.
    pub label: Word,
    file: Word,
    /// The last `OpLine` of this block: the place of the source, and its line and column.
    line: Option<(u32, (u32, u32))>,
    /// Whether instructions belong to no place of the source here.
    is_placeless: bool,
    /// The current place in the source: the start of the span.
    at: u32,
    pub loops: Vec<super::control::LoopLabels>,
    /// Whether the invocation may end in it.
    pub may_end: bool,
    /// The debug information of this function, if it has any.
    pub debug: Option<FunctionDebug>,
}

/// The initial capacity in words, enough for most functions.
const USUAL_WORDS: usize = 1024;

impl<'e> FunctionEmitter<'e> {
    pub fn new(
        kernel: &'e Kernel,
        function: &'e Function,
        functions: &'e [Option<Word>],
        target: &'e Target,
        module: &'e mut Module,
        interface: &'e mut Interface,
    ) -> FunctionEmitter<'e> {
        let file = module.file(function.called_for.as_ref().map_or(&function.source, |place| &place.source));
        FunctionEmitter {
            kernel,
            function,
            functions,
            target,
            module,
            interface,
            values: vec![0; function.nodes.len()],
            locals: vec![0; function.locals.len()],
            args: Vec::new(),
            variables: Vec::new(),
            prologue: Vec::new(),
            lens: FxHashMap::default(),
            bases: FxHashMap::default(),
            hidden: FxHashMap::default(),
            numbers: FxHashMap::default(),
            param_variables: FxHashMap::default(),
            opaque: FxHashMap::default(),
            body: Vec::with_capacity(USUAL_WORDS),
            label: 0,
            file,
            line: None,
            is_placeless: function.called_for.is_some(),
            at: u32::MAX,
            loops: Vec::new(),
            may_end: false,
            debug: None,
        }
    }

    /// Appends the function to the module.
    pub fn emit(mut self, id: Word) {
        let function = self.function;
        self.set_span(function.span);
        let result = self.module.ty(&function.result);
        let mut arg_types = Vec::new();
        for arg in &function.args {
            let (ty, name) = match arg {
                Arg::Value { ty, name } => (self.module.ty(ty), name.clone()),
                Arg::Reference(local) => {
                    let local = function.local(*local);
                    let pointee = self.module.ty(&local.ty);
                    (self.module.pointer(StorageClass::Function, pointee), local.name.clone())
                }
            };
            let arg_id = self.module.id();
            self.module.name(arg_id, &name);
            if let Arg::Reference(local) = arg {
                self.locals[local.idx()] = arg_id;
            }
            self.args.push(arg_id);
            arg_types.push(ty);
        }
        self.begin_debug_info(id);
        let function_type = self.module.function_type(result, &arg_types);
        self.module.name(id, &function.name);
        let first = self.module.id();
        self.enter(first);
        if self.is_kernel() && self.kernel.is_guarded() {
            self.domain_guard();
        }
        if self.block(&function.body) {
            self.terminate(Op::Unreachable, &[]);
        }
        if self.may_end {
            self.interface.ending.insert(id);
        }
        let words = &mut self.module.functions;
        let control = [Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(function_type)];
        write(words, Op::Function, Some(result), Some(id), &control);
        for (ty, arg) in arg_types.iter().zip(&self.args) {
            write(words, Op::FunctionParameter, Some(*ty), Some(*arg), &[]);
        }
        write(words, Op::Label, None, Some(first), &[]);
        words.extend(self.variables);
        words.extend(self.debug.map(|debug| debug.head).unwrap_or_default());
        words.extend(self.prologue);
        words.extend(self.body);
        write(words, Op::FunctionEnd, None, None, &[]);
    }

    pub fn is_kernel(&self) -> bool {
        std::ptr::eq(self.function, self.kernel.functions.last().unwrap_or(self.function))
    }

    // Blocks.

    pub fn open(&mut self, label: Word) {
        write(&mut self.body, Op::Label, None, Some(label), &[]);
        self.enter(label);
    }

    fn enter(&mut self, label: Word) {
        self.label = label;
        self.line = None;
        self.debug.iter_mut().for_each(|debug| debug.place = None);
    }

    pub fn terminate(&mut self, op: Op, operands: &[Operand]) {
        self.place_line();
        write(&mut self.body, op, None, None, operands);
    }

    pub fn branch(&mut self, label: Word) {
        self.terminate(Op::Branch, &[Operand::IdRef(label)]);
    }

    pub fn branch_if(&mut self, condition: Word, then: Word, orelse: Word) {
        self.terminate(Op::BranchConditional, &[condition, then, orelse].map(Operand::IdRef));
    }

    // Lines.

    /// From here on instructions belong to this place of the source.
    pub fn at(&mut self, span: Span) {
        self.at = span.start;
        self.set_span(span);
    }

    /// The place that needs a capability from here on. For a library function that is the call.
    fn set_span(&mut self, span: Span) {
        if self.function.called_for.is_none() {
            self.module.set_span(span);
        }
    }

    /// `OpLine`, where the place changed since the last one of this block.
    fn place_line(&mut self) {
        if self.is_placeless {
            return;
        }
        let source = &self.function.source;
        let at = self.at.min(source.text().len() as u32);
        if self.line.is_some_and(|(known, _)| known == at) {
            return;
        }
        let place = source.line_column(at);
        self.line = Some((at, place));
        let start = begin(&mut self.body, Op::Line);
        self.body.extend([self.file, place.0, place.1]);
        end(&mut self.body, start);
    }

    // Instructions.

    /// Begins the next instruction, with its line.
    fn begin(&mut self, op: Op) -> usize {
        self.place_line();
        // Only phis and lines may precede a phi.
        if let Some((_, place)) = self.line.filter(|_| op != Op::Phi) {
            self.debug_line(place);
        }
        begin(&mut self.body, op)
    }

    /// Computes a value without a place in the source, at the start of the function.
    pub fn in_prologue<T>(&mut self, compute: impl FnOnce(&mut Self) -> T) -> T {
        let prologue = std::mem::take(&mut self.prologue);
        let body = std::mem::replace(&mut self.body, prologue);
        let is_placeless = std::mem::replace(&mut self.is_placeless, true);
        let computed = compute(self);
        self.is_placeless = is_placeless;
        self.prologue = std::mem::replace(&mut self.body, body);
        computed
    }

    /// An instruction without a result.
    pub fn effect(&mut self, op: Op, operands: &[Operand]) {
        let start = self.begin(op);
        write_operands(&mut self.body, operands);
        end(&mut self.body, start);
    }

    pub fn op(&mut self, op: Op, ty: Word, operands: &[Operand]) -> Word {
        self.computed(op, ty, |words| write_operands(words, operands))
    }

    /// An instruction over values.
    pub fn ids(&mut self, op: Op, ty: &Type, operands: &[Word]) -> Word {
        let ty = self.module.ty(ty);
        self.over(op, ty, operands)
    }

    /// The same, of a type that has an id.
    pub fn over(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        self.computed(op, ty, |words| words.extend(operands))
    }

    /// A function of GLSL.std.450.
    pub fn glsl(&mut self, function: GlslOp, ty: &Type, operands: &[Word]) -> Word {
        let ty = self.module.ty(ty);
        let set = self.module.glsl();
        self.computed(Op::ExtInst, ty, |words| {
            words.extend([set, function as Word]);
            words.extend(operands);
        })
    }

    fn computed(&mut self, op: Op, ty: Word, write_operands: impl FnOnce(&mut Vec<Word>)) -> Word {
        let id = self.module.id();
        let start = self.begin(op);
        self.body.extend([ty, id]);
        write_operands(&mut self.body);
        end(&mut self.body, start);
        let is_exact = self.kernel.precise || self.function.called_for.is_some();
        if is_exact && is_contractible(op) {
            self.module.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    pub fn select(&mut self, ty: &Type, condition: Word, then: Word, orelse: Word) -> Word {
        self.ids(Op::Select, ty, &[condition, then, orelse])
    }

    pub fn int(&mut self, ty: &Type, value: i128) -> Word {
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        self.module.constant_of(ty, Constant::int(scalar, value))
    }

    pub fn float(&mut self, ty: &Type, value: f64) -> Word {
        let scalar = ty.scalar().unwrap_or(Scalar::F32);
        self.module.constant_of(ty, Constant::float(scalar, value))
    }

    // Values and variables.

    pub fn value(&mut self, node: NodeId) -> Word {
        if let NodeKind::Constant(_) | NodeKind::Opaque(_) = self.function.node(node).kind {
            self.set_span(self.function.node(node).span);
            return self.compute(node);
        }
        if self.values[node.idx()] == 0 && self.is_param_part(node) {
            self.values[node.idx()] = self.load_param_part(node);
        }
        if self.values[node.idx()] == 0 && self.recurrence(node).is_some() {
            return self.compute(node);
        }
        let id = self.values[node.idx()];
        debug_assert!(id != 0, "a verified node is computed before it is used");
        id
    }

    pub fn set_value(&mut self, node: NodeId, id: Word) {
        self.values[node.idx()] = id;
    }

    pub fn arg(&self, at: u32) -> Word {
        self.args[at as usize]
    }

    pub fn local(&mut self, local: LocalId) -> Word {
        let known = self.locals[local.idx()];
        if known != 0 {
            return known;
        }
        if let Home::Workgroup(shared) = self.function.local(local).home {
            let id = self.interface.shared(self.kernel, shared, self.module);
            self.locals[local.idx()] = id;
            return id;
        }
        let function = self.function;
        let id = self.variable(&function.local(local).ty);
        self.module.name(id, &function.local(local).name);
        self.debug_local(local, id);
        self.locals[local.idx()] = id;
        id
    }

    /// A variable of this function.
    pub fn variable(&mut self, ty: &Type) -> Word {
        let ty = self.module.ty(ty);
        let pointer = self.module.pointer(StorageClass::Function, ty);
        let id = self.module.id();
        let class = [Operand::StorageClass(StorageClass::Function)];
        write(&mut self.variables, Op::Variable, Some(pointer), Some(id), &class);
        id
    }

    /// The storage of a local.
    pub fn storage_class(&self, local: LocalId) -> StorageClass {
        match self.function.local(local).home {
            Home::Workgroup(_) => StorageClass::Workgroup,
            Home::Own | Home::Caller => StorageClass::Function,
        }
    }
}

/// Whether `NoContraction` applies to an instruction.
fn is_contractible(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FNegate
            | Op::FRem
            | Op::FMod
            | Op::Dot
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
    )
}
