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
  problems(): readonly string[];
  figures(): Readonly<Record<string, number>>;
}

/** Topics that are logged, for each connection. */
const MOST_TOPICS = 32;

export function createLimitReport(options: MqttOptions, log: Log): LimitReport {
  const takesCommands = options.commands.enabled && options.commands.brokerEnforcesClientNames;
  const topics = new Set<string>();
  let missing: readonly string[] = [];
  let said = "";
  let leftOut: string | null = null;
  let messagesTooLarge = 0;

  return {
    connected({ limits }) {
      topics.clear();
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
    problems: () => (leftOut === null ? missing : [...missing, leftOut]),
    figures: () => ({ messagesTooLarge }),
  };
}
