//! Control flow: masks where lanes diverge, plain jumps where they are converged.
//!
//! At joins where lanes wait, block parameters are variables, and each edge sets them for its lanes. Other
//! block parameters are parameters of CLIF blocks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use cranelift_frontend::Switch;

use super::SimdGroup;
use super::values::vector_type;
use crate::cpu::emit::context::DONE;
use crate::cpu::emit::scalar::clif;
use crate::cpu::lane::simd::Step;
use crate::cpu::lane::{BlockId, Edge, Terminator, Ty, Value};

/// An edge whose arguments are emitted.
struct EmittedEdge {
    to: usize,
    deferred: bool,
    args: Args,
}

enum Args {
    Block(Vec<BlockArg>),
    /// For parameters that are variables.
    Blend(Vec<Vec<ir::Value>>),
}

impl<'k> SimdGroup<'_, 'k, '_> {
    pub(super) fn region(&mut self) {
        self.declare();
        self.load_carried();
        for place in 0..self.region.order.len() {
            let block = self.entry_block(place);
            self.entries.push(block);
        }
        self.scalar.builder.ins().jump(self.entries[0], &[]);
        for place in 0..self.region.order.len() {
            self.block(place);
        }
        while let Some(steps) = self.open_chains.pop() {
            self.fill_chain(&steps);
        }
    }

    /// Declares variables, and initialises those that are set lane by lane.
    fn declare(&mut self) {
        let region = self.region;
        let kernel = self.work.kernel;
        let mut crossing = Vec::new();
        let mut exit_values = Vec::new();
        region.each_use(kernel, self.work.carried, &mut |value, at| match region.home(kernel, value) {
            Some(_) if region.is_loop_exit_value(kernel, value, at) => exit_values.push(value),
            Some(home) if home != at => crossing.push(value),
            _ => {}
        });
        crossing.extend(self.carried_in());
        for place in (0..region.order.len()).filter(|&place| region.joins[place]) {
            crossing.extend(&kernel.blocks[region.order.blocks[place].0 as usize].params);
            if !region.converged[place] {
                let masks = self.mask_variables();
                self.pending.insert(place, masks);
            }
        }
        for value in crossing {
            self.declare_crossing(value);
        }
        for value in exit_values {
            if !self.exit_values.contains_key(&value) {
                let variables = self.vector_variables(self.ty(value));
                self.exit_values.insert(value, variables);
            }
        }
        if region.converged.contains(&false) {
            self.active = self.mask_variables();
        }
    }

    fn declare_crossing(&mut self, value: Value) {
        if self.shape(value).is_scalar() {
            let ty = self.scalar_type(value);
            let builder = &mut self.scalar.builder;
            self.scalar.carried_values.entry(value).or_insert_with(|| builder.declare_var(ty));
        } else if !self.variables.contains_key(&value) {
            let variables = self.vector_variables(self.ty(value));
            self.variables.insert(value, variables);
        }
    }

    fn vector_variables(&mut self, ty: Ty) -> Vec<cranelift_frontend::Variable> {
        let zero_bytes = vec![0; 16];
        let variables = (0..self.n_vectors(ty)).map(|_| {
            let variable = self.scalar.builder.declare_var(vector_type(ty));
            let constant = self.scalar.builder.func.dfg.constants.insert(zero_bytes.clone().into());
            let zero = self.scalar.builder.ins().vconst(vector_type(ty), constant);
            self.scalar.builder.def_var(variable, zero);
            variable
        });
        variables.collect()
    }

    fn mask_variables(&mut self) -> Vec<cranelift_frontend::Variable> {
        self.vector_variables(Ty::Bool)
    }

    fn entry_block(&mut self, place: usize) -> ir::Block {
        let block = self.scalar.builder.create_block();
        if !self.region.joins[place] {
            for &param in self.params(place) {
                if self.shape(param).is_scalar() {
                    self.scalar.builder.append_block_param(block, clif(self.ty(param)));
                    continue;
                }
                for _ in 0..self.n_vectors(self.ty(param)) {
                    self.scalar.builder.append_block_param(block, vector_type(self.ty(param)));
                }
            }
        }
        block
    }

