//! Patterns for output that differs between machines: `[..]` matches any text within a line, a line `...` any
//! number of lines, and a line after `[?]` is optional.

/// Whether a text fits a pattern; line ends at the end do not count.
pub fn matches(expected: &str, seen: &str) -> bool {
    let expected: Vec<&str> = expected.trim_end_matches('\n').lines().collect();
    let seen: Vec<&str> = seen.trim_end_matches('\n').lines().collect();
    lines_match(&expected, &seen)
}

fn lines_match(expected: &[&str], seen: &[&str]) -> bool {
    match expected {
        [] => seen.is_empty(),
        ["...", rest @ ..] => (0..=seen.len()).any(|skipped| lines_match(rest, &seen[skipped..])),
        [line, rest @ ..] if line.starts_with("[?]") => {
            let required = [&[&line["[?]".len()..]], rest].concat();
            lines_match(rest, seen) || lines_match(&required, seen)
        }
        [line, rest @ ..] => seen
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others)),
    }
}

fn line_matches(expected: &str, seen: &str) -> bool {
    let mut parts = expected.split("[..]");
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = seen.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
