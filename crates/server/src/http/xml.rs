//! A writer for XML.

// The writer of `quick-xml` escapes as much, but it leaves characters in that XML forbids, and its
// events take as many lines as these functions: nothing would get shorter.

/// A document that is being written. What is opened is closed at the end, if not before.
#[derive(Default)]
pub(crate) struct Xml {
    out: String,
    open: Vec<&'static str>,
}

impl Xml {
    pub(crate) fn new() -> Self {
        Self {
            out: String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"),
            ..Self::default()
        }
    }

    /// Adds a part.
    pub(crate) fn put(&mut self, part: Self) {
        self.out.push_str(&part.finish());
    }

    pub(crate) fn open(&mut self, name: &'static str, attributes: &[(&str, &str)]) {
        self.start(name, attributes);
        self.out.push_str(">\n");
        self.open.push(name);
    }

    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            self.out.extend(["</", name, ">\n"]);
        }
    }

    /// An element with text in it.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.start(name, attributes);
        if text.is_empty() {
            self.out.push_str("/>\n");
        } else {
            self.out.extend([">", &escape_xml(text), "</", name, ">\n"]);
        }
    }

    /// An element with nothing but text in it.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.element(name, &[], text);
    }

    /// The same, unless there is nothing to say.
    pub(crate) fn text_if(&mut self, name: &str, text: &str) {
        if !text.trim().is_empty() {
            self.text(name, text);
        }
    }

    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.out.extend(["<", name]);
        for (name, value) in attributes {
            self.out
                .extend([" ", name, "=\"", &escape_xml(value), "\""]);
        }
    }
}

/// Escapes untrusted text for XML. Characters that no document may hold (XML 1.0
/// §2.2) are left out.
pub(crate) fn escape_xml(text: &str) -> String {
    escape_with(text, |out, c| match c {
        // As they are, a reader would take them for something else.
        '\r' => out.push_str("&#13;"),
        '\n' | '\t' => out.push(c),
        '\u{FFFE}' | '\u{FFFF}' => {}
        c if c < ' ' => {}
        c => out.push(c),
    })
}

/// Escapes what is markup in XML and in HTML; `put` writes all other characters.
pub(crate) fn escape_with(text: &str, put: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => put(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        let mut xml = Xml::new();
        xml.open("a", &[("b", "\"><c/>&\u{1}")]);
        xml.text("d", "]]></d>\0\u{FFFF}\u{8}ü\r\n&amp;");
        xml.text_if("e", " ");
        let text = xml.finish();
        let read = roxmltree::Document::parse(&text).unwrap();
        let a = read.root_element();
        assert_eq!(a.attribute("b"), Some("\"><c/>&"));
        let d = a.first_element_child().unwrap();
        assert_eq!(d.text(), Some("]]></d>ü\r\n&amp;"));
        assert_eq!(a.children().filter(roxmltree::Node::is_element).count(), 1);
    }
}
