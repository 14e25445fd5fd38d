//! The modules of the standard library that are written in kps, as text.

/// The modules and their texts, by dotted name.
static MODULES: &[(&str, &str)] = &[];

/// The text of a module.
pub fn source(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(module, _)| *module == name).map(|(_, text)| *text)
}
