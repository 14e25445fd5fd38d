//! Parses glslang's log into records. `messages` interprets them.

/// One line of the log that reports an error, with its continuation lines.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    pub place: Option<LogPlace>,
    /// What is quoted before the reason: a token of the text, or glslang's name of an operation.
    pub token: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogPlace {
    /// The name of an included file; `None` for the text itself.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
}

const ERROR: &str = "ERROR: ";

/// The errors of a log, in its order. Warnings and the closing lines are dropped.
pub(super) fn records(log: &str) -> Vec<Record> {
    let mut found: Vec<Record> = Vec::new();
    let mut is_error = false;
    for line in log.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(line) = line.strip_prefix(ERROR) {
            is_error = !is_closing(line);
            found.extend(is_error.then(|| record(line)));
        } else if line.starts_with("WARNING: ") {
            is_error = false;
        } else if let Some(last) = found.last_mut().filter(|_| is_error) {
            last.reason.push('\n');
            last.reason.push_str(line.trim());
        }
    }
    found
}

/// The lines after all errors, which count them.
fn is_closing(line: &str) -> bool {
    line.contains(" compilation errors.") || line.contains("compilation terminated")
}

fn record(line: &str) -> Record {
    let (place, rest) = split_place(line);
    let quoted = rest.strip_prefix('\'').and_then(|rest| rest.split_once("' :"));
    let (token, reason) = quoted.unwrap_or(("", rest));
    Record { place, token: token.trim().to_owned(), reason: reason.trim().to_owned() }
}

/// Parses `FILE:LINE:COLUMN: ` at the start of a line. A file's name may contain colons.
fn split_place(line: &str) -> (Option<LogPlace>, &str) {
    let found = line.match_indices(": ").find_map(|(at, _)| {
        let mut parts = line[..at].rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        let file = parts.next()?;
        // String 0 is the text itself.
        let file = (file != "0" && !file.is_empty()).then(|| file.to_owned());
        Some((LogPlace { file, line, column }, at + 2))
    });
    match found {
        Some((place, end)) => (Some(place), &line[end..]),
        None => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_record_by_record() {
        let log = "WARNING: 0:1:1: 'x' : odd \n\
            ERROR: 0:7:22: '[]' :  wrong operand types \n\
            ERROR: c:/a.glsl:5:2: 'text' : required extension not requested: Possible extensions include:\nGL_A\n\
            ERROR: 2 compilation errors.  No code generated.\n\nERROR: Linking compute stage: Missing entry point\n";
        let place =
            |file: Option<&str>, line, column| Some(LogPlace { file: file.map(str::to_owned), line, column });
        let record = |place, token: &str, reason: &str| Record {
            place,
            token: token.to_owned(),
            reason: reason.to_owned(),
        };
        let expected = [
            record(place(None, 7, 22), "[]", "wrong operand types"),
            record(
                place(Some("c:/a.glsl"), 5, 2),
                "text",
                "required extension not requested: Possible extensions include:\nGL_A",
            ),
            record(None, "", "Linking compute stage: Missing entry point"),
        ];
        assert_eq!(records(log), expected);
    }
}
