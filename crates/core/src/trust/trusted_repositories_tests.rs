use super::*;

fn key(kind: RepositoryKind, identity: &str) -> RepositoryKey {
    RepositoryKey { kind, identity: identity.to_owned() }
}

fn at() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

#[test]
fn a_repository_is_trusted_until_that_is_taken_back() {
    let state = tempfile::tempdir().unwrap();
    let list = TrustedRepositories::in_state_dir(Some(&state.path().join("archivist")));
    let (shop, other) = (key(RepositoryKind::Remote, "example.org/shop"), key(RepositoryKind::Path, "/other"));
    assert!(!list.contains(&shop));
    assert!(!list.remove(&shop).unwrap());
    assert!(list.add(shop.clone(), at()).unwrap());
    assert!(!list.add(shop.clone(), at()).unwrap());
    assert!(list.add(other.clone(), at()).unwrap());
    assert!(list.contains(&shop) && list.contains(&other));
    assert!(!list.contains(&key(RepositoryKind::Path, "example.org/shop")), "a path is no remote");
    assert!(list.remove(&shop).unwrap());
    assert_eq!(list.list().unwrap().into_iter().map(|one| one.key).collect::<Vec<_>>(), [other]);
}

#[test]
fn two_who_trust_at_once_are_both_heard() {
    let state = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let list = TrustedRepositories::in_state_dir(Some(state.path()));
            scope.spawn(move || list.add(key(RepositoryKind::Path, &format!("/{number}")), at()).unwrap());
        }
    });
    assert_eq!(TrustedRepositories::in_state_dir(Some(state.path())).list().unwrap().len(), 12);
}

#[test]
fn a_damaged_list_trusts_nothing_and_is_not_written_over() {
    let state = tempfile::tempdir().unwrap();
    let list = TrustedRepositories::in_state_dir(Some(state.path()));
    let shop = key(RepositoryKind::Remote, "example.org/shop");
    list.add(shop.clone(), at()).unwrap();
    let path = state.path().join(LIST_FILE);
    std::fs::write(&path, "{\"repositories\": [").unwrap();
    assert!(!list.contains(&shop));
    assert!(list.add(shop, at()).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"repositories\": [");
}

#[test]
fn without_a_state_directory_nothing_is_trusted() {
    let list = TrustedRepositories::in_state_dir(None);
    assert!(list.list().unwrap().is_empty());
    assert!(list.add(key(RepositoryKind::Path, "/shop"), at()).is_err());
}

#[test]
#[cfg(unix)]
fn a_list_that_others_may_write_or_a_link_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (state, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let shop = key(RepositoryKind::Remote, "example.org/shop");
    let list = TrustedRepositories::in_state_dir(Some(state.path()));
    list.add(shop.clone(), at()).unwrap();
    let path = state.path().join(LIST_FILE);
    std::os::unix::fs::symlink(&path, elsewhere.path().join(LIST_FILE)).unwrap();
    assert!(!TrustedRepositories::in_state_dir(Some(elsewhere.path())).contains(&shop));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!list.contains(&shop));
}
