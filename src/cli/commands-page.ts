import { isDeepStrictEqual } from "node:util";
import type { DescribedOperation, OperationManual, RequestField } from "../contracts/operation-manual.ts";
import { type ActRule, acts } from "../domain/acts.ts";
import { errorId, gatewayErrors, grpcCodeNames } from "../domain/errors.ts";
import { outcomeMeanings, outcomeNumbers } from "../domain/outcome.ts";
import { exitCodeOf } from "./call-output.ts";
import { httpSection, serviceAdvice } from "./http-section.ts";
import { type ExampleFacts, effectsOf, evidenceText, factsOf, fieldLines } from "./operation-facts.ts";

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
    ...operations.flatMap((operation, at) => operationSection(operation, operations.slice(0, at))),
  ];
  return filled(lines).join("\n");
}

const start = [
  "You want to send a command, and to know what became of it. On the gateway's own machine:",
  "",
  "    fleetgate call --list",
  "    fleetgate call CreateMission --robot cart-01 --expires-in 10 --config fleetgate.yaml \\",
  `      '{"mission":{"baseMission":{"navigateMission":{"goal":{"destinationId":"Station A"}}}}}'`,
  "",
  "The gateway sends it within 10 s, or never. PLCs write tags ([plc.md](plc.md)), and MQTT clients publish",
  "([mqtt.md](mqtt.md#commands)). All that follows holds for every protocol.",
];

const life = [
  "    received → validated → accepted (journaled, synced) → sent → succeeded | refused",
  "                                    └→ expired (never sent)     └→ probably_succeeded (evidence) | unknown",
  "",
  "A command's identity is its source (the protocol, and the authenticated user or client) and its request id. The same",
  "identity with the same request gets the recorded outcome, also after a crash. With another request the gateway refuses",
  "it. To a repetition in another form (without an expiry, retained, while too many wait), the answer never says that",
  "nothing was done.",
  "",
  "| at every protocol | |",
  "|---|---|",
  "| a request id | 1 to 128 printable ASCII characters |",
  "| commands in flight | 512 of one source, 2,048 of all (`commands.maxCommands`); as many again for stops and repetitions of known commands |",
  "| a command beyond | QUEUE_FULL: the gateway has not sent it |",
];

