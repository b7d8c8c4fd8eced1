import { Command } from "commander";
import { nearest } from "../config/issues.ts";
import type { JsonObject } from "../platform/json.ts";
import { jsonLine, plain } from "../platform/plain-text.ts";
import { askGateway, askList, type ControlOptions, exitWith, outcomeOf, print } from "./control-client.ts";
import { exitCodes, malformed } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { columns, listOf, localTime, textOf } from "./readable.ts";
import { endWithReader, stopSignal } from "./stop-signal.ts";

interface AckOptions extends ControlOptions {
  readonly all?: boolean;
  readonly comment?: string;
}

const ANSWER_MS = 5_000;
/** The exit code of what was refused, like that of a refused command. */
const REFUSED = 4;

const listHelp = `
Examples:
  sudo fleetgate alarms list
  sudo fleetgate alarms list --json`;
const ackHelp = `
An acknowledged alarm goes when its condition is over. Your user needs the role operator in the
configuration's rights. Exit codes: 0 all are acknowledged, 4 one was refused, 1 no gateway answers.

Examples:
  sudo fleetgate alarms ack ROBOT_LOST-mf3k2q
  sudo fleetgate alarms ack ROBOT_LOST-mf3k2q --comment "in the workshop"
  sudo fleetgate alarms ack --all`;
const commentHelp = `
The comment takes the place of an earlier one. Your user needs the role operator in the configuration's
rights. Exit codes: 0 the alarm has it, 4 it was refused, 1 no gateway answers.

Examples:
  sudo fleetgate alarms comment ROBOT_LOST-mf3k2q "in the workshop until noon"`;

/**
 * `fleetgate alarms`: lists the alarms of the gateway of this machine, acknowledges them, and comments on
 * them.
 */
export function alarmsCommand(): Command {
  const list = socketOptions(
    new Command("list").description("list the alarms that stand, the most urgent first"),
  )
    .option("--json", "print a JSON object")
    .addHelpText("after", listHelp)
    .action((options: ControlOptions) => exitWith(() => listAlarms(options)));
  const ack = socketOptions(new Command("ack").description("acknowledge alarms: somebody has seen them"))
    .argument("[id...]", "alarms, by the id that the list shows")
    .option("--all", "all that stand now")
    .option("--comment <text>", "for the other users")
    .option("--json", "print one JSON object a line")
    .addHelpText("after", ackHelp)
    .action((ids: readonly string[], options: AckOptions) => exitWith(() => acknowledge(ids, options)));
  const comment = socketOptions(
    new Command("comment").description("comment on an alarm, for the other users"),
  )
    .argument("<id>", "the alarm, by the id that the list shows")
    .argument("<text>", "1 to 256 printable characters")
    .option("--json", "print a JSON object")
    .addHelpText("after", commentHelp)
    .action((id: string, text: string, options: ControlOptions) =>
      exitWith(() => commentOn(id, text, options)),
    );
  return new Command("alarms")
    .description("list, acknowledge or comment on the alarms of the gateway of this machine")
    .addCommand(list, { isDefault: true })
    .addCommand(ack)
    .addCommand(comment);
}

async function listAlarms(options: ControlOptions): Promise<number> {
  endWithReader();
  const answer = await askList("alarms", await findSocket(options), stopSignal());
  if (options.json === true) return print(jsonLine(answer), exitCodes.ok);
  const alarms = listOf(answer, "alarms");
  if (alarms.length === 0) return print("no alarm stands", exitCodes.ok);
  const rows = alarmRows(alarms);
  const lines = alarms.flatMap((alarm, at) => [rows[at] ?? "", ...detailsOf(alarm)]);
  return print(lines.join("\n"), exitCodes.ok);
}

