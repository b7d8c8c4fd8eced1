import type { DescribedOperation, OperationManual, RequestField } from "../contracts/operation-manual.ts";
import { type ActRule, acts } from "../domain/acts.ts";
import { errorId, gatewayErrors, grpcCodeNames } from "../domain/errors.ts";
import { outcomeMeanings, outcomeNumbers } from "../domain/outcome.ts";
import { fieldLines } from "./call-list.ts";
import { exitCodeOf } from "./call-output.ts";
import { serviceAdvice } from "./error-advice.ts";
import { httpSection } from "./http-section.ts";
import { type ExampleFacts, effectsOf, evidenceText, factsOf } from "./operation-facts.ts";

/** The promise. README.md has it in the same words. */
export const promise =
  "While its journal record is kept, an identified command that has an effect is sent at most once, except the repeatable ones listed. " +
  "The recorded outcome is `succeeded` or `refused` (the service said so), `expired` (never sent), `probably_succeeded` (inferred; the evidence is given) or `unknown`. " +
  "Unknown is not failure. A sender that lost the reply asks again with the same identity. " +
  "A final outcome never changes; what is found later is an event.";

/** Characters of a line of the page, except in tables. */
const WIDTH = 110;

/** Messages that many requests share: described once. */
const shared = ["Goal", "Task"] as const;

/** `docs/commands.md`, from the catalogue that the gateway itself uses. */
export function commandsPage(manual: OperationManual): string {
  const operations = [...manual.values()];
  const lines = [
    "<!-- Generated from the catalogue of operations by scripts/commands-doc.mjs; edit src/cli/commands-page.ts instead. -->",
    "# Commands",
    "",
    ...start,
    "",
    "## The promise",
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
    ...actSection,
    "",
    ...leases,
    "",
    ...holds,
    "",
    ...httpSection,
    "",
    "## Requests",
    "",
    ...requests,
    "",
    ...shared.flatMap((name) => sharedMessage(operations, name)),
    ...operations.flatMap(operationSection),
  ];
  return filled(lines).join("\n");
}

const start = [
  "You want to send a command, and to know what became of it. On the gateway's own machine:",
  "",
  "    fleetgate call --list",
  "    fleetgate call CreateMission --robot cart-01 --config fleetgate.yaml \\",
  `      '{"mission":{"baseMission":{"navigateMission":{"goal":{"destinationId":"Station A"}}}}}'`,
  "",
  "PLCs write tags ([plc.md](plc.md)), and MQTT clients publish ([mqtt.md](mqtt.md#commands)). All that follows holds",
  "for every protocol.",
];

const life = [
  "    received → validated → accepted (journaled, synced) → sent → succeeded | refused",
  "                                    └→ expired (never sent)     └→ probably_succeeded (evidence) | unknown",
  "",
  "A command's identity is its source (the protocol, and the authenticated user or client) and its request id. The same",
  "identity with the same request gets the recorded outcome, also after a crash. With another request it is refused.",
  "If it comes again in another form (without an expiry, retained, while too many wait), the answer never says that it",
  "was not done.",
  "",
  "| at every protocol | |",
  "|---|---|",
  "| a request id | 1 to 128 printable ASCII characters |",
  "| commands in flight of one source | 512. Stops, and repetitions of known commands, may use as many again |",
  "| … of all sources | 2,048 (`commands.maxCommands`), and as many again for the same |",
  "| a command beyond | is refused with QUEUE_FULL and was not sent |",
];

