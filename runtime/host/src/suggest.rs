//! "Did you mean": the nearest of the names that are known.

/// The candidate with the fewest edits from `name`, when they are few for its length.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .filter(|candidate| *candidate != name && !candidate.starts_with("__"))
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 2 * limit)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= limit && *edits < candidate.chars().count())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Edits between two names: insert, delete, replace, or exchange neighbours (Damerau's distance,
/// restricted). A change of case counts as one edit however many letters it touches.
fn distance(left: &str, right: &str) -> usize {
    if left.eq_ignore_ascii_case(right) {
        return 1;
    }
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let width = right.len() + 1;
    let mut table = vec![0; (left.len() + 1) * width];
    for row in 0..=left.len() {
        for col in 0..=right.len() {
            let at = row * width + col;
            if row == 0 || col == 0 {
                table[at] = row + col;
                continue;
            }
            let differs = (left[row - 1] != right[col - 1]) as usize;
            let mut best =
                (table[at - width] + 1).min(table[at - 1] + 1).min(table[at - width - 1] + differs);
            let exchanged =
                row > 1 && col > 1 && left[row - 1] == right[col - 2] && left[row - 2] == right[col - 1];
            if exchanged {
                best = best.min(table[at - 2 * width - 2] + 1);
            }
            table[at] = best;
        }
    }
    table[left.len() * width + right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, known: &[&'static str], expect: Option<&str>) {
        assert_eq!(nearest(name, known.iter().copied()), expect);
    }

    #[test]
    fn only_near_names_are_suggested() {
        check("pirnt", &["print", "len"], Some("print"));
        check("prit", &["print", "len"], Some("print"));
        check("tensor", &["Tensor"], Some("Tensor"));
        check("x", &["print", "y"], None);
        check("something", &["print"], None);
    }
}
