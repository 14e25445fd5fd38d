//! Builds a kernel, block by block. Instructions with constant operands are folded, and each constant exists
//! once.

use rustc_hash::FxHashMap;

use super::fold;
use super::sites::{Site, SiteKind};
use super::{
    Address, Atomic, Binary, Block, BlockId, Builtin, Compare, Convert, Def, Edge, ImageAction, Inst, Kernel,
    Local, Op, Terminator, Ty, Unary, Value,
};
use crate::cpu::module::Line;

/// Builds a kernel, block by block, and folds constants.
pub struct Builder {
    pub kernel: Kernel,
    pub block: BlockId,
    pub line: Option<Line>,
    /// Constants and builtins, each made once.
    interned: FxHashMap<(Ty, Def), Value>,
    n_insts: usize,
}

impl Builder {
    pub fn new(local_size: [u32; 3], subgroup_size: u32) -> Builder {
        let kernel = Kernel {
            local_size,
            buffers: Vec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            uses_addresses: false,
            push_size: 0,
            shared_size: 0,
            clears_shared: false,
            frame_size: 0,
            subgroup_size,
            group_ops: Vec::new(),
            arrays: Vec::new(),
            is_shuffled: false,
            sites: Vec::new(),
            structs: Vec::new(),
            calls: Vec::new(),
            values: Vec::new(),
            locals: Vec::new(),
            blocks: vec![Block::default()],
            entry: BlockId(0),
        };
        Builder { kernel, block: BlockId(0), line: None, interned: FxHashMap::default(), n_insts: 0 }
    }

    pub fn n_insts(&self) -> usize {
        self.n_insts
    }

    pub fn ty(&self, value: Value) -> Ty {
        self.kernel.values[value.0 as usize].ty
    }

    /// The bits of a constant.
    pub fn as_const(&self, value: Value) -> Option<u64> {
        match self.kernel.values[value.0 as usize].def {
            Def::Const(bits) => Some(bits),
            _ => None,
        }
    }

    pub fn create_block(&mut self) -> BlockId {
        self.kernel.blocks.push(Block::default());
        BlockId(self.kernel.blocks.len() as u32 - 1)
    }

    pub fn add_param(&mut self, block: BlockId, ty: Ty) -> Value {
        let value = self.kernel.add_value(ty, Def::Param(block));
        self.kernel.blocks[block.0 as usize].params.push(value);
        value
    }

    pub fn add_local(&mut self, ty: Ty) -> Local {
        self.kernel.locals.push(ty);
        Local(self.kernel.locals.len() as u32 - 1)
    }

    /// Registers an inlined call, and returns its number.
    pub fn add_call(&mut self, line: Line) -> u32 {
        self.kernel.calls.push(line);
        self.kernel.calls.len() as u32
    }

    /// Ends the current block.
    pub fn end(&mut self, terminator: Terminator) {
        self.n_insts += 1 + terminator.edges().iter().map(|edge| 1 + edge.args.len()).sum::<usize>();
        let block = &mut self.kernel.blocks[self.block.0 as usize];
        block.end = terminator;
        block.line = self.line;
    }

    pub fn jump(&mut self, to: BlockId, args: Vec<Value>) {
        self.end(Terminator::Jump(Edge { to, args }));
    }

    fn intern(&mut self, ty: Ty, def: Def) -> Value {
        if let Some(&value) = self.interned.get(&(ty, def)) {
            return value;
        }
        let value = self.kernel.add_value(ty, def);
        self.interned.insert((ty, def), value);
        value
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.intern(ty, Def::Const(bits))
    }

    pub fn i32(&mut self, value: i32) -> Value {
        self.constant(Ty::I32, u64::from(value as u32))
    }

    /// An int constant of this type.
    pub fn int(&mut self, ty: Ty, value: i64) -> Value {
        self.constant(ty, fold::truncate(ty, value as u64))
    }

