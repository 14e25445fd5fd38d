//! Rewrites `debugPrintfEXT` of shaders to records in the buffer of `print`.
//!
//! The input is a module that uses the extended instruction set `NonSemantic.DebugPrintf`. Each such call
//! becomes a record in the form that `kps_device::interface::PRINT` describes. Other modules do not change.
//! The formats are those of the Vulkan validation layers: `%d`, `%i`, `%u`, `%x`, `%f`, `%e`, `%g` and `%a`
//! with flags, width and precision, `%ul`, `%lu`, `%lx` for 64 bits, and `%v2` to `%v4` before the letter for
//! vectors.

use std::borrow::Cow;

use kps_device::interface::{PRINT, RECORD, RECORD_ASSERT_WORDS};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Instruction, Module, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Decoration, FunctionControl, MemoryModel, MemorySemantics, Op, Scope,
    SelectionControl, StorageClass, Word,
};
use rustc_hash::FxHashMap;

const SET: &str = "NonSemantic.DebugPrintf";

/// The member of the buffer with the records, after the four counters.
const DATA: u32 = 4;

/// Rewrites the prints of a module.
pub(crate) fn record_prints(words: &[u32]) -> Cow<'_, [u32]> {
    if !mentions(words, SET) {
        return Cow::Borrowed(words);
    }
    match rspirv::dr::load_words(words).ok().and_then(Printing::rewrite) {
        Some(rewritten) => Cow::Owned(rewritten),
        None => Cow::Borrowed(words),
    }
}

/// Whether a module imports an instruction set.
fn mentions(words: &[u32], set: &str) -> bool {
    let mut rest = words.get(5..).unwrap_or_default();
    while let Some(first) = rest.first() {
        let (opcode, length) = (first & 0xffff, (first >> 16) as usize);
        // Imports precede all functions.
        if length == 0 || length > rest.len() || opcode == Op::Function as u32 {
            return false;
        }
        if opcode == Op::ExtInstImport as u32 {
            let bytes: Vec<u8> = rest[2..length].iter().flat_map(|word| word.to_le_bytes()).collect();
            if bytes.starts_with(set.as_bytes()) {
                return true;
            }
        }
        rest = &rest[length..];
    }
    false
}

/// A module whose prints are being replaced.
struct Printing {
    builder: Builder,
    types: Types,
    /// By the number of words that follow the place and the invocation.
    functions: FxHashMap<usize, Word>,
    ring: Word,
    scope: Word,
    relaxed: Word,
    invocation: Word,
    n_sites: u32,
}

/// The types of the module's ids.
struct Types {
    definitions: FxHashMap<Word, Instruction>,
    strings: FxHashMap<Word, String>,
    of_values: FxHashMap<Word, Word>,
}

/// A scalar or a vector of one.
#[derive(Clone, Copy)]
struct Shape {
    scalar: Scalar,
    n_components: u32,
    scalar_type: Word,
}

#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Bool,
    Int { bits: u32, signed: bool },
    Float { bits: u32 },
}

/// One print: its position in a block, and its arguments.
struct Call {
    function: usize,
    block: usize,
    instruction: usize,
    arguments: Vec<Word>,
}

impl Printing {
    /// `None` for malformed modules; the device reports the error.
    fn rewrite(module: Module) -> Option<Vec<u32>> {
        let set = import(&module)?;
        let types = Types::of(&module);
        let calls = calls(&module, set);
        let mut builder = Builder::new_from_module(module);
        let (ring, invocation) = (ring(&mut builder, &types), invocation(&mut builder, &types)?);
        let uint = builder.type_int(32, 0);
        let is_vulkan = matches!(
            builder.module_ref().memory_model.as_ref()?.operands[..],
            [
                Operand::AddressingModel(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64),
                Operand::MemoryModel(MemoryModel::Vulkan)
            ]
        );
        // The Vulkan memory model has the device scope only with a capability.
        let scope = if is_vulkan { Scope::QueueFamily } else { Scope::Device };
        let scope = builder.constant_bit32(uint, scope as u32);
        let relaxed = builder.constant_bit32(uint, MemorySemantics::RELAXED.bits());
        let functions = FxHashMap::default();
        let mut printing =
            Printing { builder, types, functions, ring, scope, relaxed, invocation, n_sites: 0 };
        for call in calls.into_iter().rev() {
            printing.replace(&call);
        }
        let mut module = printing.builder.module();
        module.ext_inst_imports.retain(|import| import.result_id != Some(set));
        for entry in &mut module.entry_points {
            let listed = |id: Word| entry.operands.contains(&Operand::IdRef(id));
            let version = module.header.as_ref().map_or((1, 0), |header| header.version());
            let wanted = [Some(printing.invocation), (version >= (1, 4)).then_some(ring)];
            let missing: Vec<Word> = wanted.into_iter().flatten().filter(|id| !listed(*id)).collect();
            entry.operands.extend(missing.into_iter().map(Operand::IdRef));
        }
        Some(module.assemble())
    }

