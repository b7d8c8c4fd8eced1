import { FLEET_NAMESPACE } from "../../northbound/opcua/fleet-nodeset.ts";
import { VALUE_AS_TEXT } from "../../northbound/opcua/model/properties.ts";
import type { NodeGroup, VariableFacts } from "./node.ts";

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
