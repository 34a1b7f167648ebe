// The packages that ABIs come from, fetched into a directory that is removed at the end.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ABIS = {
  reservoir: { package: "@reservoir0x/sdk@0.0.372", file: "reservoir0x-sdk-0.0.372.tgz" },
  seaport: { package: "@opensea/seaport-js@4.3.0", file: "opensea-seaport-js-4.3.0.tgz" },
};
const ETHERS = "ethers@6.17.0";

const directory = mkdtempSync(join(tmpdir(), "vectors-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const run = (command, args) => execFileSync(command, args, { cwd: directory, stdio: ["ignore", "ignore", "inherit"] });

run("npm", ["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", ETHERS]);
for (const [name, { package: wanted, file }] of Object.entries(ABIS)) {
  // Packed rather than installed: of these only files are read, and what they depend on is not needed.
  run("npm", ["pack", "--silent", wanted]);
  run("mkdir", [name]);
  run("tar", ["xzf", file, "-C", name]);
}

const require = createRequire(join(directory, "vectors.cjs"));
export const { ethers } = require("ethers");

const json = (...path) => JSON.parse(readFileSync(join(directory, ...path), "utf8"));
const reservoir = (path) => new ethers.Interface(json("reservoir", "package", "dist", ...path.split("/")));

export const addresses = json("reservoir", "package", "dist", "addresses.json");
export const abis = {
  seaport: new ethers.Interface(require(join(directory, "seaport/package/lib/abi/Seaport.js")).SeaportABI),
  looksRare: reservoir("looks-rare-v2/abis/Exchange.json"),
  zerox: reservoir("zeroex-v4/abis/Exchange.json"),
  paymentProcessorV2: reservoir("payment-processor-v2/abis/Exchange.json"),
  paymentProcessorV21: reservoir("payment-processor-v2.1/abis/Exchange.json"),
  blur: reservoir("blur-v2/abis/BlurV2.json"),
  x2y2: reservoir("x2y2/abis/Exchange.json"),
};

// People and things that all cases share.
export const maker = new ethers.Wallet("0x" + "11".repeat(32));
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
