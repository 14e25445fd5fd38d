//! The loop that executes instructions.
//!
//! Common cases use the fast paths of `short`, which are inlined here; all others use the methods in `step`.
//! `ip` points into the running frame's code and `registers` are the frame's. The frame is updated with `ip`
//! before anything that may raise or call, so that spans and handlers are found.

use std::rc::Rc;

use kps_bytecode::op::{Instruction, Op};

use super::class::check_init;
use super::frame::{FrameKind, pop_call, push_call};
use super::register::Registers;
use super::short;
use super::step::{Called, assertion_error};
use super::{LoadedCode, Vm};
use crate::value::{Result, Value};

impl Vm {
    /// Runs the frame on top until the frames above `floor` are gone.
    pub(super) fn run(&mut self, floor: usize) -> Result {
        loop {
            match self.execute() {
                Ok(value) => return Ok(value),
                Err(raise) => self.unwind(raise, floor)?,
            }
        }
    }

    /// Runs until a frame of kind `Entry` or `Step` ends, or something raises.
    #[expect(clippy::undocumented_unsafe_blocks, reason = "one reason, given first, holds for all blocks")]
    fn execute(&mut self) -> Result {
        let mut registers: Registers;
        let mut ip: *const Instruction;
        let mut loaded: &LoadedCode;

        // SAFETY (for the blocks in this function): the compiler only emits registers below `n_registers`,
        // existing constants, sites and children, and jumps inside of the code, which ends in `Return` or a
        // raise. `enter` checked that the frame's registers exist. The stack does not move, and a nested run
        // only accesses registers above this frame's. References into registers end before anything that
        // could change them. `loaded` points into the function of the frame on top.
        macro_rules! reload {
            () => {{
                let frame = self.frames.last().expect("a frame is running");
                loaded = unsafe { &*Rc::as_ptr(&frame.function.code) };
                registers = unsafe { Registers::from(self.stack.register(frame.base)) };
                ip = unsafe { loaded.code.instructions.as_ptr().add(frame.pc) };
            }};
        }
        macro_rules! save {
            () => {{
                let start = loaded.code.instructions.as_ptr();
                let frame = self.frames.last_mut().expect("a frame is running");
                frame.pc = unsafe { ip.offset_from(start) } as usize;
            }};
        }
        macro_rules! fallible {
            ($result:expr) => {{
                save!();
                match $result {
                    Ok(value) => value,
                    Err(raise) => return Err(raise),
                }
            }};
        }
        macro_rules! jump {
            ($instruction:expr) => {{
                let distance = $instruction.bx();
                if distance < 0 {
                    self.until_poll -= 1;
                    if self.until_poll == 0 || self.interrupter.wants_a_pause() {
                        fallible!(self.pause_now());
                    }
                }
                ip = unsafe { ip.offset(distance as isize) };
            }};
        }
        // Takes the jump after a test, or steps over it.
        macro_rules! branch {
            ($holds:expr, $i:expr) => {{
                if $holds == $i.when_true() {
                    let jump = unsafe { *ip };
                    ip = unsafe { ip.add(1) };
                    jump!(jump);
                } else {
                    ip = unsafe { ip.add(1) };
                }
            }};
        }
        // Takes the fast path if there is one, else the slow one.
        macro_rules! either {
            ($short:expr, $step:expr) => {{
                if !$short {
                    fallible!($step);
                }
            }};
        }
        macro_rules! arithmetic {
            ($i:expr, $checked:ident, $op:tt) => {{
                match (registers.get($i.b), registers.get($i.c)) {
                    (Value::Int(left), Value::Int(right)) => {
                        if let Some(int) = left.$checked(*right) {
                            registers.set($i.a, Value::Int(int));
                            continue;
                        }
                    }
                    (Value::Float(left), Value::Float(right)) => {
                        let float = *left $op *right;
                        registers.set($i.a, Value::Float(float));
                        continue;
                    }
                    (Value::Float(left), Value::Int(right)) => {
                        let float = *left $op *right as f64;
                        registers.set($i.a, Value::Float(float));
                        continue;
                    }
                    (Value::Int(left), Value::Float(right)) => {
                        let float = *left as f64 $op *right;
                        registers.set($i.a, Value::Float(float));
                        continue;
                    }
                    _ => {}
                }
                fallible!(self.step_binary(registers, $i));
            }};
        }
        macro_rules! arithmetic_int {
            ($i:expr, $checked:ident, $op:tt) => {{
                match registers.get($i.b) {
                    Value::Int(left) => {
                        if let Some(int) = left.$checked($i.c as i16 as i64) {
                            registers.set($i.a, Value::Int(int));
                            continue;
                        }
                    }
                    Value::Float(left) => {
                        let float = *left $op ($i.c as i16 as f64);
                        registers.set($i.a, Value::Float(float));
                        continue;
                    }
                    _ => {}
                }
                fallible!(self.step_binary_int(registers, $i));
            }};
        }
        macro_rules! comparison {
            ($i:expr, $op:tt) => {{
                let truth = match (registers.get($i.b), registers.get($i.c)) {
                    (Value::Int(left), Value::Int(right)) => *left $op *right,
                    (Value::Float(left), Value::Float(right)) => *left $op *right,
                    _ => {
                        fallible!(self.step_compare(registers, $i));
                        continue;
                    }
                };
                registers.set($i.a, Value::Bool(truth));
            }};
        }
        macro_rules! test {
            ($i:expr, $op:tt) => {{
                let holds = match (registers.get($i.a), registers.get($i.b)) {
                    (Value::Int(left), Value::Int(right)) => *left $op *right,
                    (Value::Float(left), Value::Float(right)) => *left $op *right,
                    _ => fallible!(self.step_test(registers, $i)),
                };
                branch!(holds, $i);
            }};
        }
        macro_rules! test_int {
            ($i:expr, $op:tt) => {{
                let holds = match registers.get($i.a) {
                    Value::Int(left) => *left $op $i.c as i16 as i64,
                    Value::Float(left) => *left $op $i.c as i16 as f64,
                    _ => fallible!(self.step_test_int(registers, $i)),
                };
                branch!(holds, $i);
            }};
        }
        // Temporaries stay in the registers where they were computed. A callee's frame starts among them, and
        // must find nothing after its arguments.
        macro_rules! clear_from {
            ($first:expr) => {
                registers.clear($first as usize, loaded.n_registers as usize)
            };
        }
        macro_rules! called {
            ($called:expr, $at:expr) => {{
                match $called {
                    Called::Frame => reload!(),
                    Called::Value(value) => registers.set($at, value),
                }
            }};
        }

        reload!();
        loop {
            let i = unsafe { *ip };
            ip = unsafe { ip.add(1) };
            match i.op {
                Op::Move => registers.assign(i.a as isize, registers.pointer(i.b), i.ends_b()),
                Op::LoadConst => registers.copy(i.a, loaded.constant(i.index())),
                Op::LoadInt => registers.set(i.a, Value::Int(i.bx() as i64)),
                Op::Clear => registers.clear(i.a as usize, (i.a + i.b) as usize),
                Op::CheckLocal => {
                    if registers.get(i.a).is_unset() {
                        fallible!(Err(self.unbound(i.a)));
                    }
                }
                Op::DeleteLocal => fallible!(self.step_delete_local(registers, i)),
                Op::LoadGlobal => either!(
                    short::load_global(registers, &i, loaded),
                    self.step_load_builtin(registers, i, loaded)
                ),
                Op::StoreGlobal => short::store_global(registers, &i, loaded),
                Op::DeleteGlobal => fallible!(self.step_delete_global(i, loaded)),
                Op::LoadClassName => fallible!(self.step_load_class_name(registers, i, loaded)),
                Op::MakeCell => {
                    let value = registers.take(i.a);
                    registers.set(i.a, Vm::new_cell(value));
                }
                Op::LoadCell => either!(short::load_cell(registers, &i), Err(self.unbound(i.b))),
                Op::StoreCell => short::store_cell(registers, &i),
                Op::DeleteCell => fallible!(self.step_delete_cell(registers, i)),
                Op::LoadFree => {
                    either!(short::load_free(registers, &i, self.running()), Err(self.unbound_free(i.b)))
                }
                Op::StoreFree => short::store_free(registers, &i, self.running()),
                Op::DeleteFree => fallible!(self.step_delete_free(i)),

                Op::Add => arithmetic!(i, checked_add, +),
                Op::Sub => arithmetic!(i, checked_sub, -),
                Op::Mul => arithmetic!(i, checked_mul, *),
                Op::Div => {
                    if let (Value::Float(left), Value::Float(right)) =
                        (registers.get(i.b), registers.get(i.c))
                        && *right != 0.0
                    {
                        let float = *left / *right;
                        registers.set(i.a, Value::Float(float));
                        continue;
                    }
                    fallible!(self.step_binary(registers, i));
                }
                Op::FloorDiv => {
                    if let (Value::Int(left), Value::Int(right)) = (registers.get(i.b), registers.get(i.c))
                        && *right > 0
                    {
                        let int = left.div_euclid(*right);
                        registers.set(i.a, Value::Int(int));
                        continue;
                    }
                    fallible!(self.step_binary(registers, i));
                }
                Op::Mod => {
                    if let (Value::Int(left), Value::Int(right)) = (registers.get(i.b), registers.get(i.c))
                        && *right > 0
                    {
                        let int = left.rem_euclid(*right);
                        registers.set(i.a, Value::Int(int));
                        continue;
                    }
                    fallible!(self.step_binary(registers, i));
                }
                Op::BitAnd => {
                    if let (Value::Int(left), Value::Int(right)) = (registers.get(i.b), registers.get(i.c)) {
                        let int = *left & *right;
                        registers.set(i.a, Value::Int(int));
                        continue;
                    }
                    fallible!(self.step_binary(registers, i));
                }
                Op::MatMul | Op::Pow | Op::LeftShift | Op::RightShift | Op::BitOr | Op::BitXor => {
                    fallible!(self.step_binary(registers, i));
                }
                Op::AddInt => arithmetic_int!(i, checked_add, +),
                Op::SubInt => arithmetic_int!(i, checked_sub, -),
                Op::MulInt => arithmetic_int!(i, checked_mul, *),
                Op::Neg | Op::Pos | Op::Invert | Op::Not => fallible!(self.step_unary(registers, i)),

                Op::Eq => comparison!(i, ==),
                Op::NotEq => comparison!(i, !=),
                Op::Less => comparison!(i, <),
                Op::LessEq => comparison!(i, <=),
                Op::Greater => comparison!(i, >),
                Op::GreaterEq => comparison!(i, >=),
                Op::Is | Op::IsNot | Op::In | Op::NotIn => fallible!(self.step_compare(registers, i)),

                Op::Jump => jump!(i),
                Op::JumpIfTrue | Op::JumpIfFalse => {
                    let truth = match registers.get(i.a) {
                        Value::Bool(truth) => *truth,
                        Value::None => false,
                        Value::Int(int) => *int != 0,
                        _ => fallible!(self.step_truth(registers, i)),
                    };
                    if truth == (i.op == Op::JumpIfTrue) {
                        jump!(i);
                    }
                }
                Op::TestEq => test!(i, ==),
                Op::TestNotEq => test!(i, !=),
                Op::TestLess => test!(i, <),
                Op::TestLessEq => test!(i, <=),
                Op::TestGreater => test!(i, >),
                Op::TestGreaterEq => test!(i, >=),
                Op::TestEqInt => test_int!(i, ==),
                Op::TestNotEqInt => test_int!(i, !=),
                Op::TestLessInt => test_int!(i, <),
                Op::TestLessEqInt => test_int!(i, <=),
                Op::TestGreaterInt => test_int!(i, >),
                Op::TestGreaterEqInt => test_int!(i, >=),

                Op::LoadAttr => {
                    let site = loaded.site(i.c);
                    either!(
                        short::load_attr(registers, &i, site, self.class_epoch),
                        self.step_load_attr(registers, i, site)
                    );
                }
                Op::StoreAttr => fallible!(self.step_store_attr(registers, i, loaded.site(i.c))),
                Op::DeleteAttr => {
                    let object = registers.operand(i.a, i.ends_b());
                    fallible!(self.delete_attr(&object, &loaded.site(i.c).name));
                }
                Op::LoadMethod => {
                    let site = loaded.site(i.c);
                    either!(
                        short::load_method(registers, &i, site, self.class_epoch),
                        self.step_load_method(registers, i, site)
                    );
                }
                Op::LoadItem => {
                    either!(short::load_item(registers, &i), self.step_load_item(registers, i));
                }
                Op::StoreItem => fallible!(self.step_store_item(registers, i)),
                Op::DeleteItem => fallible!(self.step_delete_item(registers, i)),
                Op::BuildSlice => self.step_slice(registers, i),

                Op::Call => {
                    save!();
                    clear_from!(i.a + 1 + i.b);
                    let at = registers.pointer(i.a);
                    if let Value::Function(function) = unsafe { &*at.cast_const() }
                        && function.code.exact_arity == Some(i.b)
                        && self.can_push(at, function.code.n_registers)
                    {
                        self.until_poll -= 1;
                        if self.until_poll == 0 {
                            self.pause_now()?;
                        }
                        // The frame takes ownership of the register's value.
                        let function = unsafe { std::ptr::read(function) };
                        unsafe { at.write(Value::Unset) };
                        loaded = unsafe { &*Rc::as_ptr(&function.code) };
                        registers = unsafe { Registers::from(at.add(1)) };
                        ip = loaded.code.instructions.as_ptr();
                        push_call(&mut self.frames, function, self.stack.index(at) + 1);
                        continue;
                    }
                    called!(self.step_call(i.a, i.b as usize, &[])?, i.a);
                }
                Op::CallNames => {
                    save!();
                    clear_from!(i.a + 1 + i.b);
                    let names = &loaded.keyword_names[i.c as usize];
                    called!(self.step_call(i.a, i.b as usize, names)?, i.a);
                }
                Op::CallMethod => {
                    save!();
                    clear_from!(i.a + 2 + i.b);
                    called!(self.step_call_method(i.a, i.b as usize, &[])?, i.a);
                }
                Op::CallMethodNames => {
                    save!();
                    clear_from!(i.a + 2 + i.b);
                    let names = &loaded.keyword_names[i.c as usize];
                    called!(self.step_call_method(i.a, i.b as usize, names)?, i.a);
                }
                Op::CallSpread => {
                    let value = fallible!(self.step_call_spread(registers, i));
                    registers.set(i.a, value);
                }
                Op::Return => {
                    let kind = self.frames.last().expect("a frame is running").kind;
                    if kind == FrameKind::Call {
                        // The callee was moved from the register below when the frame was pushed.
                        registers.assign(-1, registers.pointer(i.a), i.ends_b());
                        clear_from!(0);
                        drop(pop_call(&mut self.frames));
                        reload!();
                        continue;
                    }
                    let value = registers.operand(i.a, i.ends_b());
                    clear_from!(0);
                    self.frames.pop();
                    if kind != FrameKind::Init {
                        return Ok(value);
                    }
                    reload!();
                    check_init(&value)?;
                }
                Op::Yield => {
                    save!();
                    return Ok(self.step_yield(registers, i));
                }
                Op::Delegate => {
                    if fallible!(self.step_delegate(registers, i)) {
                        ip = unsafe { ip.add(1) };
                    }
                }

                Op::BuildTuple => {
                    let items = self.take_row(registers, i.b, i.c);
                    registers.set(i.a, Value::tuple(items));
                }
                Op::BuildList => {
                    let items = self.take_row(registers, i.b, i.c);
                    registers.set(i.a, Value::list(items));
                }
                Op::BuildSet => fallible!(self.step_build_set(registers, i)),
                Op::BuildDict => fallible!(self.step_build_dict(registers, i)),
                Op::ListAppend => fallible!(short::append(registers, &i)),
                Op::ListExtend => fallible!(self.step_list_extend(registers, i)),
                Op::ListToTuple => short::list_to_tuple(registers, &i),
                Op::SetAdd => fallible!(self.step_set_add(registers, i)),
                Op::SetUpdate => fallible!(self.step_set_update(registers, i)),
                Op::DictInsert => fallible!(self.step_dict_insert(registers, i)),
                Op::DictUpdate => fallible!(self.step_dict_update(registers, i)),
                Op::DictMerge => fallible!(self.step_dict_merge(registers, i)),
                Op::Format => fallible!(self.step_format(registers, i)),
                Op::BuildString => fallible!(self.step_build_string(registers, i)),

                Op::Unpack => fallible!(self.step_unpack(registers, i)),
                Op::UnpackStar => fallible!(self.step_unpack_star(registers, i)),
                // If a pattern matches, the jump past its block is skipped.
                Op::MatchSequence => {
                    let matches = fallible!(self.step_match_sequence(registers, i));
                    ip = unsafe { ip.add(matches as usize) };
                }
                Op::MatchMapping => {
                    let matches = fallible!(self.step_match_mapping(registers, i));
                    ip = unsafe { ip.add(matches as usize) };
                }
                Op::MatchClass => {
                    let names = &loaded.keyword_names[i.c as usize];
                    let matches = fallible!(self.step_match_class(registers, i, names));
                    ip = unsafe { ip.add(matches as usize) };
                }
                Op::GetIter => fallible!(self.step_get_iter(registers, i)),
                Op::Iter => fallible!(self.step_iter(registers, i)),
                Op::ForIter => {
                    let item = match short::next_item(registers, &i) {
                        Some(item) => item,
                        None => fallible!(self.step_for(registers, i)),
                    };
                    let jump = unsafe { *ip };
                    ip = unsafe { ip.add(1) };
                    if item.is_unset() {
                        registers.clear(i.a as usize, i.a as usize + 3);
                    } else {
                        registers.set(i.b, item);
                        jump!(jump);
                    }
                }

                Op::MakeFunction => {
                    let function = self.step_make_function(registers, i);
                    registers.set(i.a, function);
                }
                Op::MakeClass => fallible!(self.step_make_class(registers, i)),
                Op::LoadLocals => {
                    let locals = self.step_locals(registers);
                    registers.set(i.a, locals);
                }
                Op::Import => fallible!(self.step_import(registers, i)),
                Op::ImportFrom => fallible!(self.step_import_from(registers, i)),
                Op::ImportStar => fallible!(self.step_import_star(registers, i)),

                Op::Raise => {
                    let value = registers.operand(i.a, i.ends_b());
                    fallible!(Err(self.raise_of(&value)));
                }
                Op::RaiseFrom => {
                    let value = registers.take(i.a);
                    let cause = registers.take(i.b);
                    fallible!(Err(self.raise_with_cause(&value, &cause)));
                }
                Op::RaiseBare => {
                    save!();
                    return Err(self.raise_bare());
                }
                Op::Reraise => {
                    let value = registers.take(i.a);
                    save!();
                    return Err(self.raise_of(&value));
                }
                Op::MatchException => fallible!(self.step_match_exception(registers, i)),
                Op::AssertFail => fallible!(Err(assertion_error(registers, i))),
                Op::WithEnter => fallible!(self.step_with_enter(registers, i)),
                Op::WithExit => fallible!(self.step_with_exit(registers, i)),
                Op::WithExcept => fallible!(self.step_with_except(registers, i)),
            }
        }
    }
}
