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
    let instance = Instance::new();
    let anvil = Anvil::start_as(CHAIN.0, instance.directory());
    let node = format!("http://127.0.0.1:{}", anvil.port);
    // The node knows nothing of the contracts of the demonstration, so it cannot try steps.
    let variables = [
        ("BOURSE_SERVICE__NAME", "sequence"),
        ("BOURSE_NETWORKS__AMOY__RPC_URL", node.as_str()),
        ("BOURSE_NETWORKS__AMOY__SIMULATE", "false"),
    ];
    let mut server = instance.serve_unready("demo", &variables);
    server.wait_ready(FILL_LIMIT);
    let checked = Command::new("node")
        .arg(clients.join("check.mjs"))
        .arg(format!("http://127.0.0.1:{}", server.port))
        .arg(instance.data().join("credentials.json"))
        .output()
        .unwrap();
    let said =
        [checked.stdout, checked.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    println!("{said}");
    assert!(checked.status.success(), "{said}");
}
