//! Recognizes commands that check work: tests, builds, type checks, linters.

use crate::context::command_prefixes::contains_word;
use crate::text::shell_lexer::program_name;

/// Programs that do nothing but check.
const ALWAYS: &str = "\
    pytest py.test tox nox unittest tsc vue-tsc svelte-check eslint oxlint biome prettier ruff flake8 \
    pylint mypy pyright basedpyright black isort jest vitest mocha ava tap karma cypress playwright \
    ctest rspec rubocop minitest phpunit pest phpstan psalm golangci-lint staticcheck gotestsum ginkgo \
    shellcheck hadolint clippy-driver rustc javac kotlinc scalac ghc gcc g++ clang clang++ cc ninja \
    bats ktlint checkstyle swiftlint credo dialyzer pre-commit actionlint yamllint markdownlint \
    stylelint trybuild cargo-nextest coverage py_compile compileall busted runtests.py webpack esbuild \
    rollup xcodebuild";

/// Programs with the first words after them that make them a check.
const VERBS: &[(&[&str], &[&str])] = &[
    (
        &["cargo"],
        &[
            "test", "t", "check", "c", "clippy", "build", "b", "nextest", "bench", "doc", "miri", "hack", "fmt",
            "llvm-cov",
        ],
    ),
    (&["go"], &["test", "vet", "build"]),
    (
        &["dotnet", "swift", "flutter", "dart", "stack", "cabal", "sbt", "lake"],
        &["test", "build", "analyze", "compile"],
    ),
    (&["mix"], &["test", "compile", "credo", "dialyzer", "format"]),
    (&["zig", "bazel", "buck2", "pants", "nx", "turbo"], &["test", "build", "build-exe", "lint", "check", "run"]),
    (&["deno"], &["test", "check", "lint"]),
    (&["rails", "rake", "bin/rails"], &["test", "spec", "lint", "default"]),
    (&["cmake"], &["--build"]),
    (&["next", "vite", "astro", "nuxt", "ng", "vue-cli-service", "react-scripts"], &["build", "test", "lint", "check"]),
    (&["terraform"], &["validate", "fmt"]),
    (&["helm"], &["lint"]),
    (&["composer"], &["test", "lint", "analyse"]),
];

/// Words in the name of a script or a target that make it a check.
const CHECK_WORDS: &str = "\
    test tests spec check checks build lint typecheck tsc types verify validate ci compile clippy unit \
    e2e integration format fmt style vet coverage jest vitest eslint pytest";

/// Returns true if one command, stripped of wrappers, checks work.
pub(super) fn is_check_command(words: &[String]) -> bool {
    let Some(head) = words.first() else { return false };
    let name = program_name(head);
    let rest = || words.iter().skip(1).map(String::as_str);
    if rest().any(|word| matches!(word, "--version" | "--help" | "-V")) && words.len() == 2 {
        return false;
    }
    if contains_word(ALWAYS, name) || (name.starts_with("python") && runs_python_tests(words)) {
        return true;
    }
    match name {
        "npm" | "pnpm" | "yarn" | "bun" => return package_manager_checks(words),
        "make" | "gmake" | "just" | "task" | "mage" | "invoke" | "ant" => return targets_are_checks(words),
        "gradle" | "gradlew" | "mvn" | "mvnw" => return true,
        "sh" | "bash" | "zsh" => return words.get(1).is_some_and(|script| is_check_name(program_name(script))),
        _ => {}
    }
    if let Some((_, verbs)) = VERBS.iter().find(|(programs, _)| programs.contains(&name)) {
        return rest().filter(|word| !word.starts_with('+')).take(3).any(|word| verbs.contains(&word));
    }
    // `./scripts/test`, `./run_tests.sh`
    head.contains('/') && is_check_name(name)
}

/// Returns true if a check is a linter or a formatter: what it reports is its job, not its failure.
pub(super) fn is_lint_command(words: &[String]) -> bool {
    const LINTS: &str = "\
        lint fmt format style clippy eslint oxlint biome ruff flake8 pylint black isort prettier gofmt \
        goimports golangci rustfmt shellcheck rubocop stylelint markdownlint actionlint hadolint yamllint \
        standard xo";
    let is_lint = |word: &str| program_name(word).split([':', '-', '_', '.']).any(|part| contains_word(LINTS, part));
    words.iter().filter(|word| !word.starts_with('-')).take(3).any(|word| is_lint(word))
}

/// Returns true if one command builds or checks types.
pub(super) fn is_compile_command(words: &[String]) -> bool {
    const COMPILERS: &str = "\
        tsc vue-tsc rustc javac kotlinc scalac ghc gcc g++ clang clang++ cc ninja mypy pyright svelte-check \
        make cmake esbuild webpack";
    let Some(head) = words.first() else { return false };
    contains_word(COMPILERS, program_name(head))
        || words.iter().skip(1).take(3).any(|word| {
            matches!(
                word.as_str(),
                "build" | "check" | "clippy" | "typecheck" | "type-check" | "compile" | "vet" | "tsc"
            )
        })
}

fn runs_python_tests(words: &[String]) -> bool {
    words.iter().skip(1).find(|word| !word.starts_with('-')).is_some_and(|script| {
        let name = program_name(script);
        name == "runtests.py"
            || name.starts_with("test_") && name.ends_with(".py")
            || name.ends_with("_test.py")
            || (matches!(name, "manage.py" | "setup.py")
                && words.iter().any(|word| matches!(word.as_str(), "test" | "check")))
    }) || words
        .windows(2)
        .any(|pair| matches!(pair, [module, test] if program_name(module) == "django" && test == "test"))
}

fn package_manager_checks(words: &[String]) -> bool {
    let mut rest = words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-'));
    match rest.next() {
        Some("run" | "run-script" | "workspace" | "workspaces") => rest.take(2).any(is_check_name),
        Some("test" | "t" | "tst" | "audit") => true,
        Some("install" | "i" | "add" | "ci" | "remove" | "init" | "create" | "exec" | "why" | "pm" | "update") => false,
        Some(word) => is_check_name(word) || contains_word(ALWAYS, word) || rest.take(2).any(is_check_name),
        None => false,
    }
}

fn targets_are_checks(words: &[String]) -> bool {
    let mut targets = words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains('=')).peekable();
    targets.peek().is_none() || targets.any(|target| target == "all" || is_check_name(target))
}

/// Returns true if a script or target is named like a check: `test:unit`, `check-types`, `run_tests.sh`, `lint`.
fn is_check_name(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.split([':', '-', '_', '.', '/']).any(|part| contains_word(CHECK_WORDS, &part.to_ascii_lowercase()))
}
