import type { FastifyInstance, FastifyReply } from "fastify";
import type { CommandLog, LoggedCommand } from "../../../contracts/command-log.ts";
import { sourceKey } from "../../../domain/command.ts";
import type { Clock } from "../../../platform/clock.ts";
import { commandJson } from "../floor/command-json.ts";
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
    return sendPage(reply, query, { name: "commands", items, keyOf, write });
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
