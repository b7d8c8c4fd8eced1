import type { ActRequest, Acts } from "../../contracts/acts.ts";
import type { AlarmConditionSink, AlarmStore } from "../../contracts/alarms.ts";
import type { RefusalAudit } from "../../contracts/commander.ts";
import {
  ACT_TEXT_CHARACTERS,
  type ActField,
  type ActFields,
  type ActName,
  type ActRule,
  acts,
} from "../../domain/acts.ts";
import { quoted } from "../../domain/foreign-text.ts";
import { holderName } from "../../domain/hold.ts";
import { isPlainText, type Outcome, refusal, unknownOperation } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import type { Clock } from "../../platform/clock.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import type { Live } from "../../platform/live.ts";
import type { Log } from "../../platform/log.ts";
import { type AuditSink, actFields } from "../audit/audit.ts";
import type { Dispatcher } from "../dispatcher.ts";
import type { Rights } from "../options.ts";
import { refusedRight } from "../rights.ts";
import {
  type ActTargets,
  answerOfHold,
  createPerformers,
  type ReportAct,
  robotOfAlarm,
} from "./performers.ts";

/** The acts of users (docs/commands.md, Acts): each is read, checked, performed and audited here. */
export function createActs({
  dispatcher,
  rights,
  alarms,
  resetCounters,
  refused,
  audit,
  clock,
  log,
}: {
  readonly dispatcher: ActTargets & Pick<Dispatcher, "refusesActs">;
  readonly rights: Live<Rights>;
  readonly alarms: AlarmConditionSink & AlarmStore & { publish(): void };
  /** Sets the counters of a station to 0. */
  readonly resetCounters: (station: string) => void;
  readonly refused: RefusalAudit["refused"];
  readonly audit: AuditSink;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
}): Acts {
  const report: ReportAct = (event, act, fields, source, change) => {
    const { protocol, name: user } = source;
    log.info({ ...change, by: holderName(source) }, `act ${act}`);
    const at = new Date(clock.nowMs()).toISOString();
    audit({ at, event, ...change, protocol, user, ...actFields(act, fields) });
    if (event === "alarm") alarms.publish();
  };
  const performers = createPerformers(dispatcher, alarms, resetCounters, report);
  const auditRefusal = createRefusalAudit(refused);

  function refusedRole(name: ActName, { source }: ActRequest, robotId: RobotId | null): Outcome | null {
    const { role, right }: ActRule = acts[name];
    if (role === null) return null;
    const asked =
      role === "engineer"
        ? { operation: right ?? name }
        : { operation: null, ...(right === undefined ? {} : { act: right }) };
    const reason = refusedRight(rights.now(), { source, role, robotId, ...asked });
    return reason === null ? null : refusal("NOT_ALLOWED", reason);
  }

  function perform(
    name: ActName,
    fields: JsonObject,
    request: ActRequest,
    robotId: RobotId | null,
  ): Outcome | Promise<Outcome> {
    const { only }: ActRule = acts[name];
    if (only !== undefined && only !== request.source.protocol) return unknownOperation(name);
    const isHold = (name === "Hold" || name === "HoldAll") && fields.hold === true;
    const notNow = dispatcher.refusesActs(isHold);
    if (notNow !== null) return notNow;
    const notAllowed = refusedRole(name, request, robotId);
    if (notAllowed !== null) return notAllowed;
    // `readFields` has checked that the fields are those of the act.
    const act: (fields: never, request: ActRequest) => Outcome | Promise<Outcome> = performers[name];
    return act(fields as never, request);
  }

  function run(name: ActName, request: ActRequest): Outcome | Promise<Outcome> {
    const read = readFields(name, request.fields);
    const { robot_id = null, alarm_id } = read.ok ? read.fields : {};
    // A user that may not acknowledge an alarm learns nothing about it.
    const robotId = typeof alarm_id === "string" ? robotOfAlarm(alarms.find(alarm_id)) : robot_id;
    const robot = typeof robotId === "string" ? robotId : null;
    const outcome =
      request.refused ??
      (read.ok ? perform(name, read.fields, request, robot) : refusal("MALFORMED", read.reason));
    const ended = (final: Outcome) => {
      auditRefusal(name, request, robot, final);
      return final;
    };
    return outcome instanceof Promise ? outcome.then(ended) : ended(outcome);
  }

  return {
    run,
    async answer(name, request) {
      const outcome = await run(name, request);
      if (outcome.outcome === "refused") return outcome;
      if (ofAlarms.has(name)) return { ...outcome, message: (await alarms.storeProblem()) ?? "" };
      if (name !== "Hold" && name !== "HoldAll") return outcome;
      // It was not refused, so these are its fields.
      const { robot_id = null, hold } = request.fields as HoldFields;
      return answerOfHold(await dispatcher.holds.stateWhenStored(robot_id), hold);
    },
    refusedRight(name, request, robotId) {
      const outcome = refusedRole(name, request, robotId);
      if (outcome !== null) auditRefusal(name, request, robotId, outcome);
      return outcome;
    },
  };
}

