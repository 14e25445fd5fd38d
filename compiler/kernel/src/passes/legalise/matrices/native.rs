//! Native operations: instructions on matrices that the subgroup holds.
//!
//! Loads and stores call `library/tiles.kps`, which tests that a matrix is inside its array. The first invocation of the
//! subgroup determines where the matrix begins. At the boundary of an array, these functions read numbers from shared
//! memory, which the kernel writes at its start.

use crate::constant::Constant;
use crate::infer::{LibraryArg, LibraryFunctions};
use crate::ir::build::Builder;
use crate::ir::{
    Array, Block, BufferId, CoopArray, CoopKind, CoopMatrix, CoopOp, Function, Home, Kernel, Local, LocalId,
    NodeId, NodeKind, Origin, Place, Root, Shared, SharedId, Stmt, SubgroupOp, Together, UnaryOp, walk,
};
use crate::matrices::{CoopType, CoopUse, MAX_SIDE, Product};
use crate::signature::{Target, Width};
use crate::template::Input;
use crate::types::{Scalar, Type};

/// The alignment in bytes of the lines of a matrix in memory, unless they are shorter.
const ALIGNMENT: u32 = 16;

/// The name of shared memory with numbers.
const NUMBERS: &str = "kps.numbers";

/// Shared memory with the numbers from 1 on, for each type of which a matrix is moved. For `bf16`, their bits.
type Numbers = Vec<(Scalar, SharedId)>;

/// Whether the target has an instruction for an operation.
pub(super) fn has_instruction(op: &CoopOp, function: &Function, kernel: &Kernel, target: &Target) -> bool {
    let products = &target.matrices;
    let Some(matrix) = op.matrix.place.ty.coop() else { return false };
    // No instruction computes with `bf16`s.
    let computes = |of: &CoopMatrix| {
        let is_one = |coop: CoopType| products.take(&coop) && coop.scalar != Scalar::Bf16;
        is_one(matrix) && of.place.ty.coop().is_some_and(is_one)
    };
    match &op.kind {
        CoopKind::Zero | CoopKind::Fill(_) => products.take(&matrix),
        CoopKind::MultiplyAdd(a, b) => {
            let (Some(a), Some(b)) = (a.place.ty.coop(), b.place.ty.coop()) else { return false };
            let (m, n) = (matrix.rows, matrix.columns);
            let product = Product { m, n, k: a.columns, factor: a.scalar, sum: matrix.scalar };
            let uses = [matrix.purpose, a.purpose, b.purpose];
            // In a precise kernel every sum is computed in source order.
            let is_in_order = kernel.precise && matrix.scalar.is_float();
            uses == [CoopUse::Accumulator, CoopUse::A, CoopUse::B] && products.has(product) && !is_in_order
        }
        CoopKind::Load(at) | CoopKind::Store(at) => is_accessible(&at.array, function),
        CoopKind::Sum(_, a, b) => computes(a) && a.place.ty == b.place.ty,
        CoopKind::Scaled(_, of, _) | CoopKind::Negated(of) => computes(of),
        // The conversion instructions do not saturate at the limits of an int type.
        CoopKind::Converted(of) => {
            let is_of_floats = of.place.ty.coop().is_some_and(|of| of.scalar.is_float());
            computes(of) && !(is_of_floats && matrix.scalar.is_int())
        }
        CoopKind::Part => false,
    }
}

fn is_accessible(array: &Array, function: &Function) -> bool {
    match array {
        Array::Buffer(buffer) => matches!(buffer, BufferId::Param(_)),
        // Workgroup memory stores `bf16` as f32.
        Array::Place(Place { root: Root::Local(local), path, ty }) => {
            let is_shared = matches!(function.local(*local).home, Home::Workgroup(_));
            is_shared
                && path.is_empty()
                && ty.part(0).and_then(|element| element.scalar()) != Some(Scalar::Bf16)
        }
        Array::Place(_) => false,
    }
}

pub(super) fn expand(
    op: CoopOp,
    builder: &mut Builder,
    (kernel, numbers): (&Kernel, &Numbers),
    library: &mut LibraryFunctions,
) {
    let CoopOp { kind, matrix, .. } = op;
    let scalar = coop_of(&matrix).scalar;
    let value = match kind {
        CoopKind::Part => return,
        CoopKind::Load(from) => {
            let args = args_of_move(matrix, from, builder, (kernel, numbers));
            return library.call(builder, "tile_load", args);
        }
        CoopKind::Store(to) => {
            let args = args_of_move(matrix, to, builder, (kernel, numbers));
            return library.call(builder, "tile_store", args);
        }
        CoopKind::Zero => {
            let zero = builder.constant(Constant::zero(scalar));
            builder.node(NodeKind::Splat(zero), matrix.place.ty.clone())
        }
        CoopKind::Fill(value) => builder.node(NodeKind::Splat(value), matrix.place.ty.clone()),
        CoopKind::MultiplyAdd(a, b) => {
            let [sum, a, b] = [&matrix, &a, &b].map(|matrix| load(matrix, builder));
            builder.node(NodeKind::CoopMultiplyAdd { sum, a, b }, matrix.place.ty.clone())
        }
        CoopKind::Sum(op, a, b) => {
            let [a, b] = [&a, &b].map(|matrix| load(matrix, builder));
            builder.binary(op, a, b)
        }
        CoopKind::Scaled(op, of, factor) => {
            let value = load(&of, builder);
            let factors = builder.node(NodeKind::Splat(factor), of.place.ty);
            builder.binary(op, value, factors)
        }
        CoopKind::Negated(of) => {
            let value = load(&of, builder);
            builder.node(NodeKind::Unary(UnaryOp::Negate, value), of.place.ty)
        }
        CoopKind::Converted(of) => {
            let value = load(&of, builder);
            match of.place.ty == matrix.place.ty {
                true => value,
                false => builder.node(NodeKind::Convert(value), matrix.place.ty.clone()),
            }
        }
    };
    builder.stmt(matrix.place.store(value, builder.span));
}

