//! The IR as text, for a reader who wants to see what a phase made of a kernel.
//!
//! Each value has a number: `%7: f32 = mul %5, %6`. At the right is the piece of the source that it belongs to.
//! Constants stand where they are used. The text is for people; nothing reads it back.

use std::fmt::Write;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::{
    Arg, AssignedValue, Assignee, AtomicPlace, BinaryOp, Block, Body, BufferId, CallArg, CheckKind,
    CoopMemory, ElementIndex, Function, Home, Kernel, Local, LocalId, MathFn, NodeId, NodeKind, Step, Stmt,
    UnaryOp,
};
use crate::constant::{Constant, Literal};
use crate::types::{Scalar, Type};

/// The column at which the source begins.
const SOURCE_COLUMN: usize = 56;

/// Longer pieces of the source are cut.
const MAX_SOURCE: usize = 40;

impl Kernel {
    /// The functions that the kernel reaches, callees first.
    pub fn to_text(&self) -> String {
        let reached = self.reached();
        let functions = self.functions.iter().zip(&reached).filter(|(_, reached)| **reached);
        let texts: Vec<String> = functions.map(|(function, _)| text_of(self, function)).collect();
        texts.join("\n")
    }
}

fn text_of(kernel: &Kernel, function: &Function) -> String {
    let used = used_locals(function);
    let mut printer = Printer { kernel, function, used, text: String::new(), depth: 0 };
    printer.function();
    printer.text
}

struct Printer<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    /// Other locals were made by walks whose types were wrong.
    used: Vec<bool>,
    text: String,
    depth: usize,
}

