//! "Did you mean": the known name that is nearest to a misspelt one.

/// Letters that a name has to have for a longer one that begins so to be meant.
const SHORTENED: usize = 3;

/// The nearest of `known`, if it is near enough to be meant: up to three letters are changed, and no more than a third
/// of the name's; else the shortest one that begins with the name. Names that begin with `__` are nobody's meaning,
/// but of such a name.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let n_chars = name.chars().count();
    // Names of generated code may be of any length, and nobody misspells those.
    if n_chars > 64 {
        return None;
    }
    let limit = (n_chars / 3).clamp(1, 3);
    let is_special = |name: &str| name.starts_with("__");
    let known: Vec<&str> =
        known.filter(|known| *known != name && (is_special(name) || !is_special(known))).collect();
    let near = known.iter().filter(|candidate| candidate.len().abs_diff(name.len()) <= limit * 4);
    let near = near
        .map(|candidate| (distance(name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance);
    let begun = || known.iter().filter(|known| n_chars >= SHORTENED && known.starts_with(name));
    near.map(|(_, candidate)| candidate).or_else(|| begun().min_by_key(|candidate| candidate.len()).copied())
}

/// Changes of one letter, swaps of two neighbours included, that lead from one name to the other
/// (optimal string alignment). A change of case counts as one, however many letters it touches.
fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[track_caller]
    fn check(name: &str, known: &[&'static str], expect: Option<&str>) {
        assert_eq!(nearest(name, known.iter().copied()), expect, "{name}");
    }

    #[test]
    fn finds_the_name_that_was_meant() {
        let known = ["global_id", "data1", "data2", "sqrt", "x", "print", "len", "Tensor", "__init__"];
        check("globl_id", &known, Some("global_id"));
        check("gloabl_id", &known, Some("global_id"));
        check("Global_ID", &known, Some("global_id"));
        check("sqtr", &known, Some("sqrt"));
        check("data3", &known, Some("data1"));
        check("pirnt", &known, Some("print"));
        check("prit", &known, Some("print"));
        check("tensor", &known, Some("Tensor"));
        check("_init__", &known, None);
        check("y", &known, None);
        check("unrelated", &known, None);
        check("glob", &known, Some("global_id"));
        check("gl", &known, None);
        check("__ini__", &known, Some("__init__"));
    }
}
