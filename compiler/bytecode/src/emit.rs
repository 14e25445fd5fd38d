//! A code object under construction: instructions with their places, labels, registers, constants.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::Name;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::op::{ENDS_B, ENDS_C, Instruction, Op};
use crate::program::{Code, Constant, HandlerKind, HandlerRange, HandlingRange};
use crate::scope::ScopeId;

/// The most registers of a frame; the registers that the machine adds for a call fit above.
pub const MAX_REGISTERS: usize = u16::MAX as usize - 64;

/// The most instructions of one code object.
pub const MAX_INSTRUCTIONS: usize = 1 << 21;

pub type Register = u16;

/// The register of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub register: Register,
    /// It is a temporary, and its next read is the last.
    pub ends: bool,
}

impl Operand {
    pub fn temporary(register: Register) -> Operand {
        Operand { register, ends: true }
    }

    pub fn variable(register: Register) -> Operand {
        Operand { register, ends: false }
    }

    /// The flag for an instruction that reads this as its first operand.
    pub fn first(self) -> u8 {
        if self.ends { ENDS_B } else { 0 }
    }

    /// The flag for an instruction that reads this as its second operand.
    pub fn second(self) -> u8 {
        if self.ends { ENDS_C } else { 0 }
    }
}

/// The registers of a row. Their numbers wrap around if there are too many, which is reported at the end.
pub fn row(first: Register, n: usize) -> impl Iterator<Item = Register> {
    (0..n).map(move |at| first.wrapping_add(at as Register))
}

/// A jump target in the code; it may be placed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Instructions with a common handler; exits through it leave gaps.
pub struct Region {
    target: Label,
    level: Register,
    kind: HandlerKind,
    segments: Vec<(u32, u32)>,
    open_since: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(usize);

/// Which locals are certainly set at this point.
#[derive(Clone, Debug)]
pub struct Flow {
    assigned: Vec<bool>,
    /// No way leads here.
    pub is_dead: bool,
}

impl Flow {
    /// Joins two paths: what is definitely assigned on both.
    pub fn join(&mut self, other: &Flow) {
        if other.is_dead {
            return;
        }
        if self.is_dead {
            *self = other.clone();
            return;
        }
        for (here, there) in self.assigned.iter_mut().zip(&other.assigned) {
            *here &= *there;
        }
        self.assigned.truncate(other.assigned.len());
    }
}

/// The code object under construction.
pub struct Emitter {
    pub code: Code,
    pub span: Span,
    pub flow: Flow,
    /// The registers of the scopes' names; those of comprehensions are temporary.
    variables: FxHashMap<(ScopeId, Name), Register>,
    variable_registers: FxHashSet<Register>,
    /// The first register above the variables and the temporaries in use.
    next: usize,
    most: usize,
    labels: Vec<Option<u32>>,
    jumps: Vec<(usize, Label)>,
    regions: Vec<Region>,
    constants: FxHashMap<ConstantKey, u32>,
}

/// Constants that may be shared; floats by their bits.
#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(u64),
    Imaginary(u64),
    Str(Arc<str>),
}

impl Emitter {
    pub fn new(code: Code) -> Emitter {
        Emitter {
            code,
            span: Span::default(),
            flow: Flow { assigned: Vec::new(), is_dead: false },
            variables: FxHashMap::default(),
            variable_registers: FxHashSet::default(),
            next: 0,
            most: 0,
            labels: Vec::new(),
            jumps: Vec::new(),
            regions: Vec::new(),
            constants: FxHashMap::default(),
        }
    }