    /// Replaces a print by a call of the function that writes its record.
    fn replace(&mut self, call: &Call) {
        self.n_sites += 1;
        let site = self.n_sites;
        let template = self.template(&call.arguments);
        let (line, column, file) = self.line(call);
        self.builder.string(format!("{RECORD}{site} print {line} {column} {file}\n{template}"));
        let block = &mut self.builder.module_mut().functions[call.function].blocks[call.block];
        let behind = block.instructions.split_off(call.instruction);
        self.builder.select_function(Some(call.function)).expect("the call is in this function");
        self.builder.select_block(Some(call.block)).expect("the call is in this block");
        let uint = self.builder.type_int(32, 0);
        let mut words = vec![self.builder.constant_bit32(uint, site)];
        let vector = self.builder.type_vector(uint, 3);
        let id = self.builder.load(vector, None, self.invocation, None, []).expect("a block is selected");
        for axis in 0..3 {
            words.push(self.extract(uint, id, axis));
        }
        for argument in &call.arguments[1..] {
            self.push_words(*argument, &mut words);
        }
        let n_values = words.len() - 4;
        let void = self.builder.type_void();
        let (selected_function, selected_block) = (call.function, call.block);
        let function = self.function(n_values);
        self.builder.select_function(Some(selected_function)).expect("it is there");
        self.builder.select_block(Some(selected_block)).expect("it is there");
        self.builder.function_call(void, None, function, words).expect("a block is selected");
        let block = &mut self.builder.module_mut().functions[call.function].blocks[call.block];
        block.instructions.extend(behind.into_iter().skip(1));
        self.builder.select_block(None).expect("no block can always be selected");
        self.builder.select_function(None).expect("no function can always be selected");
    }

    fn extract(&mut self, ty: Word, composite: Word, at: u32) -> Word {
        self.builder.composite_extract(ty, None, composite, [at]).expect("a block is selected")
    }

    /// A value as 32-bit words: narrow numbers are widened, and wide ones start with the low word.
    fn push_words(&mut self, value: Word, words: &mut Vec<Word>) {
        let Some(shape) = self.types.shape(value) else { return };
        for at in 0..shape.n_components {
            let number = match shape.n_components {
                1 => value,
                _ => self.extract(shape.scalar_type, value, at),
            };
            self.push_number(shape.scalar, number, words);
        }
    }

    fn push_number(&mut self, scalar: Scalar, number: Word, words: &mut Vec<Word>) {
        let uint = self.builder.type_int(32, 0);
        let selected = "a block is selected";
        match scalar {
            Scalar::Bool => {
                let (one, zero) =
                    (self.builder.constant_bit32(uint, 1), self.builder.constant_bit32(uint, 0));
                words.push(self.builder.select(uint, None, number, one, zero).expect(selected));
            }
            Scalar::Int { bits: 64, .. } | Scalar::Float { bits: 64 } => {
                let pair = self.builder.type_vector(uint, 2);
                let halves = self.builder.bitcast(pair, None, number).expect(selected);
                words.extend([0, 1].map(|half| self.extract(uint, halves, half)));
            }
            Scalar::Int { bits: 32, signed: false } => words.push(number),
            Scalar::Int { bits: 8 | 16, signed: false } => {
                words.push(self.builder.u_convert(uint, None, number).expect(selected));
            }
            Scalar::Int { bits: 8 | 16, signed: true } => {
                let int = self.builder.type_int(32, 1);
                let wide = self.builder.s_convert(int, None, number).expect(selected);
                words.push(self.builder.bitcast(uint, None, wide).expect(selected));
            }
            Scalar::Float { bits: 16 } => {
                let float = self.builder.type_float(32, None);
                let wide = self.builder.f_convert(float, None, number).expect(selected);
                words.push(self.builder.bitcast(uint, None, wide).expect(selected));
            }
            Scalar::Int { .. } | Scalar::Float { .. } => {
                words.push(self.builder.bitcast(uint, None, number).expect(selected));
            }
        }
    }

