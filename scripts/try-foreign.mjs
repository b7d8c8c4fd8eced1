// Tries a foreign stack of OPC UA against the built gateway, by hand: `npm run try:foreign -- DIR`, where DIR
// is a checkout of asyncua or open62541. The cases that pass are written to the table of docs/scada.md.
import { cases } from "./foreign/cases.mjs";
import { startPlant } from "./foreign/plant.mjs";
import { startStack } from "./foreign/stack.mjs";
import { writeTriedRow } from "./foreign/tried-clients.mjs";

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error("usage: npm run try:foreign -- DIR");
const stack = startStack(checkout);
const plant = await startPlant();
const passed = [];
for (const [name, run] of Object.entries(cases)) {
  try {
    await run(stack, plant);
    passed.push(name);
    console.log(`passed  ${name}`);
  } catch (error) {
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}
const { value: version } = await stack.ask("version");
writeTriedRow({ client: stack.name, version, passed });
process.exit(passed.length === Object.keys(cases).length ? 0 : 1);
