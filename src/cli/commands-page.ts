import type { DescribedOperation, OperationManual, RequestField } from "../contracts/operation-manual.ts";
import { errorId, gatewayErrors, grpcCodeNames } from "../domain/errors.ts";
import { outcomeNumbers } from "../domain/outcome.ts";
import { fieldLines } from "./call-list.ts";
import { exitCodeOf } from "./call-output.ts";
import { serviceAdvice } from "./error-advice.ts";
import { type ExampleFacts, effectsOf, evidenceText, factsOf } from "./operation-facts.ts";

/** design, Commands: the promise, in these words. README.md carries it too. */
export const promise =
  "While its journal record is kept, an identified command that has an effect is sent at most once, except the repeatable ones listed. " +
  "The recorded outcome is `succeeded` or `refused` (the service said so), `expired` (never sent), `probably_succeeded` (inferred; the evidence is given) or `unknown`. " +
  "Unknown is not failure. A sender that lost the reply asks again with the same identity. " +
  "A final outcome never changes; what is found later is an event.";

/** Messages that many requests share: described once. */
const shared = ["Goal", "Task"] as const;

/** `docs/commands.md`, from the catalogue that the gateway itself uses. */
export function commandsPage(manual: OperationManual): string {
  const operations = [...manual.values()];
  return [
    "<!-- Generated from the catalogue of operations by scripts/commands-doc.mjs; edit src/cli/commands-page.ts instead. -->",
    "# Commands",
    "",
    promise,
    "",
    ...life,
    "",
    "## Operations",
    "",
    "| operation | effect | role | names its robot by | after an unknown ending |",
    "|---|---|---|---|---|",
    ...operations.map(overview),
    "",
    ...times,
    "",
    ...outcomeTables,
    "",
    ...leases,
    "",
    ...holds,
    "",
    "## Requests",
    "",
    ...requests,
    "",
    ...shared.flatMap((name) => sharedMessage(operations, name)),
    ...operations.flatMap(operationSection),
  ].join("\n");
}

const life = [
  "One life for every command, whichever door it comes through (OPC UA slot, MQTT, `fleetgate call`):",
  "",
  "    received → validated → accepted (journaled, synced) → sent → succeeded | refused",
  "                                    └→ expired (never sent)     └→ probably_succeeded (evidence) | unknown",
  "",
  "A command's identity is its source (the door, and the name that the door vouches for) and its request id. The same",
  "identity with the same request gets the recorded outcome, also after a crash; with another request it is refused.",
  "However it comes again (without an expiry, retained, while too many wait), it is never told that it was not done.",
  "The door `gateway` is the gateway's own: by it goes the stop of conveyors when the lease of a station lapses (or its station is",
  "no longer configured), and the stops of robots that are held. Nobody can send by it; no right is needed for it, and none can be given.",
  "",
  "**Two gateways share no journal.** Where both take the same command, from one MQTT topic or of one PLC, each sends it once: the",
  "promise does not hold across them. A second gateway with the same `gateway.id` at the broker is told (`DUPLICATE_GATEWAY`: log, health,",
  "alarm), also where it has the same `mqtt.clientId`, but neither stops. Give each gateway an id of its own.",
];

const times = [
  "## Times and order",
  "",
  "Give a command `expires_in_ms` (milliseconds from its receipt) rather than `expires_at` (a moment of your clock, judged by the",
  "gateway's machine): the first needs no clocks that agree. `fleetgate call --expires-in SECONDS` sends the first.",
  "[scada.md](scada.md#commands) has what holds when a clock is set.",
  "",
  "| | key of `commands` | default |",
  "|---|---|---|",
  "| a command without an expiry of its own may be sent for so long after its receipt | `startByMs` | 10 s |",
  "| a call waits for its answer | `callDeadlineMs` | 15 s |",
  "| evidence is sought after an unknown ending; after a restart, counted from when the fleet service is reached, which is waited for 60 s at most | `evidenceMs` | 15 s |",
  "| a mission that may be the command's must be the only one | `settleMs` | 1 s |",
  "| the record of a command is kept; when there are too many, those of commands that never left go first, then the oldest of whoever has most | `journal.keepMs`, `journal.keepCount` | 7 days, 100,000 records |",
  "",
  "These hold for every operation. What `stops` goes first: it waits for neither lease nor quality nor queue nor disk nor",
  "expiry, and cancels what waits for the same robot. What `moves` is refused while the robot's quality is not good. One",
  "command at a time is in flight for a robot; `maxQueue` (16) wait behind it. What is repeatable is sent again until its",
  "expiry. What is repeatable *also late* (COMMAND_CANCEL, a conveyor's STOP) is, once it has left and its ending is not known, sent",
  "again for `evidenceMs` more where its expiry comes first: the service itself takes 10 s to say that a robot did not answer. A stop",
  "does not leave, and is not sent again, when a later start that it would undo has left: of the same conveyor, mission or (PauseRobot) robot. A STOP",
  "of several conveyors counts as a whole: give each its own where that matters. Nothing else is ever sent twice. A gateway that starts again sends nothing that was only accepted: it has expired.",
  "",
  "**How long a stop may take** whose robot never answers, with the default times: about 50 s until its outcome is final (10 s for the service, 15 s in which it",
  "is sent again, 10 s for the last of these, 15 s of search). Whoever waits for it should act on the robot's state meanwhile.",
  "",
  "**When many robots do not answer at once**, their calls take up the places that the service gives on a connection. The gateway makes three more connections then;",
  "when those are full too, a command other than a stop waits for a place for 2 s at most and is refused as FLEET_UNREACHABLE, with the number of calls under way.",
  "",
  "**A stop needs no disk, but a slot of OPC UA does**: after a start on a full disk, or when 48 of its numbers went by that could not be",
  "kept, its `NextId` is 0 and it takes nothing, stops neither, for a number that cannot be kept might be taken twice. A stop by MQTT, by an",
  "OPC UA method or by `fleetgate call` passes then too.",
];

