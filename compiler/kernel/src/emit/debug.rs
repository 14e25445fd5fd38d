//! Debug information beyond lines and names ([`Target::debug_info`](crate::Target::debug_info)): the source's text,
//! types, functions, arrays and variables, in the set NonSemantic.Shader.DebugInfo.100.
//!
//! A variable in memory is declared at the head of its function; a value is declared where it first gets its name.
//! Library functions have no debug information: their instructions belong to the lines of the calls.

use kps_syntax::ast::Name;
use kps_syntax::{Source, Span};
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

use super::function::FunctionEmitter;
use super::interface::Interface;
use super::module::{Module, Operand, write};
use crate::constant::Constant;
use crate::ir::{Arg, Function, Kernel, LocalId, NodeId, NodeKind};
use crate::types::{Kind, Scalar, Type};

/// The name of the set.
const SET: &str = "NonSemantic.Shader.DebugInfo.100";

/// Its instructions that are used here.
#[derive(Clone, Copy)]
enum Info {
    None = 0,
    CompilationUnit = 1,
    TypeBasic = 2,
    TypeArray = 5,
    TypeVector = 6,
    TypeFunction = 8,
    TypeComposite = 10,
    TypeMember = 11,
    GlobalVariable = 18,
    Function = 20,
    Scope = 23,
    LocalVariable = 26,
    Declare = 28,
    Value = 29,
    Expression = 31,
    Source = 35,
    FunctionDefinition = 101,
    SourceContinued = 102,
    Line = 103,
    TypeMatrix = 108,
}

/// The versions of the set and of DWARF, as the specification requires.
const VERSION: u32 = 100;
const DWARF_VERSION: u32 = 4;
const UNKNOWN_LANGUAGE: u32 = 0;
const STRUCTURE: u32 = 1;
const FLAG_IS_DEFINITION: u32 = 1 << 3;
const FLAG_IS_LOCAL: u32 = 1 << 2;

/// The prefix of names that no source has.
const RESERVED_PREFIX: &str = "kps.";

/// Bytes of text in one `OpString`, whose instruction has at most 65,535 words.
const MAX_TEXT: usize = 65_000 * 4;

/// The debug information of a module so far.
pub(super) struct Debug {
    pub set: Word,
    unit: Word,
    expression: Word,
    sources: Vec<(Source, Word)>,
    types: FxHashMap<Type, Word>,
}

impl Debug {
    /// The name of the set, for the module's imports.
    pub fn import(&self) -> (Word, &'static str) {
        (self.set, SET)
    }
}

impl Module {
    /// Begins the debug information of a kernel in this source.
    pub fn begin_debug_info(&mut self, source: &Source) {
        let set = self.id();
        let debug = Debug { set, unit: 0, expression: 0, sources: Vec::new(), types: FxHashMap::default() };
        self.debug = Some(debug);
        let source = self.debug_source(source);
        let [version, dwarf, language] = [VERSION, DWARF_VERSION, UNKNOWN_LANGUAGE].map(|n| self.number(n));
        let unit = self.info(Info::CompilationUnit, &[version, dwarf, source, language]);
        let expression = self.info(Info::Expression, &[]);
        let debug = self.debug.as_mut().expect("it was made above");
        (debug.unit, debug.expression) = (unit, expression);
    }

    fn info(&mut self, info: Info, operands: &[Word]) -> Word {
        let void = self.void();
        let operands = self.info_operands(info, operands);
        self.global(Op::ExtInst, Some(void), &operands)
    }

    /// Writes an instruction inside a function.
    fn write_info(&mut self, words: &mut Vec<Word>, info: Info, operands: &[Word]) {
        let (void, id) = (self.void(), self.id());
        write(words, Op::ExtInst, Some(void), Some(id), &self.info_operands(info, operands));
    }

