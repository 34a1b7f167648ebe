//! Two guest lists.

use serde_json::{Value, json};

use super::people::wallet;
use super::{AUDIENCE_NAME, CHAIN_ID, DemoContext, PROVISIONS_ADDRESS, RELICS_ADDRESS};

const GUESTS: [(&str, &str); 25] = [
    ("Ilse Maren", "ilse.maren"),
    ("Tobias Quay", "tobias"),
    ("Yusra al-Bahri", "yusra.albahri"),
    ("Hana Shiomi", "hana.shiomi"),
    ("潮見 花", "hana.s"),
    ("Nikos Kalamaris", "nikos.k"),
    ("Ελένη Φαρά", "eleni.fara"),
    ("Zoya Beregovaya", "zoya"),
    ("Мария Причалова", "maria.p"),
    ("Odile Fenwick", "odile.fenwick"),
    ("Anselm Roe", "captain.roe"),
    ("Pim van Dijk", "pim.diver"),
    ("Beatriz Couto", "bea.couto"),
    ("ليلى المنارة", "layla.m"),
    ("Mateusz Wrona", "m.wrona"),
    ("Aroha Tane", "aroha.tane"),
    ("Søren Åkvist", "soren.akvist"),
    ("Chidi Okafor", "chidi.o"),
    ("Lucía Marín", "lucia.marin"),
    ("Deniz Karaca", "deniz.karaca"),
    ("Priya Sagar", "priya.sagar"),
    ("Jean-Luc Hâvre", "jl.havre"),
    ("Min-jun Haewon", "minjun.h"),
    ("Greta Tidewell", "greta.tidewell"),
    ("Caspian Lowe", "brother.caspian"),
];

/// The import lines of both audiences.
pub(super) fn records(context: &DemoContext) -> impl Iterator<Item = Value> + use<> {
    let relics = contract("Harbour Relics", RELICS_ADDRESS, "ERC721");
    let provisions = contract("Guild Provisions", PROVISIONS_ADDRESS, "ERC1155");
    let appraisers = GUESTS.iter().enumerate().skip(2).step_by(4);
    [
        json!({
            "type": "audience",
            "projectId": context.project_id,
            "name": AUDIENCE_NAME,
            "contacts": GUESTS.iter().enumerate().map(contact).collect::<Vec<_>>(),
            "contracts": [relics.clone(), provisions],
        }),
        json!({
            "type": "audience",
            "projectId": context.project_id,
            "name": "Appraisers' circle",
            "contacts": appraisers.map(contact).collect::<Vec<_>>(),
            "contracts": [relics],
        }),
    ]
    .into_iter()
}

fn contact((number, (name, mailbox)): (usize, &(&str, &str))) -> Value {
    json!({
        "name": name,
        // Every eighth wallet, so that guests are found among large and small collectors alike.
        "address": wallet(number as u64 * 8),
        "email": format!("{mailbox}@guests.example"),
    })
}

fn contract(name: &str, address: &str, contract_type: &str) -> Value {
    json!({
        "contractName": name,
        "contractAddress": address,
        "contractType": contract_type,
        "chainId": CHAIN_ID,
        "source": "LINKED",
    })
}
