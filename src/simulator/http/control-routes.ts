import { fromJson } from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { messageOf } from "../../platform/error-text.ts";
import { MissionSchema } from "../../wire/fleet/v1/mission_pb.js";
import type { Control } from "../control.ts";
import { faultSchema } from "../faults/fault.ts";
import { Refusal } from "../refusal.ts";
import { incidentSchema } from "../scenario/schema.ts";
import { parseBody } from "./server.ts";

const missionWish = z.strictObject({
  robotId: z.string(),
  owner: z.string().min(1).max(128).default("touchscreen"),
  /** The proto3 JSON of a Mission. */
  mission: z.json(),
});
const missionEnd = z.strictObject({ robotId: z.string(), missionId: z.string() });
const liveliness = z.strictObject({ lively: z.enum(["none", "missions", "patrols"]) });
const recordQuery = z.strictObject({
  since: z.coerce.number().int().min(0).default(0),
  /** Entries of one answer; ask for the next ones with the `seq` of the last. */
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  robotId: z.string().optional(),
});

/** The control endpoint under /simulator: no token, and for this machine only. */
export function addControlRoutes(app: FastifyInstance, control: Control): void {
  app.register(async (scope) => {
    scope.addHook("onRequest", async (request) => {
      if (!isLoopback(request.socket.remoteAddress)) {
        throw new Refusal("PERMISSION_DENIED", "the control endpoint answers on loopback only");
      }
      // A page in a browser on this machine may be anybody's.
      if (request.headers.origin !== undefined) {
        throw new Refusal("PERMISSION_DENIED", "the control endpoint does not answer to web pages");
      }
    });
    scope.get("/simulator/faults", async () => ({ faults: control.faults() }));
    scope.post("/simulator/faults", async (request) => {
      control.apply(read(faultSchema, parseBody(request.body)));
      return { faults: control.faults() };
    });
    scope.delete("/simulator/faults", async () => {
      control.clearFaults();
      return { faults: control.faults() };
    });
    scope.post("/simulator/incidents", async (request) => {
      control.happen(read(incidentSchema, parseBody(request.body)));
      return {};
    });
    scope.post("/simulator/missions", async (request) => {
      const { robotId, owner, mission } = read(missionWish, parseBody(request.body));
      return { missionId: control.startMission(robotId, owner, readMission(mission)) };
    });
    scope.post("/simulator/missions/cancel", async (request) => {
      const { robotId, missionId } = read(missionEnd, parseBody(request.body));
      control.cancelMission(robotId, missionId);
      return {};
    });
    scope.post("/simulator/lively", async (request) => {
      control.setLively(read(liveliness, parseBody(request.body)).lively);
      return {};
    });
    scope.get("/simulator/robots", async () => ({ robots: control.robots() }));
    scope.get("/simulator/record", async (request) => {
      const { since, limit, robotId } = read(recordQuery, request.query);
      const entries = control.record(since);
      const wanted = robotId === undefined ? entries : entries.filter((entry) => entry.robotId === robotId);
      return { entries: wanted.slice(0, limit) };
    });
  });
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && ipaddr.process(address).range() === "loopback";
}

function readMission(json: z.output<typeof missionWish>["mission"]) {
  try {
    return fromJson(MissionSchema, json);
  } catch (error) {
    throw new Refusal("INVALID_ARGUMENT", `mission: ${messageOf(error)}`);
  }
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Refusal("INVALID_ARGUMENT", z.prettifyError(parsed.error));
}
