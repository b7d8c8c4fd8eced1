import type { DataTypeName } from "./node.ts";
import type { Tag } from "./tag.ts";

/** How the tags are found and compared. */
export interface IgnitionOptions {
  /** The name of the OPC connection in Ignition. */
  readonly opcServer: string;
  readonly modelHash: number;
}

interface Folder {
  readonly name: string;
  readonly tagType: "Folder";
  readonly tags: (Folder | AtomicTag)[];
}

type AtomicTag = Readonly<Record<string, string | number | boolean>> & {
  readonly name: string;
  readonly tagType: "AtomicTag";
};

const dataTypes: Readonly<Partial<Record<DataTypeName, string>>> = {
  Boolean: "Boolean",
  Int32: "Int4",
  Double: "Float8",
  String: "String",
  DateTime: "DateTime",
};

/**
 * One folder of OPC tags, as Ignition's tag browser imports it. Texts of enumerations are left out: a tag of
 * Ignition has no tags in it. `Gateway/ExportedModelHash` is a memory tag, to compare `ModelHash` with.
 */
export function ignitionJson(tags: readonly Tag[], { opcServer, modelHash }: IgnitionOptions): string {
  const root: Folder = { name: "Fleetgate", tagType: "Folder", tags: [] };
  const folders = new Map<string, Folder>([["", root]]);

  function folderOf(steps: readonly string[]): Folder {
    const key = steps.join("/");
    const known = folders.get(key);
    if (known !== undefined) return known;
    const parent = folderOf(steps.slice(0, -1));
    const made: Folder = { name: freeName(parent, steps.at(-1) ?? ""), tagType: "Folder", tags: [] };
    parent.tags.push(made);
    folders.set(key, made);
    return made;
  }

  for (const tag of tags.filter(({ isText }) => !isText)) {
    const folder = folderOf(tag.folders);
    folder.tags.push(opcTag(tag, freeName(folder, tag.name), opcServer));
  }
  folderOf(["Gateway"]).tags.push({
    name: "ExportedModelHash",
    tagType: "AtomicTag",
    valueSource: "memory",
    dataType: "Int4",
    value: modelHash,
    readOnly: true,
    documentation: "ModelHash of this export; if Gateway/ModelHash is another number, import again",
  });
  return `${JSON.stringify(root, null, 2)}\n`;
}

function opcTag(tag: Tag, name: string, opcServer: string): AtomicTag {
  const { dataType, length, unit, range, description } = tag;
  return {
    name,
    tagType: "AtomicTag",
    valueSource: "opc",
    dataType: `${dataTypes[dataType] ?? "String"}${length === null ? "" : "Array"}`,
    opcServer,
    opcItemPath: tag.nodeId,
    readOnly: !tag.isWritable,
    documentation: description,
    ...(unit === "" ? {} : { engUnit: unit }),
    ...(range === null ? {} : { engLow: range[0], engHigh: range[1] }),
  };
}

/** Ignition takes fewer characters than a NodeId, and does not tell names by their case. */
function freeName({ tags }: Folder, name: string): string {
  const fitting = name.replaceAll(/[^A-Za-z0-9_ '\-:()]/g, "_").replace(/^[^A-Za-z0-9_]/, "_");
  const taken = new Set(tags.map((tag) => tag.name.toLowerCase()));
  let free = fitting;
  for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${fitting}_${count}`;
  return free;
}
