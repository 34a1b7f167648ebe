//! The published clients against the demonstration: every method is called, and the compiler compares what comes with what
//! the clients declare. What is called with what is in `tests/clients`.

use std::path::Path;
use std::process::Command;

use crate::anvil::Anvil;
use crate::demo::{CHAIN, FILL_LIMIT};
use crate::instance::Instance;

#[test]
fn every_method_of_the_published_clients_answers_as_they_declare() {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let installed = Command::new(clients.join("install")).output().unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let (traded, asked) = (Instance::new(), Instance::new());
    let name = ("BOURSE_SERVICE__NAME", "sequence");
    let mut server = traded.serve_unready("demo", &[name]);
    let anvil = Anvil::start_as(CHAIN.0, asked.directory());
    let node = format!("http://127.0.0.1:{}", anvil.port);
    let mut other = asked.serve_unready("demo", &[name, ("BOURSE_NETWORKS__AMOY__RPC_URL", node.as_str())]);
    server.wait_ready(FILL_LIMIT);
    other.wait_ready(FILL_LIMIT);
    let checked = Command::new("node")
        .arg(clients.join("check.mjs"))
        .arg(format!("http://127.0.0.1:{}", server.port))
        .args([&traded, &asked].map(|instance| instance.data().join("credentials.json")))
        .output()
        .unwrap();
    let said =
        [checked.stdout, checked.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    println!("{said}");
    assert!(checked.status.success(), "{said}");
}
