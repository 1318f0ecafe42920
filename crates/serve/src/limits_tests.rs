use super::*;

fn bounds(requests_per_second: u32, listeners: usize) -> ServerLimits {
    ServerLimits {
        requests_per_second,
        connections: 1,
        listeners,
        body_bytes: 1,
        patience: Duration::ZERO,
        head_patience: Duration::ZERO,
        parting: Duration::ZERO,
    }
}

#[test]
fn an_address_gets_twice_its_share_at_once_and_its_share_later() {
    let limits = RequestLimiter::new(bounds(10, 1));
    let (one, other): (IpAddr, IpAddr) = ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
    let now = Instant::now();
    let admitted = |address, count, at| (0..count).filter(|_| limits.admit_request(address, at).is_ok()).count();
    assert_eq!(admitted(one, 50, now), 20);
    assert_eq!(admitted(other, 50, now), 20, "each has a share of its own");
    assert_eq!(admitted(one, 50, now + Duration::from_secs(1)), 10);
    assert_eq!(admitted(one, 50, now + Duration::from_secs(60)), 20, "and saves up no more than that");
}

#[test]
fn without_a_limit_everything_is_taken_in() {
    let limits = RequestLimiter::new(bounds(0, 1));
    assert!((0..10_000).all(|_| limits.admit_request("::1".parse().unwrap(), Instant::now()).is_ok()));
}

#[test]
fn a_place_among_listeners_is_free_again_when_somebody_leaves() {
    let limits = RequestLimiter::new(bounds(0, 2));
    let first = limits.reserve_listener_slot().unwrap();
    let _second = limits.reserve_listener_slot().unwrap();
    assert!(limits.reserve_listener_slot().is_err());
    drop(first);
    assert!(limits.reserve_listener_slot().is_ok());
}