    fn info_operands(&self, info: Info, operands: &[Word]) -> Vec<Operand> {
        let set = self.debug.as_ref().expect("the module has debug information").set;
        let mut all = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(info as u32)];
        all.extend(operands.iter().map(|id| Operand::IdRef(*id)));
        all
    }

    fn number(&mut self, number: u32) -> Word {
        self.constant(Constant::u32(number))
    }

    /// Line and column, as ids.
    fn place(&mut self, source: &Source, span: Span) -> [Word; 2] {
        let (line, column) = source.line_column(span.start.min(source.text().len() as u32));
        [line, column].map(|number| self.number(number))
    }

    fn debug(&mut self) -> &mut Debug {
        self.debug.as_mut().expect("the module has debug information")
    }

    fn debug_source(&mut self, source: &Source) -> Word {
        if let Some((_, id)) = self.debug().sources.iter().find(|(known, _)| known == source) {
            return *id;
        }
        let file = self.file(source);
        let text = source.text().replace('\0', " ");
        let mut chunks = chunks(&text);
        let first = self.string(chunks.next().unwrap_or(""));
        let id = self.info(Info::Source, &[file, first]);
        for chunk in chunks {
            let text = self.string(chunk);
            self.info(Info::SourceContinued, &[text]);
        }
        self.debug().sources.push((source.clone(), id));
        id
    }

    fn debug_type(&mut self, ty: &Type) -> Word {
        if let Some(id) = self.debug().types.get(ty) {
            return *id;
        }
        let id = match ty {
            Type::Void | Type::Error => return self.void(),
            Type::Scalar(scalar) => {
                let name = self.string(&scalar.to_string());
                let [bits, encoding, flags] =
                    [scalar.bits(), encoding(*scalar), 0].map(|number| self.number(number));
                self.info(Info::TypeBasic, &[name, bits, encoding, flags])
            }
            Type::Vector(n, scalar) => self.debug_many(Info::TypeVector, &(*scalar).into(), u32::from(*n)),
            Type::Matrix { columns, rows, scalar } => {
                let column = self.debug_type(&Type::Vector(*rows, *scalar));
                let (columns, is_column_major) =
                    (self.number(u32::from(*columns)), self.constant(Constant::bool(true)));
                self.info(Info::TypeMatrix, &[column, columns, is_column_major])
            }
            Type::Array(array) => self.debug_many(Info::TypeArray, &array.element, array.len),
            Type::Struct(of) => {
                let names = of.members.iter().map(|member| &*member.name);
                let name = of.name.as_deref().unwrap_or("Struct");
                self.debug_composite(name, ty, &names.zip(of.offsets()).collect::<Vec<_>>())
            }
            Type::Tuple(items) => {
                let names: Vec<String> = (0..items.len()).map(|at| at.to_string()).collect();
                let offsets = items.iter().scan(0, |next, item| {
                    *next += item.packed_size();
                    Some(*next - item.packed_size())
                });
                let names = names.iter().map(String::as_str);
                self.debug_composite("tuple", ty, &names.zip(offsets).collect::<Vec<_>>())
            }
            // The layout of a cooperative matrix is not specified, so its size is 0.
            Type::Coop(_) => {
                let size = self.info(Info::None, &[]);
                self.debug_structure(&ty.to_string(), size, &[])
            }
        };
        self.debug().types.insert(ty.clone(), id);
        id
    }

    /// So many of one type; 0 where that is known only at run time.
    fn debug_many(&mut self, info: Info, part: &Type, n: u32) -> Word {
        let operands = [self.debug_type(part), self.number(n)];
        self.info(info, &operands)
    }

    /// A type with members, each with its name and byte offset.
    fn debug_composite(&mut self, name: &str, ty: &Type, members: &[(&str, u32)]) -> Word {
        let (source, zero) = (self.debug().sources[0].1, self.number(0));
        let mut ids = Vec::new();
        for (at, (name, offset)) in (0..).zip(members) {
            let part = ty.part(at).expect("each member is a part");
            let (name, ty) = (self.string(name), self.debug_type(&part));
            let [offset, size] =
                [*offset, part.packed_size()].map(|n_bytes| self.number(n_bytes.saturating_mul(8)));
            ids.push(self.info(Info::TypeMember, &[name, ty, source, zero, zero, offset, size, zero]));
        }
        let size = self.number(ty.packed_size().saturating_mul(8));
        self.debug_structure(name, size, &ids)
    }

    fn debug_structure(&mut self, name: &str, size: Word, members: &[Word]) -> Word {
        let (source, unit) = (self.debug().sources[0].1, self.debug().unit);
        let (name, linkage) = (self.string(name), self.string(""));
        let [tag, zero] = [STRUCTURE, 0].map(|number| self.number(number));
        let mut operands = vec![name, tag, source, zero, zero, unit, linkage, size, zero];
        operands.extend(members);
        self.info(Info::TypeComposite, &operands)
    }

    fn debug_function(&mut self, function: &Function) -> Word {
        let source = self.debug_source(&function.source);
        let flags = self.number(0);
        let mut signature = vec![flags, self.debug_type(&function.result)];
        signature.extend(function.args.iter().map(|arg| self.debug_type(arg_type(function, arg))));
        let ty = self.info(Info::TypeFunction, &signature);
        let (name, linkage) = (self.string(&function.name), self.string(""));
        let [line, column] = self.place(&function.source, function.span);
        let (unit, flags) = (self.debug().unit, self.number(FLAG_IS_DEFINITION));
        self.info(Info::Function, &[name, ty, source, line, column, unit, linkage, flags, line])
    }

    /// The arrays and the shared memory of the kernel.
    pub fn debug_globals(&mut self, kernel: &Kernel, interface: &Interface) {
        if self.debug.is_none() {
            return;
        }
        let main = kernel.functions.last().expect("a verified kernel has its own function");
        for (buffer, variable) in kernel.buffers.iter().zip(&interface.buffers) {
            let ty = match buffer.is_uniform {
                true => self.debug_type(&buffer.element),
                false => self.debug_many(Info::TypeArray, &buffer.element, 0),
            };
            if let Some(id) = variable.id() {
                self.debug_global(&buffer.name, ty, &main.source, buffer.span, id);
            }
        }
        for (shared, id) in interface.shared_variables() {
            let shared = &kernel.shared[shared.idx()];
            let ty = self.debug_type(&shared.ty);
            self.debug_global(&shared.name, ty, &main.source, main.span, id);
        }
    }

    fn debug_global(&mut self, name: &str, ty: Word, source: &Source, span: Span, variable: Word) {
        let [line, column] = self.place(source, span);
        let (source, unit) = (self.debug_source(source), self.debug().unit);
        let (name, linkage) = (self.string(name), self.string(""));
        let flags = self.number(FLAG_IS_DEFINITION);
        self.info(Info::GlobalVariable, &[name, ty, source, line, column, unit, linkage, variable, flags]);
    }
}

