import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { PlaceAges } from "../../contracts/fleet-view.ts";
import type { Sink } from "../../contracts/link.ts";
import type { OperationManual } from "../../contracts/operation-manual.ts";
import type { Peer } from "../../contracts/peers.ts";
import { clip } from "../../domain/clip.ts";
import { holderName } from "../../domain/hold.ts";
import { createAges } from "./floor/ages.ts";
import { createFloor, type FloorParts } from "./floor/floor.ts";
import { createRobotWriter } from "./floor/robot-json.ts";
import { addCommandListRoute, type CommandListParts } from "./resources/command-list.ts";
import { addConnectionRoutes, type ConnectionRouteParts } from "./resources/connections.ts";
import { addFloorSettingsRoutes, type FloorSettingsParts } from "./resources/floor-settings.ts";
import { addGatewayHealthRoutes } from "./resources/gateway-health.ts";
import { addMapRoutes } from "./resources/maps.ts";
import { addOperationRoutes } from "./resources/operations.ts";
import { addPauseRoute, type PauseRouteParts } from "./resources/pause.ts";
import { addRobotRoutes } from "./resources/robots.ts";
import { addStationRoutes, type StationRouteParts } from "./resources/stations.ts";
import { addTagRoutes, type TagRouteParts } from "./resources/tags.ts";
import { addTrendRoutes, type TrendRouteParts } from "./resources/trends.ts";
import type { SenderOf } from "./sender.ts";
import { createStream, type Stream, type StreamParts } from "./stream/stream.ts";
import { addStreamRoute } from "./stream/stream-route.ts";

export interface FleetApiParts
  extends Omit<FloorParts, "ages">,
    CommandListParts,
    ConnectionRouteParts,
    Omit<PauseRouteParts, "floor">,
    Omit<StationRouteParts, "floor">,
    Omit<TrendRouteParts, "floor">,
    TagRouteParts,
    FloorSettingsParts,
    Omit<StreamParts, "floor" | "robotWriter"> {
  readonly places: PlaceAges;
  readonly catalogue: OperationManual;
  /** The path of the description of the HTTP API. */
  readonly openApiFile: string;
  readonly commandLog: CommandListParts["commandLog"] & StreamParts["commandLog"];
  readonly clock: StreamParts["clock"];
  /** Feeds a sink, beginning with a snapshot. The returned function detaches it. */
  readonly attach: (sink: Sink) => () => void;
}

/** The listener with the routes. */
export interface ApiListener {
  /** The name of the component. */
  readonly part: string;
  /** The name of the browsers' cookie; null: there are no browsers. */
  readonly browserCookie: string | null;
  readonly senderOf: SenderOf;
}

/** The API that the web listener and the control socket share: one state, one stream. */
export interface FleetApi {
  readonly stream: Stream;
  /**
   * Begins to follow the fleet, unless another listener does already. The returned function ends it, with all
   * readers, once no listener is left.
   */
  open(): () => void;
  addRoutes(server: FastifyInstance, listener: ApiListener): void;
}

const listeners = ["web", "control"];

export function createFleetApi(parts: FleetApiParts): FleetApi {
  const ages = createAges(parts.clock);
  const floor = createFloor({ ...parts, ages });
  const robotWriter = createRobotWriter({ ...parts, ages });
  const shared = { ...parts, floor, robotWriter };
  const stream = createStream(shared);
  const readers = listeners.map((part) => ({ part, peers: () => stream.peers(part) }));
  let users = 0;
  let close = () => {};

  function begin(): () => void {
    const detach = parts.attach(floor);
    const end = stream.open();
    const endTrends = parts.trends.open();
    return () => {
      endTrends();
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
    addRoutes(server, { part, browserCookie, senderOf }) {
      addRobotRoutes(server, shared);
      addPauseRoute(server, shared);
      addMapRoutes(server, shared);
      addFloorSettingsRoutes(server, shared);
      addStationRoutes(server, shared);
      addCommandListRoute(server, shared);
      addTrendRoutes(server, shared);
      addGatewayHealthRoutes(server, shared);
      addConnectionRoutes(server, { ...shared, peers: [...parts.peers, ...readers] });
      addTagRoutes(server, shared);
      addOperationRoutes(server, shared);
      server.get("/api/v1/openapi.json", async (_request, reply) =>
        reply.type("application/json; charset=utf-8").send(await readFile(parts.openApiFile)),
      );
      addStreamRoute(server, {
        stream,
        browserCookie,
        whose: (request) => ({ part, peer: readerOf(request, senderOf, parts.clock) }),
      });
    },
  };
}

/** Of texts that a client chooses. */
const LONGEST_TEXT = 200;

function readerOf(
  request: FastifyRequest,
  senderOf: SenderOf,
  { nowMs }: { readonly nowMs: () => number },
): Peer {
  const [source] = senderOf(request);
  return {
    kind: "reader",
    name: holderName(source),
    client: clip(request.headers["user-agent"] ?? "", LONGEST_TEXT),
    address: request.ip ?? "",
    state: "connected",
    sinceMs: nowMs(),
    detail: "",
  };
}
