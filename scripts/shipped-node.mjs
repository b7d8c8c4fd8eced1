// Prints the folder of the Node.js that packages ship, for this machine; fetches it if it is not there.
import { join } from "node:path";
import { nodeBinary, shippedVersion } from "../packaging/node-binary.mjs";

const arch = { x64: "amd64", arm64: "arm64" }[process.arch];
const cache = join(import.meta.dirname, "..", "node_modules", ".cache", "packages");
console.log(nodeBinary(shippedVersion, arch, cache));
