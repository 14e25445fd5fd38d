//! "Did you mean": the known name that is nearest to a misspelt one.

/// The minimum length of a name for which a longer one with this prefix is suggested.
const SHORTENED: usize = 3;

/// The longest name for which a suggestion is made. Names in generated code may have any length, and are not
/// misspelt.
const LONGEST: usize = 64;

/// The maximum number of changed letters.
const MOST_CHANGES: usize = 3;

/// The number of unknown names in one text that get a suggestion: comparing more with each known name takes
/// long, and nobody reads that many.
pub const MOST: usize = 100;

/// The nearest of `known`, if it is near enough: up to three letters are changed, and no more than a third of
/// the name's. Otherwise the shortest one with the name as a prefix. Names that begin with `__` are only
/// suggested for such a name.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(LONGEST + 1).collect();
    let n_letters = letters.len();
    if n_letters > LONGEST {
        return None;
    }
    let is_special = |name: &str| name.starts_with("__");
    let mut limit = (n_letters / 3).clamp(1, MOST_CHANGES);
    let (mut near, mut begun): (Option<&str>, Option<&str>) = (None, None);
    for candidate in known {
        if candidate == name || (is_special(candidate) && !is_special(name)) {
            continue;
        }
        if n_letters >= SHORTENED
            && candidate.starts_with(name)
            && begun.is_none_or(|begun| candidate.len() < begun.len())
        {
            begun = Some(candidate);
        }
        // The first of those that are as near as one another.
        if limit > 0
            && let Some(changes) = distance(name, &letters, candidate, limit)
        {
            near = Some(candidate);
            limit = changes - 1;
        }
    }
    near.or(begun)
}

/// The number of changes from one name to the other: single letters, and swaps of two neighbours (optimal
/// string alignment). A change of case counts as one, however many letters it affects. `None` if there are
/// more than `limit`, or as many as `candidate` has letters.
fn distance(name: &str, letters: &[char], candidate: &str, limit: usize) -> Option<usize> {
    const ROW: usize = LONGEST + MOST_CHANGES + 1;
    if name.eq_ignore_ascii_case(candidate) {
        return (letters.len() > 1).then_some(1);
    }
    if candidate.len() > 4 * (letters.len() + limit) || name.len() > 4 * (candidate.len() + limit) {
        return None;
    }
    let mut other = ['\0'; ROW];
    let mut n_other = 0;
    for letter in candidate.chars() {
        *other.get_mut(n_other)? = letter;
        n_other += 1;
    }
    let other = &other[..n_other];
    if letters.len().abs_diff(n_other) > limit {
        return None;
    }
    let mut before = [0; ROW + 1];
    let mut above: [usize; ROW + 1] = std::array::from_fn(|j| j);
    for i in 1..=letters.len() {
        let mut row = [i; ROW + 1];
        let mut least = i;
        for j in 1..=n_other {
            let replace = above[j - 1] + usize::from(letters[i - 1] != other[j - 1]);
            let mut best = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && letters[i - 1] == other[j - 2] && letters[i - 2] == other[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
            least = least.min(best);
        }
        // A swap reaches back two rows.
        if least > limit + 1 {
            return None;
        }
        before = above;
        above = row;
    }
    let changes = above[n_other];
    (changes <= limit && changes < n_other).then_some(changes)
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
