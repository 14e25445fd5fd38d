//! Kernels whose invocations communicate, with a result that does not depend on their order.
//!
//! Between two barriers, an array of the workgroup is in one of three states: each invocation owns its own
//! element, or all read any element, or all update any element by one atomic operation. Every path through a
//! loop or a branch with barriers restores the states. Barriers are under uniform conditions only.

use kps_kernel::{Scalar, Type};

use super::types::annotation;
use super::{Variable, Writer, subgroups};
use crate::data;

/// An array in shared memory.
#[derive(Clone)]
pub struct Shared {
    name: String,
    element: Type,
    len: usize,
    /// For an array with two axes.
    columns: Option<usize>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Owned,
    Read,
    /// By this commutative function.
    Counted(&'static str),
}

const COMMUTATIVE: [&str; 7] =
    ["atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor"];

/// Element types of arrays in which all invocations count.
const COUNTED: [Scalar; 8] =
    [Scalar::I32, Scalar::I32, Scalar::U32, Scalar::U32, Scalar::I64, Scalar::U64, Scalar::F32, Scalar::F64];

impl Shared {
    /// The text of an index, from a flat one.
    fn index(&self, flat: &str) -> String {
        match self.columns {
            Some(columns) => format!("(({flat}) // {columns}, ({flat}) % {columns})"),
            None => flat.to_owned(),
        }
    }

    /// The invocation's own element.
    fn own(&self) -> String {
        match self.columns {
            Some(columns) => format!("{}[l // {columns}, l % {columns}]", self.name),
            None => format!("{}[l]", self.name),
        }
    }
}

impl Writer {
    /// With shared memory, barriers and atomics.
    pub fn group_kernel(&mut self) {
        let mut params = Vec::new();
        let (name, ty) = (self.name("in"), self.small_type());
        params.push(format!("{name}: Array[{}]", annotation(&ty)));
        self.inputs.push(Variable { name, ty, is_fixed: true });
        for _ in 0..1 + self.random.below(2) {
            let param = self.output(1);
            params.push(param);
        }
        let counts = self.name(data::SUMS);
        let counted = *self.random.pick(&COUNTED);
        params.push(format!("{counts}: Array[{counted}]"));
        let state = State::Counted(self.counting(counted));
        let counts = Shared { name: counts, element: counted.into(), len: 8, columns: None, state };
        params.push("n: i32".to_owned());
        self.uniforms.push(Variable { name: "n".to_owned(), ty: Type::I32, is_fixed: true });
        let size = *self.random.pick(&[4, 8, 8, 16, 32, 6]);
        self.group_size = size;
        self.line(&format!("@kernel(precise=True, local_size=({size},))"));
        self.block(&format!("def random_kernel({}):", params.join(", ")), |writer| {
            writer.line("i = global_id.x");
            writer.line("l = local_id.x");
            writer.declare_fixed("i", &Type::I32);
            writer.declare_fixed("l", &Type::I32);
            writer.declare_fixed("n", &Type::I32);
            for _ in 0..1 + writer.random.below(2) {
                writer.shared(size);
            }
            for _ in 0..2 + writer.random.below(2) {
                writer.declaration();
            }
            writer.may_return = false;
            writer.shared.push(counts);
            for _ in 0..3 + writer.random.below(4) {
                writer.phase(2);
            }
            for output in writer.outputs.clone() {
                let value = writer.value(&output.ty, 2);
                writer.line(&format!("{} = {value}", output.name));
            }
        });
    }

    /// An array with an element for each invocation, which initialises it.
    fn shared(&mut self, size: usize) {
        let (name, element) = (self.name("part"), self.small_type());
        let columns = self.random.one_in(3).then_some(if size.is_multiple_of(4) { 4 } else { 2 });
        let shape = match columns {
            Some(columns) => format!("{}, {columns}", size / columns),
            None => size.to_string(),
        };
        self.line(&format!("{name} = shared({}, {shape})", annotation(&element)));
        let value = self.value(&element, 2);
        let shared = Shared { name, element, len: size, columns, state: State::Owned };
        self.line(&format!("{} = {value}", shared.own()));
        self.shared.push(shared);
    }

