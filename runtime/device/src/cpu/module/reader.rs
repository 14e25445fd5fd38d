//! Words to a [`Module`], in one pass.

use rspirv::spirv::{self, BuiltIn, ExecutionMode, ExecutionModel, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::constants::{self, Constant};
use super::decorations::Decorations;
use super::functions::{self, Block, Function};
use super::types::{MAX_SCALARS, MatrixLayout, Member, Scalar, Type, TypeId, Types};
use super::{ExtInstSet, Global, Id, Instruction, Line, Module};
use crate::cpu::errors;
use crate::{DeviceError, PipelineOptions, Result};

/// Scalars in all constants together.
const MAX_CONSTANT_SCALARS: usize = 1 << 22;
const HEADER_WORDS: usize = 5;

/// Reads a module for one of its entry points. Applies the specialisation constants.
pub fn read<'w>(words: &'w [u32], options: &PipelineOptions) -> Result<Module<'w>> {
    check_header(words)?;
    let module = Module {
        words,
        strings: FxHashMap::default(),
        types: Types::default(),
        constants: FxHashMap::default(),
        globals: Vec::new(),
        functions: Vec::new(),
        function_by_id: FxHashMap::default(),
        ext_inst_sets: FxHashMap::default(),
        entry: 0,
        call_order: Vec::new(),
        local_size: [1; 3],
    };
    let mut reader = Reader {
        module,
        options,
        decorations: Decorations::default(),
        defined: FxHashSet::default(),
        line: None,
        entry_points: Vec::new(),
        local_size: None,
        workgroup_size: None,
        n_constant_scalars: 0,
        open: None,
        wide: FxHashSet::default(),
    };
    reader.instructions()?;
    reader.finish()
}

fn check_header(words: &[u32]) -> Result<()> {
    let malformed = |message: String| Err(errors::malformed(message, None));
    match words.first() {
        None => return malformed("there are no words".to_owned()),
        Some(&spirv::MAGIC_NUMBER) => {}
        Some(&first) if first.swap_bytes() == spirv::MAGIC_NUMBER => {
            return malformed("the words have the other byte order".to_owned());
        }
        Some(first) => {
            return malformed(format!(
                "it begins with {first:#010x}, SPIR-V begins with {:#010x}",
                spirv::MAGIC_NUMBER
            ));
        }
    }
    if words.len() < HEADER_WORDS {
        return malformed("the header is cut off".to_owned());
    }
    // Places of words are kept in 32 bits.
    if words.len() > 1 << 26 {
        return malformed(format!("it has {} words, the most taken is {}", words.len(), 1 << 26));
    }
    let version = words[1];
    if !(0x0001_0000..=0x0001_0600).contains(&version) || version & 0xff != 0 {
        return malformed(format!("version {version:#010x} is not known, 1.0 to 1.6 are"));
    }
    Ok(())
}

struct Reader<'w, 'o> {
    module: Module<'w>,
    options: &'o PipelineOptions,
    decorations: Decorations,
    defined: FxHashSet<Id>,
    line: Option<Line>,
    /// Compute entry points: name and function.
    entry_points: Vec<(String, Id)>,
    /// Entry point and its local size: literals, or ids of constants.
    local_size: Option<(Id, LocalSize)>,
    /// The constant decorated as `WorkgroupSize`.
    workgroup_size: Option<Id>,
    n_constant_scalars: usize,
    open: Option<OpenFunction>,
    /// Ids in functions that are 64-bit ints: a switch over one has longer literals.
    wide: FxHashSet<Id>,
}

#[derive(Clone, Copy)]
enum LocalSize {
    Literal([u32; 3]),
    Ids([Id; 3]),
}

/// The function being read, and its unfinished block.
struct OpenFunction {
    function: Function,
    /// The parameters that its type has.
    params: Vec<TypeId>,
    block: Option<(Id, Vec<Instruction>, Vec<Instruction>)>,
}

