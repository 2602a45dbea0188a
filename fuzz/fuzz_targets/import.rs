#![no_main]

use std::sync::OnceLock;

use handfast_registry::{Format, Import, NewAuthority, Principal, Registry, Report, Environment};
use libfuzzer_sys::fuzz_target;

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// A registry that nothing is ever written to.
fn registry() -> &'static Registry {
    REGISTRY.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("handfast-fuzz-{}", std::process::id()));
        let world = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
        let registry = Registry::create(&folder, world).unwrap();
        for path in ["20.1", "20.1.2", "urn:urn-3", "urn:urn-3:HUL", "info:lccn"] {
            let new = NewAuthority::default();
            registry.create_authority(&Principal::Operator, path, new).unwrap();
        }
        // On Linux a folder that is open outlives its name.
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        registry
    })
}

// Each line of any file has an outcome. The first byte chooses the format of the file.
fuzz_target!(|data: &[u8]| {
    let Some((first, input)) = data.split_first() else {
        return;
    };
    let import = Import {
        format: Format::ALL.into_iter().nth(usize::from(first & 3)),
        migrate: first & 4 != 0,
        update: first & 8 != 0,
        authority: (first & 16 != 0).then(|| "20.1".to_string()),
        dry_run: true,
        tells_all: true,
        ..Import::default()
    };
    // A batch may name files to read, which is not for a fuzzer.
    if import.format == Some(Format::Batch) {
        return;
    }
    let mut told = 0;
    let imported = registry().import(&Principal::Operator, &import, input, &mut |report| {
        told += u64::from(matches!(report, Report::Line(_)));
    });
    if let Ok(imported) = imported {
        assert_eq!(imported.counts.total(), told);
    }
});
