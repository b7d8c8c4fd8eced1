import {
  type CallMethodResultOptions,
  DataType,
  type ISessionContext,
  MethodIds,
  type NodeId,
  type StatusCode,
  StatusCodes,
  sameNodeId,
  type Variant,
  VariantArrayType,
} from "node-opcua";
import type { Acts } from "../../../contracts/acts.ts";
import type { ActiveAlarms, AlarmStore } from "../../../contracts/alarms.ts";
import type { ActFields } from "../../../domain/acts.ts";
import { ofGateway } from "../../../domain/alarm.ts";
import { standardId } from "../node-opcua/lower.ts";
import type { AnswerCall } from "../node-opcua/method-access.ts";
import type { Account } from "../security.ts";
import { sourceOf } from "../security.ts";
import { statusOf } from "../write-act.ts";
import type { ConditionPlaces } from "./condition-places.ts";
import type { ConditionRegistry, NamedAlarm } from "./condition-registry.ts";
import { conditionName } from "./condition-state.ts";
import { type AlarmRevision, readEventId } from "./event-id.ts";

/** Methods of conditions that have no meaning here: Part 9 wants them, and they change nothing. */
const refused: ReadonlyMap<number, StatusCode> = new Map([
  [MethodIds.ConditionType_Enable, StatusCodes.BadConditionAlreadyEnabled],
  [MethodIds.ConditionType_Disable, StatusCodes.BadNotExecutable],
]);
const ACKNOWLEDGE = standardId(MethodIds.AcknowledgeableConditionType_Acknowledge);
const ADD_COMMENT = standardId(MethodIds.ConditionType_AddComment);
const inputTypes = [DataType.ByteString, DataType.LocalizedText] as const;
const good = StatusCodes.Good;

/** The dependencies of method calls on conditions. */
export interface ConditionCallParts {
  readonly registry: Pick<ConditionRegistry, "named">;
  readonly places: ConditionPlaces;
  readonly alarms: ActiveAlarms & AlarmStore;
  readonly acts: Pick<Acts, "run" | "refusedRight">;
  readonly accountOf: (context: ISessionContext) => Account | null;
}

/** What a method does to the alarms that its EventId names. */
interface Change {
  readonly act: "AcknowledgeAlarm" | "CommentAlarm";
  perform(found: readonly NamedAlarm[], comment: string, account: Account): Promise<StatusCode>;
}

/**
 * Answers Acknowledge and AddComment on a ConditionId (OPC UA part 9, 5.5.6 and 5.7.3). It has no node, so
 * node-opcua would not find it.
 */