    pub fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.instructions.push(instruction);
        self.code.spans.push(self.span);
        self.code.instructions.len() - 1
    }

    pub fn abc(&mut self, op: Op, a: u16, b: u16, c: u16) -> usize {
        self.emit(Instruction::abc(op, a, b, c))
    }

    pub fn abcx(&mut self, op: Op, a: u16, b: u16, c: u16, x: u8) -> usize {
        self.emit(Instruction { op, x, a, b, c })
    }

    pub fn wide(&mut self, op: Op, a: u16, bx: i32) -> usize {
        self.emit(Instruction::wide(op, a, bx))
    }

    pub fn pc(&self) -> u32 {
        self.code.instructions.len() as u32
    }

    // Registers.

    /// A fresh register; the ones after it are free, too.
    pub fn alloc(&mut self) -> Register {
        self.alloc_row(1)
    }

    /// `n` registers in a row.
    pub fn alloc_row(&mut self, n: usize) -> Register {
        let first = self.next;
        self.next += n;
        self.most = self.most.max(self.next);
        // Too many are reported when the code is finished; until then the number wraps.
        first as Register
    }

    pub fn mark(&self) -> usize {
        self.next
    }

    /// Frees the registers allocated since `mark`.
    pub fn release(&mut self, mark: usize) {
        self.next = mark;
    }

    pub fn has_too_many_registers(&self) -> bool {
        self.most > MAX_REGISTERS
    }

    // Variables.

    pub fn add_variable(&mut self, scope: ScopeId, name: &Name, register: Register) {
        self.variables.insert((scope, name.clone()), register);
        self.variable_registers.insert(register);
    }

    pub fn remove_variable(&mut self, scope: ScopeId, name: &Name) {
        if let Some(register) = self.variables.remove(&(scope, name.clone())) {
            self.variable_registers.remove(&register);
        }
    }

    pub fn variable(&self, scope: ScopeId, name: &str) -> Register {
        *self.variables.get(&(scope, Name::from(name))).expect("every local has a register")
    }

    pub fn is_variable(&self, register: Register) -> bool {
        self.variable_registers.contains(&register)
    }

    // Definite assignment.

    pub fn is_assigned(&self, register: Register) -> bool {
        self.flow.is_dead || self.flow.assigned.get(register as usize).copied().unwrap_or(false)
    }

    pub fn set_assigned(&mut self, register: Register) {
        let at = register as usize;
        if self.flow.assigned.len() <= at {
            self.flow.assigned.resize(at + 1, false);
        }
        self.flow.assigned[at] = true;
    }

    pub fn set_unassigned(&mut self, register: Register) {
        if let Some(assigned) = self.flow.assigned.get_mut(register as usize) {
            *assigned = false;
        }
    }

    // Labels and jumps.

    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.pc());
    }

    /// A label at this point.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    pub fn jump(&mut self, label: Label) {
        self.jump_with(Op::Jump, 0, 0, label);
    }

    pub fn jump_with(&mut self, op: Op, a: u16, x: u8, label: Label) {
        let at = self.emit(Instruction { op, x, a, b: 0, c: 0 });
        self.jumps.push((at, label));
    }

    // Constants, sites and names.

    pub fn constant(&mut self, constant: Constant) -> u32 {
        let key = match &constant {
            Constant::None => Some(ConstantKey::None),
            Constant::Ellipsis => Some(ConstantKey::Ellipsis),
            Constant::Bool(truth) => Some(ConstantKey::Bool(*truth)),
            Constant::Int(int) => Some(ConstantKey::Int(*int)),
            Constant::Float(float) => Some(ConstantKey::Float(float.to_bits())),
            Constant::Imaginary(im) => Some(ConstantKey::Imaginary(im.to_bits())),
            Constant::Str(text) => Some(ConstantKey::Str(text.clone())),
            Constant::BigInt(_) | Constant::Bytes(_) | Constant::Tuple(_) => None,
        };
        let fresh = self.code.constants.len() as u32;
        let Some(key) = key else {
            self.code.constants.push(constant);
            return fresh;
        };
        let at = *self.constants.entry(key).or_insert(fresh);
        if at == fresh {
            self.code.constants.push(constant);
        }
        at
    }

    pub fn load_constant(&mut self, dest: Register, constant: Constant) {
        if let Constant::Int(int) = constant
            && let Ok(small) = i32::try_from(int)
        {
            self.wide(Op::LoadInt, dest, small);
            return;
        }
        let at = self.constant(constant);
        self.wide(Op::LoadConst, dest, at as i32);
    }

    /// A new attribute site for this name.
    pub fn site(&mut self, name: &Name) -> usize {
        self.code.sites.push(name.clone());
        self.code.sites.len() - 1
    }

    // Exceptions.

    /// Opens a region whose exceptions jump to `target`, with registers from `level` on emptied.
    pub fn open_region(&mut self, target: Label, level: Register, kind: HandlerKind) -> RegionId {
        let region = Region { target, level, kind, segments: Vec::new(), open_since: Some(self.pc()) };
        self.regions.push(region);
        RegionId(self.regions.len() - 1)
    }

    /// Ends the region here, or leaves it for a while.
    pub fn close_region(&mut self, id: RegionId) {
        let pc = self.pc();
        let region = &mut self.regions[id.0];
        if let Some(start) = region.open_since.take()
            && start < pc
        {
            region.segments.push((start, pc));
        }
    }

    pub fn reopen_region(&mut self, id: RegionId) {
        self.regions[id.0].open_since = Some(self.pc());
    }

    /// From `start` to here, the exception in `register` is being handled.
    pub fn handled_since(&mut self, start: u32, register: Register) {
        let end = self.pc();
        self.code.handling.push(HandlingRange { start, end, register });
    }

    // The end.

    /// Fills in the jumps and the tables.
    pub fn finish(mut self) -> Code {
        for (at, label) in &self.jumps {
            let target = self.labels[label.0].expect("every label is placed");
            let distance = target as i64 - (*at as i64 + 1);
            let old = self.code.instructions[*at];
            let jump = Instruction::wide(old.op, old.a, distance as i32);
            self.code.instructions[*at] = Instruction { x: old.x, ..jump };
        }
        // Inner regions were opened later; a search must find them first.
        for region in self.regions.iter().rev() {
            let target = self.labels[region.target.0].expect("every label is placed");
            for &(start, end) in &region.segments {
                let (level, kind) = (region.level, region.kind);
                self.code.handlers.push(HandlerRange { start, end, target, level, kind });
            }
        }
        // One more register is for the receiver that a call inserts before its arguments.
        self.code.n_registers = self.most as u32 + 2;
        self.code
    }
}
