//! Texels of images, and the end of a fragment.

use super::row::{FUNCTION, Gives, Row, Stages, any, texture};
use super::section::{ALONE, Rows, Section, Setup};
use super::typing::{Typing, ValueRule};

pub static SECTION: Section = Section {
    title: "Images",
    about: "Images also have these functions as methods: see [Images](../guide/images.md).\n\
            In the examples `image` and `photo` have 2 x 2 texels, which are 1, 2, 3 and 4.",
    rows: Rows::Functions(ROWS),
    setup: Setup {
        params: "image: Image[\"2d r32f\"], photo: Image[\"2d f32\"], sampler: Sampler",
        args: "image(), image(), kp.Sampler()",
        ..ALONE
    },
};

const ROWS: &[Row] = &[
    Row {
        names: &["read", "imageLoad"],
        params: &[texture("image"), any("at").sample("ivec2(x, y)")],
        result: Gives::Other("a vector of four components"),
        typing: Typing::Value(ValueRule::TextureRead),
        external: &[(
            &["texture", "texture2D", "textureLod", "texelFetch", "tex2D"],
            "declare an image, `img: Image[\"2d r32f\"]`, and write `img.read(ivec2(x, y))`",
        )],
        doc: "One texel, as four components.",
        example: "image.read(ivec2(1, 0))",
        ..FUNCTION
    },
    Row {
        names: &["write", "imageStore"],
        params: &[texture("image"), any("at").sample("ivec2(x, y)"), any("value")],
        result: Gives::Nothing,
        typing: Typing::Value(ValueRule::TextureWrite),
        doc: "Stores one texel.",
        example: "image.write(ivec2(0, 0), 5.0)",
        ..FUNCTION
    },
    Row {
        names: &["sample"],
        params: &[texture("image"), any("sampler"), any("at").sample("vec2(x, y)")],
        result: Gives::Other("a vector of four components"),
        typing: Typing::Value(ValueRule::TextureSample),
        doc: "A filtered value, at coordinates from 0 to 1.",
        example: "photo.sample(sampler, vec2(0.5, 0.5))",
        ..FUNCTION
    },
    Row {
        names: &["discard"],
        result: Gives::Nothing,
        typing: Typing::Value(ValueRule::Discard),
        stages: Stages::Fragment,
        doc: "Ends a fragment.",
        example: "discard()",
        ..FUNCTION
    },
];