const outcomeMeanings = {
  idle: "nothing was asked for, or it is not recorded yet",
  accepted: "recorded, not sent yet",
  sent: "on its way; not final",
  succeeded: "the service says that it took the command. Whether the robot arrives is shown by its mission",
  refused: "it was not done, and the code says why",
  expired: "it was never sent, and will not be",
  unknown: "**the robot may have acted, or may act later.** Look at it before anything is sent again",
  probably_succeeded:
    "the call ended without an answer; `evidence` says what shows that it was done all the same",
} as const satisfies Record<keyof typeof outcomeNumbers, string>;

const outcomeTables = [
  "## Outcomes",
  "",
  "| outcome | OPC UA `Outcome` | exit code of `fleetgate call` | |",
  "|---|---|---|---|",
  ...Object.entries(outcomeNumbers).map(([name, number]) => {
    const isFinal = number > outcomeNumbers.sent;
    return `| \`${name}\` | ${number} | ${isFinal ? exitCodeOf(name) : ""} | ${Reflect.get(outcomeMeanings, name)} |`;
  }),
  "",
  "`fleetgate call` exits with 1 when it could not reach the gateway (nothing has left), with 6 also when the gateway was lost",
  "before it told the outcome, and with 78 when the configuration that it was given does not name a socket.",
  "",
  "## Codes",
  "",
  "`code` on MQTT and on the command line is the name, `ErrorId` in an OPC UA slot the number. 0 to 16 are the service's own",
  "(gRPC), 1000 and up are the gateway's. `retry_safe` (`RetrySafe`) says whether sending it again can move something twice.",
  "",
  "*Under a new id*: the outcome is recorded, so the same id gets the same answer for as long as the record is kept, whatever has changed",
  "since. In a slot every ticket is a new id. Not recorded, so that the same id may be used again, is what was refused as MALFORMED,",
  "UNKNOWN_OPERATION, IDENTITY_REUSED, NO_EXPIRY, RETAINED or NOT_ALLOWED, and whatever became of a read.",
  "",
  "| ErrorId | code | what to do |",
  "|---|---|---|",
  ...grpcCodeNames.map((name) => `| ${errorId(name)} | ${name} | ${serviceAdvice[name]} |`),
  ...Object.entries(gatewayErrors).map(([name, { id, advice }]) => `| ${id} | ${name} | ${advice} |`),
];

const leases = [
  "## Leases of stations",
  "",
  "While a station leases a robot, only the lease's owner may send that robot anything but stops and reads. The owner is the source that asked:",
  "a user of OPC UA or a client of MQTT. A lease is no command and has no identity: it can be asked for, kept and released as often",
  "as one likes. What lets the service pick the robot (`amrId` 0, a `groupId`, a chain that no robot has yet) is refused to everybody but the owner",
  "while any robot is leased; a chain that was taken before may still be given to a robot that is leased later. A restart of the gateway ends none. A robot that was never heard of is refused (`UNKNOWN_ROBOT`), also where its lease is to be released or ended. A source with the role engineer for the robot ends any lease of it, by every protocol:",
  "",
  "| | OPC UA (docs/plc.md) | MQTT (docs/scada.md) | command line |",
  "|---|---|---|---|",
  "| lease a robot | `Operation` 50 | `station/<station>/ask` | |",
  "| be alive | a change of `Heartbeat` | `station/<station>/beat` | |",
  "| release it | `Operation` 51 | `station/<station>/release` | |",
  "| end another's lease | `Operation` 52 | `station/<station>/override` | `fleetgate call --override ROBOT` |",
];

