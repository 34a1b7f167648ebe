import { createConfig } from "ponder";
import { parseAbi } from "viem";

const settings = JSON.parse(process.env.REPLAY!);
const range = { chain: "replay", startBlock: 0 } as const;

export default createConfig({
  ordering: "multichain",
  chains: { replay: { id: settings.chainId, rpc: settings.urls } },
  contracts: {
    Relics: {
      ...range,
      address: settings.relics,
      abi: parseAbi([
        "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
        "event Approval(address indexed owner, address indexed operator, uint256 indexed tokenId)",
        "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
      ]),
    },
    Potions: {
      ...range,
      address: settings.potions,
      abi: parseAbi([
        "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
        "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)",
        "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
      ]),
    },
    Market: {
      ...range,
      address: settings.market,
      abi: parseAbi([
        "event RequestCreated(uint256 indexed requestId, address indexed creator, address indexed tokenContract, uint256 tokenId, bool isListing, uint256 quantity, address currency, uint256 pricePerToken, uint256 expiry)",
        "event RequestAccepted(uint256 indexed requestId, address indexed buyer, address indexed tokenContract, address recipient, uint256 quantity, uint256 quantityRemaining)",
        "event RequestCancelled(uint256 indexed requestId, address indexed tokenContract)",
      ]),
    },
  },
});