/// The debug information of a function so far.
pub(super) struct FunctionDebug {
    scope: Word,
    source: Word,
    variables: FxHashMap<(Name, Type), Word>,
    /// The instructions of the first block, behind its variables.
    pub head: Vec<Word>,
    /// The place of the last instruction of this block.
    pub place: Option<(u32, u32)>,
}

impl FunctionEmitter<'_> {
    /// Begins the debug information of this function, if it is the script's.
    pub fn begin_debug_info(&mut self, id: Word) {
        if self.module.debug.is_none() || self.function.called_for.is_some() {
            return;
        }
        let function = self.function;
        let scope = self.module.debug_function(function);
        let source = self.module.debug_source(&function.source);
        self.debug = Some(FunctionDebug {
            scope,
            source,
            variables: FxHashMap::default(),
            head: Vec::new(),
            place: None,
        });
        self.write_at_head(Info::Scope, &[scope]);
        self.write_at_head(Info::FunctionDefinition, &[scope, id]);
        for (at, arg) in (1..).zip(&function.args) {
            let (name, value) = match arg {
                Arg::Value { name, .. } => (name, self.arg(at - 1)),
                Arg::Reference(local) => (&function.local(*local).name, 0),
            };
            let variable = self.debug_variable(name, arg_type(function, arg), function.span, Some(at));
            let expression = self.module.debug().expression;
            match arg {
                Arg::Value { .. } => self.write_at_head(Info::Value, &[variable, value, expression]),
                Arg::Reference(_) => {
                    self.write_at_head(Info::Declare, &[variable, self.arg(at - 1), expression])
                }
            }
        }
    }

    /// Writes an instruction at the head of the function.
    fn write_at_head(&mut self, info: Info, operands: &[Word]) {
        let mut head =
            std::mem::take(&mut self.debug.as_mut().expect("the function has debug information").head);
        self.module.write_info(&mut head, info, operands);
        self.debug.as_mut().expect("it is there").head = head;
    }

    fn debug_variable(&mut self, name: &Name, ty: &Type, span: Span, arg: Option<u32>) -> Word {
        let debug = self.debug.as_ref().expect("the function has debug information");
        let (scope, source) = (debug.scope, debug.source);
        let key = (name.clone(), ty.clone());
        if let Some(id) = debug.variables.get(&key) {
            return *id;
        }
        let name = self.module.string(name);
        let ty = self.module.debug_type(ty);
        let [line, column] = self.module.place(&self.function.source, span);
        let flags = self.module.number(FLAG_IS_LOCAL);
        let mut operands = vec![name, ty, source, line, column, scope, flags];
        operands.extend(arg.map(|arg| self.module.number(arg)));
        let id = self.module.info(Info::LocalVariable, &operands);
        self.debug.as_mut().expect("it is there").variables.insert(key, id);
        id
    }

    /// A variable of the source that is in memory.
    pub fn debug_local(&mut self, local: LocalId, variable: Word) {
        let function = self.function;
        let local = function.local(local);
        if self.debug.is_none() || local.name.starts_with(RESERVED_PREFIX) {
            return;
        }
        let variable_info = self.debug_variable(&local.name, &local.ty, local.span, None);
        let expression = self.module.debug().expression;
        self.write_at_head(Info::Declare, &[variable_info, variable, expression]);
    }

    /// A value with a name in the source.
    pub fn debug_value(&mut self, node: NodeId, value: Word) {
        let function = self.function;
        let node = function.node(node);
        let (Some(_), Some(name)) = (&self.debug, &node.name) else { return };
        // Arguments are declared at the head.
        if matches!(node.kind, NodeKind::Arg(_)) {
            return;
        }
        let variable_info = self.debug_variable(name, &node.ty, node.span, None);
        let expression = self.module.debug().expression;
        self.module.write_info(&mut self.body, Info::Value, &[variable_info, value, expression]);
    }

    /// The line of the next instruction, if it differs from the last one of this block.
    pub fn debug_line(&mut self, place: (u32, u32)) {
        let Some(debug) = &mut self.debug else { return };
        let before = debug.place.replace(place);
        let (scope, source) = (debug.scope, debug.source);
        if before.is_none() {
            self.module.write_info(&mut self.body, Info::Scope, &[scope]);
        }
        if before != Some(place) {
            let [line, column] = [place.0, place.1].map(|number| self.module.number(number));
            self.module.write_info(&mut self.body, Info::Line, &[source, line, line, column, column]);
        }
    }
}

fn arg_type<'f>(function: &'f Function, arg: &'f Arg) -> &'f Type {
    match arg {
        Arg::Value { ty, .. } => ty,
        Arg::Reference(local) => &function.local(*local).ty,
    }
}

fn encoding(scalar: Scalar) -> u32 {
    match scalar.kind() {
        Kind::Bool => 2,
        Kind::Float => 3,
        Kind::Signed => 4,
        Kind::Unsigned => 6,
    }
}

/// A text in parts that fit an instruction.
fn chunks(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = (0..=text.len().min(MAX_TEXT)).rev().find(|at| text.is_char_boundary(*at))?;
        let (chunk, rest) = text.split_at(end);
        text = rest;
        (!chunk.is_empty()).then_some(chunk)
    })
}
