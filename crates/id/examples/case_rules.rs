//! Rules from outside: whether case counts under a prefix decides which spellings are one name.
//!
//! ```sh
//! cargo run -p handfast-id --example case_rules
//! ```

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use handfast_id::{CaseRule, Handle, ParseError, Prefix, RuleBook, Rules, Standard};

fn main() -> Result<(), ParseError> {
    let exact =
        RuleBook::standard().with_case_rule(&Prefix::parse("20.1000")?, CaseRule::Sensitive);
    compare("20.1000/Report-7", "20.1000/REPORT-7", &Standard)?;
    compare("20.1000/Report-7", "20.1000/REPORT-7", &exact)?;
    Ok(())
}

fn compare(one: &str, other: &str, rules: &impl Rules) -> Result<(), ParseError> {
    let (one, other) = (Handle::parse(one)?, Handle::parse(other)?);
    let rule = rules.case_rule(&one.prefix());
    let is_one_name = one.key(rule) == other.key(rule);
    println!("{one} and {other}: {rule:?}, one name: {is_one_name}");
    Ok(())
}
