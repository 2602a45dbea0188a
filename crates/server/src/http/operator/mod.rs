//! Endpoints for operators: health, readiness and metrics.

pub(crate) mod endpoints;
pub(crate) mod metrics;
pub(crate) mod readiness;
