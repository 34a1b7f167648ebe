// Writes the vectors to the standard output; README.md tells more.
import { maker, plain, taker } from "./packages.mjs";
import { held } from "./held.mjs";
import * as looks_rare from "./looks_rare.mjs";
import * as payment_processor from "./payment_processor.mjs";
import * as payment_processor_v1 from "./payment_processor_v1.mjs";
import * as seaport from "./seaport.mjs";
import * as zerox from "./zerox.mjs";

const families = { seaport, looks_rare, zerox, payment_processor, payment_processor_v1 };

const vectors = { maker: maker.address.toLowerCase(), taker };
for (const [name, family] of Object.entries(families)) {
  vectors[name] = { cases: plain(family.cases()), logs: family.logs() };
}
vectors.held = held();
process.stdout.write(`${JSON.stringify(vectors, null, 1)}\n`);
