//! Kernels whose invocations work together, so that whatever their order is, the result is the same.
//!
//! Between two barriers, an array of the workgroup is in one of three states: each invocation has its own
//! element to itself, or all read what they like, or all add to any element by one atomic operation. Every
//! way through a loop or a branch with barriers leaves the arrays as it found them. Barriers stand under
//! conditions that are the same for the whole workgroup.

use kps_kernel::{Kind, Scalar, Type};

use super::types::annotation;
use super::{Variable, Writer};

/// An array of the workgroup.
#[derive(Clone)]
pub struct Shared {
    name: String,
    element: Type,
    len: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Owned,
    Read,
    /// By this function, whose order does not matter.
    Counted(&'static str),
}

const COMMUTATIVE: [&str; 7] =
    ["atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor"];

impl Writer {
    /// With shared memory, barriers and atomics.
    pub fn group_kernel(&mut self) {
        let mut params = Vec::new();
        let (name, ty) = (self.name("in"), self.small_type());
        params.push(format!("{name}: Array[{}]", annotation(&ty)));
        self.inputs.push(Variable { name, ty, is_fixed: true });
        for _ in 0..1 + self.random.below(2) {
            let (name, ty) = (self.name("out"), self.value_with_layout());
            params.push(format!("{name}: Array[{}]", annotation(&ty)));
            self.outputs.push(Variable { name, ty, is_fixed: true });
        }
        let counts = self.name("counts");
        let counted = if self.random.one_in(2) { Scalar::I32 } else { Scalar::U32 };
        let function = *self.random.pick(&COMMUTATIVE);
        params.push(format!("{counts}: Array[{counted}]"));
        let counts =
            Shared { name: counts, element: counted.into(), len: 8, state: State::Counted(function) };
        params.push("n: i32".to_owned());
        let size = *self.random.pick(&[4, 8, 16, 32, 6]);
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
                writer.line(&format!("{}[i] = {value}", output.name));
            }
        });
    }

    /// An array with an element for each invocation, which sets it.
    fn shared(&mut self, size: usize) {
        let (name, element) = (self.name("part"), self.small_type());
        self.line(&format!("{name} = shared({}, {size})", annotation(&element)));
        let value = self.value(&element, 2);
        self.line(&format!("{name}[l] = {value}"));
        self.shared.push(Shared { name, element, len: size, state: State::Owned });
    }

    /// What happens up to a barrier, or a loop or a branch of such.
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
            // Whatever it did, what comes next finds the arrays as they were.
            writer.between_barriers();
            writer.line("barrier()");
            for (shared, state) in writer.shared.iter_mut().zip(states) {
                shared.state = *state;
            }
        });
    }

    fn barrier(&mut self) {
        self.line("barrier()");
        // The last one is the host's array, which is only ever counted in.
        let n = self.shared.len() - 1;
        for at in 0..n {
            let is_int = matches!(self.shared[at].element, Type::Scalar(scalar) if scalar.is_int() && scalar.bits() == 32);
            self.shared[at].state = match self.random.below(if is_int { 3 } else { 2 }) {
                0 => State::Owned,
                1 => State::Read,
                _ => State::Counted(COMMUTATIVE[self.random.below(COMMUTATIVE.len())]),
            };
        }
    }

    fn between_barriers(&mut self) {
        let (n_variables, n_inputs) = (self.variables.len(), self.inputs.len());
        let n_helpers = self.helpers.len();
        for shared in self.shared.clone() {
            match shared.state {
                State::Owned => self.declare(&format!("{}[l]", shared.name), &shared.element),
                State::Read => {
                    self.inputs.push(Variable { name: shared.name, ty: shared.element, is_fixed: true });
                }
                State::Counted(_) => {}
            }
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
        // A lambda may look at what others change behind the barrier.
        self.helpers.truncate(n_helpers);
    }

    /// Into any element, without looking at what was there; or into one's own, with a look at it.
    fn count(&mut self) {
        let shared = self.random.pick(&self.shared).clone();
        let Type::Scalar(scalar) = shared.element else { return self.declaration() };
        let value = self.value(&shared.element, 2);
        match shared.state {
            State::Counted(function) => {
                let index = format!("{} % {}", self.plain_int(), shared.len);
                self.line(&format!("{function}({}, {index}, {value})", shared.name));
            }
            State::Owned
                if scalar.kind() != Kind::Bool && scalar.kind() != Kind::Float && scalar.bits() == 32 =>
            {
                let function = *self.random.pick(&COMMUTATIVE);
                let name = self.name("v");
                self.line(&format!("{name} = {function}({}, l, {value})", shared.name));
                self.declare(&name, &shared.element);
            }
            _ => self.declaration(),
        }
    }
}
