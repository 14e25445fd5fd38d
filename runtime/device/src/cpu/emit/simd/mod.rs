//! SIMD code: neighbouring lanes of a row run a region together, as [`Plan`] says.
//!
//! Uniform values, and the first lane of linear ones, are scalars from the scalar emitter. Varying values are
//! 128-bit vectors of four lanes, or two for 64-bit values. Booleans are masks of 32 bits. Operations without
//! a vector form run lane by lane with the scalar emitter. The results equal those of scalar code, bit for
//! bit.
//!
//! [`flow`] emits control flow, [`values`] converts values between their forms, and [`ops`] has the vector
//! operations. [`memory`] emits accesses, and [`exchange`] those that are not contiguous. [`subgroup`] has
//! subgroup operations, [`instrument`] calls the observer, and [`stamps`] skips rows without conflicts.

mod exchange;
mod flow;
mod frame;
mod images;
mod instrument;
mod memory;
mod ops;
mod stamps;
mod subgroup;
mod values;

use cranelift_codegen::ir;
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::exchange::{gather, scatter};
use self::memory::{Row, Tested};
use super::scalar::{Emitter, lanes_wait};
use super::trampolines::Trampolines;
use super::{LineTable, SimdWork, Target, Work};
use crate::cpu::instrumentation::shared::StampForm;
use crate::cpu::lane::frames::is_own;
use crate::cpu::lane::shapes::{Shape, Shapes};
use crate::cpu::lane::simd::{Across, Plan, RegionPlan, Step};
use crate::cpu::lane::{Inst, Op, Value};

/// Lanes of one vector of 32-bit values.
const LANES: u32 = 4;
/// Bytes for each carried value of a lane.
pub const CARRIED_BYTES: u32 = 8;

/// Emits the body of a region's function.
pub(super) fn emit(
    work: Work<'_>,
    target: Target,
    simd: SimdWork<'_>,
    read_ahead: Option<ir::FuncRef>,
    lines: &mut LineTable,
    builder: FunctionBuilder<'_>,
    config: TargetFrontendConfig,
) {
    let SimdWork { plan, region, trampolines, .. } = simd;
    let mut scalar = Emitter::new(work, target, lines, builder);
    match plan.across {
        Across::Row => scalar.width = plan.width,
        Across::Groups => scalar.groups_at_once = plan.width,
    }
    scalar.lane_bytes = if work.carried.offsets.is_empty() { 0 } else { CARRIED_BYTES };
    scalar.along_rows = plan.along_rows;
    scalar.carried_values.clear();
    let shapes = Shapes::with(work.kernel, plan.across, plan.shapes.clone());
    let lazy = values::lazy(work, plan, region, &shapes);
    let rows = memory::rows(&mut scalar, plan, region, &shapes, &lazy);
    let (tested, only_tested) = memory::tested(work, region, &shapes, &rows);
    let has_regions = lanes_wait(work.kernel, work.regions);
    let stamp_form = StampForm::of(&work.kernel.sites);
    scalar.groups(&mut |scalar| {
        let frame = frame::start(scalar, has_regions);
        let mut simd = SimdGroup {
            plan,
            region,
            trampolines,
            read_ahead,
            shapes: &shapes,
            lazy: &lazy,
            rows: &rows,
            tested: &tested,
            only_tested: &only_tested,
            place: 0,
            made: Made::default(),
            variables: FxHashMap::default(),
            exit_values: FxHashMap::default(),
            entries: Vec::new(),
            active: Vec::new(),
            pending: FxHashMap::default(),
            chains: FxHashMap::default(),
            open_chains: Vec::new(),
            exchange: None,
            columns: None,
            frame,
            texel: None,
            stamp_form,
            work,
            scalar,
        };
        simd.region();
    });
    scalar.finish(config);
}