const holds = [
  "## Holds of users",
  "",
  "A hold is a user's standing *do not move* for one robot, or for all robots. It is a level, not a command: it has no identity,",
  "needs no expiry, and the same again changes nothing.",
  "",
  "**A hold is no safety function.** It works through the fleet service and a network. Emergency stops and interlocks stay",
  "hard-wired.",
  "",
  "| | OPC UA (docs/plc.md) | MQTT (docs/scada.md) | command line |",
  "|---|---|---|---|",
  '| hold a robot | `Robots.<robot>.Hold` := TRUE | `hold/<robot>`, `"hold":true` | `fleetgate hold ROBOT` |',
  '| lift your hold | `Hold` := FALSE | `"hold":false` | `fleetgate hold ROBOT --release` |',
  '| lift another\'s hold (engineers) | `HoldRelease` := the user | `"hold":false,"user":"…"` | `… --release --user USER` |',
  "| the same for all robots | `Gateway.Hold` | `hold` | `fleetgate hold --all` |",
  "| who holds | `Held`, `HeldBy` | `robots/<id>/hold`, `hold` | the answer |",
  "",
  "While a robot is held:",
  "",
  "| what | |",
  "|---|---|",
  "| what it does when the hold begins | is stopped: its running mission and its task chain are paused, its conveyors stop. Those whose state is not known are stopped too |",
  "| a start (effect `moves`) | is refused as HELD, for every user, the holder too. One that waited when the hold began is refused as well, also when the hold is lifted before its turn |",
  "| a start whose robot the service picks (`amrId` 0, a `groupId`) | is refused while any robot is held |",
  "| stops and reads | pass |",
  "| a mission, task chain or conveyor that is seen running anew (the touchscreen, another client) | is stopped once more |",
  "| a stop that failed | is sent again every 10 s while the robot is seen moving |",
  "| a robot out of sight | was sent stops for what was last known, and is stopped when it is seen running |",
  "",
  "The stops are the gateway's own (`gateway:fleetgate/….hold…`), audited on behalf of the user. Lifting a hold resumes nothing.",
  "",
  "Each user's hold is its own: a robot moves again when the last one is lifted. A hold outlives lost connections and restarts of",
  "either side. It acts before it is on the disk; `HoldStored` (`stored`) says whether a restart would know it. To hold a robot",
  "needs the right to send it some command that needs an operator; to hold all robots, a rule of that kind without `robots`.",
  "To lift another's hold needs engineer.",
];

const requests = [
  "A request is proto3 JSON; field names may be camelCase or snake_case, enums names or numbers. An unknown field, and a key",
  "that stands twice, is refused with its path before anything is sent, and so is a text of more than 4,096 characters, and a request of more than 131,072. Examples can be copied: `fleetgate call OPERATION '{…}' --config FILE`, or as",
  "`request` of an MQTT command (docs/scada.md). Robots, conveyors, numbers and places in them are the demo's; a mission `m-1`, a chain 7 and a",
  "webhook `w-1` are placeholders: put the one there is in their place. What there is none of (no task",
  "left to reassign, no goal to skip) is refused.",
];

function overview(operation: DescribedOperation): string {
  const { name, role, robotField } = operation;
  const robot = robotField === null ? "" : `\`${robotField.path.join(".")}\``;
  const facts = factsOf(operation);
  const kinds = new Set(facts.map(({ parsed }) => repeatText({ parsed })));
  const repeat = [...kinds].join("; ");
  return `| [${name}](#${name.toLowerCase()}) | ${effectsOf(operation).join(", ")} | ${role} | ${robot} | ${repeat} |`;
}

function repeatText({ parsed: { repeat } }: Pick<ExampleFacts, "parsed">): string {
  if (repeat.kind === "never") return "never repeated";
  const text = repeat.until === "expiry" ? "repeatable" : "repeatable, also late";
  if (repeat.alreadyDone.length === 0) return text;
  return `${text}; ${repeat.alreadyDone.join(", ")} then counts as done`;
}

function sharedMessage(operations: readonly DescribedOperation[], name: string): readonly string[] {
  const message = operations.map(({ fields }) => findMessage(fields, name)).find((found) => found !== null);
  if (!message) return [];
  return [`\`${name}\`:`, "", ...message.fields.flatMap((field) => fieldLines(field, "    ", [])), ""];
}

function findMessage(fields: readonly RequestField[], name: string): RequestField | null {
  for (const field of fields) {
    const found = field.type === name ? field : findMessage(field.fields, name);
    if (found !== null) return found;
  }
  return null;
}

function operationSection(operation: DescribedOperation): readonly string[] {
  const facts = factsOf(operation);
  return [
    `### ${operation.name}`,
    "",
    `${operation.summary} For ${operation.role} and above.`,
    "",
    "| request | effect | after an unknown ending | evidence |",
    "|---|---|---|---|",
    ...facts.map(
      ({ title, parsed }) =>
        `| ${title} | ${parsed.effect} | ${repeatText({ parsed })} | ${evidenceOf({ parsed })} |`,
    ),
    "",
    ...(operation.fields.length === 0
      ? ["No fields."]
      : operation.fields.flatMap((field) => fieldLines(field, "    ", shared))),
    "",
    ...facts.slice(0, 1).map(({ request }) => `    ${JSON.stringify(request)}`),
    "",
  ];
}

function evidenceOf({ parsed }: Pick<ExampleFacts, "parsed">): string {
  if (parsed.effect === "reads") return "none needed";
  if (parsed.identityField !== null)
    return `an empty \`${parsed.identityField.join(".")}\` is filled with the command's identity, and looked for by GetOnlineRobots, then QueryTaskChain, before and after the call`;
  return evidenceText(parsed.evidence);
}