impl<'w> Reader<'w, '_> {
    fn instructions(&mut self) -> Result<()> {
        let words = self.module.words;
        let mut at = HEADER_WORDS;
        while at < words.len() {
            let (opcode, n_words) = (words[at] & 0xffff, (words[at] >> 16) as usize);
            if n_words == 0 || at + n_words > words.len() {
                let message = format!("the instruction at word {at} is cut off");
                return Err(errors::malformed(message, self.module.line(self.line)));
            }
            let Some(op) = Op::from_u32(opcode) else {
                let message = format!("the opcode {opcode} at word {at} is not known");
                return Err(errors::malformed(message, self.module.line(self.line)));
            };
            let inst = Instruction { op, first: at as u32 + 1, n: n_words as u32 - 1, line: self.line };
            self.instruction(&inst)?;
            at += n_words;
        }
        match &self.open {
            Some(_) => Err(errors::malformed("the last function has no end", None)),
            None => Ok(()),
        }
    }

    fn instruction(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::Line => {
                let (file, line, column) = (self.id(inst, 0)?, self.word(inst, 1)?, self.word(inst, 2)?);
                self.line = Some(Line { file, line, column });
            }
            Op::NoLine => self.line = None,
            Op::Function | Op::FunctionParameter | Op::FunctionEnd | Op::Label => self.function_part(inst)?,
            _ if self.open.is_some() => self.body(inst)?,
            _ => self.declaration(inst)?,
        }
        Ok(())
    }

    fn declaration(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::Decorate => {
                let operands = self.module.operands(inst);
                let operand = operands.get(2).copied();
                let (id, decoration) = (self.id(inst, 0)?, self.word(inst, 1)?);
                if decoration == spirv::Decoration::BuiltIn as u32
                    && operand == Some(BuiltIn::WorkgroupSize as u32)
                {
                    self.workgroup_size = Some(id);
                }
                self.decorations.decorate(id, decoration, operand);
            }
            Op::MemberDecorate => {
                let operand = self.module.operands(inst).get(3).copied();
                let (id, member, decoration) = (self.id(inst, 0)?, self.word(inst, 1)?, self.word(inst, 2)?);
                self.decorations.decorate_member(id, member, decoration, operand);
            }
            Op::GroupDecorate => {
                let group = self.id(inst, 0)?;
                for &to in &self.module.operands(inst)[1..] {
                    self.decorations.copy(group, Id(to));
                }
            }
            Op::String => {
                let id = self.define(inst, 0)?;
                let text = text(&self.module.operands(inst)[1..]);
                self.module.strings.insert(id, text);
            }
            Op::ExtInstImport => self.ext_inst_import(inst)?,
            Op::MemoryModel => self.memory_model(inst)?,
            Op::EntryPoint => self.entry_point(inst)?,
            Op::ExecutionMode | Op::ExecutionModeId => self.execution_mode(inst)?,
            Op::Variable => self.global(inst)?,
            op if is_type(op) => self.type_declaration(inst)?,
            op if is_constant(op) => self.constant(inst)?,
            op if is_silent(op) => {}
            op => return Err(errors::unknown_instruction(op, self.module.line(inst.line))),
        }
        Ok(())
    }

    fn ext_inst_import(&mut self, inst: &Instruction) -> Result<()> {
        let id = self.define(inst, 0)?;
        let name = text(&self.module.operands(inst)[1..]);
        let set = match name.as_str() {
            "GLSL.std.450" => ExtInstSet::Glsl,
            name if name.starts_with("NonSemantic.") || name.contains("DebugInfo") => ExtInstSet::NonSemantic,
            _ => ExtInstSet::Unknown,
        };
        self.module.ext_inst_sets.insert(id, set);
        Ok(())
    }

    fn memory_model(&mut self, inst: &Instruction) -> Result<()> {
        match self.word(inst, 0)? {
            0 => Ok(()),
            _ => Err(self.unsupported(inst, "only the Logical addressing model is taken")),
        }
    }

    fn entry_point(&mut self, inst: &Instruction) -> Result<()> {
        if self.word(inst, 0)? == ExecutionModel::GLCompute as u32 {
            let function = self.id(inst, 1)?;
            let name = text(self.module.operands(inst).get(2..).unwrap_or_default());
            self.entry_points.push((name, function));
        }
        Ok(())
    }

    fn execution_mode(&mut self, inst: &Instruction) -> Result<()> {
        let size = |reader: &Self| Ok([reader.word(inst, 2)?, reader.word(inst, 3)?, reader.word(inst, 4)?]);
        let (function, mode) = (self.id(inst, 0)?, self.word(inst, 1)?);
        let size = match ExecutionMode::from_u32(mode) {
            Some(ExecutionMode::LocalSize) => LocalSize::Literal(size(self)?),
            Some(ExecutionMode::LocalSizeId) => LocalSize::Ids(size(self)?.map(Id)),
            _ => return Ok(()),
        };
        if self.chosen_entry() == Some(function) {
            self.local_size = Some((function, size));
        }
        Ok(())
    }

    fn chosen_entry(&self) -> Option<Id> {
        let chosen = self.entry_points.iter().find(|(name, _)| *name == self.options.entry_point);
        chosen.map(|(_, function)| *function)
    }

    fn type_declaration(&mut self, inst: &Instruction) -> Result<()> {
        let ty = match inst.op {
            Op::TypeForwardPointer => return Ok(()),
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Scalar(Scalar::Bool),
            Op::TypeInt => {
                let bits = self.width(inst)?;
                Type::Scalar(Scalar::Int { bits, signed: self.word(inst, 2)? != 0 })
            }
            Op::TypeFloat => Type::Scalar(Scalar::Float { bits: self.width(inst)? }),
            Op::TypeVector => {
                let (component, n) = (self.type_at(inst, 1)?, self.word(inst, 2)?);
                match *self.module.types.get(component) {
                    Type::Scalar(scalar) if (2..=4).contains(&n) => Type::Vector { n, scalar },
                    _ => return Err(self.malformed(inst, "a vector has 2 to 4 scalars")),
                }
            }
            Op::TypeMatrix => {
                let (column, columns) = (self.type_at(inst, 1)?, self.word(inst, 2)?);
                match self.module.types.as_scalars(column) {
                    Some((Scalar::Float { .. }, 2..=4)) if (2..=4).contains(&columns) => {
                        Type::Matrix { columns, column }
                    }
                    _ => return Err(self.malformed(inst, "a matrix has 2 to 4 columns of floats")),
                }
            }
            Op::TypeArray => {
                let len = self.constant_at(inst, 2)?.as_int(&self.module.types);
                let Some(len @ 1..=0x7fff_ffff) = len else {
                    return Err(self.malformed(inst, "the length of an array is an int, at least 1"));
                };
                let stride = self.array_stride(inst)?;
                Type::Array { element: self.type_at(inst, 1)?, len: len as u32, stride }
            }
            Op::TypeRuntimeArray => {
                let stride = self.array_stride(inst)?;
                Type::RuntimeArray { element: self.type_at(inst, 1)?, stride }
            }
            Op::TypeStruct => self.struct_type(inst)?,
            Op::TypePointer => {
                let Some(class) = StorageClass::from_u32(self.word(inst, 1)?) else {
                    return Err(self.malformed(inst, "the storage class is not known"));
                };
                Type::Pointer { class, pointee: self.type_at(inst, 2)? }
            }
            Op::TypeFunction => {
                let params = (2..inst.n as usize).map(|i| self.type_at(inst, i)).collect::<Result<_>>()?;
                Type::Function { ret: self.type_at(inst, 1)?, params }
            }
            _ => return Err(self.unsupported(inst, "values of this type are not known here")),
        };
        let id = self.define(inst, 0)?;
        self.module.types.add(id, ty).map_err(|message| self.malformed(inst, message))?;
        Ok(())
    }

    fn width(&self, inst: &Instruction) -> Result<u8> {
        match self.word(inst, 1)? {
            32 => Ok(32),
            64 => Ok(64),
            other => Err(self.unsupported(inst, &format!("its width is {other}, 32 and 64 are taken"))),
        }
    }

    fn array_stride(&self, inst: &Instruction) -> Result<Option<u32>> {
        let stride = self.decorations.of(self.id(inst, 0)?).array_stride;
        match stride {
            Some(0) | Some(0x8000_0000..) => Err(self.malformed(inst, "an array's stride is 1 to 2^31 - 1")),
            _ => Ok(stride),
        }
    }

    fn struct_type(&self, inst: &Instruction) -> Result<Type> {
        let id = self.id(inst, 0)?;
        let member = |i: usize| {
            let of = self.decorations.of_member(id, i as u32 - 1);
            let matrix = MatrixLayout { stride: of.matrix_stride, row_major: of.row_major };
            if of.offset.is_some_and(|offset| offset > 0x7fff_ffff) {
                return Err(self.malformed(inst, "an offset is at most 2^31 - 1"));
            }
            Ok(Member { ty: self.type_at(inst, i)?, offset: of.offset, matrix })
        };
        Ok(Type::Struct((1..inst.n as usize).map(member).collect::<Result<_>>()?))
    }

    fn constant(&mut self, inst: &Instruction) -> Result<()> {
        let ty = self.type_at(inst, 0)?;
        let types = &self.module.types;
        if !types.is_data(ty) {
            return Err(self.malformed(inst, "no constant has this type"));
        }
        let n = types.n_scalars(ty) as usize;
        if n > MAX_SCALARS as usize || self.n_constant_scalars + n > MAX_CONSTANT_SCALARS {
            return Err(errors::too_large("its constants have too many parts", self.module.line(inst.line)));
        }
        let parts = self.constant_parts(inst, ty)?;
        self.n_constant_scalars += parts.len();
        let id = self.define(inst, 1)?;
        self.module.constants.insert(id, Constant { ty, parts: parts.into() });
        Ok(())
    }

    fn constant_parts(&self, inst: &Instruction, ty: TypeId) -> Result<Vec<u64>> {
        let types = &self.module.types;
        let scalar = match types.get(ty) {
            Type::Scalar(scalar) => Some(*scalar),
            _ => None,
        };
        let wrong = || self.malformed(inst, "its type does not fit");
        Ok(match inst.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let value = matches!(inst.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let value = self.specialized(inst)?.map_or(value, |bits| bits != 0);
                if scalar != Some(Scalar::Bool) {
                    return Err(wrong());
                }
                vec![u64::from(value)]
            }
            Op::Constant | Op::SpecConstant => {
                let scalar = scalar.filter(|&scalar| scalar != Scalar::Bool).ok_or_else(wrong)?;
                let low = u64::from(self.word(inst, 2)?);
                let high = if scalar.bits() == 64 { u64::from(self.word(inst, 3)?) << 32 } else { 0 };
                let bits = self.specialized(inst)?.unwrap_or(high | low);
                vec![crate::cpu::lane::fold::truncate(constants::lane_ty(scalar), bits)]
            }
            Op::ConstantNull | Op::Undef => vec![0; types.n_scalars(ty) as usize],
            Op::ConstantComposite | Op::SpecConstantComposite => self.composite_parts(inst, ty)?,
            Op::SpecConstantOp => {
                let op = Op::from_u32(self.word(inst, 2)?).ok_or_else(wrong)?;
                let operands = &self.module.operands(inst)[3..];
                let parts = constants::spec_op(types, &self.module.constants, ty, op, operands);
                let message =
                    || self.unsupported(inst, &format!("`Op{op:?}` on these operands is not known here"));
                parts.ok_or_else(message)?.to_vec()
            }
            _ => return Err(wrong()),
        })
    }

    fn composite_parts(&self, inst: &Instruction, ty: TypeId) -> Result<Vec<u64>> {
        let types = &self.module.types;
        let members = (2..inst.n as usize).map(|i| self.constant_at(inst, i)).collect::<Result<Vec<_>>>()?;
        let fits = match types.get(ty) {
            Type::Vector { n, scalar } => {
                members.len() == *n as usize
                    && members.iter().all(|member| types.as_scalars(member.ty) == Some((*scalar, 1)))
            }
            _ => {
                let element = |i: usize| types.element(ty, i as u32).map(|(element, _)| element);
                element(members.len()).is_none()
                    && !members.is_empty()
                    && members
                        .iter()
                        .enumerate()
                        .all(|(i, member)| element(i).is_some_and(|element| types.same(element, member.ty)))
            }
        };
        if !fits {
            return Err(self.malformed(inst, "its parts do not fit its type"));
        }
        Ok(members.iter().flat_map(|member| member.parts.iter().copied()).collect())
    }

    /// What the options say a specialisation constant is.
    fn specialized(&self, inst: &Instruction) -> Result<Option<u64>> {
        let spec_id = self.decorations.of(self.id(inst, 1)?).spec_id;
        let value = |spec_id| {
            let found = self.options.spec_constants.iter().rev().find(|(id, _)| *id == spec_id);
            found.map(|(_, bits)| *bits)
        };
        Ok(spec_id.and_then(value))
    }

    fn global(&mut self, inst: &Instruction) -> Result<()> {
        let Type::Pointer { class, pointee } = *self.module.types.get(self.type_at(inst, 0)?) else {
            return Err(self.malformed(inst, "its type is no pointer"));
        };
        if self.word(inst, 2)? != class as u32 || class == StorageClass::Function {
            return Err(self.malformed(inst, "its storage class is not that of its type"));
        }
        let id = self.define(inst, 1)?;
        let of = self.decorations.of(id);
        self.module.globals.push(Global {
            id,
            class,
            pointee,
            initializer: self.module.operands(inst).get(3).map(|&id| Id(id)),
            set: of.set,
            binding: of.binding,
            builtin: of.builtin,
            line: inst.line,
        });
        Ok(())
    }

    fn function_part(&mut self, inst: &Instruction) -> Result<()> {
        match (inst.op, &mut self.open) {
            (Op::Function, None) => {
                let (ret, id) = (self.type_at(inst, 0)?, self.define(inst, 1)?);
                let params = match self.module.types.get(self.type_at(inst, 3)?) {
                    Type::Function { ret: of_type, params } if *of_type == ret => params.clone(),
                    _ => return Err(self.malformed(inst, "its type is no function type that returns this")),
                };
                let function = Function {
                    id,
                    ret,
                    params: Vec::new(),
                    blocks: Vec::new(),
                    block_by_label: FxHashMap::default(),
                    flow: Default::default(),
                };
                self.open = Some(OpenFunction { function, params, block: None });
            }
            (Op::FunctionParameter, Some(open))
                if open.function.blocks.is_empty() && open.block.is_none() =>
            {
                let (ty, id) = (self.type_at(inst, 0)?, self.define(inst, 1)?);
                self.note_width(inst);
                let open = self.open.as_mut().expect("a function is open in this arm");
                open.function.params.push((id, ty));
            }
            (Op::FunctionEnd, Some(open)) if open.block.is_none() => {
                let OpenFunction { function, params, .. } =
                    self.open.take().expect("a function is open in this arm");
                if !function.params.iter().map(|(_, ty)| *ty).eq(params) {
                    return Err(self.malformed(inst, "the parameters are not those of the function's type"));
                }
                self.module.function_by_id.insert(function.id, self.module.functions.len());
                self.module.functions.push(function);
                self.line = None;
            }
            (Op::Label, Some(open)) if open.block.is_none() => {
                let label = self.define(inst, 0)?;
                let open = self.open.as_mut().expect("a function is open in this arm");
                open.function.block_by_label.insert(label, open.function.blocks.len());
                open.block = Some((label, Vec::new(), Vec::new()));
            }
            _ => return Err(self.malformed(inst, "it stands in a wrong place")),
        }
        Ok(())
    }

    fn body(&mut self, inst: &Instruction) -> Result<()> {
        if matches!(inst.op, Op::Nop | Op::SelectionMerge | Op::LoopMerge) {
            return Ok(());
        }
        if has_result(inst.op) {
            self.define(inst, 1)?;
            self.note_width(inst);
        }
        let (targets, wide) = self.targets(inst)?;
        let misplaced = self.malformed(inst, "it stands in a wrong place");
        let open = self.open.as_mut().expect("instructions outside functions are declarations");
        let Some((_, phis, body)) = &mut open.block else {
            return Err(misplaced);
        };
        if functions::is_terminator(inst.op) {
            let (label, phis, body) = open.block.take().expect("the block is open here");
            open.function.blocks.push(Block { label, phis, body, end: *inst, targets, wide });
            // A line holds to the end of its block.
            self.line = None;
        } else if inst.op == Op::Phi {
            if !body.is_empty() {
                return Err(misplaced);
            }
            phis.push(*inst);
        } else {
            body.push(*inst);
        }
        Ok(())
    }

    fn note_width(&mut self, inst: &Instruction) {
        let ty = self.type_at(inst, 0).ok().and_then(|ty| self.module.types.as_scalars(ty));
        if let (Some((Scalar::Int { bits: 64, .. }, 1)), Ok(id)) = (ty, self.id(inst, 1)) {
            self.wide.insert(id);
        }
    }

    /// The labels that a terminator goes to, and whether its literals have two words.
    fn targets(&self, inst: &Instruction) -> Result<(Vec<Id>, bool)> {
        let operands = self.module.operands(inst);
        let wide = inst.op == Op::Switch && self.is_wide(self.id(inst, 0)?);
        let words = match inst.op {
            Op::Branch => operands.get(..1).map(<[u32]>::to_vec),
            Op::BranchConditional => operands.get(1..3).map(<[u32]>::to_vec),
            Op::Switch => {
                let n_literal = if wide { 2 } else { 1 };
                let cases = operands.get(2..).unwrap_or_default().chunks(n_literal + 1);
                let cases: Option<Vec<u32>> = cases.map(|case| case.get(n_literal).copied()).collect();
                operands.get(1).zip(cases).map(|(&default, cases)| [vec![default], cases].concat())
            }
            _ => Some(Vec::new()),
        };
        let words = words.ok_or_else(|| self.malformed(inst, "an operand is missing"))?;
        Ok((words.into_iter().map(Id).collect(), wide))
    }

    fn is_wide(&self, id: Id) -> bool {
        let constant = self.module.constants.get(&id);
        let is_wide = |constant: &Constant| {
            self.module.types.as_scalars(constant.ty).is_some_and(|(scalar, _)| scalar.bits() == 64)
        };
        self.wide.contains(&id) || constant.is_some_and(is_wide)
    }

    fn finish(mut self) -> Result<Module<'w>> {
        let Some(entry) = self.chosen_entry() else {
            let names: Vec<_> = self.entry_points.iter().map(|(name, _)| format!("`{name}`")).collect();
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let message =
                format!("the module has no compute entry point `{}`, it has {has}", self.options.entry_point);
            return Err(DeviceError::BadModule { message, line: None });
        };
        let Some(&function) = self.module.function_by_id.get(&entry) else {
            return Err(errors::malformed("the entry point names no function", None));
        };
        let function_type = &self.module.functions[function];
        if !function_type.params.is_empty() || !matches!(self.module.types.get(function_type.ret), Type::Void)
        {
            return Err(errors::malformed("the entry point takes or returns something", None));
        }
        self.module.entry = function;
        self.module.local_size = self.work_group_size()?;
        functions::link(&mut self.module)?;
        Ok(self.module)
    }

    fn work_group_size(&self) -> Result<[u32; 3]> {
        let constant = |id: Id| self.module.constants.get(&id);
        if let Some(size) = self.workgroup_size.and_then(constant)
            && let [x, y, z] = size.parts[..]
        {
            return Ok([x as u32, y as u32, z as u32]);
        }
        let int = |id: Id| constant(id).and_then(|size| size.as_int(&self.module.types));
        match self.local_size {
            Some((_, LocalSize::Literal(size))) => Ok(size),
            Some((_, LocalSize::Ids(ids))) => match ids.map(int) {
                [Some(x), Some(y), Some(z)] => Ok([x as u32, y as u32, z as u32]),
                _ => Err(errors::malformed("`LocalSizeId` names no int constants", None)),
            },
            None => Err(errors::malformed("the entry point has no `LocalSize`", None)),
        }
    }

    fn word(&self, inst: &Instruction, i: usize) -> Result<u32> {
        let word = self.module.operands(inst).get(i).copied();
        word.ok_or_else(|| self.malformed(inst, "an operand is missing"))
    }

    fn id(&self, inst: &Instruction, i: usize) -> Result<Id> {
        self.word(inst, i).map(Id)
    }

    /// The id that operand `i` defines.
    fn define(&mut self, inst: &Instruction, i: usize) -> Result<Id> {
        let id = self.id(inst, i)?;
        if !self.defined.insert(id) {
            return Err(self.malformed(inst, &format!("%{} is defined twice", id.0)));
        }
        Ok(id)
    }

    fn type_at(&self, inst: &Instruction, i: usize) -> Result<TypeId> {
        let id = self.id(inst, i)?;
        self.module.types.by_id(id).ok_or_else(|| self.malformed(inst, &format!("%{} is no type", id.0)))
    }

    fn constant_at(&self, inst: &Instruction, i: usize) -> Result<&Constant> {
        let id = self.id(inst, i)?;
        let constant = self.module.constants.get(&id);
        constant.ok_or_else(|| self.malformed(inst, &format!("%{} is no constant", id.0)))
    }

    fn malformed(&self, inst: &Instruction, message: &str) -> DeviceError {
        errors::malformed_at(inst.op, message, self.module.line(inst.line))
    }

    fn unsupported(&self, inst: &Instruction, message: &str) -> DeviceError {
        errors::unsupported(inst.op, message, self.module.line(inst.line))
    }
}

/// A string operand: bytes from the low end of each word up to a zero.
fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

fn is_type(op: Op) -> bool {
    // The core types are numbered in a row; those of extensions are known by their names.
    (Op::TypeVoid as u32..=Op::TypeForwardPointer as u32).contains(&(op as u32))
        || (op as u32 > 4000 && format!("{op:?}").starts_with("Type"))
}

fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef
    )
}

/// Declarations that change nothing here. Capabilities and extensions are left to the instructions that
/// need them.
fn is_silent(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Capability
            | Op::Extension
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::Name
            | Op::MemberName
            | Op::ModuleProcessed
            | Op::DecorationGroup
            | Op::GroupMemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::ExtInst
    )
}

/// Whether an instruction in a function gives a result: then its first operand is the type, the second the id.
fn has_result(op: Op) -> bool {
    !functions::is_terminator(op)
        && !matches!(
            op,
            Op::Store
                | Op::CopyMemory
                | Op::ControlBarrier
                | Op::MemoryBarrier
                | Op::AtomicStore
                | Op::ImageWrite
                | Op::CooperativeMatrixStoreKHR
        )
}
