use super::super::cause::Cause;
use super::super::scene::Scene;
use super::super::test_support::Session;
use super::{How, find, is_settings};

fn how(session: Session) -> Option<How> {
    let context = session.context(Vec::new());
    let scene = Scene::of(&context);
    let at = scene.deeds.iter().position(|deed| deed.fault().is_some()).unwrap();
    let fault = scene.deeds[at].fault().unwrap();
    let cause = Cause::read(fault.class, &fault.headline);
    find(&scene, at, &cause).map(|remedy| remedy.how)
}

#[test]
fn the_deed_that_fits_the_cause_is_the_remedy() {
    let missing = "ModuleNotFoundError: No module named 'yaml'";
    let session = || Session::new("go").fails("pytest -q", missing);
    assert_eq!(
        how(session().passes("ls", "a").passes("pip install pyyaml", "ok").passes("pytest -q", "1 passed")),
        Some(How::After(vec![2]))
    );
    let noisy =
        session().passes("./prepare-data", "ok").passes("pip install pyyaml", "ok").passes("pytest -q", "1 passed");
    assert_eq!(how(noisy), Some(How::After(vec![2])));
    assert_eq!(
        how(session().edits("src/a.py", "import yaml", "").passes("pytest -q", "1 passed")),
        Some(How::Code(vec![1]))
    );
    assert_eq!(how(session().passes("pip install pyyaml", "ok")), None);
    assert_eq!(how(session().passes("pytest -q", "1 passed")), Some(How::Nothing));
}

#[test]
fn settings_are_told_from_code() {
    for path in [
        ".env",
        "a/package.json",
        "Cargo.toml",
        "docker-compose.yml",
        "Dockerfile",
        "vite.config.ts",
        ".nvmrc",
        "requirements-dev.txt",
    ] {
        assert!(is_settings(path), "{path}");
    }
    for path in ["src/main.rs", "a/app.ts", "README.md", "data.json"] {
        assert!(!is_settings(path), "{path}");
    }
}

#[test]
fn another_command_may_do_the_job() {
    let instead = |failed: &str, said: &str, worked: &str| {
        matches!(
            how(Session::new("go").fails(failed, said).passes("ls", "a").passes(worked, "ok")),
            Some(How::Instead(_))
        )
    };
    let usage = "npm error The `npm ci` command can only install with an existing package-lock.json";
    assert!(instead("npm ci", usage, "pnpm install --frozen-lockfile"));
    assert!(instead("convert a.png b.jpg", "bash: convert: command not found", "magick a.png b.jpg"));
    assert!(instead("terraform apply", "error: blocked, use make plan and the pipeline", "make plan"));
    assert!(!instead("convert a.png b.jpg", "bash: convert: command not found", "apt-get install imagemagick"));
    assert!(!instead("node tool.js", "TypeError: x is not a function", "python3 other.py tool.js"));
    let later =
        Session::new("go").fails("npm ci", usage).edits("/home/ada/shop/a.ts", "a", "b").passes("pnpm install", "ok");
    assert_eq!(how(later), None);
}
