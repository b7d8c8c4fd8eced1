import type { MessageInitShape } from "@bufbuild/protobuf";
import type { VertexInfoSchema } from "../../wire/fleet/http/v1/task_pb.js";
import type { Vertex, VertexKind } from "../world/map.ts";

/** Numbers of our own: the meaning of `type` is not documented. */
const vertexTypes: Readonly<Record<VertexKind, number>> = { waypoint: 0, station: 1, charger: 2, home: 3 };

/**
 * A point of a map for GetMap. A robot docks and leaves on the spot, so those places are the point itself.
 */
export function toVertexInfo(vertex: Vertex, mapId: number): MessageInitShape<typeof VertexInfoSchema> {
  const { id, code, alias, description, x, y, theta, kind, docking } = vertex;
  return {
    id,
    code,
    alias,
    description,
    x,
    y,
    theta,
    type: vertexTypes[kind],
    loading: kind === "station" ? 1 : 0,
    dockingDirection: docking ? 1 : 0,
    dockingX: x,
    dockingY: y,
    dockingTheta: theta,
    outboundX: x,
    outboundY: y,
    outboundTheta: theta,
    allowPark: kind === "waypoint" ? 0 : 1,
    extend: "{}",
    mapId,
  };
}
