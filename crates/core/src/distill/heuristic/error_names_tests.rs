use super::{find_missing_package, find_missing_program, find_uppercase_name, misses_project_module};

#[test]
fn the_package_is_named_and_not_the_module_in_it() {
    let cases = [
        ("ModuleNotFoundError: No module named 'asgiref'", "asgiref"),
        ("ModuleNotFoundError: No module named 'google.cloud.storage'", "google"),
        ("Error: Cannot find module 'lodash/fp'", "lodash"),
        ("Error: Cannot find module '@acme/ui/button' from 'src/a.ts'", "@acme/ui"),
        ("Error: Cannot find module '/srv/app/node_modules/left-pad/index.js'", "left-pad"),
        ("Error: Cannot find module '/srv/app/node_modules/@x/y/index.js'", "@x/y"),
        ("no required module provides package github.com/go-chi/chi/v5; to add it:", "github.com/go-chi/chi/v5"),
        ("cannot find package \"github.com/go-chi/chi/v5\" in any of:", "github.com/go-chi/chi/v5"),
        ("cannot load such file -- nokogiri/xml", "nokogiri"),
        ("fatal error: fmt/core.h: No such file or directory", "fmt/core.h"),
        ("error: 'atlas' dependency 'swift-nio' could not be resolved", "swift-nio"),
        ("Cannot find dependency '@vitest/coverage-v8'", "@vitest/coverage-v8"),
        ("src/v.ts(1,17): error TS2307: Cannot find module 'zod' or its corresponding type declarations.", "zod"),
    ];
    for (headline, wanted) in cases {
        assert_eq!(find_missing_package(headline).as_deref(), Some(wanted), "{headline}");
    }
    assert_eq!(find_missing_package("npm ERR! ERESOLVE unable to resolve dependency tree"), None);
}

#[test]
fn modules_of_the_project_are_code() {
    for headline in [
        "Cannot find module './cart'",
        "Cannot find module '../generated/schema' from 'src/a.ts'",
        "No module named 'src.cart'",
        "Cannot find module '@/lib/x'",
    ] {
        assert!(misses_project_module(headline), "{headline}");
    }
    for headline in ["No module named 'yaml'", "Cannot find module '/srv/app/node_modules/left-pad/index.js'"] {
        assert!(!misses_project_module(headline), "{headline}");
    }
}

#[test]
fn programs_and_variables_are_named() {
    assert_eq!(find_missing_program("zsh: command not found: jq").as_deref(), Some("jq"));
    assert_eq!(find_missing_program("sh: 1: jest: not found").as_deref(), Some("jest"));
    assert_eq!(find_uppercase_name("Error: DATABASE_URL is not set").as_deref(), Some("DATABASE_URL"));
    assert_eq!(find_uppercase_name("ERR_REQUIRE_ESM"), None);
}

proptest::proptest! {
    #[test]
    fn no_headline_is_too_strange(headline in ".{0,300}") {
        let _ = (find_missing_package(&headline), find_missing_program(&headline), misses_project_module(&headline));
    }
}
