import { FLEET_NAMESPACE } from "../../northbound/opcua/fleet-nodeset.ts";
import { VALUE_AS_TEXT } from "../../northbound/opcua/model/properties.ts";
import type { DataTypeName, NodeGroup, VariableFacts } from "./node.ts";

/** A variable of the plant, for lists of tags. */
export interface Tag extends Pick<VariableFacts, "dataType" | "length" | "isWritable" | "unit" | "range"> {
  /** With the namespace's name, because its index is the server's own. */
  readonly nodeId: string;
  /** The names of its folders, from `Gateway`, `Stations` or `Robots` on. */
  readonly folders: readonly string[];
  readonly name: string;
  readonly description: string;
  /** The same number is there as a tag of its own. */
  readonly isText: boolean;
}

/** The variables among nodes. */
export function tagsOf(nodes: NodeGroup): readonly Tag[] {
  return nodes.flatMap(({ path, browseName, description, variable }) => {
    if (variable === null) return [];
    const steps = path.split(".");
    const { dataType, length, isWritable, unit, range } = variable;
    return {
      nodeId: `nsu=${FLEET_NAMESPACE};s=${path}`,
      folders: steps.slice(0, -1),
      name: browseName,
      description: typeof description === "string" ? description : description.en,
      isText: browseName === VALUE_AS_TEXT,
      ...{ dataType, length, isWritable, unit, range },
    };
  });
}

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

interface NamedFolder {
  readonly members: Folder["tags"];
  /** The names of the members, in lower case. */
  readonly names: Set<string>;
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
 * One folder of OPC tags for the import of Ignition's tag browser. Texts of enumerations are left out,
 * because a tag of Ignition cannot contain tags. `Gateway/ExportedModelHash` is a memory tag for comparing
 * `ModelHash`.
 *
 * @param groups each with the tags of one folder directly under Objects, or of one folder in it
 */
export function* ignitionJson(groups: Iterable<readonly Tag[]>, options: IgnitionOptions): Generator<string> {
  yield opening("Fleetgate");
  let root: string | undefined;
  let names = new Set<string>();
  for (const tags of groups) {
    const [first] = tags;
    if (first === undefined) continue;
    const isNewRoot = first.folders[0] !== root;
    if (isNewRoot) {
      if (root !== undefined) yield "]},\n";
      root = first.folders[0];
      names = new Set();
      yield opening(root ?? "");
    }
    const members = membersOf(tags, names, options).map((member) => JSON.stringify(member, null, 2));
    yield `${isNewRoot ? "" : ",\n"}${members.join(",\n")}`;
  }
  yield root === undefined ? "]}\n" : "]}]}\n";
}

function opening(name: string): string {
  return `{"name": ${JSON.stringify(name)}, "tagType": "Folder", "tags": [\n`;
}

/** The members of the folder directly under Objects, with free names. */
function membersOf(
  tags: readonly Tag[],
  names: Set<string>,
  { opcServer, modelHash }: IgnitionOptions,
): Folder["tags"] {
  const root: NamedFolder = { members: [], names };
  const folders = new Map<string, NamedFolder>([["", root]]);

  function folderOf(steps: readonly string[]): NamedFolder {
    const key = steps.join("/");
    const known = folders.get(key);
    if (known !== undefined) return known;
    const parent = folderOf(steps.slice(0, -1));
    const made: NamedFolder = { members: [], names: new Set() };
    const name = freeName(parent.names, steps.at(-1) ?? "");
    parent.members.push({ name, tagType: "Folder", tags: made.members });
    folders.set(key, made);
    return made;
  }

  for (const tag of tags) {
    if (tag.isText) continue;
    const { members, names: taken } = folderOf(tag.folders.slice(1));
    members.push(opcTag(tag, freeName(taken, tag.name), opcServer));
    if (tag.folders.length === 1 && tag.name === "ModelHash") members.push(exportedHash(modelHash));
  }
  return root.members;
}

function exportedHash(modelHash: number): AtomicTag {
  return {
    name: "ExportedModelHash",
    tagType: "AtomicTag",
    valueSource: "memory",
    dataType: "Int4",
    value: modelHash,
    readOnly: true,
    documentation: "ModelHash of this export; if Gateway/ModelHash is another number, import again",
  };
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

/** Ignition allows fewer characters than a NodeId, and ignores the case of names. */
function freeName(taken: Set<string>, name: string): string {
  const fitting = name.replaceAll(/[^A-Za-z0-9_ '\-:()]/g, "_").replace(/^[^A-Za-z0-9_]/, "_");
  let free = fitting;
  for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${fitting}_${count}`;
  taken.add(free.toLowerCase());
  return free;
}
