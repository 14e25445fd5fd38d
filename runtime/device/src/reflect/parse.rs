//! Parses words into a module. All errors of malformed SPIR-V come from here.
//!
//! The parser relies on the checks of [`check`]: instructions end inside the module, and have only expected
//! kinds of operands. Ids are within the bound and defined once.

use std::borrow::Cow;

use rspirv::binary::{Consumer, ParseAction, ParseState, Parser};
use rspirv::dr::{Instruction, Loader, Module, ModuleHeader};
use rspirv::spirv::{self, Op};

use super::bad_module;
use crate::Result;

const HEADER_WORDS: usize = 5;
/// SPIR-V's universal limit for the id bound.
const MAX_BOUND: u32 = 0x3f_ffff;
const NEWEST_MINOR: u32 = 6;

/// The words in this machine's byte order; modules may have either.
pub fn in_host_order(words: &[u32]) -> Cow<'_, [u32]> {
    match words.first() {
        Some(&magic) if magic == spirv::MAGIC_NUMBER.swap_bytes() => {
            words.iter().map(|word| word.swap_bytes()).collect()
        }
        _ => Cow::Borrowed(words),
    }
}

/// Parses a binary.
pub fn parse(words: &[u32]) -> Result<Module> {
    let words = in_host_order(words);
    check(&words)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut gather = Gather::new(words[3]);
    match Parser::new(&bytes, &mut gather).parse() {
        Ok(()) => Ok(gather.module()),
        Err(ParseState::ConsumerError(error)) => Err(bad_module(format!("broken SPIR-V: {error}"))),
        Err(state) => Err(bad_module(format!("broken SPIR-V: {state}"))),
    }
}

fn check(words: &[u32]) -> Result<()> {
    check_header(words)?;
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 {
            return Err(bad_module(format!("broken SPIR-V: the instruction at word {at} has no length")));
        }
        let Some(instruction) = words.get(at..at + length) else {
            return Err(bad_module(format!(
                "broken SPIR-V: the module ends inside the instruction at word {at}"
            )));
        };
        check_operand_kinds(instruction, at)?;
        at += length;
    }
    Ok(())
}

fn check_header(words: &[u32]) -> Result<()> {
    let Some(&magic) = words.first() else {
        return Err(bad_module("not SPIR-V: there are no words"));
    };
    if magic != spirv::MAGIC_NUMBER {
        return Err(bad_module(format!(
            "not SPIR-V: the first word is {magic:#010x}, a module begins with {:#010x}",
            spirv::MAGIC_NUMBER
        )));
    }
    if words.len() < HEADER_WORDS {
        return Err(bad_module(format!(
            "broken SPIR-V: there are {} words, the header alone has {HEADER_WORDS}",
            words.len()
        )));
    }
    let (major, minor) = ((words[1] >> 16) & 0xff, (words[1] >> 8) & 0xff);
    if words[1] & 0xff00_00ff != 0 {
        return Err(bad_module(format!(
            "{:#010x} is no version of SPIR-V: 1.0 to 1.{NEWEST_MINOR} are 0x00010000 to 0x00010{NEWEST_MINOR}00",
            words[1]
        )));
    }
    if major != 1 || minor > NEWEST_MINOR {
        return Err(bad_module(format!(
            "SPIR-V {major}.{minor} (version word {:#010x}) is not known: 1.0 to 1.{NEWEST_MINOR} are",
            words[1]
        )));
    }
    if words[3] == 0 || words[3] > MAX_BOUND {
        return Err(bad_module(format!(
            "broken SPIR-V: the id bound is {}, it may be 1 to {MAX_BOUND}",
            words[3]
        )));
    }
    Ok(())
}

/// The parser reports literals of unknown width within `OpSpecConstantOp` as a bug of its own.
fn check_operand_kinds(instruction: &[u32], at: usize) -> Result<()> {
    const NOT_IN_SPEC_OP: [Op; 4] = [Op::Constant, Op::SpecConstant, Op::SpecConstantOp, Op::Switch];
    if instruction[0] & 0xffff != Op::SpecConstantOp as u32 {
        return Ok(());
    }
    let Some(&inner) = instruction.get(3) else { return Ok(()) };
    match NOT_IN_SPEC_OP.iter().find(|&&op| op as u32 == inner) {
        Some(op) => Err(bad_module(format!("broken SPIR-V: OpSpecConstantOp of `Op{op:?}` at word {at}"))),
        None => Ok(()),
    }
}

/// Feeds the loader, except for what it cannot place: debug information between functions, and execution
/// modes given by id.
struct Gather {
    loader: Loader,
    in_function: bool,
    modes_by_id: Vec<Instruction>,
    defined: Vec<bool>,
}

impl Gather {
    fn new(bound: u32) -> Gather {
        let defined = vec![false; bound as usize];
        Gather { loader: Loader::new(), in_function: false, modes_by_id: Vec::new(), defined }
    }

    fn module(self) -> Module {
        let mut module = self.loader.module();
        module.execution_modes.extend(self.modes_by_id);
        module
    }

    fn define(&mut self, id: u32) -> std::result::Result<(), String> {
        match self.defined.get_mut(id as usize) {
            None => Err(format!("id %{id} is not below the bound {}", self.defined.len())),
            Some(_) if id == 0 => Err("an id is 0".to_owned()),
            Some(true) => Err(format!("id %{id} is defined twice")),
            Some(defined) => {
                *defined = true;
                Ok(())
            }
        }
    }
}

impl Consumer for Gather {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        if let Some(id) = instruction.result_id
            && let Err(message) = self.define(id)
        {
            return ParseAction::Error(message.into());
        }
        match instruction.class.opcode {
            Op::ExecutionModeId => {
                self.modes_by_id.push(instruction);
                return ParseAction::Continue;
            }
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR if !self.in_function => return ParseAction::Continue,
            Op::Nop if !self.in_function => return ParseAction::Continue,
            Op::Function => self.in_function = true,
            Op::FunctionEnd => self.in_function = false,
            _ => {}
        }
        self.loader.consume_instruction(instruction)
    }
}
