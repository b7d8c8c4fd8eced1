import type { Config } from "../config/load.ts";
import type { OperationManual } from "../contracts/operation-manual.ts";
import { roles } from "../domain/command.ts";
import { detectionLimits } from "../domain/detection.ts";
import { effectsOf, unknownEndings } from "./operation-facts.ts";

/** What a valid configuration means, for `fleetgate check`. Nothing in it is a secret. */
export function checkReport(config: Config, manual: OperationManual): string {
  return [
    ...section("Robots", robotLines(config)),
    ...section("The longest until values say that something is lost", lossLines(config)),
    ...section("Ways for commands", doorLines(config)),
    ...section("Who may command what", rightsLines(config, manual)),
    ...section("When it is not known how a call ended", endingLines(config, manual)),
    ...section("Note", noteLines(config)),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

function robotLines({ fleet, gateway }: Config): readonly string[] {
  const { robots } = fleet;
  const which =
    robots.kind === "ids"
      ? `${robots.ids.length === 1 ? "robot" : `${robots.ids.length} robots:`} ${some(robots.ids)}`
      : `every robot at ${some(robots.locations)}`;
  return [
    which,
    `streams from ${fleet.grpcAddress}, commands over ${fleet.transport === "grpc" ? "gRPC" : "REST"}`,
    `what must survive a restart: ${gateway.dataDir}`,
  ];
}

/** `docs/install.md` gives the same as formulas. */
function lossLines({ fleet, quality }: Config): readonly string[] {
  const limits = detectionLimits({ ...fleet.times, ...quality });
  const { absentMs, absentSlowestMs, rosterSilentMs } = limits;
  const roster =
    absentMs === null || absentSlowestMs === null || rosterSilentMs === null
      ? [row("never", "a robot leaves the online list: the list is not asked for (rosterPollMs: null)")]
      : [
          row(
            seconds(absentMs),
            `a robot leaves the online list: offline (${seconds(absentSlowestMs)} if its answers take as long as they may)`,
          ),
          row(seconds(rosterSilentMs), "the online list is not answered: presence and position are stale"),
        ];
  return [
    row("at once", "a stream is cut: stale; the whole link is down: offline"),
    row(seconds(limits.silentMs), "a connection falls silent: stale; all of them: offline"),
    row(seconds(limits.notRenewedMs), "a robot's snapshot is not renewed on a living stream: stale"),
    ...roster,
    row(`+ ${seconds(limits.lostAfterMs)}`, "what is stale or offline is lost: no value is shown any more"),
  ];
}

function doorLines({ mqtt, opcua, local, dispatcher }: Config): readonly string[] {
  const open = (door: string, text: string) =>
    dispatcher.rights.some(({ source }) => source.door === door)
      ? text
      : `${text}; no rule of rights names it, so it may only read`;
  return [
    row("mqtt", mqtt === null ? "off" : (mqttShut(mqtt) ?? open("mqtt", mqttCommands(mqtt)))),
    row("opcua", opcua === null ? "off" : open("opcua", "slots of robots")),
    row("cli", local === null ? "off" : open("cli", `fleetgate call, through ${local.socketPath}`)),
  ];
}

/** Why no command comes in by MQTT; null where they do. */
function mqttShut({ commands, broker }: NonNullable<Config["mqtt"]>): string | null {
  if (!commands.enabled) return "off: mqtt.commands.enabled is false";
  if (broker.kind === "embedded" || commands.brokerEnforcesClientNames) return null;
  return "off: nothing says that the broker enforces client names";
}

function mqttCommands({ commands, base }: NonNullable<Config["mqtt"]>): string {
  const expiry = commands.requireExpiry
    ? "what moves needs an expiry"
    : "INSECURE: what moves needs no expiry";
  return `under ${base}; ${expiry}`;
}

function rightsLines({ dispatcher }: Config, manual: OperationManual): readonly string[] {
  const allowed = (role: (typeof roles)[number], only: readonly string[] | undefined) =>
    [...manual.values()]
      .filter((operation) => roles.indexOf(operation.role) <= roles.indexOf(role))
      .filter(({ name }) => only === undefined || only.includes(name))
      .map((operation) => `${operation.name} (${effectsOf(operation).join(", ")})`);
  const rules = dispatcher.rights.flatMap(({ source, role, robots, operations }, place) => [
    `rights[${place}]: ${source.door} ${source.name === "*" ? "anybody" : source.name}, ${role}, ${
      robots === undefined ? "all robots" : some(robots)
    }`,
    ...wrapped(allowed(role, operations)).map((line) => `    ${line}`),
  ]);
  return [
    ...rules,
    "whoever no rule names:",
    ...wrapped(allowed("observer", undefined)).map((line) => `    ${line}`),
  ];
}

function endingLines({ dispatcher }: Config, manual: OperationManual): readonly string[] {
  const { repeated, sought, never } = unknownEndings(manual);
  const soughtFor =
    dispatcher.evidenceMs === 0
      ? "evidenceMs is 0: no evidence is sought, and the outcome stays unknown:"
      : `evidence is sought for ${seconds(dispatcher.evidenceMs)}; without any the outcome stays unknown:`;
  return [
    "sent again while it may be:",
    ...wrapped(repeated).map((line) => `    ${line}`),
    soughtFor,
    ...wrapped(sought).map((line) => `    ${line}`),
    "the outcome stays unknown: nothing that the service shows could tell:",
    ...wrapped(never).map((line) => `    ${line}`),
  ];
}

function noteLines({ fleet }: Config): readonly string[] {
  const notes: string[] = [];
  if (fleet.transport === "rest")
    notes.push(
      `values and evidence come from the gRPC streams of ${fleet.grpcAddress} though commands travel over REST;`,
      "  where they are not served, robots are never good (what moves them is refused) and outcomes stay unknown",
    );
  if (fleet.times.rosterPollMs === null && fleet.amrIds.size === 0)
    notes.push(
      "no robot numbers are known (rosterPollMs is null, robotNumbers is empty): of the operations that name a robot",
      "  by number only stops and reads pass",
    );
  return notes;
}

function row(first: string, second: string): string {
  return `${first.padEnd(10)} ${second}`;
}

/** Whole or tenths of seconds. */
function seconds(durationMs: number): string {
  return `${Math.round(durationMs / 100) / 10} s`;
}

const MOST_NAMES = 8;

function some(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

const WIDTH = 100;

/** Names in lines of a width that a terminal has. */
function wrapped(names: readonly string[]): readonly string[] {
  if (names.length === 0) return ["nothing"];
  const lines: string[] = [""];
  for (const [place, name] of names.entries()) {
    const text = place === names.length - 1 ? name : `${name}, `;
    const last = lines.length - 1;
    if ((lines[last] ?? "").length + text.length > WIDTH) lines.push(text);
    else lines[last] += text;
  }
  return lines.map((line) => line.trimEnd());
}
