//! A writer for tables (RFC 4180), which spreadsheets open without running a field as a formula.

use handfast_registry::escape_cell;

/// A table that is being written.
pub(crate) struct Csv(String);

impl Csv {
    pub(crate) fn new(heads: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(heads);
        csv
    }

    pub(crate) fn row(&mut self, fields: &[&str]) {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            let field = escape_cell(field);
            if field.contains(['"', ',', '\n', '\r']) {
                self.0.extend(["\"", &field.replace('"', "\"\""), "\""]);
            } else {
                self.0.push_str(&field);
            }
        }
        self.0.push_str("\r\n");
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_are_text() {
        let mut csv = Csv::new(&["a", "b"]);
        csv.row(&["x,\"y\"", "=1+1"]);
        csv.row(&["@SUM(A1)", "two\nlines"]);
        assert_eq!(
            csv.finish(),
            "a,b\r\n\"x,\"\"y\"\"\",'=1+1\r\n'@SUM(A1),\"two\nlines\"\r\n"
        );
    }
}
