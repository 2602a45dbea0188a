//! Generated identifiers, for testing rules.

use percent_encoding::percent_encode_byte;

use super::literals::literals;
use handfast_api::NamespaceForm;

/// The number of random identifiers.
const RANDOM_TRIALS: usize = 400;
/// The number of identifiers made from each example.
const TRIALS_PER_EXAMPLE: usize = 12;
/// The maximum number of examples that are used.
const MAX_EXAMPLES: usize = 30;
/// The maximum number of characters that are tried in all orders.
const MAX_PERMUTED: usize = 9;

/// The maximum number of literal texts from patterns that are used.
const MAX_LITERALS: usize = 12;
/// Their maximum length, in bytes.
const MAX_LITERAL_BYTES: usize = 40;

/// Some thousand `info` URIs, the same ones for the same form. They use the characters of its steps
/// and examples, since most rules are about those.
pub(super) fn trials(form: &NamespaceForm) -> Vec<String> {
    let mut chance = RandomNumbers(0x9E37_79B9_7F4A_7C15);
    let own = own_characters(form);
    let start = format!("info:{}/", form.namespace);
    let mut all = Vec::new();
    // Two steps that undo each other mostly do so on two or three neighbouring characters.
    let tokens: Vec<String> = own
        .iter()
        .copied()
        .chain(['a', 'A', '0'])
        .map(bare_or_triplet)
        .collect();
    let few = tokens
        .get(tokens.len().saturating_sub(MAX_PERMUTED)..)
        .unwrap_or_default();
    for a in few {
        for b in few {
            all.push(format!("{start}{a}{b}"));
            all.extend(few.iter().map(|c| format!("{start}{a}{b}{c}")));
        }
    }
    for text in with_literals(form) {
        let text: String = text.chars().map(bare_or_triplet).collect();
        all.push(format!("{start}{text}"));
    }
    for _ in 0..RANDOM_TRIALS {
        let mut text = start.clone();
        // From few characters, so that they meet.
        let few = [
            chance.character(&own),
            chance.character(&own),
            chance.character(&own),
        ];
        for _ in 0..chance.below(9) {
            let c = few.get(chance.below(few.len())).copied().unwrap_or('a');
            text.push_str(&chance.token(c));
        }
        all.push(text);
    }
    for sample in form.examples.iter().take(MAX_EXAMPLES) {
        let identifier = sample.input.get(start.len()..).unwrap_or_default();
        // A text that is removed in front or behind may occur there twice.
        all.push(format!("{start}{identifier}{identifier}"));
        for _ in 0..TRIALS_PER_EXAMPLE {
            let mut tokens: Vec<String> = identifier.chars().map(String::from).collect();
            for _ in 0..=chance.below(3) {
                let at = chance.below(tokens.len() + 1);
                let c = chance.character(&own);
                let token = chance.token(c);
                match chance.below(3) {
                    0 if at < tokens.len() => drop(tokens.remove(at)),
                    1 => tokens
                        .iter_mut()
                        .take(at)
                        .for_each(|token| swap_case(token)),
                    _ => tokens.insert(at, token),
                }
            }
            all.push(format!("{start}{}", tokens.concat()));
        }
    }
    all
}

/// A text that a rewrite removes or adds may occur twice, in front, behind and between.
fn with_literals(form: &NamespaceForm) -> Vec<String> {
    let steps = form.normalisation.steps.iter().flatten();
    let words = steps.filter_map(|step| step.as_array()?.get(1..));
    let words = words.flatten().filter_map(|word| word.as_str());
    let mut pieces: Vec<String> = Vec::new();
    for piece in words.flat_map(literals) {
        let is_new = !pieces.contains(&piece);
        if is_new && pieces.len() < MAX_LITERALS && piece.len() <= MAX_LITERAL_BYTES {
            pieces.push(piece);
        }
    }
    let mut all = Vec::new();
    for p in &pieces {
        for q in &pieces {
            for x in ["", "a", "A", "1", "1-", "-1", "a/1"] {
                all.extend([
                    format!("{p}{x}"),
                    format!("{x}{p}"),
                    format!("{p}{q}{x}"),
                    format!("{x}{p}{q}"),
                    format!("{p}{x}{q}"),
                    format!("{p}{q}{p}{x}"),
                    format!("{x}{p}{q}{p}"),
                    format!("{p}{p}{x}{q}{q}"),
                ]);
            }
        }
    }
    all
}

/// The characters of steps, after those of examples.
fn own_characters(form: &NamespaceForm) -> Vec<char> {
    let said = &form.normalisation;
    let steps = said.steps.iter().flatten();
    let words = steps.filter_map(|step| step.as_array()?.get(1..));
    let words = words.flatten().filter_map(|word| word.as_str());
    let steps = words.chain([said.strip.as_str()]).flat_map(str::chars);
    let examples = form.examples.iter().flat_map(|sample| sample.input.chars());
    let mut own: Vec<char> = Vec::new();
    for c in examples
        .chain(steps)
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
    {
        own.retain(|known| *known != c);
        own.push(c);
    }
    own
}

/// Characters that are common in identifiers.
const COMMON: &[u8] = b"aAzZbB0123456789-.:/_()+ ~";

/// A simple generator of numbers: the trials must be the same each time, and need not be
/// unpredictable.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let end = u64::try_from(end.max(1)).unwrap_or(1);
        usize::try_from(self.0 % end).unwrap_or_default()
    }

    /// A character that the rules may mention, or any other.
    fn character(&mut self, own: &[char]) -> char {
        let common = COMMON.get(self.below(COMMON.len())).copied();
        let common = common.map_or('a', char::from);
        let own = own.get(self.below(own.len())).copied().unwrap_or(common);
        if self.below(3) > 0 { own } else { common }
    }

    /// A character, bare or as a triplet.
    fn token(&mut self, c: char) -> String {
        if self.below(8) > 0 {
            return bare_or_triplet(c);
        }
        triplets(c)
    }
}

fn bare_or_triplet(c: char) -> String {
    if c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/".contains(c) {
        return c.to_string();
    }
    triplets(c)
}

fn triplets(c: char) -> String {
    let mut bytes = [0; 4];
    let bytes = c.encode_utf8(&mut bytes).bytes();
    bytes.map(percent_encode_byte).collect()
}

fn swap_case(token: &mut str) {
    if token.bytes().all(|b| b.is_ascii_lowercase()) {
        token.make_ascii_uppercase();
    } else {
        token.make_ascii_lowercase();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_many_and_the_same_each_time() {
        let form = NamespaceForm {
            namespace: "shelf".into(),
            ..NamespaceForm::default()
        };
        assert_eq!(trials(&form), trials(&form));
        assert!(trials(&form).len() >= RANDOM_TRIALS);
    }
}
