//! "Did you mean": the known name that is nearest to a misspelt one.

/// The nearest of `known`, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let n_chars = name.chars().count();
    // Names of generated code may be of any length, and nobody misspells those.
    if n_chars > 64 {
        return None;
    }
    let limit = (n_chars / 3).max(1);
    known
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit * 4 && *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Changes of one letter, swaps of two neighbours included, that lead from one name to the other
/// (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).take(256).collect();
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

    fn check(name: &str, expect: Option<&str>) {
        let known = ["global_id", "data1", "data2", "sqrt", "x"];
        assert_eq!(nearest(name, known.into_iter()), expect, "{name}");
    }

    #[test]
    fn finds_the_name_that_was_meant() {
        check("globl_id", Some("global_id"));
        check("gloabl_id", Some("global_id"));
        check("Global_ID", Some("global_id"));
        check("sqtr", Some("sqrt"));
        check("data3", Some("data1"));
        check("y", None);
        check("unrelated", None);
    }
}
