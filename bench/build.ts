import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A built gateway that the bench starts. */
export interface Build {
  /** `dist/main.js` of its tree. */
  readonly script: string;
  /** What its systemd unit gives node: a plant's gateway runs with these. */
  readonly nodeOptions: readonly string[];
  /** The key of a rule's `source` that names the protocol, which older builds call `door`. */
  readonly protocolKey: string;
}

/** The folder of this tree, above the compiled bench. */
const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** The build of this tree. */
export const ownBuild: Build = buildAt(root);

/** The build in `dist` of the tree at `folder`. Throws when nothing is built there. */
export function buildAt(folder: string): Build {
  const tree = resolve(folder);
  const script = join(tree, "dist", "main.js");
  if (!existsSync(script)) throw new Error(`${script}: no build; run \`npm run build\` in ${tree} first`);
  return {
    script,
    nodeOptions: nodeOptionsOf(readFileSync(join(tree, "systemd", "fleetgate.service"), "utf8")),
    protocolKey: protocolKeyOf(readFileSync(join(tree, "config", "fleetgate.schema.json"), "utf8")),
  };
}

function nodeOptionsOf(unit: string): readonly string[] {
  const options = /^ExecStart=\S*\/node ((?:--\S+ )*)\//m.exec(unit)?.[1];
  if (options === undefined) throw new Error("the systemd unit has no ExecStart with node");
  return options.split(" ").filter((option) => option !== "");
}

interface RightsSchema {
  readonly properties: {
    readonly rights: {
      readonly items: { readonly properties: { readonly source: { readonly properties: object } } };
    };
  };
}

function protocolKeyOf(text: string): string {
  const schema = JSON.parse(text) as RightsSchema;
  const { source } = schema.properties.rights.items.properties;
  return "protocol" in source.properties ? "protocol" : "door";
}