const times = [
  "## Times",
  "",
  "Give a command `expires_in_ms` (from its receipt; `fleetgate call` has `--expires-in SECONDS`) rather than",
  "`expires_at` (a moment of your clock): [the rules](mqtt-reference.md#which-expiry-to-give).",
  "",
  "| | key of `commands` | default |",
  "|---|---|---|",
  "| a command without an expiry leaves within this time of its receipt, or never | `startByMs` | 10 s |",
  "| a call waits for its answer | `callDeadlineMs` | 15 s |",
  "| the gateway seeks evidence after an unknown ending (after a restart: from the session to the service on, for which it waits 60 s at most) | `evidenceMs` | 15 s |",
  "| a mission that may be the command's must be the only one | `settleMs` | 1 s |",
  "| the record of a command lasts, in [running time](backup-and-recovery.md#how-long-records-are-kept) | `journal.keepMs`, `journal.keepCount` | 7 days, 100,000 records |",
  "",
  "Of too many records, those of commands that never left go first, then the oldest of the source with most.",
  "",
  "## Order",
  "",
  "| effect | rule |",
  "|---|---|",
  "| `stops` | goes first: it waits for neither lease nor quality nor queue nor disk nor expiry, and cancels what waits for the same robot |",
  "| `moves` | the robot's quality must be good |",
  "| all | a robot has one command in flight; `maxQueue` (16) wait behind it |",
  "",
  "| after an unknown ending | rule |",
  "|---|---|",
  "| repeatable | the gateway sends it again until its expiry |",
  "| repeatable, also late (COMMAND_CANCEL, a conveyor's STOP) | once it has left, the gateway repeats it for `evidenceMs` at least: the service itself takes 10 s to say that a robot did not answer |",
  "| never repeated | the gateway never sends it twice |",
  "",
  "The gateway does not send or repeat a stop when a later start that it would undo has left: of the same conveyor,",
  "mission or (PauseRobot) robot. A STOP of several conveyors counts as a whole. After a restart, commands that were only",
  "accepted have expired.",
  "",
  "### A robot that never answers a stop",
  "",
  "With the default times, the outcome is final after about 50 s. Act on the robot's state meanwhile.",
  "",
  "### Many robots that do not answer at once",
  "",
  "The gateway opens three more connections. When those are full too, a command other than a stop waits 2 s, and then",
  "ends as FLEET_UNREACHABLE, with the number of calls under way.",
  "",
  "### A stop on a full disk",
  "",
  "A stop needs no disk, but a slot of OPC UA does. After a start on a full disk, or after 48 numbers that the disk did",
  "not take, its `NextId` is 0 and it takes nothing. Stop by MQTT, an OPC UA method or `fleetgate call` then.",
  "",
  "### Two gateways for one fleet",
  "",
  "They share no journal, so the promise does not hold across them: each sends a command that both take. Give each an id",
  "of its own. Two with one `gateway.id` at one broker report it ([DUPLICATE_GATEWAY](alarms.md#duplicate_gateway)), and",
  "neither stops.",
  "",
  "### Commands of the gateway itself",
  "",
  "Their protocol is `gateway`: stops of held robots, and of conveyors when a station's lease ends.",
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
  "own (gRPC), 1000 and up are the gateway's. `retry_safe` (`RetrySafe`) is false if a repetition can move something twice.",
  "",
  "*Under a new id*: the journal has the outcome, so the same id gets the same answer as long as the record lasts. In a",
  "slot every number is a new id. You may use the id again after MALFORMED, UNKNOWN_OPERATION, IDENTITY_REUSED,",
  "NO_EXPIRY, RETAINED, NOT_ALLOWED, and after a read. An outcome that a full disk did not take",
  "[says so](troubleshoot.md#the-disk-is-full-or-fails); the gateway records it later.",
  "",
  "| ErrorId | code | what to do |",
  "|---|---|---|",
  ...grpcCodeNames.map((name) => `| ${errorId(name)} | ${name} | ${serviceAdvice[name]} |`),
  ...Object.entries(gatewayErrors).map(([name, { id, advice }]) => `| ${id} | ${name} | ${advice} |`),
];

const actSection = [
  "## Acts",
  "",
  "An act changes the gateway itself, and not the fleet: a hold, a lease, an acknowledgement. It needs neither an id nor",
  "an expiry, and takes effect at once, before it is on the disk. MQTT clients publish it as `command/<Act>`, with its",
  'fields and an optional `id` for the reply: `{"robot_id":"cart-01","hold":true}`. `?` marks a field that may be absent.',
  "",
  "| act | | role | fields |",
  "|---|---|---|---|",
  ...actRows(),
  "",
  "The same again changes nothing, and the latest wins; only `ResetCounters` counts each time. The audit log and [the list",
  "of commands](#which-commands-were-sent) have each change once, and lapsed leases, but no heartbeats. A text has 1 to",
  "256 printable characters. The gateway refuses unknown fields. While it [stands by](cluster.md) it takes the begin of a",
  "hold, and refuses all else (`STANDBY`).",
];

/** A row for each act. A field that several of them have is described once. */
function actRows(): readonly string[] {
  const described = new Set<string>();
  const fieldText = ([field, { isOptional, text }]: [string, ActRule["fields"][string]]) => {
    const name = `\`${field}\`${isOptional === true ? "?" : ""}`;
    const isKnown = described.has(`${field} ${text}`);
    described.add(`${field} ${text}`);
    return isKnown ? name : `${name} (${text})`;
  };
  return Object.entries<ActRule>(acts).map(([name, { text, role, only, fields }]) => {
    const does = only === undefined ? text : `${text} (${only} only)`;
    return `| \`${name}\` | ${does} | ${role ?? ""} | ${Object.entries(fields).map(fieldText).join("; ")} |`;
  });
}

const leases = [
  "## Leases of stations",
  "",
  "While a station leases a robot, only the lease's owner may send that robot anything but stops and reads. The owner is",
  "the source that asked: a user of OPC UA or a client of MQTT. An engineer for the robot ends any lease of it. However it",
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
  "| a command that lets the service choose the robot (`amrId` 0, a `groupId`, a chain that no robot has yet) | only the owner may send it, while any robot is leased |",
  "| a chain from before the lease | the service may still give it to the robot |",
  "| a restart of the gateway | ends no lease, and stops the conveyors that stations have started |",
  "| a lease or release of a robot that nobody has seen | `UNKNOWN_ROBOT` |",
];