const times = [
  "## Times",
  "",
  "Give a command `expires_in_ms` (milliseconds from its receipt) rather than `expires_at` (a moment of your clock,",
  "judged by the gateway's machine). The first needs no clocks that agree. `fleetgate call --expires-in SECONDS` sends",
  "the first. [mqtt-reference.md](mqtt-reference.md#which-expiry-to-give) has the rules for clocks.",
  "",
  "| | key of `commands` | default |",
  "|---|---|---|",
  "| a command without an expiry of its own may be sent for so long after its receipt | `startByMs` | 10 s |",
  "| a call waits for its answer | `callDeadlineMs` | 15 s |",
  "| evidence is sought after an unknown ending | `evidenceMs` | 15 s |",
  "| … after a restart, counted from when the fleet service is reached, which is awaited for 60 s at most | `evidenceMs` | 15 s |",
  "| a mission that may be the command's must be the only one | `settleMs` | 1 s |",
  "| the record of a command is kept, in [running time](backup-and-recovery.md#how-long-records-are-kept) of the gateway | `journal.keepMs`, `journal.keepCount` | 7 days, 100,000 records |",
  "",
  "When there are too many records, those of commands that never left go first, then the oldest of the source that has",
  "most.",
  "",
  "## Order",
  "",
  "| effect | rule |",
  "|---|---|",
  "| `stops` | goes first: it waits for neither lease nor quality nor queue nor disk nor expiry, and cancels what waits for the same robot |",
  "| `moves` | is refused while the robot's quality is not good |",
  "| all | one command at a time is in flight for a robot; `maxQueue` (16) wait behind it |",
  "",
  "| after an unknown ending | rule |",
  "|---|---|",
  "| repeatable | is sent again until its expiry |",
  "| repeatable, also late (COMMAND_CANCEL, a conveyor's STOP) | once it has left, it is sent again for `evidenceMs` more if its expiry comes first: the service itself takes 10 s to say that a robot did not answer |",
  "| never repeated | is never sent twice |",
  "",
  "A stop does not leave, and is not sent again, when a later start that it would undo has left. That is a start of the",
  "same conveyor, mission or (PauseRobot) robot. A STOP of several conveyors counts as a whole: give each its own if that",
  "matters. A gateway that starts again sends nothing that was only accepted: it has expired.",
  "",
  "### A robot that never answers a stop",
  "",
  "With the default times, the outcome is final after about 50 s. Act on the robot's state meanwhile.",
  "",
  "### Many robots that do not answer at once",
  "",
  "The gateway opens three more connections. When those are full too, a command other than a stop waits 2 s at most. It",
  "is then refused as FLEET_UNREACHABLE, with the number of calls under way.",
  "",
  "### A stop on a full disk",
  "",
  "A stop needs no disk, but a slot of OPC UA does. After a start on a full disk, or after 48 numbers that could not be",
  "kept, its `NextId` is 0 and it takes nothing. A stop by MQTT, by an OPC UA method or by `fleetgate call` passes then too.",
  "",
  "### Two gateways for one fleet",
  "",
  "They share no journal. If both take the same command, from one MQTT topic or of one PLC, each sends it once: the",
  "promise does not hold across them. Give each gateway an id of its own. Two gateways with the same `gateway.id` at one",
  "broker report it (`DUPLICATE_GATEWAY`: log, health, alarm), also if they have the same `mqtt.clientId`. Neither stops.",
  "",
  "### Commands of the gateway itself",
  "",
  "Their protocol is `gateway`: the stop of conveyors when a station's lease ends, and the stops of held robots. No sender",
  "can use it.",
];

/** For an unknown outcome, its warning, which no reader must miss. */
function meaningOf(name: string): string {
  const meaning = String(Reflect.get(outcomeMeanings, name));
  return name === "unknown" ? meaning.replace(/^[^.]*\./, "**$&**") : meaning;
}

const outcomeTables = [
  "## Outcomes",
  "",
  "| outcome | OPC UA `Outcome` | exit code of `fleetgate call` | |",
  "|---|---|---|---|",
  ...Object.entries(outcomeNumbers).map(([name, number]) => {
    const isFinal = number > outcomeNumbers.sent;
    return `| \`${name}\` | ${number} | ${isFinal ? exitCodeOf(name) : ""} | ${meaningOf(name)} |`;
  }),
  "",
  "[All exit codes](metrics.md#exit-codes) of `fleetgate` are on the page of metrics.",
  "",
  "## Codes",
  "",
  "On MQTT and on the command line `code` is the name. In an OPC UA slot `ErrorId` is the number. 0 to 16 are the service's",
  "own (gRPC), 1000 and up are the gateway's. `retry_safe` (`RetrySafe`) is false if sending it again can move something",
  "twice.",
  "",
  "*Under a new id*: the outcome is recorded, so the same id gets the same answer for as long as the record is kept. In a",
  "slot every number is a new id. Some outcomes are not recorded, and the same id may be used again: MALFORMED,",
  "UNKNOWN_OPERATION, IDENTITY_REUSED, NO_EXPIRY, RETAINED, NOT_ALLOWED, and every outcome of a read. An outcome that a",
  "full disk did not take [says so](troubleshoot.md#the-disk-is-full-or-fails) in its message, and is recorded later.",
  "",
  "| ErrorId | code | what to do |",
  "|---|---|---|",
  ...grpcCodeNames.map((name) => `| ${errorId(name)} | ${name} | ${serviceAdvice[name]} |`),
  ...Object.entries(gatewayErrors).map(([name, { id, advice }]) => `| ${id} | ${name} | ${advice} |`),
];

