// [dependencies] serde_json = "1", ureq = { version = "3", features = ["json"] }
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = std::env::var("QUERYABLES_TOKEN")?;
    let question: serde_json::Value = serde_json::from_str(
        r#"{"count":{"where":"sex = 'Male'","noise":{"laplace":{"epsilon":"0.1"}}}}"#,
    )?;
    let mut response = ureq::post(r#"http://127.0.0.1:8400/v1/datasets/census/release"#)
        .header("Authorization", format!("Bearer {token}"))
        .header("Idempotency-Key", "a key that is used once")
        .send_json(&question)?;
    let reply: serde_json::Value = response.body_mut().read_json()?;
    println!("{reply}");
    Ok(())
}