struct SimdGroup<'g, 'k, 'b> {
    scalar: &'g mut Emitter<'k, 'b>,
    work: Work<'k>,
    plan: &'g Plan,
    region: &'g RegionPlan,
    trampolines: Trampolines,
    /// The module's [`read_ahead`](super::trampolines::read_ahead).
    read_ahead: Option<ir::FuncRef>,
    shapes: &'g Shapes<'k>,
    /// Values that are computed where an address uses them, lane by lane.
    lazy: &'g FxHashSet<Value>,
    /// Addresses whose lanes have a constant stride.
    rows: &'g FxHashMap<Value, Row>,
    /// Selects that are merged into loads, and these loads.
    tested: &'g FxHashMap<Value, Tested>,
    only_tested: &'g FxHashSet<Value>,
    /// The block being emitted.
    place: usize,
    made: Made,
    /// Varying values that are used outside the block that defines them.
    variables: FxHashMap<Value, Vec<Variable>>,
    /// Values that leave loops: each lane's last one.
    exit_values: FxHashMap<Value, Vec<Variable>>,
    entries: Vec<ir::Block>,
    /// The mask of active lanes, in blocks where lanes may have diverged.
    active: Vec<Variable>,
    /// The masks of waiting lanes, by block.
    pending: FxHashMap<usize, Vec<Variable>>,
    /// Blocks that look for waiting lanes.
    chains: FxHashMap<Vec<Step>, ir::Block>,
    open_chains: Vec<Vec<Step>>,
    /// Stack memory for accesses that turn out not to be rows.
    exchange: Option<ir::StackSlot>,
    /// Stack memory for arguments and results of functions.
    columns: Option<ir::StackSlot>,
    /// The start of the lanes' private memory.
    frame: Option<ir::Value>,
    /// Stack memory for a texel.
    texel: Option<ir::StackSlot>,
    stamp_form: StampForm,
}

/// Values that the current block has already.
#[derive(Clone, Default)]
struct Made {
    vectors: FxHashMap<Value, Vec<ir::Value>>,
    /// Single lanes.
    lanes: FxHashMap<(Value, u32), ir::Value>,
}

impl<'k> SimdGroup<'_, 'k, '_> {
    fn shape(&self, value: Value) -> Shape {
        self.plan.shapes[value.0 as usize]
    }

    /// Emits code in a branch of its own. Values computed there are not available after it.
    fn aside<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (made, ready) = (self.made.clone(), self.scalar.ready.clone());
        let result = work(self);
        self.made = made;
        self.scalar.ready = ready;
        result
    }

    fn inst(&mut self, inst: &'k Inst) {
        match (&inst.op, inst.result) {
            (Op::Store { address, offset, value }, _) => self.store(&inst.op, *address, *offset, *value),
            (Op::StoreNarrow { address, value, .. }, _) => self.store_apart(&inst.op, *address, *value),
            (Op::Image { image, action, place, texel }, _) => self.image(*image, *action, *place, *texel),
            (Op::Clear { start, size }, _) => self.clear(*start, *size),
            (Op::Subgroup(op), _) => self.subgroup_op(op),
            (Op::Instrument { site_id, values, when }, _) => self.instrument(*site_id, values, *when),
            (op, Some(result)) => self.result(op, result),
            (op, None) => unreachable!("{op:?} has a result"),
        }
    }

    fn result(&mut self, op: &'k Op, result: Value) {
        match (op, self.shape(result)) {
            // It is computed where it is used.
            (Op::Address(address), _) if is_own(address) => {}
            (Op::Address(address), _)
                if address.dynamic.is_some_and(|at| self.shape(at) != Shape::Uniform) => {}
            (Op::Atomic { .. } | Op::CompareExchange { .. }, _) => {
                let vectors = self.one_by_one(op, result);
                self.define(result, vectors);
            }
            (Op::LoadNarrow { .. } | Op::AtomicLoad { .. }, Shape::Varying) => {
                let vectors = self.each_lane(op);
                self.define(result, vectors);
            }
            (Op::Load { .. }, Shape::Varying) if self.only_tested.contains(&result) => {}
            (Op::Select(..), Shape::Varying) if self.tested.contains_key(&result) => {
                let tested = self.tested;
                let vectors = self.load_tested(&tested[&result]);
                self.define(result, vectors);
            }
            (Op::Load { ty, address, offset }, Shape::Varying) => {
                let vectors = self.load(op, *ty, *address, *offset);
                self.define(result, vectors);
            }
            (_, Shape::Varying) if self.lazy.contains(&result) => {}
            (_, Shape::Varying) => {
                let vectors = self.vector_op(op);
                self.define(result, vectors);
            }
            (_, shape) => self.first_lane(op, result, shape),
        }
    }

    /// Emits a uniform value, or the first lane of a linear one.
    fn first_lane(&mut self, op: &'k Op, result: Value, shape: Shape) {
        let first = match self.shapes.guarded(op).filter(|_| shape != Shape::Uniform) {
            Some(guarded) => self.scalar.value(guarded.then),
            None => self.scalar.op(op).expect("an operation with a shape has a result"),
        };
        self.scalar.note(op, result);
        if shape.is_scalar() {
            self.scalar.define(result, first);
            return;
        }
        self.scalar.values[result.0 as usize] = Some(first);
        if !self.lazy.contains(&result) {
            let vectors = self.vector_op(op);
            self.define(result, vectors);
        }
    }
}