const actSection = [
  "## Acts",
  "",
  "An act changes the gateway itself, and not the fleet: a hold, a lease, an acknowledgement. It is no command: it needs",
  "neither an id nor an expiry, and is done at once, before it is on the disk. MQTT clients publish it where they publish",
  'operations, `command/<Act>`, with its fields and an optional `id` for the reply: `{"robot_id":"cart-01","hold":true}`.',
  "",
  "| act | | role | fields |",
  "|---|---|---|---|",
  ...Object.entries<ActRule>(acts).map(actRow),
  "",
  "The same again changes nothing, and the latest wins; only `ResetCounters` is done as often as it comes. What an act has",
  "changed is in the audit log and in [the list of commands](#which-commands-were-sent), once. Heartbeats are recorded",
  "nowhere; a lease that lapses is. A text has 1 to 256 printable characters. An unknown field is refused.",
  "A gateway that [stands by](cluster.md) takes one act only, the begin of a hold, and refuses the others",
  "(`STANDBY`).",
];

function actRow([name, { text, role, only, fields }]: [string, ActRule]): string {
  const names = Object.entries(fields).map(
    ([field, { isOptional, text: about }]) => `\`${field}\`${isOptional === true ? "?" : ""} (${about})`,
  );
  return `| \`${name}\` | ${text}${only === undefined ? "" : ` (${only} only)`} | ${role ?? ""} | ${names.join("; ")} |`;
}

const leases = [
  "## Leases of stations",
  "",
  "While a station leases a robot, only the lease's owner may send that robot anything but stops and reads. The owner is",
  "the source that asked: a user of OPC UA or a client of MQTT. A lease is no command and has no identity: asking again,",
  "or releasing again, changes nothing. An engineer for the robot ends any lease of it, with every protocol. However it",
  "ends, the gateway stops [the conveyors that its owner has started](load-station.md#how-a-lease-ends).",
  "",
  "| | [OPC UA](opcua-reference.md) | [MQTT](mqtt.md) | command line |",
  "|---|---|---|---|",
  "| lease a robot | `Operation` 50 | `LeaseRobot` | |",
  "| send a heartbeat | a change of `Heartbeat` | `Heartbeat`, with another `counter` | |",
  "| release it | `Operation` 51 | `ReleaseRobot` | |",
  "| end another's lease | `Operation` 52 | `OverrideLease` | `fleetgate call --override ROBOT` |",
  "",
  "| while a robot is leased | |",
  "|---|---|",
  "| a command that lets the service choose the robot (`amrId` 0, a `groupId`, a chain that no robot has yet) | is refused to all but the owner, while any robot is leased |",
  "| a chain that was accepted before the lease | may still be given to the robot |",
  "| a restart of the gateway | ends no lease, and stops the conveyors that stations have started |",
  "| a robot that was never seen | is refused (`UNKNOWN_ROBOT`), also for a release |",
];

