import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createRecurringProblem } from "../../../platform/log-bounds.ts";
import type { MqttOptions } from "../options.ts";
import { missingAtBroker, noLimits } from "./broker-limits.ts";
import type { LeftOut, LimitedClient } from "./limited-client.ts";

/** What the broker's limits cost: once in the log, and in the health for as long as it is so. */
export interface LimitReport extends LeftOut {
  /** A connection is open. */
  connected(client: LimitedClient): void;
  problems(): readonly string[];
  figures(): Readonly<Record<string, number>>;
}

/** Topics that are logged, for each connection. */
const MOST_TOPICS = 32;
/** So long a topic is tried again for a reason that may pass, a quota aside. */
const TRIED_FOR_MS = 15_000;
/** Topics that are tried again. Beyond it the one that has been tried for longest is tried anew. */
const MOST_TRIED = 4_096;

export function createLimitReport(options: MqttOptions, clock: Clock, log: Log): LimitReport {
  const takesCommands = options.commands.enabled && options.commands.brokerEnforcesClientNames;
  const topics = new Set<string>();
  /** Named in the log once, also over connections. */
  const reportedRefused = new Set<string>();
  let missing: readonly string[] = [];
  let said = "";
  let leftOut: string | null = null;
  let messagesTooLarge = 0;
  /** Topics on which the broker took nothing last. A message that is taken ends it. */
  const refused = new Map<string, string>();
  let messagesRefused = 0;
  /** Topics on which the broker took nothing since then, for reasons that may pass. */
  const tried = new Map<string, number>();
  /** The last of these reasons. */
  let notTakenFor = "";
  let messagesNotTaken = 0;
  const delaying = createRecurringProblem(clock, () =>
    log.info({ messagesNotTaken }, "the broker takes messages at once again"),
  );

  function refusedText(): readonly string[] {
    const [first] = refused;
    if (first === undefined) return [];
    const others = refused.size === 1 ? "" : ` and ${refused.size - 1} others`;
    return [
      `the broker refuses to let the gateway write to ${first[0]}${others} (${first[1]}): what is published there is lost; let its rules allow everything under mqtt.base`,
    ];
  }

  function triedText(): readonly string[] {
    const waiting = [...tried.keys()].filter((topic) => !refused.has(topic));
    const [first] = waiting;
    if (first === undefined) return [];
    const others = waiting.length === 1 ? "" : ` and ${waiting.length - 1} others`;
    return [
      `the broker does not take now what is published on ${first}${others} (${notTakenFor}): the gateway tries again; look at the broker's log and limits`,
    ];
  }

  return {
    connected({ limits }) {
      topics.clear();
      refused.clear();
      tried.clear();
      leftOut = null;
      missing = missingAtBroker(limits, options.refreshMs, takesCommands).map(
        ({ what, advice }) => `${what}; ${advice}`,
      );
      const text = JSON.stringify(limits);
      if (text === said) return;
      const isFirst = said === "";
      said = text;
      if (isFirst && text === JSON.stringify(noLimits)) return;
      log.info({ ...limits }, "what the broker takes at most");
      for (const sentence of missing) log.warn({}, sentence);
    },
    onTooLarge(topic, limitBytes) {
      messagesTooLarge += 1;
      leftOut ??= `messages of more than the ${limitBytes} bytes that the broker takes are left out, as on ${topic}; let the broker take larger packets`;
      if (topics.has(topic) || topics.size >= MOST_TOPICS) return;
      topics.add(topic);
      log.warn({ topic, limitBytes }, "a message is larger than the broker takes, and is left out");
    },
    onRefused(topic, reason) {
      messagesRefused += 1;
      if (refused.has(topic) || refused.size >= MOST_TOPICS) return;
      refused.set(topic, reason);
      if (!reportedRefused.has(topic))
        log.warn({ topic, reason }, "the broker refuses a topic: what is published there is lost");
      if (reportedRefused.size < MOST_TOPICS) reportedRefused.add(topic);
    },
    onNotTaken(topic, reason, isQuota) {
      messagesNotTaken += 1;
      const nowMs = clock.monotonicMs();
      const sinceMs = tried.get(topic);
      if (sinceMs === undefined) {
        const [oldest] = tried.keys();
        if (oldest !== undefined && tried.size >= MOST_TRIED) tried.delete(oldest);
        tried.set(topic, nowMs);
      }
      notTakenFor = reason;
      if (delaying.note())
        log.warn({ topic, reason }, "the broker does not take a message now: it is tried again");
      return isQuota || nowMs - (sinceMs ?? nowMs) < TRIED_FOR_MS;
    },
    onTaken(topic) {
      if (refused.size > 0) refused.delete(topic);
      if (tried.size > 0) tried.delete(topic);
    },
    problems: () => [...missing, ...(leftOut === null ? [] : [leftOut]), ...refusedText(), ...triedText()],
    figures: () => ({ messagesTooLarge, messagesRefused, messagesNotTaken }),
  };
}
