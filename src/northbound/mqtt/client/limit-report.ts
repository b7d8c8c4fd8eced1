import type { Log } from "../../../platform/log.ts";
import type { MqttOptions } from "../options.ts";
import { missingAtBroker, noLimits } from "./broker-limits.ts";
import type { LimitedClient } from "./limited-client.ts";

/** What the broker's limits cost: once in the log, and in the health for as long as it is so. */
export interface LimitReport {
  /** A connection is open. */
  connected(client: LimitedClient): void;
  /** A message was left out because of its size. */
  tooLarge(topic: string, limitBytes: number): void;
  /** The broker lets the gateway not write to this topic. */
  refused(topic: string, reason: string): void;
  /** The broker has taken a message on this topic. */
  taken(topic: string): void;
  problems(): readonly string[];
  figures(): Readonly<Record<string, number>>;
}

/** Topics that are logged, for each connection. */
const MOST_TOPICS = 32;

export function createLimitReport(options: MqttOptions, log: Log): LimitReport {
  const takesCommands = options.commands.enabled && options.commands.brokerEnforcesClientNames;
  const topics = new Set<string>();
  /** Named in the log once, also over connections. */
  const toldRefused = new Set<string>();
  let missing: readonly string[] = [];
  let said = "";
  let leftOut: string | null = null;
  let messagesTooLarge = 0;
  /** Topics on which the broker took nothing last. A message that is taken ends it. */
  const refused = new Set<string>();
  let messagesRefused = 0;

  function refusedText(): readonly string[] {
    const [first] = refused;
    if (first === undefined) return [];
    const others = refused.size === 1 ? "" : ` and ${refused.size - 1} others`;
    return [
      `the broker refuses to let the gateway write to ${first}${others}: what is published there is lost; let its rules allow everything under mqtt.base`,
    ];
  }

  return {
    connected({ limits }) {
      topics.clear();
      refused.clear();
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
    tooLarge(topic, limitBytes) {
      messagesTooLarge += 1;
      leftOut ??= `messages of more than the ${limitBytes} bytes that the broker takes are left out, as on ${topic}; let the broker take larger packets`;
      if (topics.has(topic) || topics.size >= MOST_TOPICS) return;
      topics.add(topic);
      log.warn({ topic, limitBytes }, "a message is larger than the broker takes, and is left out");
    },
    refused(topic, reason) {
      messagesRefused += 1;
      if (refused.has(topic) || refused.size >= MOST_TOPICS) return;
      refused.add(topic);
      if (!toldRefused.has(topic))
        log.warn({ topic, reason }, "the broker refuses a topic: what is published there is lost");
      if (toldRefused.size < MOST_TOPICS) toldRefused.add(topic);
    },
    taken(topic) {
      if (refused.size > 0) refused.delete(topic);
    },
    problems: () => [...missing, ...(leftOut === null ? [] : [leftOut]), ...refusedText()],
    figures: () => ({ messagesTooLarge, messagesRefused }),
  };
}
