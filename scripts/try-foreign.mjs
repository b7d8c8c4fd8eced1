// Tries a foreign stack of OPC UA against the built gateway, by hand: `npm run try:foreign -- DIR`, where DIR
// is a checkout of asyncua or open62541. What passes, and what cannot be run here,
// is written to the table of docs/scada.md.
import { cases } from "./foreign/cases.mjs";
import { startPlant } from "./foreign/plant.mjs";
import { runCases } from "./foreign/run-cases.mjs";
import { findStack } from "./foreign/stack.mjs";
import { writeTriedRow } from "./foreign/tried-clients.mjs";

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error("usage: npm run try:foreign -- DIR");
const { name: client, start } = findStack(checkout);
const first = start();
const { status, value: version } = await first.ask("version");
await first.close();
if (status !== "Good") throw new Error(`${client} does not start: ${version}`);
const { failed, ...results } = await runCases(cases, start, await startPlant(), console.log);
writeTriedRow({ client, version, ...results });
process.exit(failed === 0 ? 0 : 1);
