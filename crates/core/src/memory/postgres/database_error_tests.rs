use tokio_postgres::error::SqlState;

use super::*;

#[test]
fn what_passes_is_tried_again() {
    for (code, expected) in [
        ("40001", true),
        ("40P01", true),
        ("57P01", true),
        ("57P03", true),
        ("53300", true),
        ("08006", true),
        ("25006", true),
        ("57014", false),
        ("42501", false),
        ("23505", false),
        ("28P01", false),
    ] {
        assert_eq!(is_transient_code(&SqlState::from_code(code)), expected, "{code}");
    }
}

#[test]
fn no_connection_is_tried_again_and_then_told() {
    let error = PostgresFailure::Busy("none was free".into());
    assert!(error.is_transient());
    let told = error.into_error("read", "db:5432/archivist");
    assert_eq!(told.to_string(), "the memory at db:5432/archivist cannot be reached: none was free");
    let settled = PostgresFailure::from(MemoryError::SchemaOlder { found: 1, needed: 2 });
    assert!(!settled.is_transient());
    assert_eq!(settled.to_string(), "the tables are of version 1; this archivist needs version 2");
}
