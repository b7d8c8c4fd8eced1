import type { Health } from "../platform/component.ts";
import type { PoolState } from "./channels/stream-pool.ts";
import type { PollState } from "./polling/reader.ts";
import type { SessionState } from "./session/session.ts";
import type { StreamsState } from "./streams/streams.ts";
import type { WebhooksState } from "./webhooks/webhooks.ts";

/** The states of the parts of the fleet session. */
export interface FleetFacts {
  readonly session: SessionState;
  /** The service's clock minus this machine's; null: not known. */
  readonly clockSkewMs: number | null;
  readonly pool: PoolState;
  readonly streams: StreamsState;
  /** Null: events come by streams alone. */
  readonly webhooks: WebhooksState | null;
  readonly polls: readonly PollState[];
  readonly commandProblem: string | null;
  readonly commandConnections: number;
  readonly callsUnderWay: number;
  readonly followedChains: number;
  readonly malformedRobots: number;
  readonly malformedChains: number;
  readonly identifiersRefused: number;
  readonly robotClocksWrong: number;
}

/** How many names a person reads. */
const NAMED = 10;
/**
 * From here on the health names it, like the alarm CLOCK_SKEW; from the second figure on absolute expiries
 * have no meaning.
 */
const NOTABLE_SKEW_SECONDS = 2;
const HARMFUL_SKEW_SECONDS = 30;

/** The health as one sentence, with figures to watch. */
export function describeHealth(facts: FleetFacts): Health {
  const problems = problemsOf(facts);
  const { open, wanted } = facts.streams;
  const state = open === 0 ? "down" : problems.length > 0 || open < wanted ? "degraded" : "up";
  const openStreams = `${open} of ${wanted} streams are open`;
  const remarks = [openStreams, ...quietRemark(facts), ...skewRemark(facts)];
  const detail = (problems.length > 0 ? problems : remarks).join("; ");
  return {
    state: state === "down" && isStarting(facts) ? "starting" : state,
    detail,
    figures: figuresOf(facts),
  };
}

/** Whether nothing was received yet, and no problem is known: one failure may be the service's own start. */
function isStarting(facts: FleetFacts): boolean {
  const { session, pool, streams } = facts;
  if (session.isRefused || !streams.isUntried || streams.refused.size > 0) return false;
  if (session.exchanges > 1 || session.failures > 1 || pool.failures > 1) return false;
  return received(facts) === 0;
}

/** How many messages streams have brought since the start. */
function received({ streams: { counts } }: FleetFacts): number {
  return counts.mission.messages + counts.battery.messages + counts.conveyors.messages;
}

function problemsOf(facts: FleetFacts): string[] {
  const { session, pool, streams } = facts;
  return [
    ...(session.problem === null ? [] : [`no token: ${session.problem}`]),
    ...(session.renewalProblem === null ? [] : [`the token cannot be renewed: ${session.renewalProblem}`]),
    ...(pool.problem === null ? [] : [`no connection for streams: ${pool.problem}`]),
    ...(facts.commandProblem === null ? [] : [`no connection for commands: ${facts.commandProblem}`]),
    ...(Math.abs(skewSeconds(facts)) < HARMFUL_SKEW_SECONDS ? [] : skewRemark(facts)),
    ...(pool.problem === null && streams.open < streams.wanted ? streams.problems : []),
    ...refusedSentence(streams.refused),
    ...(facts.webhooks?.problems ?? []),
    ...pollsOf(facts).flatMap(({ problem }) => (problem === null ? [] : [`a poll fails: ${problem}`])),
  ];
}

function quietRemark({ streams: { quietLimitMs } }: FleetFacts): readonly string[] {
  if (quietLimitMs === null) return [];
  const limitSeconds = Math.round(quietLimitMs / 1_000);
  return [`a proxy ends streams that are quiet for ${limitSeconds} s, so they are renewed before`];
}

function skewRemark(facts: FleetFacts): readonly string[] {
  const skew = skewSeconds(facts);
  if (Math.abs(skew) <= NOTABLE_SKEW_SECONDS) return [];
  return skew > 0
    ? [`this machine's clock is ${skew} s behind the service's`]
    : [`this machine's clock is ${-skew} s ahead of the service's`];
}

/** Rounded to a tenth. */
function skewSeconds({ clockSkewMs }: FleetFacts): number {
  return Math.round((clockSkewMs ?? 0) / 100) / 10;
}

function pollsOf({ polls, webhooks }: FleetFacts): readonly PollState[] {
  const watch = webhooks?.poll ?? null;
  return watch === null ? polls : [...polls, watch];
}

function refusedSentence(refused: ReadonlyMap<string, string>): string[] {
  if (refused.size === 0) return [];
  const names = [...refused.keys()].slice(0, NAMED).join(", ");
  const more = refused.size > NAMED ? ` and ${refused.size - NAMED} more` : "";
  return [`the service refuses ${names}${more}`];
}

function figuresOf(facts: FleetFacts): Record<string, number> {
  const { session, pool, streams, followedChains, malformedRobots, malformedChains } = facts;
  const polls = pollsOf(facts);
  const total = (pick: (counts: StreamsState["counts"]["mission"]) => number) =>
    pick(streams.counts.mission) + pick(streams.counts.battery) + pick(streams.counts.conveyors);
  return {
    robots: streams.robots,
    robots_refused: streams.refused.size,
    streams_wanted: streams.wanted,
    streams_open: streams.open,
    streams_suspended: streams.suspended,
    streams_cut: streams.cuts,
    connections: pool.connections,
    command_connections: facts.commandConnections,
    calls_under_way: facts.callsUnderWay,
    stream_limit: pool.streamLimit ?? 0,
    connect_failures: pool.failures,
    token_age_seconds: session.tokenAgeSeconds ?? 0,
    token_seconds_left: session.tokenSecondsLeft ?? 0,
    token_requests: session.exchanges,
    token_failures: session.failures,
    clock_skew_seconds: skewSeconds(facts),
    messages: total((counts) => counts.messages),
    messages_repeated: total((counts) => counts.repeats),
    messages_missed: total((counts) => counts.missed),
    messages_outdated: total((counts) => counts.outdated),
    messages_set_back: total((counts) => counts.setBack),
    messages_malformed: total((counts) => counts.malformed),
    sequence_resets: total((counts) => counts.resets),
    sequence_regressions: total((counts) => counts.regressed),
    families_pending: streams.familiesPending,
    polls: polls.reduce((sum, poll) => sum + poll.turns, 0),
    poll_failures: polls.reduce((sum, poll) => sum + poll.failures, 0),
    task_chains_followed: followedChains,
    robots_malformed: malformedRobots,
    task_chains_malformed: malformedChains,
    identifiers_refused: facts.identifiersRefused,
    robot_clocks_wrong: facts.robotClocksWrong,
    ...facts.webhooks?.figures,
  };
}
