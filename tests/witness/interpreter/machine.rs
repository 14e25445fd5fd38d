//! Control flow of one invocation: an explicit stack of functions, each with a stack of blocks, so that it
//! can pause at a barrier and resume.

use kps_kernel::Scalar;
use kps_kernel::ir::{
    Arg, Block, CallArg, Function, FunctionId, Home, Kernel, LocalId, Loop, NodeId, NodeKind, SharedId, Stmt,
    Together,
};

use super::{Stop, Value, World, subgroups, tiles};

/// Where an invocation paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Ended,
    Waits(Together),
    /// At a subgroup operation.
    Subgroup(NodeId),
}

pub struct Invocation<'k> {
    pub kernel: &'k Kernel,
    pub group: [u32; 3],
    pub local: [u32; 3],
    calls: Vec<Activation<'k>>,
}

/// A call of a function.
struct Activation<'k> {
    function: &'k Function,
    args: Vec<Value>,
    places: Vec<Place>,
    locals: Vec<Option<Value>>,
    nodes: Vec<Option<Value>>,
    blocks: Vec<Cursor<'k>>,
    /// The caller's node that receives the result.
    gives: Option<NodeId>,
}

/// The memory of a local.
#[derive(Clone, Copy)]
enum Place {
    /// A variable of the call at this depth.
    Own(usize, LocalId),
    Shared(SharedId),
}

#[derive(Clone, Copy)]
struct Cursor<'k> {
    block: &'k Block,
    next: usize,
    role: Role<'k>,
}

