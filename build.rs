//! Links a program that needs no relocation when it starts, and one library less.
//!
//! A hook is a process of a few milliseconds, of which each of these took one: see docs/decisions.md.

#![allow(clippy::print_stdout, reason = "a build script talks to cargo")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if has_archive("libgcc_eh.a") {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
}

/// Returns true if the linker has an archive. `libgcc_eh.a` is `libgcc_s.so` for programs that bring it along: the shared one asks
/// the processor about a dozen things when it is loaded, and on a virtual machine each of them is a call to the host.
fn has_archive(name: &str) -> bool {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg(format!("-print-file-name={name}")).output();
    // A compiler that has no such file says its name again; one that does not know the question says nothing.
    answer.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
