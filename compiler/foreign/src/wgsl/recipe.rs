//! Records how a module with fixed specialisation constants was compiled, in notes inside the module
//! (`OpModuleProcessed`). The notes and the text, which is in the module too, suffice to compile it again for
//! other values.

use crate::words::{HEADER_WORDS, instructions, is_declaration, is_decoration, n_before, string, text};
use crate::{Options, Stage};

const OP_MODULE_PROCESSED: u32 = 330;

/// The prefix of the first note. A device that finds it cannot set the constants.
const SPECIALISED: &str = "kps.specialised ";
const ENTRY_POINT: &str = "kps.entry_point ";
/// The prefix of a constant without a default.
const UNSET: &str = "kps.unset ";

const STAGES: [(&str, Stage); 3] =
    [("compute", Stage::Compute), ("vertex", Stage::Vertex), ("fragment", Stage::Fragment)];

/// Adds notes to a module on how it was compiled.
pub(crate) fn note(words: Vec<u32>, options: &Options, unset: &[String]) -> Vec<u32> {
    let stage = STAGES.iter().find(|(_, one)| *one == options.stage).map_or("", |(word, _)| word);
    let mut notes = vec![format!("{SPECIALISED}{stage}")];
    notes.extend(options.entry_point.iter().map(|name| format!("{ENTRY_POINT}{name}")));
    notes.extend(unset.iter().map(|name| format!("{UNSET}{name}")));
    let notes: Vec<u32> = notes.iter().flat_map(|note| instruction(note)).collect();
    // Notes are placed between names and decorations.
    let n_before = n_before(&words[HEADER_WORDS..], |opcode| is_decoration(opcode) || is_declaration(opcode));
    let (before, behind) = words.split_at(HEADER_WORDS + n_before);
    [before, &notes, behind].concat()
}

/// The constants of a module that need a value and have none.
pub(crate) fn unset(words: &[u32]) -> Vec<String> {
    notes(words).filter_map(|note| note.strip_prefix(UNSET).map(str::to_owned)).collect()
}

fn notes(words: &[u32]) -> impl Iterator<Item = String> {
    instructions(words).filter_map(|one| match one {
        [first, text @ ..] if first & 0xffff == OP_MODULE_PROCESSED => Some(string(text)),
        _ => None,
    })
}

/// Reads the notes of a module; `None` if a device can set its constants.
pub(crate) fn read(words: &[u32]) -> Option<Options> {
    let mut options = None;
    for note in notes(words) {
        if let Some(stage) = note.strip_prefix(SPECIALISED) {
            let stage = STAGES.iter().find(|(known, _)| *known == stage)?.1;
            options = Some(Options { stage, ..Options::default() });
        } else if let Some(name) = note.strip_prefix(ENTRY_POINT) {
            options.as_mut()?.entry_point = Some(name.to_owned());
        }
    }
    options
}

fn instruction(note: &str) -> Vec<u32> {
    let text = text(note);
    std::iter::once((text.len() as u32 + 1) << 16 | OP_MODULE_PROCESSED).chain(text).collect()
}