    fn id(&self, place: usize) -> BlockId {
        self.region.order.blocks[place]
    }

    fn params(&self, place: usize) -> &'k [Value] {
        &self.work.kernel.blocks[self.id(place).0 as usize].params
    }

    fn block(&mut self, place: usize) {
        self.place = place;
        self.scalar.builder.switch_to_block(self.entries[place]);
        self.scalar.ready.clear();
        self.scalar.compared.clear();
        self.made = super::Made::default();
        self.resume_waiting(place);
        self.bind_params(place);
        let kernel = self.work.kernel;
        let block = &kernel.blocks[self.id(place).0 as usize];
        for inst in &block.insts {
            self.inst(inst);
        }
        let edges = &self.region.order.successors[place];
        let goes_back =
            edges.iter().zip(&self.region.deferred[place]).any(|(&to, deferred)| to <= place && !deferred);
        if goes_back {
            self.scalar.poll(block.line.or_else(|| block.insts.iter().rev().find_map(|inst| inst.line)));
        }
        self.terminator(place, &block.end);
    }

    /// Activates the lanes that waited here.
    fn resume_waiting(&mut self, place: usize) {
        let Some(pending) = self.pending.get(&place).cloned() else { return };
        let none = self.no_lanes();
        for (active, waiting) in self.active.clone().into_iter().zip(pending) {
            let mask = self.scalar.builder.use_var(waiting);
            self.scalar.builder.def_var(active, mask);
            self.scalar.builder.def_var(waiting, none);
        }
    }

    fn bind_params(&mut self, place: usize) {
        if self.region.joins[place] {
            for &param in self.params(place) {
                let variables = self.variables[&param].clone();
                let vectors: Vec<_> =
                    variables.into_iter().map(|variable| self.scalar.builder.use_var(variable)).collect();
                if self.exit_values.contains_key(&param) {
                    self.define(param, vectors);
                } else {
                    self.made.vectors.insert(param, vectors);
                }
            }
            return;
        }
        let given = self.scalar.builder.block_params(self.entries[place]).to_vec();
        let mut given = given.into_iter();
        for &param in self.params(place) {
            if self.shape(param).is_scalar() {
                let value = given.next().expect("each parameter has its own");
                self.scalar.define(param, value);
                continue;
            }
            let vectors = given.by_ref().take(self.n_vectors(self.ty(param))).collect();
            self.define(param, vectors);
        }
    }

    fn terminator(&mut self, place: usize, end: &'k Terminator) {
        match end {
            Terminator::Jump(_) => {
                let mask = self.active();
                let edge = self.emit_edges(place, end).pop().expect("a jump has an edge");
                self.leave_converged(place, &[&edge]);
                self.take_edge(place, &edge, mask.as_deref());
            }
            Terminator::Branch { condition, .. } if self.region.forks[place] => {
                let then = self.vector(*condition);
                let edges = self.emit_edges(place, end);
                let masks = self.choice(&[then]);
                self.diverge(place, &edges, masks);
            }
            Terminator::Branch { condition, .. } => self.branch(place, *condition, end),
            Terminator::Switch { value, cases, .. } if self.region.forks[place] => {
                let literals: Vec<u64> = cases.iter().map(|(literal, _)| *literal).collect();
                let masks: Vec<_> = literals.iter().map(|&literal| self.equal(*value, literal)).collect();
                let edges = self.emit_edges(place, end);
                let masks = self.choice(&masks);
                self.diverge(place, &edges, masks);
            }
            Terminator::Switch { value, cases, .. } => self.switch(place, *value, cases, end),
            Terminator::Barrier(_) | Terminator::Exit if !self.region.converged[place] => {
                self.resume_others(place)
            }
            Terminator::Barrier(after) => {
                self.store_carried(*after);
                let next = self.work.regions.by_entry[after] as i32;
                self.scalar.end_lane(next);
            }
            Terminator::Exit => self.scalar.end_lane(DONE),
            Terminator::Subgroup { .. } => unreachable!("kernels that wait for subgroups have no plan"),
        }
    }

    /// Emits the arguments of all edges, in order.
    fn emit_edges(&mut self, place: usize, end: &Terminator) -> Vec<EmittedEdge> {
        let edges = end.edges().into_iter().enumerate();
        edges
            .map(|(i, edge)| {
                self.emit_edge(self.region.order.successors[place][i], self.region.deferred[place][i], edge)
            })
            .collect()
    }

    fn emit_edge(&mut self, to: usize, deferred: bool, edge: &Edge) -> EmittedEdge {
        if self.region.joins[to] {
            let args = edge.args.iter().map(|&arg| self.vector(arg)).collect();
            return EmittedEdge { to, deferred, args: Args::Blend(args) };
        }
        let mut args = Vec::new();
        for (&param, &arg) in self.params(to).iter().zip(&edge.args) {
            if self.shape(param).is_scalar() {
                args.push(BlockArg::Value(self.scalar.value(arg)));
            } else {
                args.extend(self.vector(arg).into_iter().map(BlockArg::Value));
            }
        }
        EmittedEdge { to, deferred, args: Args::Block(args) }
    }

    /// Sets the mask where converged lanes enter blocks that need one.
    fn leave_converged(&mut self, place: usize, edges: &[&EmittedEdge]) {
        if self.region.converged[place] && edges.iter().any(|edge| !self.region.converged[edge.to]) {
            let all = self.all_lanes();
            for variable in self.active.clone() {
                self.scalar.builder.def_var(variable, all);
            }
        }
    }

    /// Leaves a block by one edge, with all active lanes.
    fn take_edge(&mut self, place: usize, edge: &EmittedEdge, mask: Option<&[ir::Value]>) {
        self.arrive(edge, mask);
        if edge.deferred {
            self.resume_others(place);
        } else {
            self.jump(edge);
        }
    }

    /// Records at the end of an edge which lanes take it, and with which arguments.
    fn arrive(&mut self, edge: &EmittedEdge, mask: Option<&[ir::Value]>) {
        let Args::Blend(args) = &edge.args else { return };
        for (&param, vectors) in self.params(edge.to).iter().zip(args) {
            let variables = self.variables[&param].clone();
            for (i, (variable, &new)) in variables.into_iter().zip(vectors).enumerate() {
                let before = self.scalar.builder.use_var(variable);
                let now = self.blend(mask, i, self.ty(param), new, before);
                self.scalar.builder.def_var(variable, now);
            }
        }
        let Some(pending) = self.pending.get(&edge.to).cloned() else { return };
        for (i, variable) in pending.into_iter().enumerate() {
            let lanes = match mask {
                Some(mask) => {
                    let before = self.scalar.builder.use_var(variable);
                    self.scalar.builder.ins().bor(before, mask[i])
                }
                None => self.all_lanes(),
            };
            self.scalar.builder.def_var(variable, lanes);
        }
    }

    fn jump(&mut self, edge: &EmittedEdge) {
        let args: &[BlockArg] = if let Args::Block(args) = &edge.args { args } else { &[] };
        self.scalar.builder.ins().jump(self.entries[edge.to], args);
    }

    /// Branches to one of two edges, for all lanes.
    fn branch(&mut self, place: usize, condition: Value, end: &'k Terminator) {
        let mask = self.active();
        let edges = self.emit_edges(place, end);
        self.leave_converged(place, &[&edges[0], &edges[1]]);
        // As in scalar code, the edge that stays in the loop is second.
        let (condition, first, second) = if self.leaves(place, &edges[1]) && !self.leaves(place, &edges[0]) {
            (self.scalar.opposite(condition), &edges[1], &edges[0])
        } else {
            (self.scalar.value(condition), &edges[0], &edges[1])
        };
        let targets = [first, second].map(|edge| self.target(edge));
        let [(then, then_args), (otherwise, otherwise_args)] = &targets;
        self.scalar.builder.ins().brif(condition, *then, then_args, *otherwise, otherwise_args);
        for (edge, (block, _)) in [first, second].into_iter().zip(&targets) {
            if *block != self.entries[edge.to] {
                self.scalar.builder.switch_to_block(*block);
                self.take_edge(place, edge, mask.as_deref());
            }
        }
    }

    /// The target of a jump along an edge: the entry, or a new block.
    fn target(&mut self, edge: &EmittedEdge) -> (ir::Block, Vec<BlockArg>) {
        match &edge.args {
            Args::Block(args) if !edge.deferred => (self.entries[edge.to], args.clone()),
            _ => (self.scalar.builder.create_block(), Vec::new()),
        }
    }

    fn switch(&mut self, place: usize, value: Value, cases: &[(u64, Edge)], end: &'k Terminator) {
        let mask = self.active();
        let edges = self.emit_edges(place, end);
        self.leave_converged(place, &edges.iter().collect::<Vec<_>>());
        let value = self.scalar.value(value);
        let blocks: Vec<_> = edges.iter().map(|_| self.scalar.builder.create_block()).collect();
        let mut switch = Switch::new();
        for ((literal, _), &block) in cases.iter().zip(&blocks) {
            switch.set_entry(u128::from(*literal), block);
        }
        switch.emit(&mut self.scalar.builder, value, *blocks.last().expect("a switch has a default"));
        for (edge, block) in edges.iter().zip(blocks) {
            self.scalar.builder.switch_to_block(block);
            self.take_edge(place, edge, mask.as_deref());
        }
    }

    /// The mask of the lanes whose value equals a literal.
    fn equal(&mut self, value: Value, literal: u64) -> Vec<ir::Value> {
        let ty = self.ty(value);
        let vectors = self.vector(value);
        if ty != Ty::I32 {
            let lanes: Vec<_> = (0..self.plan.width)
                .map(|lane| {
                    let own = self.lane(value, lane);
                    self.scalar.builder.ins().icmp_imm_s(IntCC::Equal, own, literal as i64)
                })
                .collect();
            return self.gather(Ty::Bool, &lanes);
        }
        let scalar = self.scalar.builder.ins().iconst(types::I32, i64::from(literal as u32));
        let literal = self.scalar.builder.ins().splat(types::I32X4, scalar);
        vectors.into_iter().map(|own| self.scalar.builder.ins().icmp(IntCC::Equal, own, literal)).collect()
    }

    /// Partitions the active lanes: each mask takes its share of the remaining ones, and the last gets the
    /// rest.
    fn choice(&mut self, masks: &[Vec<ir::Value>]) -> Vec<Vec<ir::Value>> {
        let mut rest = match self.active() {
            Some(active) => active,
            None => vec![self.all_lanes(); masks[0].len()],
        };
        let mut shares = Vec::new();
        for mask in masks {
            let pairs = || rest.iter().copied().zip(mask.iter().copied()).collect::<Vec<_>>();
            let share =
                pairs().into_iter().map(|(rest, own)| self.scalar.builder.ins().band(own, rest)).collect();
            let left = pairs()
                .into_iter()
                .map(|(rest, own)| self.scalar.builder.ins().band_not(rest, own))
                .collect();
            shares.push(share);
            rest = left;
        }
        shares.push(rest);
        shares
    }

    /// Diverges: continues along at most one edge, if any of its lanes are active. The others wait.
    fn diverge(&mut self, place: usize, edges: &[EmittedEdge], masks: Vec<Vec<ir::Value>>) {
        let mut now = None;
        for (edge, mask) in edges.iter().zip(masks) {
            if edge.deferred {
                self.arrive(edge, Some(&mask));
            } else {
                now = Some((edge, mask));
            }
        }
        let Some((edge, mask)) = now else { return self.resume_others(place) };
        for (variable, &part) in self.active.clone().into_iter().zip(&mask) {
            self.scalar.builder.def_var(variable, part);
        }
        let (block, args) = self.target(edge);
        let others = self.chain(self.region.steps[place].clone());
        if !self.leaves(place, edge) && edges.iter().any(|edge| self.leaves(place, edge)) {
            // Here too, the edge that stays in the loop is second. The code generator hoists invariants out
            // of a loop only until it has seen code after the loop.
            let none = self.none(&mask);
            self.scalar.builder.ins().brif(none, others, &[], block, &args);
        } else {
            let any = self.any(&mask);
            self.scalar.builder.ins().brif(any, block, &args, others, &[]);
        }
    }

    /// Whether an edge leaves a loop.
    fn leaves(&self, place: usize, edge: &EmittedEdge) -> bool {
        self.scalar.region.exits.contains(&(self.id(place), self.id(edge.to)))
    }

    /// Continues where lanes wait.
    fn resume_others(&mut self, place: usize) {
        let chain = self.chain(self.region.steps[place].clone());
        self.scalar.builder.ins().jump(chain, &[]);
    }

    /// The block that looks for waiting lanes along these steps.
    fn chain(&mut self, steps: Vec<Step>) -> ir::Block {
        if let Some(&block) = self.chains.get(&steps) {
            return block;
        }
        let block = self.scalar.builder.create_block();
        self.chains.insert(steps.clone(), block);
        self.open_chains.push(steps);
        block
    }

    fn fill_chain(&mut self, steps: &[Step]) {
        self.scalar.builder.switch_to_block(self.chains[steps]);
        let Some((&step, rest)) = steps.split_first() else {
            // Every lane has ended.
            return self.scalar.end_lane(DONE);
        };
        match step {
            Step::Enter(place) => {
                self.poll_at_head(place);
                self.scalar.builder.ins().jump(self.entries[place], &[]);
            }
            Step::Test(place) => {
                let others = self.chain(rest.to_vec());
                let any = self.any_waiting(place);
                self.scalar.builder.ins().brif(any, self.entries[place], &[], others, &[]);
            }
            Step::Back(head) => {
                let (others, back) = (self.chain(rest.to_vec()), self.scalar.builder.create_block());
                let any = self.any_waiting(head);
                self.scalar.builder.ins().brif(any, back, &[], others, &[]);
                self.scalar.builder.switch_to_block(back);
                self.poll_at_head(head);
                self.scalar.builder.ins().jump(self.entries[head], &[]);
            }
        }
    }

    fn any_waiting(&mut self, place: usize) -> ir::Value {
        let pending = self.pending[&place].clone();
        let masks: Vec<_> =
            pending.into_iter().map(|variable| self.scalar.builder.use_var(variable)).collect();
        self.any(&masks)
    }

    /// Loops that iterate by waiting poll the interrupt flag, too.
    fn poll_at_head(&mut self, place: usize) {
        if self.region.order.loops.iter().any(|found| found.head == place) {
            let block = &self.work.kernel.blocks[self.id(place).0 as usize];
            self.scalar.poll(block.line.or_else(|| block.insts.iter().find_map(|inst| inst.line)));
        }
    }

    fn carried_in(&self) -> Vec<Value> {
        self.work.carried.live.get(&self.id(0)).cloned().unwrap_or_default()
    }

    fn load_carried(&mut self) {
        for value in self.carried_in() {
            let frame = self.scalar.spaces.frame();
            let offset = self.scalar.carry_offset(value);
            let ty = self.ty(value);
            if self.shape(value).is_scalar() {
                let loaded = self.scalar.builder.ins().load(clif(ty), super::memory::own(), frame, offset);
                self.scalar.define(value, loaded);
                continue;
            }
            let vectors = (0..self.n_vectors(ty))
                .map(|i| {
                    let at = offset + 16 * i as i32;
                    self.scalar.builder.ins().load(vector_type(ty), super::memory::own(), frame, at)
                })
                .collect();
            self.define(value, vectors);
        }
    }

    /// Stores the values that are live after a barrier, each with the lanes of the SIMD group side by side.
    fn store_carried(&mut self, after: BlockId) {
        for value in self.work.carried.live.get(&after).cloned().unwrap_or_default() {
            let frame = self.scalar.spaces.frame();
            let offset = self.scalar.carry_offset(value);
            if self.shape(value).is_scalar() {
                let scalar = self.scalar.value(value);
                self.scalar.builder.ins().store(super::memory::own(), scalar, frame, offset);
                continue;
            }
            for (i, vector) in self.vector(value).into_iter().enumerate() {
                let at = offset + 16 * i as i32;
                self.scalar.builder.ins().store(super::memory::own(), vector, frame, at);
            }
        }
    }
}
