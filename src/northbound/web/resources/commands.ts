import type { FastifyInstance, FastifyReply } from "fastify";
import type { CommandLog, LoggedCommand } from "../../../contracts/command-log.ts";
import type {
  DescribedOperation,
  OperationManual,
  RequestField,
} from "../../../contracts/operation-manual.ts";
import type { LatencyTrend } from "../../../contracts/trends.ts";
import { isActName } from "../../../domain/acts.ts";
import { sourceKey } from "../../../domain/command.ts";
import { holderName } from "../../../domain/hold.ts";
import { outcomeMeanings } from "../../../domain/outcome.ts";
import { isoTime, timeText } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Command, RequestField as FieldJson, Operation } from "../api/command.ts";
import type { LatencyTrend as LatencyJson } from "../api/trend.ts";
import { sendProblem } from "../problem.ts";
import {
  type Query,
  repeatedParameter,
  reverseOrderKey,
  sendPage,
  textIn,
  unknownParameter,
} from "./list-page.ts";

/** The text with which each filter is compared. */
const filters: Readonly<Record<string, (command: LoggedCommand) => string | null>> = {
  robot: ({ robotId }) => robotId,
  source: ({ source }) => sourceKey(source),
  request_id: ({ requestId }) => requestId,
  operation: ({ operation }) => operation,
  outcome: ({ ending }) => ending?.outcome ?? "none",
};
const commandFilters = Object.keys(filters);

/**
 * `GET /api/v1/commands`: the newest commands of all protocols, newest first. With `Accept:
 * application/x-ndjson` all that pass the filters come as lines of JSON, without pages.
 */
export function addCommandListRoute(
  server: FastifyInstance,
  commandLog: Pick<CommandLog, "newest">,
  clock: Pick<Clock, "nowMs">,
): void {
  server.get<{ Querystring: Query }>("/api/v1/commands", async ({ query, headers }, reply) => {
    const fault = unknownParameter(query, commandFilters) ?? repeatedParameter(query, commandFilters);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const items = commandLog.newest().filter((command) => isWanted(query, command));
    const write = (command: LoggedCommand) => commandJson(command, clock.nowMs());
    if (headers.accept?.includes("application/x-ndjson")) return sendLines(reply, items.map(write));
    const keyOf = ({ number }: LoggedCommand) => reverseOrderKey(number);
    return sendPage(reply, query, { name: "commands", items, keyOf, write, filters: commandFilters });
  });
}

function isWanted(query: Query, command: LoggedCommand): boolean {
  return Object.entries(filters).every(([name, read]) => {
    const wanted = textIn(query, name);
    return wanted === null || read(command) === wanted;
  });
}

function sendLines(reply: FastifyReply, rows: readonly unknown[]): FastifyReply {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  return reply.type("application/x-ndjson; charset=utf-8").send(text);
}

/** `GET /api/v1/command-latency`: hours, from memory. */
export function addLatencyRoute(server: FastifyInstance, trends: LatencyTrend): void {
  server.get("/api/v1/command-latency", async (_request, reply) => {
    const { sinceMs, stepMs, firstAtMs, values } = trends.latency();
    const body: LatencyJson = {
      since: timeText(sinceMs),
      step_ms: stepMs,
      first_at: timeText(firstAtMs),
      steps: values.map(
        (step) =>
          step && {
            commands: step.commands,
            unknown: step.unknown,
            p50_ms: rounded(step.p50Ms),
            p95_ms: rounded(step.p95Ms),
          },
      ),
    };
    return reply.send(body);
  });
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}

/** A command of the log as the API shows it. */
export function commandJson(command: LoggedCommand, nowMs: number): Command {
  const { source, onBehalfOf, acceptedAtMs, sentAtMs, finalAtMs, ending } = command;
  const lastMs = finalAtMs ?? sentAtMs ?? acceptedAtMs ?? nowMs;
  return {
    number: command.number,
    protocol: source.protocol,
    user: source.name,
    request_id: command.requestId,
    operation: command.operation,
    robot_id: command.robotId,
    request: command.requestJson,
    on_behalf_of: onBehalfOf === null ? null : holderName(onBehalfOf),
    stage: finalAtMs !== null ? "final" : sentAtMs !== null ? "sent" : "accepted",
    accepted_at: isoTime(acceptedAtMs),
    sent_at: isoTime(sentAtMs),
    final_at: isoTime(finalAtMs),
    age_ms: Math.max(0, Math.round(nowMs - lastMs)),
    outcome: ending?.outcome ?? null,
    code: ending?.code ?? null,
    message: ending?.message ?? null,
    meaning:
      ending?.outcome === "succeeded" && isActName(command.operation)
        ? "the gateway has done it"
        : meaningOf(ending?.outcome ?? (sentAtMs === null ? "accepted" : "sent")),
    mission_id: ending?.missionId ?? null,
    evidence: ending?.evidence ?? null,
    found_later: command.foundLater,
  };
}

/** The audit log of another version may have an outcome that this version does not know. */
function meaningOf(name: string): string | null {
  const meaning: unknown = Reflect.get(outcomeMeanings, name);
  return typeof meaning === "string" ? meaning : null;
}

/** `GET /api/v1/operations`: all that a form for each operation needs. */
export function addOperationRoutes(server: FastifyInstance, catalogue: OperationManual): void {
  server.get<{ Querystring: Query }>("/api/v1/operations", async ({ query }, reply) => {
    return sendPage(reply, query, {
      name: "operations",
      items: [...catalogue.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      keyOf: ({ name }) => name,
      write: operationJson,
    });
  });
}

/** The JSON of an operation. */
export function operationJson({
  name,
  summary,
  german,
  role,
  fields,
  examples,
  robotField,
}: DescribedOperation): Operation {
  return { name, summary, german, role, fields: fields.map(fieldJson), examples, robot_field: robotField };
}

function fieldJson(field: RequestField): FieldJson {
  return {
    name: field.name,
    json_name: field.jsonName,
    type: field.type,
    list: field.isList,
    required: field.isRequired,
    one_of: field.oneOf,
    values: field.values,
    fields: field.fields.map(fieldJson),
  };
}
