// Writes config/fleetgate.schema.json, for editors, from the schema that the gateway
// itself checks with (in dist, so build first). With --check it writes nothing, and
// fails when what is committed is not what the schema says today.
import { join } from "node:path";
import { configJsonSchema } from "../.build/config/schema.js";
import { writeMade } from "./made-files.mjs";

const path = join(import.meta.dirname, "..", "config", "fleetgate.schema.json");
writeMade([[path, `${JSON.stringify(configJsonSchema(), null, 2)}\n`]]);