const holds = [
  "## Holds of users",
  "",
  "A hold is a user's standing *do not move* for one robot, or for all robots. The same again changes nothing. **A hold",
  "is no safety function**: emergency stops and interlocks stay hard-wired.",
  "",
  "| | [OPC UA](opcua-reference.md) | [MQTT](mqtt.md) | command line |",
  "|---|---|---|---|",
  '| hold a robot | `Robots.<robot>.Hold` := TRUE | `Hold`, `"hold":true` | `fleetgate hold ROBOT` |',
  '| lift your hold | `Hold` := FALSE | `"hold":false` | `fleetgate hold ROBOT --release` |',
  '| lift another\'s hold (engineers) | `HoldRelease` := the user | `"hold":false,"user":"…"` | `… --release --user USER` |',
  "| the same for all robots | `Gateway.Hold` | `HoldAll` | `fleetgate hold --all` |",
  "| see the holders | `Held`, `HeldBy` | the topics `robots/<id>/hold`, `hold` | the answer |",
  "",
  "While a robot is held:",
  "",
  "| what | |",
  "|---|---|",
  "| what it does when the hold begins | is stopped: its running mission and its task chain are paused, its conveyors stop, also those in an unknown state |",
  "| a start (effect `moves`) | is refused as HELD, for every user, the holder too. One that waits when the hold begins is refused as well, also if the hold is lifted before its turn |",
  "| a start that lets the service choose the robot (`amrId` 0, a `groupId`) | is refused while any robot is held |",
  "| stops and reads | pass |",
  "| a mission, task chain or conveyor that is seen running anew (the touchscreen, another client) | is stopped once more |",
  "| a stop that failed | is sent again every 10 s while the robot is seen moving |",
  "| a robot out of sight | gets stops for what was last known, and is stopped again when it is seen running |",
  "",
  "The stops are the gateway's own (`gateway:fleetgate/….hold…`), audited on behalf of the user. Lifting a hold resumes nothing.",
  "",
  "A robot may move again when the last hold is lifted. A hold outlives lost connections and restarts. It acts before it",
  "is on the disk; `HoldStored` (`stored`) shows whether a restart would know it.",
  "",
  "| to | a user needs |",
  "|---|---|",
  "| hold a robot | the right to send it some command that needs an operator |",
  "| hold all robots | such a right by a rule without `robots` |",
  "| lift another's hold | the role engineer |",
  "",
  "### A hold that is toggled",
  "",
  "A hold always begins at once. The same hold is lifted once a second. A user lifts holds on 100 robots a second; a hold",
  "on all robots counts as its robots, at most 500. What is lifted more often stays held until then, and is shown so. The",
  "last level counts.",
];

const requests = [
  "A request is proto3 JSON. Field names may be camelCase or snake_case, enums names or numbers. Before",
  "anything is sent, a request is refused for each of these, with its path:",
  "",
  "- an unknown field, or the same key twice,",
  "- a text of more than 4,096 characters,",
  "- more than 131,072 characters in all.",
  "",
  "You can copy the examples: `fleetgate call OPERATION '{…}' --config FILE`, or as `request` of an MQTT command",
  "([mqtt.md](mqtt.md#commands)). Their robots, conveyors, numbers and places are the demo's. A mission `m-1`, a chain",
  "7 and a webhook `w-1` are placeholders: replace them by an id that exists. What does not exist (no task left to",
  "reassign, no goal to skip) is refused.",
];

/** The lines of a page, with paragraphs filled up to `WIDTH`. Headings, tables and code stay as they are. */
function filled(lines: readonly string[]): readonly string[] {
  const page: string[] = [];
  let isInParagraph = false;
  for (const line of lines) {
    const isProse = /^[\w*`([]/.test(line);
    for (const word of isProse ? line.split(" ") : [line]) {
      const longer = `${page.at(-1)} ${word}`;
      if (isInParagraph && isProse && longer.length <= WIDTH) page[page.length - 1] = longer;
      else page.push(word);
      isInParagraph = isProse;
    }
  }
  return page;
}

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
    operation.summary,
    "",
    ...endings(facts),
    ...(operation.fields.length === 0
      ? ["No fields."]
      : operation.fields.flatMap((field) => fieldLines(field, "    ", shared))),
    "",
    ...facts.slice(0, 1).map(({ request }) => `    ${JSON.stringify(request)}`),
    "",
  ];
}

/** What follows an unknown ending: a line if it is the same for all requests, else a table. */
function endings(facts: readonly ExampleFacts[]): readonly string[] {
  const titles = new Map<string, string>();
  for (const { title, parsed } of facts) {
    if (parsed.effect === "reads") continue;
    const ending = `${parsed.effect} | ${repeatText({ parsed })} | ${evidenceOf({ parsed })}`;
    titles.set(ending, [titles.get(ending) ?? [], title].flat().join(", "));
  }
  const [only] = titles.keys();
  if (only === undefined) return [];
  if (titles.size === 1) return [`Evidence after an unknown ending: ${only.split(" | ").at(-1)}.`, ""];
  return [
    "| request | effect | after an unknown ending | evidence |",
    "|---|---|---|---|",
    ...Array.from(titles, ([ending, title]) => `| ${title} | ${ending} |`),
    "",
  ];
}

function evidenceOf({ parsed }: Pick<ExampleFacts, "parsed">): string {
  if (parsed.identityField !== null)
    return `an empty \`${parsed.identityField.join(".")}\` is filled with the command's identity, and looked for by GetOnlineRobots, then QueryTaskChain, before and after the call`;
  return evidenceText(parsed.evidence);
}