    /// Statements up to a barrier, or a loop or a branch of such.
    fn phase(&mut self, depth: usize) {
        let states: Vec<State> = self.shared.iter().map(|shared| shared.state).collect();
        match self.random.below(if depth == 0 { 4 } else { 6 }) {
            0..4 => {
                self.between_barriers();
                self.barrier();
            }
            4 => {
                let head = match self.random.below(3) {
                    0 => format!("for {} in range({}):", self.name("k"), 1 + self.random.below(3)),
                    1 => format!("for {} in range(n & 3):", self.name("k")),
                    _ => format!("for {} in range(group_id.x % 3):", self.name("k")),
                };
                self.phases(&head, depth, &states);
            }
            _ => {
                let condition =
                    *self.random.pick(&["n > 3", "group_id.x == 0", "n % 2 == 0 or group_id.x > 1"]);
                self.phases(&format!("if {condition}:"), depth, &states);
                if self.random.one_in(2) {
                    self.phases("else:", depth, &states);
                }
            }
        }
    }

    fn phases(&mut self, head: &str, depth: usize, states: &[State]) {
        self.block(head, |writer| {
            for _ in 0..1 + writer.random.below(2) {
                writer.phase(depth - 1);
            }
            // The next phase finds the arrays in the same states.
            writer.between_barriers();
            writer.line("barrier()");
            for (shared, state) in writer.shared.iter_mut().zip(states) {
                shared.state = *state;
            }
        });
    }

    fn barrier(&mut self) {
        self.line("barrier()");
        // The last one is the host's array, which only counts.
        let n = self.shared.len() - 1;
        for at in 0..n {
            let int = self.shared[at].element.scalar().filter(|scalar| scalar.is_int());
            let is_number = matches!(self.shared[at].element, Type::Scalar(_));
            self.shared[at].state = match (self.random.below(3), int) {
                (0, Some(int)) if is_number => State::Counted(self.counting(int)),
                (0 | 1, _) => State::Owned,
                _ => State::Read,
            };
        }
    }

    fn between_barriers(&mut self) {
        let (n_variables, n_inputs, n_planes) = (self.variables.len(), self.inputs.len(), self.planes.len());
        let n_helpers = self.helpers.len();
        for shared in self.shared.clone() {
            match shared.state {
                State::Owned => self.declare(&shared.own(), &shared.element),
                State::Read => {
                    let arrays = if shared.columns.is_some() { &mut self.planes } else { &mut self.inputs };
                    arrays.push(Variable { name: shared.name, ty: shared.element, is_fixed: true });
                }
                State::Counted(_) => {}
            }
        }
        if self.group_size <= subgroups::MAX_INVOCATIONS && self.random.one_in(2) {
            self.subgroup_variable();
        }
        for _ in 0..1 + self.random.below(2) {
            match self.random.below(3) {
                0 => self.count(),
                1 => {
                    let condition = self.condition(2);
                    self.block(&format!("if {condition}:"), |writer| {
                        writer.count();
                        writer.statements(1);
                    });
                }
                _ => {
                    let head = "if True:";
                    self.block(head, |writer| writer.statements(2));
                }
            }
        }
        self.variables.truncate(n_variables);
        self.inputs.truncate(n_inputs);
        self.planes.truncate(n_planes);
        // A lambda could read values that others change after the barrier.
        self.helpers.truncate(n_helpers);
    }

    /// Updates any element without reading it, or reads and updates the invocation's own.
    fn count(&mut self) {
        let shared = self.random.pick(&self.shared).clone();
        let Type::Scalar(scalar) = shared.element else { return self.declaration() };
        let value = self.value(&shared.element, 2);
        match shared.state {
            State::Counted(function) => {
                // Sums of few small floats are exact in any order.
                let value = match scalar.is_float() {
                    true => format!("{scalar}({} & 7)", self.plain_int()),
                    false => value,
                };
                let index = shared.index(&format!("{} % {}", self.plain_int(), shared.len));
                self.line(&format!("{function}({}, {index}, {value})", shared.name));
            }
            State::Owned if scalar.is_int() => {
                let own = shared.index("l");
                let name = self.name("v");
                let call = match self.random.below(9) {
                    0 => format!("atomic_exchange({}, {own}, {value})", shared.name),
                    1 => {
                        let expected = self.value(&shared.element, 1);
                        format!("atomic_compare_exchange({}, {own}, {expected}, {value})", shared.name)
                    }
                    _ => format!("{}({}, {own}, {value})", self.random.pick(&COMMUTATIVE), shared.name),
                };
                self.line(&format!("{name} = {call}"));
                self.declare(&name, &shared.element);
            }
            _ => self.declaration(),
        }
    }

    /// A commutative function for numbers of the type.
    fn counting(&mut self, scalar: Scalar) -> &'static str {
        if scalar.is_float() { COMMUTATIVE[0] } else { COMMUTATIVE[self.random.below(COMMUTATIVE.len())] }
    }
}
