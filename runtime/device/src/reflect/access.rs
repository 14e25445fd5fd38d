//! The variables that an entry point's functions use, and how they access them.
//!
//! It follows pointers from variables through access chains, copies, selects, phis, calls and returns,
//! ignoring control flow, to a fixpoint. A use that is not known to only read or only write counts as both.
//! So the result is conservative.

use std::collections::hash_map::Entry;

use rspirv::dr::{Function, Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ids::{Ids, id_at, literal_at};
use crate::Access;

/// Typical modules reach the fixpoint in two or three rounds. Beyond this limit, every pointer counts as
/// reading and writing.
const MAX_ROUNDS: usize = 16;
/// Limit of variables for one pointer; beyond it they count as read and written.
const MAX_ROOTS: usize = 64;

/// Added to a member's number, it identifies the memory that a push constant points to. Ids are smaller.
const ADDRESS_ROOT: u32 = 1 << 31;

/// The global variables that an entry point uses, with their accesses.
pub(super) struct Reached {
    uses: FxHashMap<u32, Use>,
    /// The types of the memory that members of the push constants point to.
    blocks: FxHashMap<u32, u32>,
}

/// Memory that a member of the push constants points to.
pub(super) struct Address {
    /// Its type.
    pub block: u32,
    pub used: Use,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Use {
    pub reads: bool,
    pub writes: bool,
    /// Its value was passed to an instruction that the analysis does not follow.
    pub escapes: bool,
}

impl Use {
    const READ: Use = Use { reads: true, writes: false, escapes: false };
    const WRITE: Use = Use { reads: false, writes: true, escapes: false };
    const BOTH: Use = Use { reads: true, writes: true, escapes: false };
    const ESCAPE: Use = Use { reads: true, writes: true, escapes: true };

    fn add(&mut self, other: Use) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.escapes |= other.escapes;
    }

    /// A use that only needs the length counts as a read.
    pub fn access(self) -> Access {
        match (self.reads, self.writes) {
            (_, false) => Access::Read,
            (false, true) => Access::Write,
            (true, true) => Access::ReadWrite,
        }
    }
}

impl Reached {
    pub fn from_entry(module: &Module, ids: &Ids, entry: u32) -> Reached {
        let functions = reached_functions(module, entry);
        let mut scan = Scan::new(module, ids, &functions);
        for _ in 0..MAX_ROUNDS {
            scan.changed = false;
            functions.iter().for_each(|function| scan.function(function));
            if !scan.changed {
                return Reached { uses: scan.uses, blocks: scan.blocks };
            }
        }
        scan.uses.values_mut().for_each(|used| used.add(Use::ESCAPE));
        Reached { uses: scan.uses, blocks: scan.blocks }
    }

    /// The members of the push constants that become pointers.
    pub fn addresses(&self) -> impl Iterator<Item = (u32, Address)> {
        self.blocks.iter().map(|(&member, &block)| {
            let used = self.uses.get(&(ADDRESS_ROOT | member)).copied().unwrap_or_default();
            (member, Address { block, used })
        })
    }

    /// How the variable is used; `None` if it is not.
    pub fn variable(&self, id: u32) -> Option<Use> {
        self.uses.get(&id).copied()
    }
}

/// The functions that are reachable from the entry point.
fn reached_functions(module: &Module, entry: u32) -> Vec<&Function> {
    let by_id: FxHashMap<u32, &Function> =
        module.functions.iter().filter_map(|f| Some((f.def.as_ref()?.result_id?, f))).collect();
    let mut seen = FxHashSet::from_iter([entry]);
    let mut waiting = vec![entry];
    let mut reached = Vec::new();
    while let Some(id) = waiting.pop() {
        let Some(function) = by_id.get(&id) else { continue };
        reached.push(*function);
        for instruction in function.all_inst_iter().filter(|i| i.class.opcode == Op::FunctionCall) {
            if let Some(callee) = id_at(instruction, 0)
                && seen.insert(callee)
            {
                waiting.push(callee);
            }
        }
    }
    reached
}

struct Scan<'a> {
    ids: &'a Ids<'a>,
    /// The push constants.
    push: Option<u32>,
    /// Pointers to members of the push constants.
    members: FxHashMap<u32, u32>,
    blocks: FxHashMap<u32, u32>,
    parameters: FxHashMap<u32, Vec<u32>>,
    /// Non-semantic instruction sets, whose operands do not count as used.
    descriptive: FxHashSet<u32>,
    /// Types of images and samplers: a loaded value still represents the variable.
    handles: FxHashSet<u32>,
    /// The variables that each id may point into.
    roots: FxHashMap<u32, Vec<u32>>,
    uses: FxHashMap<u32, Use>,
    changed: bool,
}

