// Makes the materials of boot.test.ts in a folder, which materials.ts finds there.
//
//     make-materials.mjs FOLDER
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeMaterials } from "./materials.ts";

const [folder = ""] = process.argv.slice(2);
writeFileSync(join(folder, "materials.json"), JSON.stringify(await makeMaterials(folder)));