    /// A float constant of this type, rounded to it.
    pub fn float(&mut self, ty: Ty, value: f64) -> Value {
        let bits = if ty == Ty::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() };
        self.constant(ty, bits)
    }

    pub fn builtin(&mut self, builtin: Builtin) -> Value {
        self.intern(Ty::I32, Def::Builtin(builtin))
    }

    fn push(&mut self, op: Op, ty: Ty) -> Value {
        let result = self.kernel.add_value(ty, Def::Inst(self.block));
        self.push_inst(op, Some(result));
        result
    }

    fn push_inst(&mut self, op: Op, result: Option<Value>) {
        self.n_insts += 1;
        let line = self.line;
        self.kernel.blocks[self.block.0 as usize].insts.push(Inst { op, result, line });
    }

    pub fn unary(&mut self, op: Unary, a: Value) -> Value {
        let ty = self.ty(a);
        match self.as_const(a).and_then(|a| fold::unary(op, ty, a)) {
            Some(bits) => self.constant(ty, bits),
            None => self.push(Op::Unary(op, a), ty),
        }
    }

    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        debug_assert_eq!(ty, self.ty(b), "{op:?}");
        match (self.as_const(a), self.as_const(b)) {
            (Some(a), Some(b)) => {
                let bits = fold::binary(op, ty, a, b);
                self.constant(ty, bits)
            }
            _ => self.push(Op::Binary(op, a, b), ty),
        }
    }

    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.ty(a), self.ty(b), "{op:?}");
        match (self.as_const(a), self.as_const(b)) {
            (Some(bits_a), Some(bits_b)) => {
                let bits = fold::compare(op, self.ty(a), bits_a, bits_b);
                self.constant(Ty::Bool, u64::from(bits))
            }
            _ => self.push(Op::Compare(op, a, b), Ty::Bool),
        }
    }

    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        debug_assert_eq!(self.ty(a), self.ty(b));
        match self.as_const(condition) {
            Some(0) => b,
            Some(_) => a,
            None => self.push(Op::Select(condition, a, b), self.ty(a)),
        }
    }

    pub fn convert(&mut self, op: Convert, a: Value) -> Value {
        let ty = op.result(self.ty(a));
        match self.as_const(a) {
            Some(bits) => {
                let bits = fold::convert(op, self.ty(a), bits);
                self.constant(ty, bits)
            }
            None => self.push(Op::Convert(op, a), ty),
        }
    }

    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(a);
        self.push(Op::Fma(a, b, c), ty)
    }

    pub fn call(&mut self, function: crate::cpu::math::Function, args: Vec<Value>) -> Value {
        let ty = function.result();
        self.push(Op::Call(function, args), ty)
    }

    pub fn address(&mut self, address: Address) -> Value {
        self.push(Op::Address(address), Ty::I64)
    }

    pub fn load(&mut self, ty: Ty, address: Value, offset: u32) -> Value {
        self.push(Op::Load { ty, address, offset }, ty)
    }

    pub fn store(&mut self, address: Value, offset: u32, value: Value) {
        self.push_inst(Op::Store { address, offset, value }, None);
    }

    pub fn load_narrow(&mut self, bytes: u32, address: Value, offset: u32) -> Value {
        self.push(Op::LoadNarrow { bytes, address, offset }, Ty::I32)
    }

    pub fn store_narrow(&mut self, bytes: u32, address: Value, offset: u32, value: Value) {
        self.push_inst(Op::StoreNarrow { bytes, address, offset, value }, None);
    }

    pub fn atomic_load(&mut self, ty: Ty, address: Value) -> Value {
        self.push(Op::AtomicLoad { ty, address }, ty)
    }

    pub fn atomic(&mut self, op: Atomic, address: Value, value: Value) -> Value {
        self.push(Op::Atomic { op, address, value }, self.ty(value))
    }

    pub fn atomic_half(&mut self, op: Atomic, address: Value, value: Value) -> Value {
        self.push(Op::AtomicHalf { op, address, value }, Ty::F32)
    }

    pub fn compare_exchange(&mut self, address: Value, expected: Value, value: Value) -> Value {
        self.push(Op::CompareExchange { address, expected, value }, self.ty(value))
    }

    pub fn image(&mut self, image: u32, action: ImageAction, place: [Value; 3], texel: Value) {
        self.push_inst(Op::Image { image, action, place, texel }, None);
    }

    pub fn texel(&mut self, image: u32, place: [Value; 3]) -> Value {
        self.push(Op::Texel { image, place }, Ty::I64)
    }

    pub fn image_size(&mut self, image: u32, axis: u8) -> Value {
        self.push(Op::ImageSize { image, axis }, Ty::I32)
    }

    pub fn buffer_size(&mut self, buffer: u32) -> Value {
        self.push(Op::BufferSize(buffer), Ty::I64)
    }

    pub fn clear(&mut self, start: u32, size: u32) {
        self.push_inst(Op::Clear { start, size }, None);
    }

    /// Reports values to the observer if the condition is true.
    pub fn report_when(&mut self, when: Value, kind: SiteKind, values: Vec<Value>) {
        match self.as_const(when) {
            Some(0) => {}
            Some(_) => self.push_site(kind, values, None),
            None => self.push_site(kind, values, Some(when)),
        }
    }

    /// Reports values to the observer whenever control gets there.
    pub fn report_always(&mut self, kind: SiteKind, values: Vec<Value>) {
        self.push_site(kind, values, None);
    }

    fn push_site(&mut self, kind: SiteKind, values: Vec<Value>, when: Option<Value>) {
        let site_id = self.kernel.sites.len() as u32;
        self.kernel.sites.push(Site { kind, line: self.line });
        self.push_inst(Op::Instrument { site_id, values, when }, None);
    }

    /// Replaces several sites, each in a block, by the last of them. It reports these values where any of
    /// them would have reported.
    pub fn join_sites(&mut self, sites: &[(BlockId, u32)], values: Vec<Value>) {
        let Some((&(block, last), others)) = sites.split_last() else { return };
        let taken: Vec<Option<Value>> =
            others.iter().filter_map(|&(block, site_id)| self.take_site(block, site_id)).collect();
        let Some(at) = self.place_of(block, last) else { return };
        let insts = &mut self.kernel.blocks[block.0 as usize].insts;
        let Inst { op: Op::Instrument { when, .. }, line, .. } = insts.remove(at) else { return };
        let mut joined = Vec::new();
        let when = taken.into_iter().fold(when, |all, one| {
            let either = Op::Binary(Binary::Or, all?, one?);
            let result = self.kernel.add_value(Ty::Bool, Def::Inst(block));
            joined.push(Inst { op: either, result: Some(result), line });
            Some(result)
        });
        joined.push(Inst { op: Op::Instrument { site_id: last, values, when }, result: None, line });
        self.kernel.blocks[block.0 as usize].insts.splice(at..at, joined);
    }

    /// Removes a site's instruction, and returns its condition.
    fn take_site(&mut self, block: BlockId, site_id: u32) -> Option<Option<Value>> {
        let at = self.place_of(block, site_id)?;
        match self.kernel.blocks[block.0 as usize].insts.remove(at).op {
            Op::Instrument { when, .. } => Some(when),
            _ => None,
        }
    }

    fn place_of(&self, block: BlockId, number: u32) -> Option<usize> {
        let insts = &self.kernel.blocks[block.0 as usize].insts;
        insts.iter().rposition(|inst| matches!(inst.op, Op::Instrument { site_id, .. } if site_id == number))
    }

    pub fn get(&mut self, local: Local) -> Value {
        let ty = self.kernel.locals[local.0 as usize];
        self.push(Op::Get(local), ty)
    }

    pub fn set(&mut self, local: Local, value: Value) {
        debug_assert_eq!(self.kernel.locals[local.0 as usize], self.ty(value));
        self.push_inst(Op::Set(local, value), None);
    }
}
