use super::*;

/// Which of the four a failure is, with the suggestion.
#[derive(Debug, PartialEq)]
enum Kind {
    Smaller(Option<u64>),
    Retry,
    Reorg,
    Stop,
}

fn kind(failure: &Failure) -> Kind {
    match failure {
        Failure::SmallerRange { suggested, .. } => Kind::Smaller(*suggested),
        Failure::Retry { .. } => Kind::Retry,
        Failure::PossibleReorg { .. } => Kind::Reorg,
        Failure::Stop { .. } => Kind::Stop,
    }
}

macro_rules! said {
    ($($name:ident: $code:literal, $message:literal => $kind:expr;)*) => {$(
        #[test]
        fn $name() {
            let found = classify($code, $message, "");
            assert_eq!(kind(&found), $kind, "{found}");
        }
    )*};
}

said! {
    alchemy_response_size: -32602, "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x133e71]" => Kind::Smaller(Some(0x13_3e72));
    alchemy_free: -32600, "You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1a30dfd, 0x1a30ff0]" => Kind::Smaller(Some(500));
    alchemy_without_range: -32600, "You can make eth_getLogs requests with up to a 10 block range" => Kind::Smaller(Some(10));
    alchemy_too_fast: 429, "Your app has exceeded its compute units per second capacity." => Kind::Retry;
    infura_results: -32005, "query returned more than 10000 results. Try with this block range [0xCB3D, 0x7B737]." => Kind::Smaller(Some(0x7_b737 - 0xcb3d + 1));
    infura_results_bare: -32005, "query returned more than 10000 results" => Kind::Smaller(None);
    infura_range: -32602, "range 1000000 exceeds limit of 10000" => Kind::Smaller(Some(10_000));
    infura_slow: -32005, "query timeout exceeded" => Kind::Smaller(None);
    infura_too_fast: -32005, "daily request count exceeded, request rate limited" => Kind::Retry;
    infura_unknown: -32000, "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found." => Kind::Reorg;
    quicknode: -32614, "eth_getLogs is limited to a 10,000 range" => Kind::Smaller(Some(10_000));
    quicknode_free: -32615, "eth_getLogs is limited to a 5 range" => Kind::Smaller(Some(5));
    ankr: -32600, "block range is too wide" => Kind::Smaller(None);
    ankr_authenticated: -32000, "Unauthorized: You must authenticate your request with an API key." => Kind::Stop;
    blockpi: -32602, "eth_getLogs is limited to 1024 block range. Please check the parameter requirements at  https://docs.blockpi.io/documentations/api-reference" => Kind::Smaller(Some(1024));
    bsc: -32602, "eth_getLogs is limited to 0 - 50 blocks range" => Kind::Smaller(Some(50));
    chainstack: -32602, "Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits" => Kind::Smaller(None);
    chainstack_slow: -32002, "request timed out" => Kind::Smaller(None);
    drpc_free: 35, "ranges over 10000 blocks are not supported on freetier" => Kind::Smaller(Some(10_000));
    drpc: -32000, "requested too many blocks from 0 to 16777216, maximum is set to 2048" => Kind::Smaller(Some(2048));
    cloudflare: -32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800" => Kind::Smaller(Some(800));
    publicnode: -32701, "exceed maximum block range: 50000" => Kind::Smaller(Some(50_000));
    one_rpc: -32603, "eth_getLogs range is too large, max is 1k blocks" => Kind::Smaller(Some(1000));
    thirdweb: -32005, "Log response size exceeded. Maximum allowed number of requested blocks is 1000" => Kind::Smaller(Some(1000));
    zksync: -32602, "Query returned more than 10000 results. Try with this block range [0x118dc91, 0x1198cc3]." => Kind::Smaller(Some(0x119_8cc3 - 0x118_dc91 + 1));
    morph: -32000, "block range is larger than max block range, block range = 5120, max block range = 5000" => Kind::Smaller(Some(5000));
    simply: -32000, "too wide blocks range, the limit is 100" => Kind::Smaller(Some(100));
    candle: -32600, "block range too high" => Kind::Smaller(None);
    busy_but_about_ranges: -32012, "requested range too large" => Kind::Smaller(None);
    reth_blocks: -32602, "query exceeds max block range 100000" => Kind::Smaller(Some(100_000));
    reth_results: -32602, "query exceeds max results 20000, retry with the range 23879634-23879696" => Kind::Smaller(Some(63));
    geth_blocks: -32602, "exceed maximum block range: 5000" => Kind::Smaller(Some(5000));
    geth_beyond_head: -32000, "block range extends beyond current head block" => Kind::Reorg;
    geth_unknown: -32000, "unknown block" => Kind::Reorg;
    geth_header: -32000, "header not found" => Kind::Reorg;
    erigon_blocks: -32000, "query block range exceeds server limit, narrow your filter: 1000" => Kind::Smaller(Some(1000));
    erigon_logs: -32000, "query returns too many logs, narrow your filter: 20000" => Kind::Smaller(None);
    nethermind_logs: -32005, "Too many logs requested. Max logs per response is 20000." => Kind::Smaller(None);
    nethermind_unknown: -32001, "Block not found" => Kind::Reorg;
    besu_blocks: -32005, "Requested range exceeds maximum RPC range limit" => Kind::Smaller(None);
    anvil_unknown: -32602, "BlockOutOfRangeError: block height is 12 but requested was 20" => Kind::Reorg;
    anvil_no_method: -32601, "Method not found" => Kind::Stop;
    avalanche_ahead: -32000, "cannot query unfinalized data: requested block 20 after last accepted block 10" => Kind::Reorg;
    load_shedding: -32005, "rate limit exceeded: try a smaller range" => Kind::Retry;
    a_limit_in_unknown_words: -32005, "limit exceeded" => Kind::Smaller(None);
    anything_else: -32603, "internal error" => Kind::Retry;
}

#[test]
fn tenderly_tells_it_in_the_data() {
    let found =
        classify(-32602, "invalid params", "{\"payload\":\"range 9009594 is bigger than range limit 2000\"}");
    assert_eq!(kind(&found), Kind::Smaller(Some(2000)));
}

#[test]
fn statuses() {
    for (status, means) in [
        (413, Kind::Smaller(None)),
        (504, Kind::Smaller(None)),
        (429, Kind::Retry),
        (401, Kind::Stop),
        (403, Kind::Stop),
        (500, Kind::Retry),
        (502, Kind::Retry),
        (503, Kind::Retry),
    ] {
        assert_eq!(kind(&classify_status(status, None, "")), means, "{status}");
    }
    let after = Some(Duration::from_secs(7));
    assert!(matches!(classify_status(429, after, ""), Failure::Retry { after: found, .. } if found == after));
}

#[test]
fn what_is_kept_of_a_refusal_is_short() {
    let found = classify(-1, &"x".repeat(100_000), "");
    assert!(found.to_string().len() < 400);
}