async function acknowledge(ids: readonly string[], options: AckOptions): Promise<number> {
  const isAll = options.all === true;
  if (isAll === ids.length > 0) throw malformed("name alarms by their id, or give --all");
  const socketPath = await findSocket(options);
  const signal = stopSignal();
  const wanted = isAll ? unacknowledged(await askList("alarms", socketPath, signal)) : ids;
  if (wanted.length === 0 && options.json !== true) print("nothing is to be acknowledged", exitCodes.ok);
  let code: number = exitCodes.ok;
  for (const id of wanted) {
    const body = options.comment === undefined ? {} : { body: { comment: options.comment } };
    const answer = await putOf(socketPath, id, "acknowledgement", body, signal);
    if (answer.outcome !== undefined) code = REFUSED;
    await printAnswer(socketPath, id, answer, options, signal);
  }
  return code;
}

async function commentOn(id: string, comment: string, options: ControlOptions): Promise<number> {
  const socketPath = await findSocket(options);
  const signal = stopSignal();
  const answer = await putOf(socketPath, id, "comment", { body: { comment } }, signal);
  await printAnswer(socketPath, id, answer, options, signal);
  return answer.outcome === undefined ? exitCodes.ok : REFUSED;
}

async function printAnswer(
  socketPath: string,
  id: string,
  answer: JsonObject,
  { json }: ControlOptions,
  signal: AbortSignal,
): Promise<void> {
  const standing = answer.code === "MALFORMED" ? await askList("alarms", socketPath, signal) : {};
  print(json === true ? jsonLine(answer) : answerText(id, answer, standing), exitCodes.ok);
}

function unacknowledged(answer: JsonObject): readonly string[] {
  return listOf(answer, "alarms").flatMap((alarm) =>
    alarm.acknowledged_by === null && typeof alarm.id === "string" ? [alarm.id] : [],
  );
}

async function putOf(
  socketPath: string,
  id: string,
  what: "acknowledgement" | "comment",
  body: { readonly body?: JsonObject },
  signal: AbortSignal,
): Promise<JsonObject> {
  const path = `/api/v1/alarms/${encodeURIComponent(id)}/${what}`;
  const request = { method: "PUT", path, timeoutMs: ANSWER_MS, ...body } as const;
  return outcomeOf(id, await askGateway(socketPath, request, signal));
}

/** @param standing all alarms, if no alarm has the id */
function answerText(id: string, answer: JsonObject, standing: JsonObject): string {
  if (answer.outcome === undefined) {
    const message = textOf(answer, "message");
    const by = textOf(answer, "acknowledged_by");
    const done = `${plain(id)}: ${by === "" ? "has the comment" : `acknowledged by ${by}`}`;
    return message === "" ? done : `${done}\n  ${message}`;
  }
  const text = `${plain(id)}: refused: ${textOf(answer, "code")}\n  ${textOf(answer, "message")}`;
  const meant = nearest(
    id,
    listOf(standing, "alarms").map((alarm) => textOf(alarm, "id")),
  );
  return meant === undefined ? text : `${text}\n  the nearest alarm is ${meant}`;
}

function detailsOf(alarm: JsonObject): readonly string[] {
  const comment = textOf(alarm, "comment");
  const by = textOf(alarm, "commented_by");
  return [`    ${textOf(alarm, "advice")}`, ...(comment === "" ? [] : [`    ${by}: ${comment}`])];
}

/** Alarms in a table; the last column has their texts. */
export function alarmRows(found: readonly JsonObject[]): readonly string[] {
  return columns(
    found.map((alarm) => [
      textOf(alarm, "priority"),
      alarmWords(alarm),
      localTime(textOf(alarm, "since")),
      textOf(alarm, "id"),
      textOf(alarm, "robot_id") || textOf(alarm, "station") || textOf(alarm, "source"),
      textOf(alarm, "text"),
    ]),
  );
}

function alarmWords(alarm: JsonObject): string {
  const state = alarm.active === true ? "active" : "returned";
  return typeof alarm.acknowledged_by === "string" ? `${state}, acknowledged` : state;
}