type HoldFields = ActFields<"HoldAll"> & Partial<ActFields<"Hold">>;

/** The acts that the alarm store keeps. */
const ofAlarms: ReadonlySet<ActName> = new Set(["AcknowledgeAlarm", "CommentAlarm", "SetOutOfService"]);

/** Sources that write tags without the right to it, each with a tag. */
const MOST_REPEATED = 10_000;

/** Audits refusals; of a tag that is written again and again, the same refusal once. */
function createRefusalAudit(refused: RefusalAudit["refused"]) {
  const lastOfTags = new BoundedMap<string, string>(MOST_REPEATED);
  return (name: ActName, request: ActRequest, robotId: RobotId | null, outcome: Outcome): void => {
    if (outcome.outcome !== "refused") return;
    const { source, requestId = null, origin, fields, isTag } = request;
    if (isTag === true) {
      const key = JSON.stringify([source, name, robotId]);
      const same = JSON.stringify([fields, outcome.code]);
      if (lastOfTags.get(key) === same) return;
      lastOfTags.set(key, same);
    }
    refused({ source, requestId, operation: name, robotId, origin }, outcome);
  };
}

type ReadFields =
  | { readonly ok: true; readonly fields: JsonObject }
  | { readonly ok: false; readonly reason: string };

const checks: Readonly<Record<ActField["type"], { readonly expected: string; is(value: unknown): boolean }>> =
  {
    text: {
      expected: `must be text of 1 to ${ACT_TEXT_CHARACTERS} printable characters`,
      is: (value) => isPlainText(value, ACT_TEXT_CHARACTERS),
    },
    boolean: { expected: "must be true or false", is: (value) => typeof value === "boolean" },
    integer: { expected: "must be a whole number", is: Number.isSafeInteger },
  };

/** Reads the fields of an act strictly: an unknown field is refused, never ignored. */
function readFields(name: ActName, value: unknown): ReadFields {
  const { fields }: ActRule = acts[name];
  const wrong = (reason: string): ReadFields => ({ ok: false, reason });
  if (!isJsonObject(value)) return wrong(`${name} must be a JSON object with ${listed(fields)}`);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(fields, key));
  if (unknown !== undefined)
    return wrong(`${quoted(unknown)}: is not a field of ${name}; it has ${listed(fields)}`);
  for (const [field, { type, isOptional }] of Object.entries(fields)) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined;
    if (given === undefined && isOptional === true) continue;
    if (given === undefined) return wrong(`${field}: is missing`);
    if (!checks[type].is(given)) return wrong(`${field}: ${checks[type].expected}`);
  }
  return { ok: true, fields: value };
}

function listed(fields: ActRule["fields"]): string {
  const names = Object.keys(fields);
  return names.length === 1 ? `${names[0]}` : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