    /// The function that writes a record with so many words of values. Its parameters are the number of the
    /// place, the invocation, and these words.
    fn function(&mut self, n_values: usize) -> Word {
        if let Some(function) = self.functions.get(&n_values) {
            return *function;
        }
        self.builder.select_block(None).expect("no block can always be selected");
        self.builder.select_function(None).expect("no function can always be selected");
        let function = self.define(n_values).expect("blocks are begun before they are filled");
        self.functions.insert(n_values, function);
        function
    }

    fn define(&mut self, n_values: usize) -> Result<Word, rspirv::dr::Error> {
        let (ring, scope, relaxed) = (self.ring, self.scope, self.relaxed);
        let b = &mut self.builder;
        let (uint, bool, void) = (b.type_int(32, 0), b.type_bool(), b.type_void());
        let place = b.type_pointer(None, StorageClass::StorageBuffer, uint);
        let number = |b: &mut Builder, n: u32| b.constant_bit32(uint, n);
        let n_words = 4 + n_values;
        let (zero, one) = (number(b, 0), number(b, 1));
        let (data, length) = (number(b, DATA), number(b, n_words as u32));
        let start = number(b, RECORD_ASSERT_WORDS);
        let ty = b.type_function(void, vec![uint; n_words]);
        let function = b.begin_function(void, None, FunctionControl::NONE, ty)?;
        let parameters: Vec<Word> =
            (0..n_words).map(|_| b.function_parameter(uint)).collect::<Result<_, _>>()?;
        b.begin_block(None)?;
        let asked = b.access_chain(place, None, ring, [zero])?;
        let lost = b.access_chain(place, None, ring, [one])?;
        let all = b.array_length(uint, None, ring, DATA)?;
        let room = b.i_sub(uint, None, all, start)?;
        // Tested first, so that the counter of a full buffer does not wrap around.
        let seen = b.atomic_load(uint, None, asked, scope, relaxed)?;
        let has_room = b.u_less_than(bool, None, seen, room)?;
        let [taking, full, writing, cut, ending, done, merged] = std::array::from_fn(|_| b.id());
        b.selection_merge(done, SelectionControl::NONE)?;
        b.branch_conditional(has_room, taking, full, [])?;
        b.begin_block(Some(taking))?;
        let at = b.atomic_i_add(uint, None, asked, scope, relaxed, length)?;
        let end = b.i_add(uint, None, at, length)?;
        let fits = b.u_less_than_equal(bool, None, end, room)?;
        let first = b.i_add(uint, None, at, start)?;
        b.selection_merge(merged, SelectionControl::NONE)?;
        b.branch_conditional(fits, writing, cut, [])?;
        b.begin_block(Some(writing))?;
        for (offset, word) in parameters.iter().enumerate() {
            let offset = b.constant_bit32(uint, offset as u32);
            let index = b.i_add(uint, None, first, offset)?;
            let target = b.access_chain(place, None, ring, [data, index])?;
            b.store(target, *word, None, [])?;
        }
        b.branch(merged)?;
        b.begin_block(Some(cut))?;
        b.atomic_i_add(uint, None, lost, scope, relaxed, one)?;
        let begins = b.u_less_than(bool, None, at, room)?;
        let behind = b.id();
        b.selection_merge(behind, SelectionControl::NONE)?;
        b.branch_conditional(begins, ending, behind, [])?;
        b.begin_block(Some(ending))?;
        let target = b.access_chain(place, None, ring, [data, first])?;
        b.store(target, zero, None, [])?;
        b.branch(behind)?;
        b.begin_block(Some(behind))?;
        b.branch(merged)?;
        b.begin_block(Some(merged))?;
        b.branch(done)?;
        b.begin_block(Some(full))?;
        b.atomic_i_add(uint, None, lost, scope, relaxed, one)?;
        b.branch(done)?;
        b.begin_block(Some(done))?;
        b.ret()?;
        b.end_function()?;
        Ok(function)
    }