impl<'a> Scan<'a> {
    fn new(module: &Module, ids: &'a Ids<'a>, functions: &[&Function]) -> Scan<'a> {
        let variables = module.types_global_values.iter().filter(|i| i.class.opcode == Op::Variable);
        let roots: FxHashMap<_, _> =
            variables.filter_map(|variable| Some((variable.result_id?, vec![variable.result_id?]))).collect();
        let parameters = functions.iter().filter_map(|function| {
            let list = function.parameters.iter().filter_map(|parameter| parameter.result_id).collect();
            Some((function.def.as_ref()?.result_id?, list))
        });
        let descriptive = module.ext_inst_imports.iter().filter(|import| is_descriptive(import));
        let mut scan = Scan {
            ids,
            push: push_constants(module),
            members: FxHashMap::default(),
            blocks: FxHashMap::default(),
            parameters: parameters.collect(),
            handles: handles(module),
            descriptive: descriptive.filter_map(|import| import.result_id).collect(),
            roots,
            uses: FxHashMap::default(),
            changed: false,
        };
        scan.initializers();
        scan
    }

    /// Variables with a pointer as initializer are too rare to follow.
    fn initializers(&mut self) {
        let variables: Vec<u32> = self.roots.keys().copied().collect();
        for variable in variables {
            if let Some(initial) = self.ids.definition(variable).and_then(|definition| id_at(definition, 1)) {
                self.note(initial, Use::ESCAPE);
            }
        }
    }

    fn function(&mut self, function: &Function) {
        let id = function.def.as_ref().and_then(|def| def.result_id);
        for instruction in function.all_inst_iter() {
            self.instruction(id, instruction);
        }
    }

    fn instruction(&mut self, function: Option<u32>, instruction: &Instruction) {
        let at = |index| id_at(instruction, index);
        match instruction.class.opcode {
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::CopyObject
            | Op::Bitcast
            | Op::Image
            | Op::ImageTexelPointer => {
                self.flow(at(0), instruction.result_id);
                self.note_member(instruction);
            }
            Op::ConvertUToPtr => self.make_pointer(instruction),
            Op::Select => {
                self.flow(at(1), instruction.result_id);
                self.flow(at(2), instruction.result_id);
            }
            Op::Phi => (0..instruction.operands.len())
                .step_by(2)
                .for_each(|value| self.flow(at(value), instruction.result_id)),
            Op::FunctionCall => self.call(instruction),
            Op::ReturnValue => self.flow(at(0), function),
            Op::Load if instruction.result_type.is_some_and(|ty| self.handles.contains(&ty)) => {
                self.flow(at(0), instruction.result_id);
            }
            Op::SampledImage => {
                self.flow(at(0), instruction.result_id);
                self.flow(at(1), instruction.result_id);
            }
            Op::ImageWrite => self.note_at(at(0), Use::WRITE),
            Op::Load if at(0).is_some_and(|pointer| self.members.contains_key(&pointer)) => {
                self.note_at(at(0), Use::READ);
                self.load_address(instruction);
            }
            Op::Load | Op::AtomicLoad | Op::CooperativeMatrixLoadKHR => self.note_at(at(0), Use::READ),
            Op::Store | Op::CooperativeMatrixStoreKHR => {
                self.note_at(at(0), Use::WRITE);
                self.note_at(at(1), Use::ESCAPE);
            }
            Op::AtomicStore | Op::AtomicFlagClear => self.note_at(at(0), Use::WRITE),
            Op::CopyMemory | Op::CopyMemorySized => {
                self.note_at(at(0), Use::WRITE);
                self.note_at(at(1), Use::READ);
            }
            Op::ArrayLength | Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => {
                self.note_at(at(0), Use::default());
                self.note_at(at(1), Use::default());
            }
            Op::Name | Op::MemberName | Op::Line | Op::NoLine => {}
            Op::ExtInst if at(0).is_some_and(|set| self.descriptive.contains(&set)) => {}
            _ if instruction.class.opname.starts_with("ImageQuery") => self.note_at(at(0), Use::default()),
            _ if instruction.class.opname.starts_with("Image") => self.note_at(at(0), Use::READ),
            _ if instruction.class.opname.starts_with("Atomic") => self.note_at(at(0), Use::BOTH),
            _ => self.anything(instruction),
        }
    }

    /// Records a pointer to a member of the push constants.
    fn note_member(&mut self, instruction: &Instruction) {
        let (Some(push), Some(result)) = (self.push, instruction.result_id) else { return };
        if instruction.operands.len() == 2
            && id_at(instruction, 0) == Some(push)
            && let Some(index) = id_at(instruction, 1).and_then(|index| self.ids.definition(index))
            && let Some(member) = literal_at(index, 0)
        {
            self.members.insert(result, member & !ADDRESS_ROOT);
        }
    }

    /// A value loaded from a member may be an address, and represents the memory there.
    fn load_address(&mut self, instruction: &Instruction) {
        let member = id_at(instruction, 0).and_then(|pointer| self.members.get(&pointer).copied());
        let (Some(member), Some(result)) = (member, instruction.result_id) else { return };
        if let Entry::Vacant(roots) = self.roots.entry(result) {
            roots.insert(vec![ADDRESS_ROOT | member]);
            self.changed = true;
        }
    }

    fn make_pointer(&mut self, instruction: &Instruction) {
        self.flow(id_at(instruction, 0), instruction.result_id);
        let roots = id_at(instruction, 0).and_then(|address| self.roots.get(&address));
        let ty = instruction.result_type.and_then(|ty| self.ids.definition(ty));
        if let Some([root]) = roots.map(Vec::as_slice)
            && root & ADDRESS_ROOT != 0
            && let Some(block) = ty.and_then(|ty| id_at(ty, 1))
        {
            self.blocks.insert(root & !ADDRESS_ROOT, block);
        }
    }

    /// An unknown instruction may access all of its operands in any way.
    fn anything(&mut self, instruction: &Instruction) {
        for operand in &instruction.operands {
            if let Operand::IdRef(id) = operand {
                self.note(*id, Use::ESCAPE);
            }
        }
    }

    fn call(&mut self, instruction: &Instruction) {
        let Some(callee) = id_at(instruction, 0) else { return };
        let parameters = self.parameters.get(&callee).cloned().unwrap_or_default();
        for (index, parameter) in parameters.into_iter().enumerate() {
            self.flow(id_at(instruction, index + 1), Some(parameter));
        }
        // A function's result is stored under its own id.
        self.flow(Some(callee), instruction.result_id);
    }

    /// Adds to `to` everything that `from` may point into.
    fn flow(&mut self, from: Option<u32>, to: Option<u32>) {
        let (Some(from), Some(to)) = (from, to) else { return };
        let Some(roots) = self.roots.get(&from).cloned() else { return };
        for root in &roots {
            self.note(*root, Use::default());
        }
        let known = self.roots.entry(to).or_default();
        for root in roots {
            let Err(place) = known.binary_search(&root) else { continue };
            if known.len() < MAX_ROOTS {
                known.insert(place, root);
                self.changed = true;
            } else {
                self.uses.entry(root).or_default().add(Use::ESCAPE);
            }
        }
    }

    fn note_at(&mut self, pointer: Option<u32>, used: Use) {
        if let Some(pointer) = pointer {
            self.note(pointer, used);
        }
    }

    fn note(&mut self, pointer: u32, used: Use) {
        for root in self.roots.get(&pointer).into_iter().flatten() {
            self.uses.entry(*root).or_default().add(used);
        }
    }
}

fn push_constants(module: &Module) -> Option<u32> {
    let class = Some(&Operand::StorageClass(StorageClass::PushConstant));
    let mut globals = module.types_global_values.iter();
    globals.find(|i| i.class.opcode == Op::Variable && i.operands.first() == class)?.result_id
}

fn handles(module: &Module) -> FxHashSet<u32> {
    let is_handle =
        |i: &&Instruction| matches!(i.class.opcode, Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage);
    module.types_global_values.iter().filter(is_handle).filter_map(|i| i.result_id).collect()
}

fn is_descriptive(import: &Instruction) -> bool {
    matches!(import.operands.first(), Some(Operand::LiteralString(name)) if name.starts_with("NonSemantic."))
}
