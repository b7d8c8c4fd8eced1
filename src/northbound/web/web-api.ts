import type { FastifyInstance } from "fastify";
import type { CertificateAudit, ClientCertificates } from "../../contracts/client-certificates.ts";
import type { RefusalAudit } from "../../contracts/commander.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Access } from "./access/access.ts";
import { limitMoves, refusedMoves } from "./access/session-routes.ts";
import { addActRoutes } from "./acts.ts";
import { addCertificateRoutes } from "./client-certificates.ts";
import { addCommandRoute, type CheckTick, type WebCommands } from "./commands.ts";
import type { FleetApi } from "./fleet-api.ts";
import { addJsonBodies } from "./request-body.ts";
import { addRightsRoutes } from "./rights.ts";
import { senderOfViewer } from "./sender.ts";
import { addSimulatorRoutes, type WebSimulator } from "./simulator-routes.ts";

interface WebApiParts {
  readonly fleetApi: FleetApi;
  readonly commands: WebCommands;
  readonly audit: RefusalAudit & CertificateAudit;
  /** Null: the gateway has no OPC UA. */
  readonly clientCertificates: ClientCertificates | null;
  /** Null: the fleet service is a real one, and these routes do not exist. */
  readonly simulator: WebSimulator | null;
  readonly clock: Clock;
}

/**
 * The API of the control socket, without the routes for the machine: levels of the log, reload, recordings.
 */
export interface WebApi extends Pick<FleetApi, "open"> {
  readonly hasSimulator: boolean;
  /** `movesFrom`: addresses and networks from which robots may be moved at present; null: all. */
  addRoutes(
    server: FastifyInstance,
    access: Pick<Access, "viewerOf" | "confirm">,
    movesFrom: () => readonly string[] | null,
  ): void;
}

const NO_TIMES = "give expires_in_ms or expires_at, or as tick the id of the stream's last tick";

export function createWebApi({
  fleetApi,
  commands: { commander: unlimited, records, acts, rights, catalogue },
  audit,
  clientCertificates,
  simulator,
  clock,
}: WebApiParts): WebApi {
  const checkTick: CheckTick = (tick, hasExpiry) => {
    if (tick !== null) return fleetApi.stream.ticks.check(tick);
    return { lacks: hasExpiry ? null : NO_TIMES };
  };
  return {
    hasSimulator: simulator !== null,
    open: fleetApi.open,
    addRoutes(server, { viewerOf, confirm }, movesFrom) {
      const senderOf = senderOfViewer(viewerOf);
      const commander = limitMoves({ commander: unlimited, records, audit, movesFrom });
      addJsonBodies(server);
      fleetApi.addRoutes(server, { part: "web", senderOf });
      addActRoutes(server, acts, senderOf);
      addCertificateRoutes(server, { clientCertificates, audit, viewerOf, senderOf, confirm });
      addRightsRoutes(server, {
        rights,
        catalogue,
        commander,
        senderOf,
        refusedMoves: (address) => refusedMoves(address, movesFrom()),
      });
      addCommandRoute(server, { commander, records, senderOf, checkTick, clock });
      if (simulator !== null) addSimulatorRoutes(server, simulator, viewerOf, clock);
    },
  };
}
