//! Functions of vectors and matrices.

use super::row::{FUNCTION, Gives, Row, any, matrix, number};
use super::section::{ALONE, Rows, Section};
use super::typing::{NumberRule, Typing, ValueRule};
use crate::intrinsics::bound::Domain::Numbers;
use crate::intrinsics::rows::Source::Vulkan;
use crate::intrinsics::rows::within;
use crate::intrinsics::steps;
use crate::ir::{Body, GeometryFn, MathFn};

pub static SECTION: Section =
    Section { title: "Vectors and matrices", about: "", rows: Rows::Functions(ROWS), setup: ALONE };

static DETERMINANT: MathFn = MathFn::of(Body::Square("determinant"));
static INVERSE: MathFn = MathFn::of(Body::Square("inverse"));

const ROWS: &[Row] = &[
    Row {
        names: &["dot"],
        params: &[any("a"), any("b")],
        result: Gives::Scalar,
        typing: Typing::Value(ValueRule::Dot),
        floats: &[within("dot(vec2(x, y), vec2(y, z))", Numbers, steps::DOT, Vulkan, steps::DOT)],
        exact: &["dot(vec2(x, y), vec2(y, z))"],
        doc: "The dot product.",
        example: "dot(vec2(1, 2), vec2(3, 4))",
        ..FUNCTION
    },
    Row {
        names: &["cross"],
        params: &[number("a"), number("b")],
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::Cross)),
        floats: &[within(
            "cross(vec3(x, y, z), vec3(z, x, y)).x",
            Numbers,
            steps::CROSS,
            Vulkan,
            steps::CROSS,
        )],
        doc: "The cross product of two vectors of three components.",
        example: "cross(vec3(1, 0, 0), vec3(0, 1, 0))",
        ..FUNCTION
    },
    Row {
        names: &["length"],
        params: &[number("v")],
        result: Gives::Scalar,
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::Length)),
        floats: &[within("length(vec2(x, y))", Numbers, steps::LENGTH, Vulkan, steps::LENGTH)],
        external: &[(&["norm", "magnitude"], "write `length(v)` of a vector, `abs(x)` of one number")],
        doc: "The length of a vector.",
        example: "length(vec2(3, 4))",
        ..FUNCTION
    },
    Row {
        names: &["distance"],
        params: &[number("a"), number("b")],
        result: Gives::Scalar,
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::Distance)),
        floats: &[within(
            "distance(vec2(x, y), vec2(y, z))",
            Numbers,
            steps::DISTANCE,
            Vulkan,
            steps::DISTANCE,
        )],
        doc: "The length of the difference.",
        example: "distance(vec2(1, 1), vec2(4, 5))",
        ..FUNCTION
    },
    Row {
        names: &["normalize"],
        params: &[number("v")],
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::Normalize)),
        floats: &[within("normalize(vec2(x, y)).x", Numbers, steps::NORMALIZE, Vulkan, steps::NORMALIZE)],
        doc: "A vector of the same direction and length 1, `v / length(v)`.",
        example: "normalize(vec2(3, 4))",
        ..FUNCTION
    },
    Row {
        names: &["face_forward"],
        params: &[number("n"), number("i"), number("reference")],
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::FaceForward)),
        floats: &[within(
            "face_forward(vec2(x, y), vec2(y, z), vec2(z, x)).x",
            Numbers,
            steps::FACE_FORWARD,
            Vulkan,
            steps::FACE_FORWARD,
        )],
        doc: "The vector `n`, or `-n` where `i` and `reference` point the same way, as in GLSL.",
        example: "face_forward(vec2(0, 1), vec2(0, 1), vec2(0, 1))",
        ..FUNCTION
    },
    Row {
        names: &["reflect"],
        params: &[number("i"), number("n")],
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::Reflect)),
        floats: &[within(
            "reflect(vec2(x, y), vec2(y, z)).x",
            Numbers,
            steps::REFLECT,
            Vulkan,
            steps::REFLECT,
        )],
        doc: "The direction `i` reflected by a surface with the normal `n`, as in GLSL.",
        example: "reflect(vec2(1, -1), vec2(0, 1))",
        ..FUNCTION
    },
    Row {
        names: &["refract"],
        params: &[number("i"), number("n"), any("eta")],
        typing: Typing::Numbers(NumberRule::Geometry(GeometryFn::Refract)),
        floats: &[within(
            "refract(vec2(x, y), vec2(y, z), z).x",
            Numbers,
            steps::REFRACT,
            Vulkan,
            steps::REFRACT,
        )],
        doc: "The direction `i` refracted by a surface with the normal `n`, as in GLSL.",
        example: "refract(vec2(0, -1), vec2(0, 1), 0.5)",
        ..FUNCTION
    },
    Row {
        names: &["transpose"],
        params: &[matrix("m")],
        typing: Typing::Value(ValueRule::Transpose),
        doc: "The matrix with its rows as columns.",
        example: "transpose(mat2(1, 2, 3, 4))",
        ..FUNCTION
    },
    Row {
        names: &["determinant"],
        params: &[matrix("m")],
        result: Gives::Scalar,
        typing: Typing::Value(ValueRule::SquareMatrix(&DETERMINANT)),
        doc: "The determinant of a square matrix.",
        example: "determinant(mat2(1, 2, 3, 4))",
        ..FUNCTION
    },
    Row {
        names: &["inverse", "matrix_inverse"],
        params: &[matrix("m")],
        typing: Typing::Value(ValueRule::SquareMatrix(&INVERSE)),
        doc: "The inverse of a square matrix.",
        example: "inverse(mat2(2, 0, 0, 4))",
        ..FUNCTION
    },
];
