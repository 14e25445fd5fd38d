//! The names of types, with descriptions. `Type::by_name` gives their meaning.

use super::section::{ALONE, Name, Rows, Section};

const TYPES: &[Name] = &[
    ty("bool", "a truth value"),
    ty("boolean", "`bool`, as PyShader calls it"),
    ty("i8", "a signed int of so many bits"),
    ty("i16", "a signed int of so many bits"),
    ty("i32", "a signed int of so many bits"),
    ty("i64", "a signed int of so many bits"),
    ty("int", "the same as `i32`"),
    ty("u8", "an unsigned int of so many bits"),
    ty("u16", "an unsigned int of so many bits"),
    ty("u32", "an unsigned int of so many bits"),
    ty("u64", "an unsigned int of so many bits"),
    ty("f16", "a float of 16 bits"),
    ty("bf16", "a float of 16 bits with the range of `f32`"),
    ty("f32", "a float of 32 bits"),
    ty("f64", "a float of 64 bits"),
    ty("float", "the same as `f32`"),
    ty("vec2", "a vector of `f32`"),
    ty("vec3", "a vector of `f32`"),
    ty("vec4", "a vector of `f32`"),
    ty("ivec2", "a vector of `i32`"),
    ty("ivec3", "a vector of `i32`"),
    ty("ivec4", "a vector of `i32`"),
    ty("uvec2", "a vector of `u32`"),
    ty("uvec3", "a vector of `u32`"),
    ty("uvec4", "a vector of `u32`"),
    ty("bvec2", "a vector of `bool`"),
    ty("bvec3", "a vector of `bool`"),
    ty("bvec4", "a vector of `bool`"),
    ty("dvec2", "a vector of `f64`"),
    ty("dvec3", "a vector of `f64`"),
    ty("dvec4", "a vector of `f64`"),
    ty("hvec2", "a vector of `f16`"),
    ty("hvec3", "a vector of `f16`"),
    ty("hvec4", "a vector of `f16`"),
    ty("mat2", "a square matrix of `f32`"),
    ty("mat3", "a square matrix of `f32`"),
    ty("mat4", "a square matrix of `f32`"),
    ty("mat2x2", "a matrix of `f32`: columns x rows"),
    ty("mat2x3", "a matrix of `f32`: columns x rows"),
    ty("mat2x4", "a matrix of `f32`: columns x rows"),
    ty("mat3x2", "a matrix of `f32`: columns x rows"),
    ty("mat3x3", "a matrix of `f32`: columns x rows"),
    ty("mat3x4", "a matrix of `f32`: columns x rows"),
    ty("mat4x2", "a matrix of `f32`: columns x rows"),
    ty("mat4x3", "a matrix of `f32`: columns x rows"),
    ty("mat4x4", "a matrix of `f32`: columns x rows"),
    ty("Vector(n, T)", "a vector of 2 to 4 components"),
    ty("Matrix(columns, rows, T)", "a matrix of floats"),
    ty("Array[T]", "an array: a parameter `Array[T]` or `Array[T, ndim]`, a fixed one `Array(n, T)`"),
    ty("Struct(a=T, b=T)", "a struct without a name"),
];

const fn ty(name: &'static str, doc: &'static str) -> Name {
    Name { name, doc }
}

/// The bare names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|ty| ty.bare())
}

pub static SECTION: Section = Section {
    title: "Types",
    about: "Each type is a function that converts to it: `f32(n)`, `vec3(x, y, z)`.",
    rows: Rows::Names(TYPES),
    setup: ALONE,
};
