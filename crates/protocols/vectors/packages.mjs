// The packages that ABIs come from, as `package.json` names them. Of all but ethers only files are read.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ethers } from "ethers";

export { ethers };

const require = createRequire(import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(`node_modules/@reservoir0x/sdk/dist/${path}`, import.meta.url), "utf8"));
const reservoir = (path) => new ethers.Interface(read(path));

export const addresses = read("addresses.json");
export const abis = {
  seaport: new ethers.Interface(require("./node_modules/@opensea/seaport-js/lib/abi/Seaport.js").SeaportABI),
  looksRare: reservoir("looks-rare-v2/abis/Exchange.json"),
  zerox: reservoir("zeroex-v4/abis/Exchange.json"),
  paymentProcessorV1: reservoir("payment-processor/abis/PaymentProcessor.json"),
  paymentProcessorV2: reservoir("payment-processor-v2/abis/Exchange.json"),
  paymentProcessorV21: reservoir("payment-processor-v2.1/abis/Exchange.json"),
  blur: reservoir("blur-v2/abis/BlurV2.json"),
  x2y2: reservoir("x2y2/abis/Exchange.json"),
};

// People and things that all cases share.
export const maker = new ethers.Wallet("0x" + "11".repeat(32));
// Who signs what is bought, where buyers have to.
export const buyer = new ethers.Wallet("0x" + "33".repeat(32));
export const taker = "0x00000000000000000000000000000000000000b0";
export const collection = "0x00000000000000000000000000000000000000c0";
export const dollar = "0x00000000000000000000000000000000000000d0";
export const shop = "0x00000000000000000000000000000000000000f0";
export const artist = "0x00000000000000000000000000000000000000a0";
export const ZERO = ethers.ZeroAddress;
export const ZERO_WORD = ethers.ZeroHash;

// JSON of what ethers takes: big numbers as text.
export const plain = (value) =>
  JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? inner.toString() : inner)));

// A log as a node tells of it.
export const log = (abi, event, values) => abi.encodeEventLog(abi.getEvent(event), values);
