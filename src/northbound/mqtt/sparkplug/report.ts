import { clip } from "../../../domain/foreign-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createRecurringProblem } from "../../../platform/log-bounds.ts";

/** Messages since the gateway started. */
export interface SparkplugCounts {
  births: number;
  deviceBirths: number;
  deviceDeaths: number;
  data: number;
  historical: number;
  /** Values of the past whose devices were not born in time. */
  historicalDropped: number;
  rebirthsMerged: number;
  /** Answers that the broker did not read in time. */
  answersDropped: number;
  /** Messages that were ignored as a whole. */
  commandsUnreadable: number;
}

/** By whom a message was sent, as far as that is known. */
interface CommandSender {
  readonly topic: string;
  /** Null: it is no command for the node. */
  readonly sender: string | null;
}

/** What the edge node counts, and says in log and health, over all connections. */
export interface NodeReport {
  readonly counts: SparkplugCounts;
  answerDropped(sender: string): void;
  commandIgnored(from: CommandSender, reason: string): void;
  /** What is wrong, or was within the last half minute. */
  problems(): readonly string[];
}

/** Of the name of a sender, in a log line. */
const LONGEST_NAME = 128;
const LONGEST_TOPIC = 256;
const DROPPED = "answers to commands are dropped: hosts ask too fast, or the broker reads too slowly";

export function createNodeReport(clock: Clock, log: Log): NodeReport {
  const counts: SparkplugCounts = {
    ...{ births: 0, deviceBirths: 0, deviceDeaths: 0, data: 0, historical: 0, historicalDropped: 0 },
    ...{ rebirthsMerged: 0, answersDropped: 0, commandsUnreadable: 0 },
  };
  const dropping = createRecurringProblem(clock, () =>
    log.info({ answersDropped: counts.answersDropped }, "answers to commands are dropped no more"),
  );
  const unreadable = createRecurringProblem(clock, () =>
    log.info({ commandsUnreadable: counts.commandsUnreadable }, "all commands can be read again"),
  );
  return {
    counts,
    answerDropped(sender) {
      counts.answersDropped += 1;
      if (dropping.note()) log.warn({ sender: clip(sender, LONGEST_NAME) }, DROPPED);
    },
    commandIgnored({ topic, sender }, reason) {
      counts.commandsUnreadable += 1;
      if (!unreadable.note()) return;
      const from = sender === null ? {} : { sender: clip(sender, LONGEST_NAME) };
      const fields = { ...from, topic: clip(topic, LONGEST_TOPIC), reason };
      log.warn(fields, "a message that is no command of Sparkplug B is ignored");
    },
    problems: () => (dropping.isRecurring() ? [DROPPED] : []),
  };
}
