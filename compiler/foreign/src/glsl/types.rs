//! Converts the type descriptions in glslang's messages to GLSL's names.

/// `const 3-component vector of float` is `vec3`. A description without such a name is unchanged.
pub(super) fn name(description: &str) -> String {
    let description = without_qualifiers(description.trim());
    let words: Vec<&str> = description.split_whitespace().collect();
    match &words[..] {
        ["unsized", _, "array", "of", ..] => format!("{}[]", behind_of(&description)),
        [count, "array", "of", ..] if count.ends_with("-element") => {
            format!("{}[{}]", behind_of(&description), count.trim_end_matches("-element"))
        }
        [count, "vector", "of", scalar, ..] if count.ends_with("-component") => {
            format!("{}vec{}", prefix(scalar), count.trim_end_matches("-component"))
        }
        [shape, "matrix", "of", scalar, ..] => match shape.split_once('X') {
            Some((columns, rows)) if columns == rows => format!("{}mat{columns}", prefix(scalar)),
            Some((columns, rows)) => format!("{}mat{columns}x{rows}", prefix(scalar)),
            None => description.clone(),
        },
        [structure, ..] if structure.starts_with("structure{") => "struct".to_owned(),
        [block, ..] if block.starts_with("block{") => "block".to_owned(),
        [scalar, ..] => (*scalar).to_owned(),
        [] => description.clone(),
    }
}

fn behind_of(description: &str) -> String {
    name(description.split_once(" of ").map_or("", |(_, element)| element))
}

/// The prefix of `vec` and `mat`.
fn prefix(scalar: &str) -> String {
    match scalar {
        "float" => String::new(),
        "int" | "uint" | "bool" | "double" => scalar[..1].to_owned(),
        "float16_t" => "f16".to_owned(),
        _ => match scalar.trim_end_matches("_t").split_once("int") {
            Some((sign, bits)) => format!("{}{bits}", if sign == "u" { "u" } else { "i" }),
            None => format!("{scalar} "),
        },
    }
}

fn without_qualifiers(description: &str) -> String {
    const QUALIFIERS: &str = "const temp global buffer uniform shared in out inout highp mediump lowp readonly \
        writeonly coherent volatile restrict nonprivate nonuniform noContraction flat smooth spec-const specialization-constant";
    let mut rest = description;
    if let Some(layout) = rest.strip_prefix("layout(") {
        rest = layout.split_once(')').map_or(layout, |(_, behind)| behind);
    }
    loop {
        rest = rest.trim_start();
        match rest.split_once(' ') {
            Some((word, behind)) if QUALIFIERS.split_whitespace().any(|known| known == word) => rest = behind,
            _ => return rest.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn descriptions_become_names() {
        let cases = [
            (" const 3-component vector of float", "vec3"),
            ("layout( column_major std430) buffer unsized 1-element array of highp float", "float[]"),
            (" temp 3-element array of highp 2-component vector of uint", "uvec2[3]"),
            ("global highp 4X4 matrix of float", "mat4"),
            (" temp 2X3 matrix of double", "dmat2x3"),
            (" in highp 4-component vector of uint SubgroupEqMask", "uvec4"),
            (" temp 2-component vector of uint8_t", "u8vec2"),
            (" temp structure{ global highp float a,  global highp float b}", "struct"),
        ];
        for (description, expect) in cases {
            assert_eq!(name(description), expect, "{description}");
        }
    }
}
