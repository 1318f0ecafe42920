use super::*;

fn address(base_url: &str) -> EndpointAddress {
    EndpointAddress::new(base_url, None).unwrap_or_else(|error| panic!("{base_url}: {error}"))
}

#[test]
fn a_base_url_may_end_in_slashes() {
    for base_url in ["http://host:8080/v1", "http://host:8080/v1/", "http://host:8080/v1//", " http://host:8080/v1 "] {
        assert_eq!(address(base_url).url("/chat/completions"), "http://host:8080/v1/chat/completions", "{base_url}");
    }
    assert_eq!(address("https://host").url("/chat/completions"), "https://host/chat/completions");
    assert_eq!(address("https://host/v1?a=1&b=%20").query(), [("a", "1"), ("b", " ")]);
}

#[test]
fn what_is_no_base_url_is_refused_without_repeating_it() {
    for base_url in [
        "",
        "hunter2",
        "localhost:8080/hunter2",
        "ftp://hunter2/v1",
        "file:///hunter2",
        "http://",
        "http://user:hunter2@host/v1",
        "https://hunter2@host/v1",
        "https://:hunter2@host/v1",
        "https://host/v1#hunter2",
        "http://host:99999/hunter2",
    ] {
        let Err(error @ ModelError::Misconfigured { .. }) = EndpointAddress::new(base_url, None).map(|_| ()) else {
            panic!("{base_url} is taken")
        };
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

#[test]
fn a_key_that_fits_no_header_is_refused_without_repeating_it() {
    for key in ["", " ", "sk-1234\nhunter2", "sk-1234\0hunter2", "sk-hunter2-é"] {
        let Err(error) = EndpointAddress::new("https://host/v1", Some(&SecretString::from(key))) else {
            panic!("taken")
        };
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

#[test]
fn the_key_in_the_headers_is_marked_as_a_secret() {
    let address = EndpointAddress::new("https://host/v1", Some(&SecretString::from("hunter2"))).unwrap();
    assert_eq!(address.headers()[AUTHORIZATION], "Bearer hunter2");
    assert!(!format!("{:?}", address.headers()).contains("hunter2"));
}

#[test]
fn this_machine_is_known_by_its_names() {
    for host in ["localhost", "LOCALHOST", "a.localhost", "localhost.", "127.0.0.1", "127.9.9.9", "[::1]", "0.0.0.0"] {
        assert!(address(&format!("http://{host}:1/v1")).is_loopback(), "{host}");
    }
    assert!(address("http://[::ffff:127.0.0.1]/v1").is_loopback());
    for host in ["localhost.example", "example", "192.168.0.1", "128.0.0.1", "[::2]", "notlocalhost"] {
        assert!(!address(&format!("http://{host}/v1")).is_loopback(), "{host}");
    }
}
