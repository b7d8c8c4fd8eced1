import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A built gateway that the bench starts. */
export interface Build {
  /** `dist/main.js` of its tree. */
  readonly script: string;
  /** What its launcher gives node: a plant's gateway runs with these. */
  readonly nodeOptions: readonly string[];
  /** What its launcher tells the system's allocator; nothing in older trees. */
  readonly env: Readonly<Record<string, string>>;
}

/** The folder of this tree, above the compiled bench. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** The build of this tree. */
export const ownBuild: Build = buildAt(root);

/** The build in `dist` of the tree at `folder`. Throws when nothing is built there. */
export function buildAt(folder: string): Build {
  const tree = resolve(folder);
  const script = join(tree, "dist", "main.js");
  if (!existsSync(script)) throw new Error(`${script}: no build; run \`npm run build\` in ${tree} first`);
  return {
    script,
    nodeOptions: nodeOptionsOf(tree),
    env: allocatorOf(tree),
  };
}

/** The launcher has them; in older trees the systemd unit. */
function nodeOptionsOf(tree: string): readonly string[] {
  const launcher = join(tree, "packaging", "fleetgate.sh");
  const unit = join(tree, "systemd", "fleetgate.service");
  const found =
    (existsSync(launcher) ? /\/node" ((?:--\S+ )*)"/.exec(readFileSync(launcher, "utf8")) : null) ??
    /^ExecStart=\S*\/node ((?:--\S+ )*)\//m.exec(readFileSync(unit, "utf8"));
  if (found?.[1] === undefined) throw new Error(`${tree}: neither ${launcher} nor ${unit} starts node`);
  return found[1].split(" ").filter((option) => option !== "");
}

function allocatorOf(tree: string): Readonly<Record<string, string>> {
  const launcher = join(tree, "packaging", "fleetgate.sh");
  const text = existsSync(launcher) ? readFileSync(launcher, "utf8") : "";
  const set = [...text.matchAll(/^export (MALLOC_\w+)="\$\{\1:-(\d+)\}"$/gm)];
  return Object.fromEntries(set.map(([, name = "", value = ""]) => [name, value]));
}