/// What follows the end of a block.
#[derive(Clone, Copy)]
enum Role<'k> {
    /// The code after it, or the end of the function.
    Plain,
    /// The body, or the code after the loop.
    Test(&'k Loop),
    /// The step, and then the test.
    Body(&'k Loop),
    Step(&'k Loop),
}

impl<'k> Invocation<'k> {
    pub fn new(kernel: &'k Kernel, group: [u32; 3], local: [u32; 3]) -> Invocation<'k> {
        let mut invocation = Invocation { kernel, group, local, calls: Vec::new() };
        invocation.enter(FunctionId(kernel.functions.len() as u32 - 1), &[], Vec::new(), None);
        invocation
    }

    /// Runs until the end or the next barrier.
    pub fn run(&mut self, world: &mut World<'k>) -> Result<Pause, Stop> {
        while let Some(call) = self.calls.last_mut() {
            let Some(cursor) = call.blocks.last_mut() else {
                self.leave(Value::nothing());
                continue;
            };
            let Some(stmt) = cursor.block.get(cursor.next) else {
                self.end_of_block();
                continue;
            };
            cursor.next += 1;
            world.fuel = world.fuel.checked_sub(1).ok_or(Stop::Endless)?;
            match stmt {
                Stmt::Together(what, _) => return Ok(Pause::Waits(*what)),
                Stmt::Eval(node) if is_of_subgroup(&self.function().node(*node).kind) => {
                    return Ok(Pause::Subgroup(*node));
                }
                _ => {}
            }
            self.stmt(stmt, world)?;
        }
        Ok(Pause::Ended)
    }

    fn call(&self) -> &Activation<'k> {
        self.calls.last().expect("it is running")
    }

    fn call_mut(&mut self) -> &mut Activation<'k> {
        self.calls.last_mut().expect("it is running")
    }

    pub fn function(&self) -> &'k Function {
        self.call().function
    }

    fn open(&mut self, block: &'k Block, role: Role<'k>) {
        self.call_mut().blocks.push(Cursor { block, next: 0, role });
    }

    fn end_of_block(&mut self) {
        let ended = self.call_mut().blocks.pop().expect("it is inside a block");
        match ended.role {
            Role::Plain => {}
            Role::Test(parts) => {
                if parts.condition.is_none_or(|condition| self.value(condition).as_bool()) {
                    self.open(&parts.body, Role::Body(parts));
                }
            }
            Role::Body(parts) => self.open(&parts.step, Role::Step(parts)),
            Role::Step(parts) => self.open(&parts.test, Role::Test(parts)),
        }
    }

    /// Leaves the innermost loop's body.
    fn leave_body(&mut self) -> &'k Loop {
        loop {
            let left = self.call_mut().blocks.pop().expect("`verify` holds jumps to stand in loops");
            if let Role::Body(parts) = left.role {
                return parts;
            }
        }
    }

    fn stmt(&mut self, stmt: &'k Stmt, world: &mut World<'k>) -> Result<(), Stop> {
        match stmt {
            Stmt::Eval(node) => return self.eval(*node, world),
            Stmt::Store { local, value, .. } => {
                let value = self.value(*value);
                self.set(*local, value, world);
            }
            Stmt::StoreElement { local, path, value, .. } => {
                let (at, value) = (self.path(path), self.value(*value));
                let is_there = match self.memory_mut(*local, world).at_mut(&at) {
                    Some(part) => {
                        *part = value;
                        true
                    }
                    None => false,
                };
                self.ensure_right(None, path, is_there);
            }
            Stmt::BufferStore { buffer, index, path, value, .. } => {
                let element_at = usize::try_from(self.element_number(index)).ok();
                let (at, value) = (self.path(path), self.value(*value));
                let elements = &mut world.buffers[buffer.idx()].values;
                let element = element_at.and_then(|element_at| elements.get_mut(element_at));
                let part = element.and_then(|element| element.at_mut(&at));
                self.ensure_right(Some(index.number()), path, part.is_some());
                if let Some(part) = part {
                    *part = value;
                }
            }
            Stmt::Carry(carry) => {
                let stores = &self.function().carries[carry.idx()];
                for (local, value) in stores {
                    let value = self.value(*value);
                    self.set(*local, value, world);
                }
            }
            Stmt::If { condition, then, orelse, .. } => {
                let arm = if self.value(*condition).as_bool() { then } else { orelse };
                self.open(arm, Role::Plain);
            }
            Stmt::Loop(parts) => self.open(&parts.test, Role::Test(parts)),
            Stmt::Break => _ = self.leave_body(),
            Stmt::Continue => {
                let parts = self.leave_body();
                self.open(&parts.step, Role::Step(parts));
            }
            Stmt::Return(value, _) => {
                let value = value.map_or(Value::nothing(), |value| self.value(value));
                self.leave(value);
            }
            Stmt::Together(..) => unreachable!("`run` stops there"),
            Stmt::Coop(_) => unreachable!("verified: operations on matrices are expanded"),
            Stmt::CoopStore { place, value, .. } => self.coop_store(place, *value, world),
            // They only annotate others.
            Stmt::Index(_) | Stmt::Assigned(_) => {}
            Stmt::Check(_) => return Err(Stop::NotHere("checks".into())),
            Stmt::Message(_) | Stmt::Record(_) => return Err(Stop::NotHere("records".into())),
            Stmt::TextureWrite { .. } => return Err(Stop::NotHere("textures".into())),
            Stmt::PortStore { .. } => return Err(Stop::NotHere("graphics".into())),
            Stmt::End(_) => return Err(Stop::NotHere("ends".into())),
        }
        Ok(())
    }

    fn eval(&mut self, id: NodeId, world: &mut World<'k>) -> Result<(), Stop> {
        let node = self.function().node(id);
        if let NodeKind::Call { function, args } = &node.kind {
            let values = args.iter().map(|arg| match arg {
                CallArg::Value(value) => self.value(*value),
                CallArg::Reference(_) => Value::nothing(),
            });
            let values = values.collect();
            self.enter(*function, args, values, Some(id));
            return Ok(());
        }
        let value = self.compute(node, world)?;
        self.call_mut().nodes[id.idx()] = Some(value);
        Ok(())
    }

    /// `args` are the values of the arguments; `None` for a reference.
    fn enter(&mut self, function: FunctionId, given: &[CallArg], args: Vec<Value>, gives: Option<NodeId>) {
        let function = &self.kernel.functions[function.idx()];
        let depth = self.calls.len();
        let mut places: Vec<Place> = (0..function.locals.len())
            .map(|at| match function.locals[at].home {
                Home::Workgroup(shared) => Place::Shared(shared),
                Home::Own | Home::Caller => Place::Own(depth, LocalId(at as u32)),
            })
            .collect();
        for (arg, given) in function.args.iter().zip(given) {
            if let (Arg::Reference(local), CallArg::Reference(given)) = (arg, given) {
                places[local.idx()] = self.call().places[given.idx()];
            }
        }
        let (locals, nodes) = (vec![None; function.locals.len()], vec![None; function.nodes.len()]);
        let blocks = vec![Cursor { block: &function.body, next: 0, role: Role::Plain }];
        self.calls.push(Activation { function, args, places, locals, nodes, blocks, gives });
    }

    fn leave(&mut self, result: Value) {
        let left = self.calls.pop().expect("it is running");
        if let Some(node) = left.gives {
            self.call_mut().nodes[node.idx()] = Some(result);
        }
    }

    pub fn value(&self, id: NodeId) -> Value {
        let call = self.call();
        match call.function.constant(id) {
            Some(constant) => Value::number(constant.scalar(), constant.bits()),
            None => {
                call.nodes[id.idx()].clone().expect("`verify` holds nodes to be computed before their use")
            }
        }
    }

    pub fn arg(&self, at: u32) -> Value {
        self.call().args[at as usize].clone()
    }

    /// The value of a local, which must have been stored before.
    pub fn local<'w>(&'w self, local: LocalId, world: &'w World<'k>) -> &'w Value {
        match self.call().places[local.idx()] {
            Place::Own(depth, local) => {
                self.calls[depth].locals[local.idx()].as_ref().expect("a local that was set")
            }
            Place::Shared(shared) => &world.shared[shared.idx()],
        }
    }

    fn set(&mut self, local: LocalId, value: Value, world: &mut World<'k>) {
        match self.call().places[local.idx()] {
            Place::Own(depth, local) => self.calls[depth].locals[local.idx()] = Some(value),
            Place::Shared(shared) => world.shared[shared.idx()] = value,
        }
    }

    /// For stores into a part of it.
    pub fn memory_mut<'w>(&'w mut self, local: LocalId, world: &'w mut World<'k>) -> &'w mut Value {
        match self.call().places[local.idx()] {
            Place::Own(depth, local) => {
                let function = self.calls[depth].function;
                let zero = || Value::zero(&function.local(local).ty);
                self.calls[depth].locals[local.idx()].get_or_insert_with(zero)
            }
            Place::Shared(shared) => &mut world.shared[shared.idx()],
        }
    }
}

/// Whether it is a subgroup operation.
fn is_of_subgroup(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Subgroup { .. } | NodeKind::CoopMultiplyAdd { .. })
}

/// Computes the subgroup operation at which all invocations wait.
pub fn combine(invocations: &mut [Invocation], id: NodeId) -> Result<(), Stop> {
    let node = invocations[0].function().node(id);
    let brought = |id: &Option<NodeId>| -> Vec<Option<Value>> {
        invocations.iter().map(|invocation| id.map(|id| invocation.value(id))).collect()
    };
    let results = match &node.kind {
        NodeKind::Subgroup { op, value, lane } => {
            let scalar = node.ty.number().unwrap_or(Scalar::Bool);
            subgroups::combined(*op, scalar, &brought(value), &brought(lane))?
        }
        NodeKind::CoopMultiplyAdd { sum, a, b } => tiles::multiply_add(invocations, *sum, *a, *b)?,
        _ => unreachable!("they wait at such a node alone"),
    };
    for (invocation, result) in invocations.iter_mut().zip(results) {
        invocation.call_mut().nodes[id.idx()] = Some(result);
    }
    Ok(())
}
