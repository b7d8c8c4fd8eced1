import type { FastifyInstance } from "fastify";
import type { Sink } from "../../contracts/link.ts";
import { createAges } from "./floor/ages.ts";
import { createFloor, type FloorParts } from "./floor/floor.ts";
import { createRobotWriter } from "./floor/robot-json.ts";
import { addOpenApiRoute, type OpenApiRouteParts } from "./openapi/route.ts";
import { addCommandListRoute, type CommandListParts } from "./resources/command-list.ts";
import { addGatewayHealthRoutes, type GatewayHealthParts } from "./resources/gateway-health.ts";
import { addMapRoutes } from "./resources/maps.ts";
import { addOperationRoutes } from "./resources/operations.ts";
import { addPauseRoute, type PauseRouteParts } from "./resources/pause.ts";
import { addRobotRoutes } from "./resources/robots.ts";
import { addStationRoutes, type StationRouteParts } from "./resources/stations.ts";
import { addTagRoutes, type TagRouteParts } from "./resources/tags.ts";
import { createStream, type Stream, type StreamParts } from "./stream/stream.ts";
import { addStreamRoute } from "./stream/stream-route.ts";

export interface FleetApiParts
  extends Omit<FloorParts, "ages">,
    CommandListParts,
    GatewayHealthParts,
    OpenApiRouteParts,
    Omit<PauseRouteParts, "floor">,
    Omit<StationRouteParts, "floor">,
    TagRouteParts,
    Omit<StreamParts, "floor" | "robotWriter"> {
  readonly places: FloorParts["places"] & StreamParts["places"];
  readonly commandLog: CommandListParts["commandLog"] & StreamParts["commandLog"];
  readonly clock: StreamParts["clock"];
  /** Feeds a sink, from a snapshot on. The result detaches it. */
  readonly attach: (sink: Sink) => () => void;
}

/** What the web listener and the control socket answer alike: one state, one stream. */
export interface FleetApi {
  readonly stream: Stream;
  /**
   * Begins to follow the fleet, if nobody does. The result ends that, when nobody is left, and all readers.
   */
  open(): () => void;
  /** @param browserCookie names the cookie of browsers; null: there are none */
  addRoutes(server: FastifyInstance, browserCookie: string | null): void;
}

export function createFleetApi(parts: FleetApiParts): FleetApi {
  const ages = createAges(parts.clock);
  const floor = createFloor({ ...parts, ages });
  const robotWriter = createRobotWriter({ ...parts, ages });
  const shared = { ...parts, floor, robotWriter };
  const stream = createStream(shared);
  let users = 0;
  let close = () => {};

  function begin(): () => void {
    const detach = parts.attach(floor);
    const end = stream.open();
    return () => {
      end();
      detach();
    };
  }

  return {
    stream,
    open() {
      users += 1;
      if (users === 1) close = begin();
      return () => {
        users -= 1;
        stream.endReaders();
        if (users === 0) close();
      };
    },
    addRoutes(server, browserCookie) {
      addRobotRoutes(server, shared);
      addPauseRoute(server, shared);
      addMapRoutes(server, shared);
      addStationRoutes(server, shared);
      addCommandListRoute(server, shared);
      addGatewayHealthRoutes(server, shared);
      addTagRoutes(server, shared);
      addOperationRoutes(server, shared);
      addOpenApiRoute(server, shared);
      addStreamRoute(server, { stream, browserCookie });
    },
  };
}
