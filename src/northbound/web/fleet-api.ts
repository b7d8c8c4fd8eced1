import { readFile } from "node:fs/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { CommandLog } from "../../contracts/command-log.ts";
import type { MakeStopRequest } from "../../contracts/fleet-port.ts";
import type { PlaceAges } from "../../contracts/fleet-view.ts";
import type { Sink } from "../../contracts/link.ts";
import type { OperationManual } from "../../contracts/operation-manual.ts";
import type { Peer, PeerSource } from "../../contracts/peers.ts";
import type { Permits, Stations } from "../../contracts/stations.ts";
import type { TagSource } from "../../contracts/tags.ts";
import type { BatteryTrends, LatencyTrend } from "../../contracts/trends.ts";
import type { Alarm } from "../../domain/alarm.ts";
import { clip } from "../../domain/foreign-text.ts";
import { holderName } from "../../domain/hold.ts";
import type { Clock } from "../../platform/clock.ts";
import { createFloor } from "./floor/floor.ts";
import { createRobotWriter, createStationWriter } from "./floor/floor-json.ts";
import { createChangeCollector, createRobotBoard } from "./floor/robot-board.ts";
import { createAges } from "./floor/robot-facts.ts";
import { addCommandListRoute, addLatencyRoute, addOperationRoutes } from "./resources/commands.ts";
import {
  addBatteryTrendRoute,
  addFloorSettingsRoutes,
  addMapRoutes,
  addRobotRoutes,
  addStationRoutes,
} from "./resources/floor.ts";
import {
  addAlarmRoutes,
  addConnectionRoutes,
  addGatewayHealthRoutes,
  addPauseRoute,
} from "./resources/gateway.ts";
import { addTagRoutes } from "./resources/tags.ts";
import type { SenderOf } from "./sender.ts";
import type { ApiSettings, GatewayCondition, GatewayIdentity } from "./status-report.ts";
import { createBodies } from "./stream/bodies.ts";
import { addStreamRoute, createStream, type Stream } from "./stream/stream.ts";

/** What the API shows of the fleet. */
export interface FleetSources {
  readonly places: PlaceAges;
  readonly stations: Pick<Stations, "leaseOf">;
  readonly permits: Pick<Permits, "permitOf">;
  readonly trends: BatteryTrends & LatencyTrend;
  readonly commandLog: CommandLog;
  readonly listedAlarms: () => readonly Alarm[];
  /** Feeds a sink, beginning with a snapshot. The returned function detaches it. */
  readonly attach: (sink: Sink) => () => void;
}

/** What the API shows of the other protocols. */
export interface ProtocolViews {
  readonly tags: readonly TagSource[];
  readonly peers: readonly PeerSource[];
}

/** The listener with the routes. */
interface ApiListener {
  /** The name of the component. */
  readonly part: "web" | "control";
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

const listeners = ["web", "control"] as const;

export function createFleetApi({
  identity,
  settings,
  condition,
  fleet: { places, stations, permits, trends, commandLog, listedAlarms, attach },
  views: { tags, peers },
  catalogue,
  stopRequest,
  clock,
}: {
  readonly identity: GatewayIdentity;
  readonly settings: ApiSettings;
  readonly condition: GatewayCondition;
  readonly fleet: FleetSources;
  readonly views: ProtocolViews;
  readonly catalogue: OperationManual;
  readonly stopRequest: MakeStopRequest;
  readonly clock: Clock;
}): FleetApi {
  const ages = createAges(clock);
  const news = createChangeCollector();
  const floor = createFloor(createRobotBoard({ places, stations, ages, clock, news }), news, permits);
  const robotWriter = createRobotWriter({ ages, places, stations, clock });
  const stationJson = createStationWriter(permits, stations, clock);
  const stream = createStream({
    floor,
    bodies: createBodies({ floor, robotWriter, stationJson, identity, settings, clock }),
    robotWriter,
    sessionId: identity.sessionId,
    tickFacts() {
      const listAgeMs = places.listAgeMs();
      return {
        configuration: settings.configuration(),
        fleet_link_up: condition.isFleetLinkUp(),
        poll_age_ms: listAgeMs === null ? null : Math.round(listAgeMs),
      };
    },
    areValuesKept: condition.areValuesKept,
    commandLog,
    clock,
  });
  const readers = listeners.map((part) => ({ part, peers: () => stream.peers(part) }));
  let users = 0;
  let close = () => {};

  function begin(): () => void {
    const detach = attach(floor);
    const end = stream.open();
    const endTrends = trends.open();
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
    addRoutes(server, { part, senderOf }) {
      addRobotRoutes(server, floor, robotWriter);
      addPauseRoute(server, { floor, stopRequest, ticks: stream.ticks });
      addMapRoutes(server, floor);
      addFloorSettingsRoutes(server, settings.floorOptions);
      addStationRoutes(server, floor, stationJson);
      addCommandListRoute(server, commandLog, clock);
      addBatteryTrendRoute(server, floor, trends);
      addLatencyRoute(server, trends);
      addAlarmRoutes(server, listedAlarms);
      addGatewayHealthRoutes(server, identity, condition, clock);
      addConnectionRoutes(server, condition, [...peers, ...readers], clock);
      addTagRoutes(server, tags, clock);
      addOperationRoutes(server, catalogue);
      server.get("/api/v1/openapi.json", async (_request, reply) =>
        reply.type("application/json; charset=utf-8").send(await readFile(settings.openApiFile)),
      );
      addStreamRoute(server, {
        stream,
        browserCookie: part === "web" ? browserCookie(identity.gatewayId) : null,
        whose: (request) => ({ part, peer: readerOf(request, senderOf, clock) }),
      });
    },
  };
}

/** A browser sends the cookies of a host to all its ports: another gateway there needs another name. */
function browserCookie(gatewayId: string): string {
  return `fleetgate_browser_${Buffer.from(gatewayId).toString("hex")}`;
}

/** Of texts that a client chooses. */
const LONGEST_TEXT = 200;

function readerOf(request: FastifyRequest, senderOf: SenderOf, { nowMs }: Pick<Clock, "nowMs">): Peer {
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
