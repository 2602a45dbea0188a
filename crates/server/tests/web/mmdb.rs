//! Makes files of countries in the format of `MaxMind` DB.

/// A file with one country for each network of IPv4, with records of 24, 28 or 32 bits.
pub(crate) fn made(record: u32, networks: &[([u8; 4], u32, &str)]) -> Vec<u8> {
    // Each node has two records: 0 is nothing yet, odd numbers are leaves.
    let mut tree = vec![[0_u32; 2]];
    let mut data = Vec::new();
    for (start, bits, code) in networks {
        let address = u128::from(u32::from_be_bytes(*start));
        let mut node = 0;
        for at in 0..96 + bits {
            let side = usize::from((address >> (127 - at)) & 1 == 1);
            if at + 1 == 96 + bits {
                tree[node][side] = u32::try_from(data.len()).unwrap() * 2 + 1;
            } else {
                if tree[node][side] == 0 {
                    tree[node][side] = u32::try_from(tree.len()).unwrap() * 2;
                    tree.push([0; 2]);
                }
                node = usize::try_from(tree[node][side] / 2).unwrap();
            }
        }
        put_country(&mut data, code);
    }
    let nodes = u32::try_from(tree.len()).unwrap();
    let mut out = Vec::new();
    for node in tree {
        let [left, right] = node.map(|record| match record {
            0 => nodes,
            leaf if leaf % 2 == 1 => nodes + 16 + leaf / 2,
            node => node / 2,
        });
        let (a, b) = (left.to_be_bytes(), right.to_be_bytes());
        match record {
            24 => out.extend([&a[1..], &b[1..]].concat()),
            28 => out.extend([&a[1..], &[a[0] << 4 | b[0]], &b[1..]].concat()),
            _ => out.extend([a, b].concat()),
        }
    }
    out.extend([0; 16]);
    out.extend(data);
    out.extend(b"\xAB\xCD\xEFMaxMind.com");
    out.push(7 << 5 | 9);
    put_text(&mut out, "node_count");
    out.push(6 << 5 | 4);
    out.extend(nodes.to_be_bytes());
    for (name, number) in [
        ("record_size", u8::try_from(record).unwrap()),
        ("ip_version", 6),
        ("binary_format_major_version", 2),
        ("binary_format_minor_version", 0),
    ] {
        put_text(&mut out, name);
        out.extend([5 << 5 | 1, number]);
    }
    put_text(&mut out, "build_epoch");
    out.extend([0, 2]);
    put_text(&mut out, "database_type");
    put_text(&mut out, "Country");
    put_text(&mut out, "description");
    out.push(7 << 5);
    put_text(&mut out, "languages");
    out.extend([0, 4]);
    out
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.push(2 << 5 | u8::try_from(text.len()).unwrap());
    out.extend(text.as_bytes());
}

/// `{"continent": {"x": [true, "y"]}, "country": {"iso_code": CODE}}`
fn put_country(out: &mut Vec<u8>, code: &str) {
    out.push(7 << 5 | 2);
    put_text(out, "continent");
    out.push(7 << 5 | 1);
    put_text(out, "x");
    // Arrays and booleans have types beyond 7.
    out.extend([2, 4, 1, 7]);
    put_text(out, "y");
    put_text(out, "country");
    out.push(7 << 5 | 1);
    put_text(out, "iso_code");
    put_text(out, code);
}
