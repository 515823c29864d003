//! TLS, and tokens of an issuer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::support::*;

fn openssl(folder: &Path, arguments: &[&str]) {
    let mut openssl = Command::new("openssl");
    let done = openssl
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A key, and its public half.
fn pair(folder: &Path, name: &str, kind: &[&str]) {
    let (key, public) = (format!("{name}.key"), format!("{name}.pem"));
    openssl(folder, &[&["genpkey", "-out", &key], kind].concat());
    openssl(folder, &["pkey", "-in", &key, "-pubout", "-out", &public]);
}

const ED25519: &[&str] = &["-algorithm", "ed25519"];
const P256: &[&str] = &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
const RSA: &[&str] = &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"];

/// A server whose issuer signs with this algorithm.
fn issued(algorithm: &str, kind: &[&str]) -> Server {
    let folder = Folder::new();
    pair(&folder.0, "issuer", kind);
    pair(&folder.0, "other", kind);
    let issuer = format!(
        "[issuer]\nname = \"https://issuer.example\"\naudience = \"desk\"\n\
         algorithm = \"{algorithm}\"\npublic_keys = [\"issuer.pem\"]\n\n[limits]"
    );
    let text = config(&Terms::default()).replace("[limits]", &issuer);
    let text = text.replace(
        "name = \"ana\"\n",
        "name = \"ana\"\nsubject = \"ana@issuer\"\n",
    );
    let text = text.replace(
        "name = \"old\"\n",
        "name = \"old\"\nsubject = \"old@issuer\"\n",
    );
    Server::in_folder(folder, &text)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

fn claims() -> Value {
    json!({"iss": "https://issuer.example", "aud": "desk", "sub": "ana@issuer", "exp": now() + 600})
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn key(server: &Server, file: &str, algorithm: Algorithm) -> EncodingKey {
    let pem = std::fs::read(server.folder.0.join(file)).unwrap();
    let key = match algorithm {
        Algorithm::EdDSA => EncodingKey::from_ed_pem(&pem),
        Algorithm::ES256 => EncodingKey::from_ec_pem(&pem),
        _ => EncodingKey::from_rsa_pem(&pem),
    };
    key.unwrap()
}

#[test]
fn tokens_of_the_issuer_are_verified() {
    for (name, kind, algorithm) in [
        ("EdDSA", ED25519, Algorithm::EdDSA),
        ("ES256", P256, Algorithm::ES256),
        ("RS256", RSA, Algorithm::RS256),
    ] {
        let server = issued(name, kind);
        let signed = |claims: &Value| {
            encode(
                &Header::new(algorithm),
                claims,
                &key(&server, "issuer.key", algorithm),
            )
            .unwrap()
        };
        let me = server.get(&signed(&claims()), "/v1/me");
        assert_eq!(me.json, json!({"name": "ana", "role": "analyst"}), "{name}");
        assert_eq!(server.get(ANA, "/v1/me").json, me.json);
        let several = with("aud", json!(["other", "desk"]));
        assert_eq!(server.get(&signed(&several), "/v1/me").status, 200);
        assert_eq!(
            server
                .post(&signed(&claims()), RELEASE, &count("age > 1", "0.1"))
                .status,
            200
        );

        // Everything else is told the same.
        let unknown = server.get("qs_nobody", "/v1/me").json;
        let refuse = |token: &str, why: &str| {
            let reply = server.get(token, "/v1/me");
            assert_eq!(
                (reply.status, &reply.json),
                (401, &unknown),
                "{name}: {why}"
            );
        };
        for claims in [
            with("exp", json!(now() - 600)),
            with("exp", json!((now() + 600).to_string())),
            with("exp", json!(null)),
            with("exp", json!(-1)),
            with("nbf", json!(now() + 600)),
            with("aud", json!("other")),
            with("aud", json!([])),
            with("iss", json!("https://other.example")),
            with("iss", json!(["https://issuer.example/"])),
            with("sub", json!("ben")),
            with("sub", json!("ana")),
            with("sub", json!("curator")),
            with("sub", json!("")),
            // The curator's file says until when.
            with("sub", json!("old@issuer")),
            without("exp"),
            without("aud"),
            without("iss"),
            without("sub"),
        ] {
            refuse(&signed(&claims), &claims.to_string());
        }
        let good = signed(&claims());
        let other = key(&server, "other.key", algorithm);
        let forged = encode(&Header::new(algorithm), &claims(), &other).unwrap();
        refuse(&forged, "signed by another key");
        let (body, signature) = good.rsplit_once('.').unwrap();
        refuse(&format!("{body}."), "without a signature");
        refuse(body, "two parts");
        refuse(&format!("{good}.{signature}"), "four parts");
        let parts: Vec<&str> = good.split('.').collect();
        let eve = signed(&with("sub", json!("ben")));
        let eve: Vec<&str> = eve.split('.').collect();
        refuse(
            &[parts[0], eve[1], parts[2]].join("."),
            "the signature of another",
        );
        refuse(&format!("{good}{}", "A".repeat(5000)), "too long");
        // The head of a token does not choose how it is verified.
        let none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
        refuse(&[none, parts[1], ""].join("."), "alg none");
        refuse(&[none, parts[1], parts[2]].join("."), "alg none, signed");
        let public = std::fs::read(server.folder.0.join("issuer.pem")).unwrap();
        for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
            let secret = EncodingKey::from_secret(&public);
            let confused = encode(&Header::new(algorithm), &claims(), &secret).unwrap();
            refuse(&confused, "the public key as a secret");
        }
        if algorithm == Algorithm::RS256 {
            let key = key(&server, "issuer.key", algorithm);
            for algorithm in [Algorithm::RS384, Algorithm::PS256] {
                let another = encode(&Header::new(algorithm), &claims(), &key).unwrap();
                refuse(&another, "another algorithm of the same key");
            }
        }
        assert_eq!(server.spent(), "0.1");
        let log = std::fs::read_to_string(server.folder.0.join("log")).unwrap();
        assert!(!log.contains(&good) && !log.contains("panicked"), "{log}");
    }
}

#[test]
fn an_issuer_without_a_public_key_is_not_accepted() {
    let folder = Folder::new();
    let check = |issuer: &str| {
        let text = config(&Terms::default()).replace("[limits]", &format!("{issuer}\n[limits]"));
        let file = folder.0.join("curator.toml");
        std::fs::write(&file, text).unwrap();
        let done = run(&["check", file.to_str().unwrap()]);
        assert!(!done.status.success());
        String::from_utf8(done.stderr).unwrap()
    };
    let issuer = |algorithm: &str, keys: &str| {
        check(&format!(
            "[issuer]\nname = \"i\"\naudience = \"a\"\nalgorithm = \"{algorithm}\"\npublic_keys = {keys}"
        ))
    };
    for algorithm in ["none", "HS256"] {
        let said = issuer(algorithm, "[]");
        assert!(said.starts_with("line 8: unknown variant"), "{said}");
    }
    let said = issuer("EdDSA", "[]");
    assert_eq!(
        said,
        "line 5: an issuer has a name, an audience and a public key\n"
    );
    let said = issuer("EdDSA", "[\"missing.pem\"]");
    assert!(said.contains("missing.pem: No such file"), "{said}");
}

#[test]
fn tls_is_spoken_with_the_certificate_of_the_curator() {
    let folder = Folder::new();
    let subject = [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ];
    let make = [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", "tls.key",
        "-out", "tls.pem",
    ];
    openssl(&folder.0, &[&make[..], &subject].concat());
    let tls = "threads = 4\ntls = { certificate = \"tls.pem\", key = \"tls.key\" }";
    let text = config(&Terms::default()).replace("threads = 4", tls);
    let server = Server::in_folder(folder, &text);
    let curl = |more: &[&str]| {
        let mut curl = Command::new("curl");
        let address = format!("https://{}/v1/me", server.address);
        let token = format!("Authorization: Bearer {ANA}");
        curl.args(["-sS", "--noproxy", "*", &address, "-H", &token]);
        curl.args(more).output().unwrap()
    };
    let certificate = server.folder.0.join("tls.pem");
    let certificate = certificate.to_str().unwrap();
    let done = curl(&["--cacert", certificate]);
    assert_eq!(
        String::from_utf8(done.stdout).unwrap(),
        r#"{"name":"ana","role":"analyst"}"#
    );
    // Nobody else's certificate, and no old protocol.
    assert!(!curl(&[]).status.success());
    let old = curl(&["--cacert", certificate, "--tls-max", "1.1"]);
    assert!(!old.status.success());
    // Plain HTTP is not understood there: the reply is one fatal alert of TLS (RFC 8446, sections 5.1 and 6).
    let mut plain = TcpStream::connect(&server.address).unwrap();
    let head = format!("GET /v1/me HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    plain.write_all(head.as_bytes()).unwrap();
    let mut said = Vec::new();
    plain.read_to_end(&mut said).unwrap();
    let [21, 3, _, 0, 2, 2, _] = said[..] else {
        panic!("{:?}", String::from_utf8_lossy(&said));
    };
}

/// `check` says it before anything listens.
#[test]
fn plain_on_the_network_is_asked_for() {
    let folder = Folder::new();
    let file = folder.0.join("curator.toml");
    let check = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let done = run(&["check", file.to_str().unwrap()]);
        String::from_utf8(done.stderr).unwrap()
    };
    let text = config(&Terms::default()).replace("127.0.0.1:0", "0.0.0.0:0");
    let said = check(&text);
    assert!(
        said.starts_with("line 1: this address is not loopback"),
        "{said}"
    );
    let plain = text.replace("threads = 4", "threads = 4\nplain_on_network = true");
    assert!(!check(&plain).contains("loopback"));
    // A certificate that cannot be read is no certificate.
    let tls = "threads = 4\ntls = { certificate = \"a.pem\", key = \"b.pem\" }";
    let said = check(&text.replace("threads = 4", tls));
    assert!(
        said.contains("line 3: ") && said.contains("a.pem"),
        "{said}"
    );
}