    /// The line of a call, and its file.
    fn line(&self, call: &Call) -> (u32, u32, String) {
        let block = &self.builder.module_ref().functions[call.function].blocks[call.block];
        let mut before = block.instructions[..call.instruction].iter().rev();
        let line = before.find(|one| one.class.opcode == Op::Line).map(|one| &one.operands[..]);
        match line {
            Some([Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)]) => {
                (*line, *column, self.types.strings.get(file).cloned().unwrap_or_default())
            }
            _ => (0, 0, String::new()),
        }
    }

    /// The format as a template of records.
    fn template(&self, arguments: &[Word]) -> String {
        let format = self.types.strings.get(&arguments[0]).map_or("", String::as_str);
        let mut shapes = arguments[1..].iter().filter_map(|argument| self.types.shape(*argument));
        let mut template = template(format, &mut shapes);
        // Values that the format does not use are in the record, too.
        for shape in shapes {
            template += &slots(shape, "");
        }
        if !template.ends_with('\n') {
            template.push('\n');
        }
        template
    }
}

/// `x is %5.2f` becomes `x is {f32:5.2f}` if the next value is such a float.
fn template(format: &str, shapes: &mut impl Iterator<Item = Shape>) -> String {
    let mut template = String::new();
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' => template.extend([letter, letter]),
            '%' if letters.peek() == Some(&'%') => {
                letters.next();
                template.push('%');
            }
            '%' => {
                let mut specification = String::new();
                while let Some(next) =
                    letters.next_if(|next| !next.is_ascii_alphabetic() || "vl".contains(*next))
                {
                    specification.push(next);
                    // The number after `v` is the length of the vector.
                    if next == 'v' {
                        letters.next_if(char::is_ascii_digit);
                    }
                }
                let conversion = letters.next().unwrap_or('d');
                letters.next_if(|next| *next == 'l' && conversion == 'u');
                if let Some(shape) = shapes.next() {
                    template += &slots(shape, &python_format(&specification, conversion, shape.scalar));
                }
            }
            letter => template.push(letter),
        }
    }
    template
}

/// A slot for each component, separated by commas.
fn slots(shape: Shape, format: &str) -> String {
    let dtype = match shape.scalar {
        Scalar::Bool => "bool".to_owned(),
        Scalar::Int { bits, signed: true } => format!("i{bits}"),
        Scalar::Int { bits, signed: false } => format!("u{bits}"),
        Scalar::Float { bits } => format!("f{bits}"),
    };
    let slot = if format.is_empty() { format!("{{{dtype}}}") } else { format!("{{{dtype}:{format}}}") };
    vec![slot; shape.n_components as usize].join(", ")
}

/// Converts C's flags, width, precision and letter to Python's format; a letter that does not fit the value
/// is dropped.
fn python_format(specification: &str, letter: char, scalar: Scalar) -> String {
    let plain: String = specification.chars().filter(|one| !"vl".contains(*one)).collect();
    let (flags, rest) = plain.split_at(plain.find(|one| !"-+ #0".contains(one)).unwrap_or(plain.len()));
    let (width, precision) =
        rest.split_once('.').map_or((rest, None), |(width, digits)| (width, Some(digits)));
    let is_float = matches!(scalar, Scalar::Float { .. });
    let letter = match letter {
        'd' | 'i' | 'u' if !is_float => "d",
        'x' | 'X' | 'o' if !is_float => &letter.to_string(),
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' => &letter.to_string(),
        _ => "",
    };
    let has = |flag: char| flags.contains(flag);
    let mut format = String::new();
    if has('-') && !width.is_empty() {
        format.push('<');
    }
    format.extend(['+', ' '].into_iter().find(|sign| has(*sign)));
    format.extend(has('#').then_some('#'));
    format.extend((has('0') && !has('-') && !width.is_empty()).then_some('0'));
    format += width;
    if let Some(digits) = precision.filter(|_| is_float) {
        format += &format!(".{digits}");
    }
    format + letter
}

fn import(module: &Module) -> Option<Word> {
    let is_set =
        |import: &&Instruction| matches!(&import.operands[..], [Operand::LiteralString(name)] if name == SET);
    module.ext_inst_imports.iter().find(is_set)?.result_id
}

/// In source order.
fn calls(module: &Module, set: Word) -> Vec<Call> {
    let mut calls = Vec::new();
    for (function, body) in module.functions.iter().enumerate() {
        for (block, instructions) in body.blocks.iter().enumerate() {
            for (instruction, found) in instructions.instructions.iter().enumerate() {
                if let (Op::ExtInst, [Operand::IdRef(id), _, arguments @ ..]) =
                    (found.class.opcode, &found.operands[..])
                    && *id == set
                {
                    let arguments: Vec<Word> = arguments.iter().filter_map(Operand::id_ref_any).collect();
                    if !arguments.is_empty() {
                        calls.push(Call { function, block, instruction, arguments });
                    }
                }
            }
        }
    }
    calls
}

