// Writes the vectors to the standard output; README.md tells more.
import { readdir } from "node:fs/promises";
import { maker, plain, taker } from "./packages.mjs";
import { held } from "./held.mjs";

// Every other script here is a family.
const shared = new Set(["make.mjs", "packages.mjs", "held.mjs"]);
const scripts = (await readdir(new URL(".", import.meta.url))).filter((name) => name.endsWith(".mjs") && !shared.has(name));

const vectors = { maker: maker.address.toLowerCase(), taker };
for (const script of scripts.sort()) {
  const family = await import(`./${script}`);
  vectors[script.slice(0, -".mjs".length)] = { cases: plain(family.cases()), logs: family.logs() };
}
vectors.held = held();
process.stdout.write(`${JSON.stringify(vectors, null, 1)}\n`);