const holds = [
  "## Holds of users",
  "",
  "A hold is a user's standing *do not move* for one robot, or for all robots. **A hold is no safety function**: emergency",
  "stops and interlocks stay hard-wired.",
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
  "| at its begin | the gateway pauses the robot's running mission and task chain, and stops its conveyors, also those in an unknown state |",
  "| a start (effect `moves`) | ends as HELD, for every user, the holder too; also one that waited when the hold began |",
  "| a start that lets the service choose the robot (`amrId` 0, a `groupId`) | ends as HELD while any robot is held |",
  "| stops and reads | pass |",
  "| a mission, task chain or conveyor runs again (the touchscreen, another client) | the gateway stops it once more |",
  "| a stop fails | the gateway repeats it every 10 s while it sees the robot move |",
  "| the robot is out of sight | the gateway stops what it last knew, and again when it sees the robot run |",
  "",
  "The stops are the gateway's own (`gateway:fleetgate/….hold…`), in the audit log on behalf of the user. A robot may move",
  "again when nobody holds it; lifting a hold resumes nothing. A hold outlives lost connections and restarts. It acts",
  "before it is on the disk; `HoldStored` (`stored`) shows whether a restart would know it.",
  "",
  "| to | a user needs |",
  "|---|---|",
  "| hold a robot | the right to send it some command that needs an operator |",
  "| hold all robots | such a right by a rule without `robots` |",
  "| lift another's hold | the role engineer |",
  "",
  "### A hold that is toggled",
  "",
  "A hold always begins at once, but ends at most once a second. A user lifts holds on 100 robots a second; a hold on all",
  "robots counts as its robots, at most 500. Other robots stay held until their turn. The last level counts.",
];

const requests = [
  "A request is proto3 JSON. Field names may be camelCase or snake_case, enums names or numbers. The gateway refuses an",
  "unknown field, the same key twice, a text of more than 4,096 characters, and more than 131,072 characters in all.",
  "",
  "You can copy the examples: `fleetgate call OPERATION '{…}' --config FILE`, or as `request` of an MQTT command",
  "([mqtt.md](mqtt.md#commands)). Their robots, conveyors, numbers and places are the demo's. A mission `m-1`, a chain",
  "7 and a webhook `w-1` are placeholders for an id that exists. *Evidence* is what the gateway looks for after an",
  "unknown ending.",
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

/** @param before the operations that the page has above it */
function operationSection(
  operation: DescribedOperation,
  before: readonly DescribedOperation[],
): readonly string[] {
  const facts = factsOf(operation);
  const alike = before.find(
    ({ fields }) => fields.length > 1 && isDeepStrictEqual(fields, operation.fields),
  )?.name;
  return [
    `### ${operation.name}`,
    "",
    operation.summary,
    "",
    ...endings(facts),
    ...(alike === undefined
      ? fieldsOf(operation)
      : [`The fields are those of [${alike}](#${alike.toLowerCase()}).`]),
    "",
    ...facts.slice(0, 1).map(({ request }) => `    ${JSON.stringify(request)}`),
    "",
  ];
}

function fieldsOf({ fields }: DescribedOperation): readonly string[] {
  return fields.length === 0 ? ["No fields."] : fields.flatMap((field) => fieldLines(field, "    ", shared));
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
  if (titles.size === 1) return [`Evidence: ${only.split(" | ").at(-1)}.`, ""];
  return [
    "| request | effect | after an unknown ending | evidence |",
    "|---|---|---|---|",
    ...Array.from(titles, ([ending, title]) => `| ${title} | ${ending} |`),
    "",
  ];
}

function evidenceOf({ parsed }: Pick<ExampleFacts, "parsed">): string {
  if (parsed.identityField !== null)
    return `the command's identity in \`${parsed.identityField.join(".")}\`, if you left that empty, by GetOnlineRobots, then QueryTaskChain, before and after the call`;
  return evidenceText(parsed.evidence);
}
