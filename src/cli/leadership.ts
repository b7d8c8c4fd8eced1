import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { isJsonObject, type JsonObject } from "../platform/json.ts";
import { jsonLine } from "../platform/plain-text.ts";
import {
  askGateway,
  CallFailed,
  type ControlOptions,
  exitCodeOf,
  exitWith,
  finishDone,
  print,
} from "./control-client.ts";
import { exitCodes, NotPossible } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { listOf } from "./readable.ts";
import { stopSignal } from "./stop-signal.ts";

interface Options extends ControlOptions {
  readonly to?: string;
  readonly test?: boolean;
}

const handoverHelp = `
The other box leads at once. Until then this one waits until no conveyor turns, for 30 s at most, and then
stops those that do. Its gateway ends, and systemd starts it again: it stands by.
With --test, the other box hands back after 10 s, and what was measured is printed.

Exit code 0: done. 4: refused, with the reason, and nothing has changed. 1: no gateway answers.
6: not known, the gateway of this box did not come back, or the other one did not hand back.

Examples:
  sudo fleetgate handover
  sudo fleetgate handover --test`;

/** `fleetgate handover`: lets the other box of a cluster lead. */
export function handoverCommand(): Command {
  const command = new Command("handover").description(
    "let the other box of the cluster lead; run it on the box that leads",
  );
  return socketOptions(command)
    .option("--to <member>", "the box that is to lead: with two boxes it is the other one")
    .option("--test", "the yearly drill: there and back, with a report")
    .option("--json", "print one JSON object")
    .addHelpText("after", handoverHelp)
    .action((options: Options) => exitWith(() => handOver(options)));
}

const ANSWER_MS = 5_000;
const LOOK_MS = 250;
/** Conveyors, the takeover, and the start of the gateway that has handed over. */
const LEG_MS = 120_000;

async function handOver(options: Options): Promise<number> {
  const { to, test: isDrill = false } = options;
  const socketPath = await findSocket(options);
  const signal = stopSignal();
  const body = { drill: isDrill, ...(to === undefined ? {} : { to }) };
  const request = { method: "POST", path: "/api/v1/handover", body, timeoutMs: ANSWER_MS } as const;
  const begun = await askGateway(socketPath, request, signal);
  if (begun.status !== 202)
    throw new NotPossible(
      String(begun.body.detail ?? `the gateway answered ${begun.status}`),
      refused(begun.status),
    );
  const report = await follow(socketPath, begun.body, isDrill, signal);
  if (options.json === true) return print(jsonLine(report), 0);
  return print(lines(report).join("\n"), 0);
}

const refused = (status: number) => (status === 409 ? exitCodeOf("refused") : 1);

/** Asks until the gateway of this box has come back and knows how it has ended. */
async function follow(
  socketPath: string,
  { id, from, to }: JsonObject,
  isDrill: boolean,
  signal: AbortSignal,
): Promise<JsonObject> {
  const legs = isDrill ? 2 : 1;
  const untilMs = performance.now() + legs * LEG_MS;
  let leader: unknown = null;
  while (performance.now() < untilMs) {
    const state = await ask(socketPath, signal);
    if (state !== null) {
      leader = state.leader;
      if (
        typeof state.problem === "string" &&
        state.problem !== "" &&
        state.member === leader &&
        !isDone(state, id, 1)
      )
        throw new NotPossible(`${String(from)} leads as before: ${state.problem}`, exitCodeOf("refused"));
      if (isDone(state, id, legs) && isJsonObject(state.last)) return state.last;
    }
    await wait(LOOK_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) throw new CallFailed("interrupted; the handover goes on", true);
  }
  const known =
    typeof leader === "string" ? `${leader} leads` : `the gateway of ${String(from)} does not answer`;
  throw new CallFailed(
    `${known}, and how the handover to ${String(to)} has ended is not known: fleetgate status on both boxes shows it`,
    true,
  );
}

const isDone = ({ last }: JsonObject, id: unknown, legs: number): boolean =>
  isJsonObject(last) && last.id === id && listOf(last, "legs").length >= legs;

/** Null: the gateway is away at this moment. */
async function ask(socketPath: string, signal: AbortSignal): Promise<JsonObject | null> {
  try {
    const request = { method: "GET", path: "/api/v1/handover", timeoutMs: ANSWER_MS } as const;
    const { status, body } = await askGateway(socketPath, request, signal);
    return status === 200 ? body : null;
  } catch (error) {
    if (error instanceof CallFailed) return null;
    throw error;
  }
}

function lines(report: JsonObject): readonly string[] {
  return listOf(report, "legs").flatMap((leg) => [
    `${String(leg.to)} leads, after ${String(leg.from)}, since ${String(leg.at)}`,
    `  waited for conveyors: ${seconds(leg.waited_ms)}; stopped: ${String(leg.conveyors_stopped)}`,
    `  no starts were taken for ${seconds(leg.refused_ms)}; commands that were not sent: ${String(leg.commands_not_sent)}`,
    `  commands under way: ${String(leg.commands_under_way)}; robots in doubt: ${String(leg.robots_in_doubt)}`,
  ]);
}

function seconds(ms: unknown): string {
  return `${(Number(ms) / 1_000).toFixed(2)} s`;
}

const fenceHelp = `
Only while the alarm FENCE_FAILED stands. First see for yourself that the box has no power: a start that it has
sent may still reach a robot. It needs the role engineer, and counts for this takeover alone.

Exit code 0: this box takes over. 4: refused, with the reason. 1: no gateway answers. 6: not known.

Example: sudo fleetgate fence-confirm box-a`;

/** `fleetgate fence-confirm`: lets this box take over though it could not fence the other one. */
export function fenceConfirmCommand(): Command {
  const command = new Command("fence-confirm").description(
    "say that the box that led is off, so that this one takes over though cluster.fence has failed",
  );
  return socketOptions(command)
    .argument("<member>", "the box that is off")
    .option("--json", "print one JSON object")
    .addHelpText("after", fenceHelp)
    .action((member: string, options: ControlOptions) => exitWith(() => confirmFence(member, options)));
}

async function confirmFence(member: string, options: ControlOptions): Promise<number> {
  const socketPath = await findSocket(options);
  const request = { method: "POST", path: "/api/v1/fence", body: { member }, timeoutMs: ANSWER_MS } as const;
  const { status, body } = await askGateway(socketPath, request, stopSignal());
  if (status === 200) return finishDone(`${member} counts as off: this box takes over`, body, options);
  const reason = String(body.detail ?? `the gateway answered ${status}`);
  throw new NotPossible(reason, [403, 409].includes(status) ? exitCodeOf("refused") : exitCodes.failure);
}