/// The buffer for records, after all bindings of set 0.
fn ring(builder: &mut Builder, types: &Types) -> Word {
    let uint = builder.type_int(32, 0);
    let data = builder.type_runtime_array_id(None, uint);
    builder.decorate(data, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
    let block = builder.type_struct_id(None, [uint, uint, uint, uint, data]);
    builder.decorate(block, Decoration::Block, []);
    for member in 0..=DATA {
        builder.member_decorate(block, member, Decoration::Offset, [Operand::LiteralBit32(4 * member)]);
    }
    let pointer = builder.type_pointer(None, StorageClass::StorageBuffer, block);
    let ring = builder.variable(pointer, None, StorageClass::StorageBuffer, None);
    builder.name(block, "kps.records");
    builder.name(ring, PRINT);
    let binding = types.n_bindings(builder.module_ref());
    builder.decorate(ring, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
    builder.decorate(ring, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    let is_before_1_3 = builder.module_ref().header.as_ref().is_some_and(|header| header.version() < (1, 3));
    if is_before_1_3 {
        builder.extension("SPV_KHR_storage_buffer_storage_class");
    }
    ring
}

/// The variable with the invocation's id, added if the module has none.
fn invocation(builder: &mut Builder, types: &Types) -> Option<Word> {
    let is_id = |decoration: &&Instruction| {
        matches!(
            decoration.operands[..],
            [
                Operand::IdRef(_),
                Operand::Decoration(Decoration::BuiltIn),
                Operand::BuiltIn(BuiltIn::GlobalInvocationId)
            ]
        )
    };
    let known = builder.module_ref().annotations.iter().find(is_id);
    if let Some(id) = known.and_then(|decoration| decoration.operands[0].id_ref_any()) {
        return types.definitions.contains_key(&id).then_some(id);
    }
    let uint = builder.type_int(32, 0);
    let vector = builder.type_vector(uint, 3);
    let pointer = builder.type_pointer(None, StorageClass::Input, vector);
    let variable = builder.variable(pointer, None, StorageClass::Input, None);
    builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
    Some(variable)
}

impl Types {
    fn of(module: &Module) -> Types {
        let global = module.types_global_values.iter();
        let definitions = global.filter_map(|one| Some((one.result_id?, one.clone()))).collect();
        let strings =
            module.debug_string_source.iter().filter_map(|one| match (one.class.opcode, &one.operands[..]) {
                (Op::String, [Operand::LiteralString(text)]) => Some((one.result_id?, text.clone())),
                _ => None,
            });
        let values = module.all_inst_iter().filter_map(|one| Some((one.result_id?, one.result_type?)));
        Types { definitions, strings: strings.collect(), of_values: values.collect() }
    }

    fn shape(&self, value: Word) -> Option<Shape> {
        let ty = *self.of_values.get(&value)?;
        let definition = self.definitions.get(&ty)?;
        if definition.class.opcode != Op::TypeVector {
            return Some(Shape { scalar: self.scalar(definition)?, n_components: 1, scalar_type: ty });
        }
        let [Operand::IdRef(scalar_type), Operand::LiteralBit32(n_components)] = definition.operands[..]
        else {
            return None;
        };
        let scalar = self.scalar(self.definitions.get(&scalar_type)?)?;
        Some(Shape { scalar, n_components, scalar_type })
    }

    fn scalar(&self, definition: &Instruction) -> Option<Scalar> {
        match (definition.class.opcode, &definition.operands[..]) {
            (Op::TypeBool, _) => Some(Scalar::Bool),
            (Op::TypeInt, [Operand::LiteralBit32(bits), Operand::LiteralBit32(signed)]) => {
                Some(Scalar::Int { bits: *bits, signed: *signed != 0 })
            }
            (Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => Some(Scalar::Float { bits: *bits }),
            _ => None,
        }
    }

    /// The first unused binding of set 0 after all others.
    fn n_bindings(&self, module: &Module) -> u32 {
        let bindings = module.annotations.iter().filter_map(|one| match one.operands[..] {
            [_, Operand::Decoration(Decoration::Binding), Operand::LiteralBit32(binding)] => {
                Some(binding + 1)
            }
            _ => None,
        });
        bindings.max().unwrap_or(0)
    }
}