export function answerConditionCalls(parts: ConditionCallParts): AnswerCall {
  const { registry, places, alarms, acts, accountOf } = parts;

  /** An alarm may have changed since its last event: the list of alarms is ahead of the events. */
  function namedBy(revision: AlarmRevision): NamedAlarm | null {
    const known = registry.named(revision);
    if (known === null) return null;
    const now = alarms.shown(ofGateway).alarms.find(({ id }) => id === revision.id);
    if (now === undefined) {
      return { ...known, isStanding: false, isAcknowledged: known.isStanding || known.isAcknowledged };
    }
    if (now.occurrences !== revision.occurrence) return null;
    return { alarm: now, isStanding: true, isAcknowledged: now.acknowledged !== null };
  }

  /** The alarms of this condition alone. */
  function namedAlarms(conditionId: NodeId, eventId: Buffer | null): readonly NamedAlarm[] {
    const found = readEventId(eventId ?? Buffer.alloc(0)).flatMap((each) => namedBy(each) ?? []);
    return found.filter(({ alarm: { code, source } }) =>
      sameNodeId(places.of({ name: conditionName(code), source }).conditionId, conditionId),
    );
  }

  /**
   * Performs an act for each alarm. The status is that of the first that is refused; Uncertain: a restart
   * might not know it.
   */
  async function perform<Name extends "AcknowledgeAlarm" | "CommentAlarm">(
    name: Name,
    found: readonly NamedAlarm[],
    comment: ActFields<Name>["comment"],
    account: Account,
  ): Promise<StatusCode> {
    const { origin } = account;
    const statuses = found.map(({ alarm }) => {
      const fields = { alarm_id: alarm.id, ...(comment === undefined ? {} : { comment }) };
      const outcome = acts.run(name, { source: sourceOf(account), origin, fields });
      if (outcome instanceof Promise) return good;
      const isWrong = outcome.code === "MALFORMED";
      return statusOf(outcome, isWrong ? StatusCodes.BadInvalidArgument : StatusCodes.BadInvalidState);
    });
    const refused = statuses.find((status) => status !== good);
    if (refused !== undefined) return refused;
    return (await alarms.storeProblem()) === null ? good : StatusCodes.Uncertain;
  }

  const acknowledge: Change = {
    act: "AcknowledgeAlarm",
    async perform(found, comment, account) {
      const open = found.filter(({ isStanding, isAcknowledged }) => isStanding && !isAcknowledged);
      if (open.length > 0)
        return perform("AcknowledgeAlarm", open, comment === "" ? undefined : comment, account);
      const isDone = found.some(({ isAcknowledged }) => isAcknowledged);
      return isDone ? StatusCodes.BadConditionBranchAlreadyAcked : StatusCodes.BadEventIdUnknown;
    },
  };

  const addComment: Change = {
    act: "CommentAlarm",
    async perform(found, comment, account) {
      const standing = found.filter(({ isStanding }) => isStanding);
      if (standing.length === 0) return StatusCodes.BadEventIdUnknown;
      return comment === "" ? good : perform("CommentAlarm", standing, comment, account);
    },
  };

  /** First of all: a user without the right learns nothing of the alarm. */
  function isRefused({ act }: Change, conditionId: NodeId, account: Account): boolean {
    const request = { source: sourceOf(account), origin: account.origin, fields: {} };
    return acts.refusedRight(act, request, places.robotOf(conditionId)) !== null;
  }

  async function answer(
    context: ISessionContext,
    conditionId: NodeId,
    values: readonly Variant[],
    change: Change,
  ): Promise<CallMethodResultOptions> {
    const account = accountOf(context);
    if (account === null || isRefused(change, conditionId, account))
      return { statusCode: StatusCodes.BadUserAccessDenied };
    const wrong = refusedArguments(values);
    if (wrong !== null) return wrong;
    const [eventId, comment] = values.map(({ value }) => value);
    const found = namedAlarms(conditionId, eventId);
    return { statusCode: await change.perform(found, comment?.text ?? "", account) };
  }

  function changeOf(methodId: NodeId): Change | null {
    if (sameNodeId(methodId, ACKNOWLEDGE)) return acknowledge;
    return sameNodeId(methodId, ADD_COMMENT) ? addComment : null;
  }

  return (context, { objectId, methodId, inputArguments }) => {
    const change = changeOf(methodId);
    if (!places.isConditionId(objectId)) {
      if (change === null) return null;
      const isNode = places.isNode(objectId);
      return { statusCode: isNode ? StatusCodes.BadNodeIdInvalid : StatusCodes.BadNodeIdUnknown };
    }
    if (change !== null) return answer(context, objectId, inputArguments ?? [], change);
    const isStandard = methodId.namespace === 0 && typeof methodId.value === "number";
    const status = isStandard ? refused.get(methodId.value as number) : undefined;
    return { statusCode: status ?? StatusCodes.BadMethodInvalid };
  };
}

/** What is wrong with an EventId and a comment (OPC UA part 4, 5.11.2); null: nothing. */
function refusedArguments(values: readonly Variant[]): CallMethodResultOptions | null {
  if (values.length < inputTypes.length) return { statusCode: StatusCodes.BadArgumentsMissing };
  if (values.length > inputTypes.length) return { statusCode: StatusCodes.BadTooManyArguments };
  const inputArgumentResults = values.map(({ dataType, arrayType }, index) => {
    const isRight = dataType === inputTypes[index] && arrayType === VariantArrayType.Scalar;
    return isRight ? good : StatusCodes.BadTypeMismatch;
  });
  if (inputArgumentResults.every((status) => status === good)) return null;
  return { statusCode: StatusCodes.BadInvalidArgument, inputArgumentResults };
}
