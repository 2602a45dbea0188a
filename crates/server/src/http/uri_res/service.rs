//! The services, by their names (RFC 2169, RFC 2483).

/// A resolution service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) from: ServiceInput,
    pub(crate) to: ServiceOutput,
}

/// The kind of operand that a service takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceInput {
    /// Any URI: `I2…`.
    Any,
    /// A location: `L2…`.
    Location,
    /// A name, of any scheme: `N2…`.
    Name,
}

/// The kind of result that a service gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceOutput {
    /// `C`: what is known of it.
    Description,
    /// `Cs`
    Descriptions,
    /// `I=I`: whether two are the same.
    Equality,
    /// `L`
    Location,
    /// `Ls`
    Locations,
    /// `N`
    Name,
    /// `Ns`
    Names,
    /// `R`: the thing itself.
    Resource,
    /// `Rs`
    Resources,
}

impl Service {
    /// "Operation names are case-insensitive."
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("I=I") {
            let (from, to) = (ServiceInput::Any, ServiceOutput::Equality);
            return Some(Self { from, to });
        }
        let upper = text.to_ascii_uppercase();
        let (from, to) = upper.split_once('2')?;
        let from = match from {
            "I" => ServiceInput::Any,
            "L" => ServiceInput::Location,
            "N" => ServiceInput::Name,
            _ => return None,
        };
        let to = match to {
            "C" => ServiceOutput::Description,
            "CS" => ServiceOutput::Descriptions,
            "L" => ServiceOutput::Location,
            "LS" => ServiceOutput::Locations,
            "N" => ServiceOutput::Name,
            "NS" => ServiceOutput::Names,
            "R" => ServiceOutput::Resource,
            "RS" => ServiceOutput::Resources,
            _ => return None,
        };
        // RFC 2169 has these of a location, and no `N2N`.
        let is_known = match from {
            ServiceInput::Any => true,
            ServiceInput::Location => matches!(
                to,
                ServiceOutput::Description | ServiceOutput::Locations | ServiceOutput::Names
            ),
            ServiceInput::Name => to != ServiceOutput::Name,
        };
        is_known.then_some(Self { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_known_in_any_case() {
        let all =
            "N2L N2Ls N2R N2Rs N2C N2Cs N2Ns L2Ns L2Ls L2C I2L I2Ls I2R I2Rs I2C I2Cs I2N I2Ns I=I";
        for name in all.split(' ') {
            let service = Service::parse(name);
            assert!(service.is_some(), "{name}");
            assert_eq!(service, Service::parse(&name.to_ascii_lowercase()));
            assert_eq!(service, Service::parse(&name.to_ascii_uppercase()));
        }
        for name in ["", "N2N", "L2L", "X2L", "N2", "2", "N2LL", "I=", "N2L/"] {
            assert_eq!(Service::parse(name), None, "{name}");
        }
    }
}
