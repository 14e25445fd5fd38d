//! The loop that runs instructions.
//!
//! The hot cases (small ints, floats, cached attributes, calls of script functions) are handled in
//! place; everything else goes to the methods in `step`. `ip` and `base`
//! are pointers into the running frame's code and registers. The frame learns of `ip` before anything
//! that may raise or call, so that spans and handlers are found.

use std::rc::Rc;

use kps_bytecode::op::{Instruction, Op};

use super::class::check_init;
use super::frame::{Frame, FrameKind, pop_call, push_call};
use super::step::Called;
use super::{LoadedCode, Vm, register};
use crate::errors;
use crate::value::{GeneratorState, Result, Value};

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
        let mut base: *mut Value;
        let mut ip: *const Instruction;
        let mut loaded: &LoadedCode;

        // SAFETY (for the blocks in this function): the compiler only emits registers below
        // `n_registers`, constants, sites and children that exist, and jumps inside of the code, which
        // ends in `Return` or a raise. `enter` checked that the frame's registers exist. The stack does
        // not move, and a nested run touches only registers above this frame's. References into
        // registers end before anything that could change them. `loaded` points into the function that
        // the frame on top holds.
        macro_rules! reload {
            () => {{
                let frame = self.frames.last().expect("a frame is running");
                loaded = unsafe { &*Rc::as_ptr(&frame.function.code) };
                base = self.stack.register(frame.base);
                ip = unsafe { loaded.code.instructions.as_ptr().add(frame.pc) };
            }};
        }
        macro_rules! register {
            ($at:expr) => {
                unsafe { &*base.add($at as usize).cast_const() }
            };
        }
        macro_rules! take {
            ($at:expr) => {
                unsafe { base.add($at as usize).replace(Value::Unset) }
            };
        }
        macro_rules! set {
            ($at:expr, $value:expr) => {{
                let value = $value;
                let register = unsafe { base.add($at as usize) };
                unsafe {
                    if (*register).is_object() {
                        *register = value;
                    } else {
                        register.write(value);
                    }
                }
            }};
        }
        // Copies the value at a pointer to a register, or moves it there and leaves the place empty.
        macro_rules! assign {
            ($at:expr, $from:expr, $ends:expr) => {{
                let (from, ends): (*mut Value, bool) = ($from, $ends);
                let to = unsafe { base.offset($at as isize) };
                unsafe {
                    if (*to).is_object() {
                        *to = if ends { from.replace(Value::Unset) } else { (*from).clone() };
                    } else if ends {
                        register::shift(from, to);
                        from.write(Value::Unset);
                    } else {
                        register::copy(from, to);
                    }
                }
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
                    if self.until_poll == 0 || self.interrupter.is_set() {
                        fallible!(self.poll_now());
                    }
                }
                ip = unsafe { ip.offset(distance as isize) };
            }};
        }
        // Takes the jump that follows a test, or steps over it.
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
        macro_rules! arithmetic {
            ($i:expr, $checked:ident, $op:tt) => {{
                match (register!($i.b), register!($i.c)) {
                    (Value::Int(left), Value::Int(right)) => {
                        if let Some(int) = left.$checked(*right) {
                            set!($i.a, Value::Int(int));
                            continue;
                        }
                    }
                    (Value::Float(left), Value::Float(right)) => {
                        let float = *left $op *right;
                        set!($i.a, Value::Float(float));
                        continue;
                    }
                    (Value::Float(left), Value::Int(right)) => {
                        let float = *left $op *right as f64;
                        set!($i.a, Value::Float(float));
                        continue;
                    }
                    (Value::Int(left), Value::Float(right)) => {
                        let float = *left as f64 $op *right;
                        set!($i.a, Value::Float(float));
                        continue;
                    }
                    _ => {}
                }
                fallible!(self.step_binary(base, $i));
            }};
        }
        macro_rules! arithmetic_int {
            ($i:expr, $checked:ident, $op:tt) => {{
                match register!($i.b) {
                    Value::Int(left) => {
                        if let Some(int) = left.$checked($i.c as i16 as i64) {
                            set!($i.a, Value::Int(int));
                            continue;
                        }
                    }
                    Value::Float(left) => {
                        let float = *left $op ($i.c as i16 as f64);
                        set!($i.a, Value::Float(float));
                        continue;
                    }
                    _ => {}
                }
                fallible!(self.step_binary_int(base, $i));
            }};
        }
        macro_rules! comparison {
            ($i:expr, $op:tt) => {{
                let truth = match (register!($i.b), register!($i.c)) {
                    (Value::Int(left), Value::Int(right)) => *left $op *right,
                    (Value::Float(left), Value::Float(right)) => *left $op *right,
                    _ => {
                        fallible!(self.step_compare(base, $i));
                        continue;
                    }
                };
                set!($i.a, Value::Bool(truth));
            }};
        }
        macro_rules! test {
            ($i:expr, $op:tt) => {{
                let holds = match (register!($i.a), register!($i.b)) {
                    (Value::Int(left), Value::Int(right)) => *left $op *right,
                    (Value::Float(left), Value::Float(right)) => *left $op *right,
                    _ => fallible!(self.step_test(base, $i)),
                };
                branch!(holds, $i);
            }};
        }
        macro_rules! test_int {
            ($i:expr, $op:tt) => {{
                let holds = match register!($i.a) {
                    Value::Int(left) => *left $op $i.c as i16 as i64,
                    Value::Float(left) => *left $op $i.c as i16 as f64,
                    _ => fallible!(self.step_test_int(base, $i)),
                };
                branch!(holds, $i);
            }};
        }
        macro_rules! clear_frame {
            () => {
                clear_from!(0)
            };
        }
        // Numbers stay where they were computed on the way. A callee's frame begins among them, and is to find
        // nothing behind its arguments.
        macro_rules! clear_from {
            ($first:expr) => {{
                for at in $first as usize..loaded.n_registers as usize {
                    let register = unsafe { base.add(at) };
                    unsafe {
                        if (*register).is_object() {
                            *register = Value::Unset;
                        } else {
                            register.write(Value::Unset);
                        }
                    }
                }
            }};
        }
        macro_rules! called {
            ($called:expr, $at:expr) => {{
                match $called {
                    Called::Frame => reload!(),
                    Called::Value(value) => set!($at, value),
                }
            }};
        }

        reload!();
        loop {
            let i = unsafe { *ip };
            ip = unsafe { ip.add(1) };
            match i.op {
                Op::Move => {
                    let from = unsafe { base.add(i.b as usize) };
                    assign!(i.a, from, i.ends_b());
                }
                Op::LoadConst => {
                    let constant: *const Value = unsafe { loaded.constants.get_unchecked(i.index()) };
                    assign!(i.a, constant.cast_mut(), false);
                }
                Op::LoadInt => set!(i.a, Value::Int(i.bx() as i64)),
                Op::Clear => {
                    for at in i.a..i.a + i.b {
                        set!(at, Value::Unset);
                    }
                }
                Op::CheckLocal => {
                    if register!(i.a).is_unset() {
                        fallible!(Err(self.unbound(i.a)));
                    }
                }
                Op::DeleteLocal => {
                    if take!(i.a).is_unset() {
                        fallible!(Err(self.unbound(i.a)));
                    }
                }
                Op::LoadGlobal => {
                    let program = &loaded.program;
                    let global = unsafe { program.globals.get_unchecked(i.index()) };
                    let register = unsafe { base.add(i.a as usize) };
                    let is_loaded = unsafe { !(*register).is_object() }
                        && program.namespace.look(global.slot, |value| {
                            let is_set = !value.is_unset();
                            if is_set {
                                unsafe { register::copy(value, register) };
                            }
                            is_set
                        });
                    if is_loaded {
                        continue;
                    }
                    let mut value = program.namespace.at(global.slot);
                    if value.is_unset() {
                        value = match global.builtin.get() {
                            Some(builtin) => builtin.clone(),
                            None => fallible!(self.load_builtin(global)),
                        };
                    }
                    set!(i.a, value);
                }
                Op::StoreGlobal => {
                    let program = &loaded.program;
                    let global = unsafe { program.globals.get_unchecked(i.index()) };
                    let value = if i.ends_b() { take!(i.a) } else { register!(i.a).clone() };
                    let previous = program.namespace.put(global.slot, value);
                    drop(previous);
                }
                Op::DeleteGlobal => {
                    let program = &loaded.program;
                    let global = &program.globals[i.index()];
                    if program.namespace.put(global.slot, Value::Unset).is_unset() {
                        fallible!(Err(errors::name_not_defined(&global.name, None)));
                    }
                }
                Op::LoadClassName => {
                    let own = register!(i.b).clone();
                    let value = if own.is_unset() {
                        let program = &loaded.program;
                        let global = &program.globals[i.c as usize];
                        match program.namespace.at(global.slot) {
                            Value::Unset => fallible!(self.load_builtin(global)),
                            value => value,
                        }
                    } else {
                        own
                    };
                    set!(i.a, value);
                }
                Op::MakeCell => {
                    let value = take!(i.a);
                    set!(i.a, Vm::new_cell(value));
                }
                Op::LoadCell => {
                    let Value::Cell(cell) = register!(i.b) else { unreachable!("the register holds a cell") };
                    let value = cell.get();
                    if value.is_unset() {
                        fallible!(Err(self.unbound(i.b)));
                    }
                    set!(i.a, value);
                }
                Op::StoreCell => {
                    let value = if i.ends_b() { take!(i.b) } else { register!(i.b).clone() };
                    let Value::Cell(cell) = register!(i.a) else { unreachable!("the register holds a cell") };
                    let previous = cell.put(value);
                    drop(previous);
                }
                Op::DeleteCell => {
                    let Value::Cell(cell) = register!(i.a) else { unreachable!("the register holds a cell") };
                    if cell.put(Value::Unset).is_unset() {
                        fallible!(Err(self.unbound(i.a)));
                    }
                }
                Op::LoadFree => {
                    let value = self.running().closure[i.b as usize].get();
                    if value.is_unset() {
                        fallible!(Err(self.unbound_free(i.b)));
                    }
                    set!(i.a, value);
                }
                Op::StoreFree => {
                    let value = if i.ends_b() { take!(i.b) } else { register!(i.b).clone() };
                    let previous = self.running().closure[i.a as usize].put(value);
                    drop(previous);
                }
                Op::DeleteFree => {
                    if self.running().closure[i.a as usize].put(Value::Unset).is_unset() {
                        fallible!(Err(self.unbound_free(i.a)));
                    }
                }

                Op::Add => arithmetic!(i, checked_add, +),
                Op::Sub => arithmetic!(i, checked_sub, -),
                Op::Mul => arithmetic!(i, checked_mul, *),
                Op::Div => {
                    if let (Value::Float(left), Value::Float(right)) = (register!(i.b), register!(i.c))
                        && *right != 0.0
                    {
                        let float = *left / *right;
                        set!(i.a, Value::Float(float));
                        continue;
                    }
                    fallible!(self.step_binary(base, i));
                }
                Op::FloorDiv => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(i.b), register!(i.c))
                        && *right > 0
                    {
                        let int = left.div_euclid(*right);
                        set!(i.a, Value::Int(int));
                        continue;
                    }
                    fallible!(self.step_binary(base, i));
                }
                Op::Mod => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(i.b), register!(i.c))
                        && *right > 0
                    {
                        let int = left.rem_euclid(*right);
                        set!(i.a, Value::Int(int));
                        continue;
                    }
                    fallible!(self.step_binary(base, i));
                }
                Op::BitAnd => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(i.b), register!(i.c)) {
                        let int = *left & *right;
                        set!(i.a, Value::Int(int));
                        continue;
                    }
                    fallible!(self.step_binary(base, i));
                }
                Op::MatMul | Op::Pow | Op::LeftShift | Op::RightShift | Op::BitOr | Op::BitXor => {
                    fallible!(self.step_binary(base, i));
                }
                Op::AddInt => arithmetic_int!(i, checked_add, +),
                Op::SubInt => arithmetic_int!(i, checked_sub, -),
                Op::MulInt => arithmetic_int!(i, checked_mul, *),
                Op::Neg | Op::Pos | Op::Invert | Op::Not => fallible!(self.step_unary(base, i)),

                Op::Eq => comparison!(i, ==),
                Op::NotEq => comparison!(i, !=),
                Op::Less => comparison!(i, <),
                Op::LessEq => comparison!(i, <=),
                Op::Greater => comparison!(i, >),
                Op::GreaterEq => comparison!(i, >=),
                Op::Is | Op::IsNot | Op::In | Op::NotIn => fallible!(self.step_compare(base, i)),

                Op::Jump => jump!(i),
                Op::JumpIfTrue | Op::JumpIfFalse => {
                    let truth = match register!(i.a) {
                        Value::Bool(truth) => *truth,
                        Value::None => false,
                        Value::Int(int) => *int != 0,
                        _ => fallible!(self.step_truth(base, i)),
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
                    let site = unsafe { loaded.sites.get_unchecked(i.c as usize) };
                    if let Value::Instance(instance) = register!(i.b) {
                        let fields = instance.fields.borrow();
                        let key = site.key.get();
                        if key.shape == fields.shape_id()
                            && key.epoch == self.class_epoch
                            && let Some(value) = fields.at(site.slot.get())
                        {
                            let value = value.clone();
                            drop(fields);
                            if i.ends_b() {
                                set!(i.b, Value::Unset);
                            }
                            set!(i.a, value);
                            continue;
                        }
                    }
                    fallible!(self.step_load_attr(base, i, site));
                }
                Op::StoreAttr => {
                    let site = unsafe { loaded.sites.get_unchecked(i.c as usize) };
                    fallible!(self.step_store_attr(base, i, site));
                }
                Op::DeleteAttr => {
                    let site = unsafe { loaded.sites.get_unchecked(i.c as usize) };
                    let object = if i.ends_b() { take!(i.a) } else { register!(i.a).clone() };
                    fallible!(self.delete_attr(&object, &site.name));
                }
                Op::LoadMethod => {
                    let site = unsafe { loaded.sites.get_unchecked(i.c as usize) };
                    if let Value::Instance(instance) = register!(i.b) {
                        let key = site.key.get();
                        if key.shape == instance.fields.borrow().shape_id() && key.epoch == self.class_epoch {
                            let method = site.method.borrow().clone();
                            let receiver = if i.ends_b() { take!(i.b) } else { register!(i.b).clone() };
                            set!(i.a, method);
                            set!(i.a + 1, receiver);
                            continue;
                        }
                    }
                    fallible!(self.step_load_method(base, i, site));
                }
                Op::LoadItem => {
                    let item = match (register!(i.b), register!(i.c)) {
                        (Value::List(list), Value::Int(at)) if *at >= 0 => {
                            list.borrow().get(*at as usize).cloned()
                        }
                        (Value::Tuple(tuple), Value::Int(at)) if *at >= 0 => tuple.get(*at as usize).cloned(),
                        (Value::Dict(dict), key @ Value::Int(_)) => dict.get_plain(key).flatten(),
                        (Value::Dict(dict), key @ Value::Str(_)) if !i.ends_c() => {
                            dict.get_plain(key).flatten()
                        }
                        _ => None,
                    };
                    match item {
                        Some(item) => {
                            if i.ends_b() {
                                set!(i.b, Value::Unset);
                            }
                            set!(i.a, item);
                        }
                        None => fallible!(self.step_load_item(base, i)),
                    }
                }
                Op::StoreItem => fallible!(self.step_store_item(base, i)),
                Op::DeleteItem => fallible!(self.step_delete_item(base, i)),
                Op::BuildSlice => self.step_slice(base, i),

                Op::Call => {
                    save!();
                    clear_from!(i.a + 1 + i.b);
                    let at = unsafe { base.add(i.a as usize) };
                    if let Value::Function(function) = unsafe { &*at.cast_const() }
                        && function.code.exact_arity == Some(i.b)
                        && self.can_push(base, i.a, function.code.n_registers)
                    {
                        self.until_poll -= 1;
                        if self.until_poll == 0 {
                            self.poll_now()?;
                        }
                        // The frame takes over what the register held.
                        let function = unsafe { std::ptr::read(function) };
                        unsafe { at.write(Value::Unset) };
                        loaded = unsafe { &*Rc::as_ptr(&function.code) };
                        base = unsafe { at.add(1) };
                        ip = loaded.code.instructions.as_ptr();
                        push_call(&mut self.frames, function, self.stack.index(base));
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
                    let value = fallible!(self.step_call_spread(base, i));
                    set!(i.a, value);
                }
                Op::Return => {
                    let kind = self.frames.last().expect("a frame is running").kind;
                    if kind == FrameKind::Call {
                        // The callee was taken from the register below when the frame was pushed.
                        assign!(-1isize, unsafe { base.add(i.a as usize) }, i.ends_b());
                        clear_frame!();
                        drop(pop_call(&mut self.frames));
                        reload!();
                        continue;
                    }
                    let value = if i.ends_b() { take!(i.a) } else { register!(i.a).clone() };
                    clear_frame!();
                    self.frames.pop();
                    if kind != FrameKind::Init {
                        return Ok(value);
                    }
                    reload!();
                    check_init(&value)?;
                }
                Op::Yield => {
                    save!();
                    let value = take!(i.b);
                    let Frame { function, base: first, pc, generator, .. } =
                        self.frames.pop().expect("a frame is running");
                    let n_registers = function.code.code.n_registers as usize;
                    let registers = (first..first + n_registers).map(|at| self.stack.take(at)).collect();
                    let generator = generator.expect("only generators yield, and they only run in steps");
                    *generator.state.borrow_mut() =
                        GeneratorState::Suspended { function, registers, pc: pc as u32, sent: i.a };
                    return Ok(value);
                }
                Op::Delegate => {
                    if fallible!(self.step_delegate(base, i)) {
                        ip = unsafe { ip.add(1) };
                    }
                }

                Op::BuildTuple => {
                    let items = self.take_row(base, i.b, i.c);
                    set!(i.a, Value::tuple(items));
                }
                Op::BuildList => {
                    let items = self.take_row(base, i.b, i.c);
                    set!(i.a, Value::list(items));
                }
                Op::BuildSet => fallible!(self.step_build_set(base, i)),
                Op::BuildDict => fallible!(self.step_build_dict(base, i)),
                Op::ListAppend => {
                    let item = if i.ends_b() { take!(i.b) } else { register!(i.b).clone() };
                    let Value::List(list) = register!(i.a) else { unreachable!("the register holds a list") };
                    list.borrow_mut().push(item);
                }
                Op::ListExtend => fallible!(self.step_list_extend(base, i)),
                Op::ListToTuple => {
                    let Value::List(list) = register!(i.a) else { unreachable!("the register holds a list") };
                    let items = std::mem::take(&mut *list.borrow_mut());
                    set!(i.a, Value::tuple(items));
                }
                Op::SetAdd => fallible!(self.step_set_add(base, i)),
                Op::SetUpdate => fallible!(self.step_set_update(base, i)),
                Op::DictInsert => fallible!(self.step_dict_insert(base, i)),
                Op::DictUpdate => fallible!(self.step_dict_update(base, i)),
                Op::DictMerge => fallible!(self.step_dict_merge(base, i)),
                Op::Format => fallible!(self.step_format(base, i)),
                Op::BuildString => self.step_build_string(base, i),

                Op::Unpack => fallible!(self.step_unpack(base, i)),
                Op::UnpackStar => fallible!(self.step_unpack_star(base, i)),
                // Where a pattern matches, the jump that leads past its block is skipped.
                Op::MatchSequence => {
                    let matches = fallible!(self.step_match_sequence(base, i));
                    ip = unsafe { ip.add(matches as usize) };
                }
                Op::MatchMapping => {
                    let matches = fallible!(self.step_match_mapping(base, i));
                    ip = unsafe { ip.add(matches as usize) };
                }
                Op::MatchClass => {
                    let names = &loaded.keyword_names[i.c as usize];
                    let matches = fallible!(self.step_match_class(base, i, names));
                    ip = unsafe { ip.add(matches as usize) };
                }
                Op::GetIter => fallible!(self.step_get_iter(base, i)),
                Op::Iter => fallible!(self.step_iter(base, i)),
                Op::ForIter => {
                    let item = match (register!(i.a), register!(i.a + 1)) {
                        (Value::Int(_), Value::Int(0)) => Value::Unset,
                        (&Value::Int(next), &Value::Int(remaining)) => {
                            let Value::Int(step) = *register!(i.a + 2) else {
                                unreachable!("a range has a step")
                            };
                            set!(i.a, Value::Int(next.wrapping_add(step)));
                            set!(i.a + 1, Value::Int(remaining - 1));
                            Value::Int(next)
                        }
                        (Value::List(list), &Value::Int(at)) => {
                            let item = list.borrow().get(at as usize).cloned();
                            set!(i.a + 1, Value::Int(at + 1));
                            item.unwrap_or(Value::Unset)
                        }
                        _ => fallible!(self.step_for(base, i)),
                    };
                    let jump = unsafe { *ip };
                    ip = unsafe { ip.add(1) };
                    if item.is_unset() {
                        for at in i.a..i.a + 3 {
                            set!(at, Value::Unset);
                        }
                    } else {
                        set!(i.b, item);
                        jump!(jump);
                    }
                }

                Op::MakeFunction => {
                    let function = self.step_make_function(base, i);
                    set!(i.a, function);
                }
                Op::MakeClass => fallible!(self.step_make_class(base, i)),
                Op::LoadLocals => {
                    let locals = self.step_locals(base);
                    set!(i.a, locals);
                }
                Op::Import => fallible!(self.step_import(base, i)),
                Op::ImportFrom => fallible!(self.step_import_from(base, i)),
                Op::ImportStar => fallible!(self.step_import_star(base, i)),

                Op::Raise => {
                    let value = if i.ends_b() { take!(i.a) } else { register!(i.a).clone() };
                    fallible!(Err(self.raise_of(&value)));
                }
                Op::RaiseFrom => {
                    let value = take!(i.a);
                    let cause = take!(i.b);
                    fallible!(Err(self.raise_with_cause(&value, &cause)));
                }
                Op::RaiseBare => {
                    save!();
                    return Err(self.raise_bare());
                }
                Op::Reraise => {
                    let value = take!(i.a);
                    save!();
                    return Err(self.raise_of(&value));
                }
                Op::MatchException => fallible!(self.step_match_exception(base, i)),
                Op::AssertFail => {
                    let message = i.ends_b().then(|| take!(i.a));
                    save!();
                    return Err(crate::value::Raise::with_args(
                        crate::value::ExceptionKind::AssertionError,
                        message.into_iter().collect(),
                    ));
                }
                Op::WithEnter => fallible!(self.step_with_enter(base, i)),
                Op::WithExit => fallible!(self.step_with_exit(base, i)),
                Op::WithExcept => fallible!(self.step_with_except(base, i)),
            }
        }
    }
}
