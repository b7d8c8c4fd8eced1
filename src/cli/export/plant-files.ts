import type { OperationManual } from "../../contracts/operation-manual.ts";
import { methodModels } from "../../northbound/opcua/commands/method-models.ts";
import { modelHash } from "../../northbound/opcua/model-hash.ts";
import { type LayoutOptions, layoutOf, type PlantLayout } from "../../northbound/opcua/plant-layout.ts";
import { version } from "../../version.ts";
import { tagsCsv } from "./csv.ts";
import { ignitionJson } from "./ignition.ts";
import { instanceNodes, methodFolderNodes } from "./instance-nodes.ts";
import { nodeSetXml } from "./nodeset.ts";
import { tagsOf } from "./tag.ts";
import { typeNodes } from "./type-nodes.ts";

/** The contents of files by name. */
export type Files = Readonly<Record<string, Iterable<string>>>;

const NODE_SET = "Fleetgate.NodeSet2.xml";

/** The files with the nodes of a plant. */
export interface PlantFiles {
  readonly files: Files;
  readonly modelHash: number;
  /** What the configuration lacks, as sentences. */
  readonly gaps: readonly string[];
}

export interface PlantFileOptions {
  /** The name of the OPC connection in Ignition. */
  readonly opcServer: string;
  /** Whether the NodeSet has the nodes of the plant too. */
  readonly hasInstances: boolean;
}

/** The object types alone, with their methods, which are the same in every plant. */
export function typeFiles(operations: OperationManual): Files {
  const nodes = [typeNodes(methodModels(operations))];
  return { [NODE_SET]: nodeSetXml(nodes, { version, modelHash: null }) };
}

/**
 * The object types, and lists of the plant's tags.
 *
 * @param operations those of the fleet service, each of which is a method
 */
export function plantFiles(
  options: LayoutOptions,
  operations: OperationManual,
  { opcServer, hasInstances }: PlantFileOptions,
): PlantFiles {
  const layout = layoutOf(options);
  const methods = methodModels(operations);
  const hash = modelHash(layout, methods);
  function* nodes() {
    yield typeNodes(methods);
    if (!hasInstances) return;
    yield methodFolderNodes(methods);
    yield* instanceNodes(layout, methods);
  }
  function* tags() {
    for (const group of instanceNodes(layout, methods)) yield tagsOf(group);
  }
  return {
    files: {
      [NODE_SET]: nodeSetXml(nodes(), { version, modelHash: hash }),
      "tags.csv": tagsCsv(tags(), hash),
      "ignition-tags.json": ignitionJson(tags(), { opcServer, modelHash: hash }),
    },
    modelHash: hash,
    gaps: gapsOf(options, layout),
  };
}

/** What to add to the configuration so that more of the plant's tags are exported. */
function gapsOf(options: LayoutOptions, { robots }: PlantLayout): readonly string[] {
  if (robots.length === 0) {
    return ["no robot is among the tags: name each under opcua.robots, carts in fleet.families too"];
  }
  const unknown = robots.filter(
    ({ isCart }, index) => !isCart && options.robots[index]?.family === "unknown",
  );
  if (unknown.length === 0) return [];
  const names = unknown.map(({ name }) => name).join(", ");
  const are = unknown.length === 1 ? "robot is" : "robots are";
  return [`${unknown.length} ${are} without a family in fleet.families, so without conveyors here: ${names}`];
}