fn coop_of(matrix: &CoopMatrix) -> CoopType {
    let Type::Coop(coop) = matrix.place.ty else { unreachable!("the subgroup holds all matrices") };
    coop
}

fn load(CoopMatrix { place, .. }: &CoopMatrix, builder: &mut Builder) -> NodeId {
    builder.node(place.load(), place.ty.clone())
}

/// The arguments of a function in `library/tiles.kps` that loads or stores a matrix.
fn args_of_move(
    matrix: CoopMatrix,
    CoopArray { array, width, start, stride, lines }: CoopArray,
    builder: &mut Builder,
    (kernel, numbers): (&Kernel, &Numbers),
) -> Vec<LibraryArg> {
    let coop = coop_of(&matrix);
    let is_wide = matches!(array, Array::Buffer(buffer) if kernel.buffers[buffer.idx()].counts == Width::Wide)
        || [start, stride].iter().any(|node| builder.ty(*node) == Scalar::I64.into());
    let index = if is_wide { Scalar::I64 } else { Scalar::I32 };
    let [start, stride] = [start, stride].map(|node| of_subgroup(node, index, builder));
    let n_each = lines.choose(coop.columns, coop.rows);
    let line_bytes = n_each * coop.scalar.bytes();
    let align = (line_bytes.min(ALIGNMENT) / (width * coop.scalar.bytes())).max(1);
    let id =
        numbers.iter().find(|(scalar, _)| *scalar == coop.scalar).expect("each moved type has numbers").1;
    vec![
        matrix.into(),
        LibraryArg::Array(array),
        LibraryArg::Node(start),
        LibraryArg::Node(stride),
        LibraryArg::Int(lines.choose(coop.rows, coop.columns)),
        LibraryArg::Int(n_each),
        LibraryArg::Int(align),
        LibraryArg::Int(width),
        LibraryArg::Int(lines.choose(0, 1)),
        LibraryArg::Array(numbers_at(id, coop.scalar, builder)),
    ]
}

/// An index, as the first invocation of the subgroup computes it.
fn of_subgroup(index: NodeId, scalar: Scalar, builder: &mut Builder) -> NodeId {
    let index = builder.convert(index, scalar);
    if builder.function.constant(index).is_some() {
        return index;
    }
    let kind = NodeKind::Subgroup { op: SubgroupOp::FromFirst, value: Some(index), lane: None };
    builder.node(kind, scalar)
}

// The numbers.

/// The types of the matrices that a kernel loads or stores.
pub(super) fn moved_scalars(kernel: &Kernel) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    for function in &kernel.functions {
        walk(&function.body, &mut |stmt| {
            if let Stmt::Coop(op) = stmt
                && let CoopOp { kind: CoopKind::Load(_) | CoopKind::Store(_), matrix, .. } = &**op
                && let Some(coop) = matrix.place.ty.coop()
                && !scalars.contains(&coop.scalar)
            {
                scalars.push(coop.scalar);
            }
        });
    }
    scalars
}

pub(super) fn type_of_numbers(scalar: Scalar) -> Type {
    Type::array(MAX_SIDE, scalar.in_buffers().into())
}

/// Adds the shared memory for numbers of these types.
pub(super) fn add_numbers(kernel: &mut Kernel, scalars: Vec<Scalar>) -> Numbers {
    let main = kernel.functions.last().expect("the kernel itself is the last one");
    let at = main.source.at(main.span);
    let mut add = |scalar| {
        let ty = type_of_numbers(scalar);
        kernel.shared.push(Shared { name: NUMBERS.into(), ty, at: at.clone() });
        (scalar, SharedId(kernel.shared.len() as u32 - 1))
    };
    scalars.into_iter().map(&mut add).collect()
}

/// Writes the numbers at the start of the kernel.
pub(super) fn write_numbers(
    main: &mut Function,
    local_size: [u32; 3],
    numbers: &Numbers,
    library: &mut LibraryFunctions,
) {
    if numbers.is_empty() {
        return;
    }
    let (span, mut block) = (main.span, Block::new());
    let mut builder = Builder { origin: Origin::Source, ..Builder::at(main, &mut block, span) };
    let first = builder.node(NodeKind::Input(Input::LocalInvocationIndex), Type::U32);
    let first = builder.node(NodeKind::Bitcast(first), Type::I32);
    for (scalar, id) in numbers {
        let name = if *scalar == Scalar::Bf16 { "tile_bits" } else { "tile_numbers" };
        let step = LibraryArg::Int(local_size.iter().product());
        let numbers = numbers_at(*id, *scalar, &mut builder);
        let args = [LibraryArg::Array(numbers), LibraryArg::Type(*scalar), LibraryArg::Node(first), step];
        library.call(&mut builder, name, args);
    }
    builder.stmt(Stmt::Together(Together::Barrier, span));
    block.append(&mut main.body);
    main.body = block;
}

/// The numbers, as a place in this function.
fn numbers_at(id: SharedId, scalar: Scalar, builder: &mut Builder) -> Array {
    let (ty, locals) = (type_of_numbers(scalar), &mut builder.function.locals);
    let local = LocalId(locals.len() as u32);
    locals.push(Local {
        name: NUMBERS.into(),
        ty: ty.clone(),
        span: builder.span,
        home: Home::Workgroup(id),
    });
    Array::Place(Place::local(local, ty))
}