impl Printer<'_> {
    fn function(&mut self) {
        let function = self.function;
        let is_entry = self.kernel.functions.last().is_some_and(|last| std::ptr::eq(last, function));
        let (word, params) = match is_entry {
            true => ("kernel", self.parameters()),
            false => ("def", self.arguments()),
        };
        let result = match &function.result {
            Type::Void => String::new(),
            result => format!(" -> {result}"),
        };
        self.line(&format!("{word} {}({params}){result}:", function.name), None);
        self.depth = 1;
        for (at, local) in function.locals.iter().enumerate() {
            let id = LocalId(at as u32);
            if local.home == Home::Own && !self.used[at] {
                continue;
            }
            let home = match local.home {
                Home::Own => "local",
                Home::Caller => "reference",
                Home::Workgroup(_) => "shared",
            };
            self.line(&format!("{home} {}: {}", self.local(id), local.ty), Some(local.span));
        }
        self.block(&function.body);
    }

    fn parameters(&self) -> String {
        let buffers = self.kernel.buffers.iter().map(|buffer| {
            let rank = if buffer.rank > 1 { format!(", {}", buffer.rank) } else { String::new() };
            (buffer.param_idx, format!("{}: Array[{}{rank}]", buffer.name, buffer.element))
        });
        let scalars = self.kernel.scalars.iter();
        let scalars = scalars.map(|scalar| (scalar.param_idx, format!("{}: {}", scalar.name, scalar.ty)));
        let textures = self.kernel.textures.iter();
        let textures =
            textures.map(|texture| (texture.param_idx, format!("{}: {}", texture.name, texture.ty)));
        let mut params: Vec<(usize, String)> = buffers.chain(scalars).chain(textures).collect();
        params.sort();
        params.into_iter().map(|(_, param)| param).collect::<Vec<_>>().join(", ")
    }

    fn arguments(&self) -> String {
        let arguments = self.function.args.iter().map(|arg| match arg {
            Arg::Value { name, ty } => format!("{name}: {ty}"),
            Arg::Reference(local) => format!("&{}: {}", self.local(*local), self.function.local(*local).ty),
        });
        arguments.collect::<Vec<_>>().join(", ")
    }

    // Statements.

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn nested(&mut self, head: &str, block: &Block) {
        let is_empty =
            |stmt: &Stmt| matches!(stmt, Stmt::Carry(carry) if self.function.carries[carry.idx()].is_empty());
        if block.iter().all(is_empty) {
            return;
        }
        self.line(head, None);
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Eval(id) => {
                let node = self.function.node(*id);
                let text = match node.ty {
                    Type::Void => self.kind(&node.kind),
                    ref ty => format!("%{}: {ty} = {}", id.0, self.kind(&node.kind)),
                };
                self.line(&text, Some(node.span));
            }
            Stmt::Store { local, value, span } => {
                self.line(&format!("{} = {}", self.local(*local), self.value(*value)), Some(*span));
            }
            Stmt::StoreElement { local, path, value, span } => {
                let place = format!("{}{}", self.local(*local), self.path(path));
                self.line(&format!("{place} = {}", self.value(*value)), Some(*span));
            }
            Stmt::BufferStore { buffer, index, path, value, span } => {
                let name = self.array(*buffer);
                let place = format!("{name}[{}]{}", self.element(index), self.path(path));
                self.line(&format!("{place} = {}", self.value(*value)), Some(*span));
            }
            Stmt::Carry(carry) => {
                for (local, value) in &self.function.carries[carry.idx()] {
                    self.line(&format!("{} = {}", self.local(*local), self.value(*value)), None);
                }
            }
            Stmt::If { condition, then, orelse, span } => {
                self.line(&format!("if {}:", self.value(*condition)), Some(*span));
                self.depth += 1;
                self.block(then);
                self.depth -= 1;
                self.nested("else:", orelse);
            }
            Stmt::Loop(parts) => {
                self.line("loop:", None);
                self.depth += 1;
                self.nested("test:", &parts.test);
                if let Some(condition) = parts.condition {
                    self.line(&format!("while {}", self.value(condition)), None);
                }
                self.nested("body:", &parts.body);
                self.nested("step:", &parts.step);
                self.depth -= 1;
            }
            Stmt::Break => self.line("break", None),
            Stmt::Continue => self.line("continue", None),
            Stmt::Return(None, _) => self.line("return", None),
            Stmt::Return(Some(value), span) => {
                self.line(&format!("return {}", self.value(*value)), Some(*span))
            }
            Stmt::End(_) => self.line("end of the invocation", None),
            Stmt::Together(together, span) => self.line(&variant(together), Some(*span)),
            Stmt::TextureWrite { texture, at, value, span } => {
                let name = &self.kernel.textures[texture.idx()].name;
                self.line(&format!("{name}[{}] = {}", self.value(*at), self.value(*value)), Some(*span));
            }
            Stmt::PortStore { port, value, span } => {
                let name = &self.kernel.ports[port.idx()].name;
                self.line(&format!("{name} = {}", self.value(*value)), Some(*span));
            }
            Stmt::Assigned(assigned) => {
                if let Assignee::Name(name) = &assigned.target {
                    let text = format!("`{name}` is {}", self.assigned(&assigned.value));
                    self.line(&text, Some(assigned.span));
                }
            }
            Stmt::Message(message) => {
                self.message(&variant(&message.kind), &message.template, &message.values, message.span);
            }
            Stmt::Record(record) => {
                let kind = format!("record of {}", variant(&record.kind));
                self.message(&kind, &record.template, &record.values, record.span);
            }
            Stmt::Check(check) => {
                let text = match &check.kind {
                    CheckKind::Index { axes, .. } => {
                        let indices: Vec<NodeId> = axes.iter().map(|(index, _)| *index).collect();
                        format!("check index {}", self.values(&indices))
                    }
                    CheckKind::Operation(operation, operands) => {
                        format!("check {} {}", variant(operation), self.values(operands))
                    }
                };
                self.line(&text, Some(check.span));
            }
            stmt => self.line(&variant(stmt), None),
        }
    }

    /// One line, with the piece of the source that it belongs to.
    fn line(&mut self, text: &str, span: Option<Span>) {
        let mut line = format!("{}{text}", "    ".repeat(self.depth));
        let source = span.filter(|_| self.function.called_for.is_none()).map(|span| self.piece(span));
        if let Some(source) = source.filter(|source| !source.is_empty()) {
            let _ = write!(
                line,
                "{}  # {source}",
                " ".repeat(SOURCE_COLUMN.saturating_sub(line.chars().count()))
            );
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn piece(&self, span: Span) -> String {
        let first = self.function.source.slice(span).lines().next().unwrap_or_default().trim_end();
        match first.chars().count() > MAX_SOURCE {
            true => format!("{}..", first.chars().take(MAX_SOURCE).collect::<String>()),
            false => first.to_owned(),
        }
    }

    // Values.

    /// A value where it is used.
    fn value(&self, id: NodeId) -> String {
        match &self.function.node(id).kind {
            NodeKind::Constant(constant) => constant_text(*constant),
            NodeKind::Opaque(constant) => format!("opaque({})", constant_text(*constant)),
            _ => format!("%{}", id.0),
        }
    }

    /// The name of an array parameter, or of a choice between several.
    fn array(&self, buffer: BufferId) -> &Name {
        match buffer {
            BufferId::Param(at) => &self.kernel.buffers[at as usize].name,
            BufferId::Choice(at) => &self.function.choices[at as usize].name,
        }
    }

    fn values(&self, ids: &[NodeId]) -> String {
        ids.iter().map(|id| self.value(*id)).collect::<Vec<_>>().join(", ")
    }

    fn local(&self, id: LocalId) -> String {
        let name = &self.function.local(id).name;
        let named = |(other, is_used): &(&Local, &bool)| other.name == *name && **is_used;
        match self.function.locals.iter().zip(&self.used).filter(named).count() {
            1 => name.to_string(),
            _ => format!("{name}.{}", id.0),
        }
    }

    fn message(&mut self, kind: &str, template: &str, values: &[NodeId], span: Span) {
        let values = values.iter().map(|value| format!(", {}", self.value(*value))).collect::<String>();
        self.line(&format!("{kind} {template:?}{values}"), Some(span));
    }

    fn assigned(&self, value: &AssignedValue) -> String {
        match value {
            AssignedValue::Node(node) => self.value(*node),
            AssignedValue::InMemory { load, .. } => self.kind(load),
            AssignedValue::Tuple(items) => {
                let items: Vec<String> = items.iter().map(|item| self.assigned(item)).collect();
                format!("({})", items.join(", "))
            }
        }
    }

    fn path(&self, path: &[Step]) -> String {
        let step = |step: &Step| match step {
            Step::Part(at) => format!("[{at}]"),
            Step::At(index) => format!("[{}]", self.value(*index)),
        };
        path.iter().map(step).collect()
    }

    /// The indices of an element.
    fn element(&self, index: &ElementIndex) -> String {
        match index {
            ElementIndex::Tested { flat, fits } => {
                format!("{} if {}", self.value(*flat), self.value(*fits))
            }
            index => self.values(index.indices()),
        }
    }

    fn kind(&self, kind: &NodeKind) -> String {
        match kind {
            NodeKind::Input(input) => input.name().to_owned(),
            NodeKind::Scalar(id) => self.kernel.scalars[id.idx()].name.to_string(),
            NodeKind::Arg(at) => match &self.function.args[*at as usize] {
                Arg::Value { name, .. } => name.to_string(),
                Arg::Reference(local) => self.local(*local),
            },
            NodeKind::Unary(op, a) => format!("{} {}", unary_name(*op), self.value(*a)),
            NodeKind::Binary(op, a, b) => {
                format!("{} {}, {}", binary_name(*op), self.value(*a), self.value(*b))
            }
            NodeKind::Compare(op, a, b) => {
                format!("{} {}, {}", snake(&format!("{op:?}")), self.value(*a), self.value(*b))
            }
            NodeKind::Select { condition, then, orelse } => {
                format!("{} if {} else {}", self.value(*then), self.value(*condition), self.value(*orelse))
            }
            NodeKind::Extract(a, at) => format!("{}[{at}]", self.value(*a)),
            NodeKind::ExtractAt { whole, index } => format!("{}[{}]", self.value(*whole), self.value(*index)),
            NodeKind::Insert { whole, value, part } => {
                format!("{} with [{part}] = {}", self.value(*whole), self.value(*value))
            }
            NodeKind::InsertAt { whole, value, index } => {
                format!("{} with [{}] = {}", self.value(*whole), self.value(*index), self.value(*value))
            }
            NodeKind::Load(local) => self.local(*local),
            NodeKind::LoadElement { local, path } => format!("{}{}", self.local(*local), self.path(path)),
            NodeKind::BufferLoad { buffer, index, path, .. } => {
                let name = self.array(*buffer);
                format!("{name}[{}]{}", self.element(index), self.path(path))
            }
            NodeKind::BufferLen(buffer) => format!("len {}", self.array(*buffer)),
            NodeKind::BufferAxis { buffer, axis } => {
                format!("{}.shape[{axis}]", self.array(*buffer))
            }
            NodeKind::Float(function, args) => {
                let args: Vec<NodeId> = args.iter().flatten().copied().collect();
                format!("{} {}", snake(&format!("{function:?}")), self.values(&args))
            }
            NodeKind::Math(function, args) => format!("{} {}", math_name(function), self.values(args)),
            NodeKind::Atomic(atomic) => {
                let place = match &atomic.place {
                    AtomicPlace::Buffer { buffer, index, path } => {
                        let name = self.array(*buffer);
                        format!("{name}[{}]{}", self.element(index), self.path(path))
                    }
                    AtomicPlace::Shared { local, path } => {
                        format!("{}{}", self.local(*local), self.path(path))
                    }
                };
                let operands: Vec<NodeId> = atomic.expected.iter().chain(&atomic.value).copied().collect();
                format!("atomic_{} {place}, {}", snake(&format!("{:?}", atomic.op)), self.values(&operands))
            }
            NodeKind::CoopLoad(place) => {
                let memory = match place.memory {
                    CoopMemory::Buffer(buffer) => self.array(buffer).to_string(),
                    CoopMemory::Shared(local) => self.local(local),
                };
                format!("coop_load {memory}, {}, {}", self.value(place.start), self.value(place.stride))
            }
            NodeKind::Call { function, args } => {
                let args = args.iter().map(|arg| match arg {
                    CallArg::Value(value) => self.value(*value),
                    CallArg::Reference(local) => format!("&{}", self.local(*local)),
                });
                let name = &self.kernel.functions[function.idx()].name;
                format!("{name}({})", args.collect::<Vec<_>>().join(", "))
            }
            kind => {
                let mut operands = Vec::new();
                kind.operands(&mut |operand| operands.push(operand));
                format!("{} {}", variant(kind), self.values(&operands)).trim_end().to_owned()
            }
        }
    }
}

/// For each local, whether a statement or a node names it.
fn used_locals(function: &Function) -> Vec<bool> {
    let mut used = vec![false; function.locals.len()];
    let mut see = |local: LocalId| used[local.idx()] = true;
    function.carries.iter().flatten().for_each(|(local, _)| see(*local));
    super::walk(&function.body, &mut |stmt| match stmt {
        Stmt::Store { local, .. } | Stmt::StoreElement { local, .. } => see(*local),
        Stmt::Eval(node) => match &function.node(*node).kind {
            NodeKind::Load(local) | NodeKind::LoadElement { local, .. } => see(*local),
            NodeKind::Call { args, .. } => args.iter().for_each(|arg| {
                if let CallArg::Reference(local) = arg {
                    see(*local);
                }
            }),
            _ => {}
        },
        _ => {}
    });
    used
}

/// The name of an enum's variant, in small letters.
fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    snake(&text[..end])
}

/// `FloorDiv` as `floor_div`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn math_name(function: &MathFn) -> String {
    match (function.single, function.double) {
        (Body::Instruction(function), _) => snake(&format!("{function:?}")),
        (Body::Formula(function), _) => snake(&format!("{function:?}")),
        (_, Body::Library(name) | Body::LibraryOf(name, _) | Body::Square(name)) => name.to_owned(),
        (_, body) => variant(&body),
    }
}

fn unary_name(op: UnaryOp) -> String {
    snake(&format!("{op:?}"))
}

fn binary_name(op: BinaryOp) -> String {
    snake(&format!("{op:?}"))
}

fn constant_text(constant: Constant) -> String {
    match (constant.scalar(), constant.as_int(), constant.as_float()) {
        (Scalar::Bool, Some(0), _) => "False".to_owned(),
        (Scalar::Bool, Some(_), _) => "True".to_owned(),
        (_, Some(value), _) => value.to_string(),
        (_, _, Some(value)) => Literal::Float(value).to_string(),
        _ => "?".to_owned(),
    }
}
