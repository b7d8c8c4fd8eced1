import { createFairQueues } from "../../../platform/queues.ts";
import type { Loss } from "../client/client.ts";
import type { NodeDevice } from "./node.ts";
import type { NodeReport } from "./report.ts";
import type { SparkplugSession } from "./session.ts";

/** Beyond it, the oldest answer to the sender with the most is dropped. Each has 64 KB at most. */
const MOST_WAITING = 256;

interface AnswersParts {
  readonly node: Pick<NodeDevice, "setAnswer">;
  readonly session: Pick<SparkplugSession, "isBirthDue" | "sayNode" | "drained">;
  /** Runs a task behind those that are under way, as births. */
  readonly run: (task: () => Promise<void>) => Promise<void>;
  readonly loss: Loss;
  readonly report: Pick<NodeReport, "answerDropped">;
  /** Some were dropped, and the broker reads on: hosts need a birth, which has the newest one. */
  readonly onCaughtUp: () => void;
}

/** Publishes an answer to a sender, when the broker has read what came before. */
export type PublishAnswer = (sender: string, text: string) => void;

/** Publishes each answer as data of the node, no faster than the broker reads. */
export function createAnswers({ node, session, run, loss, report, onCaughtUp }: AnswersParts): PublishAnswer {
  const waiting = createFairQueues<string>(MOST_WAITING);
  let isUnderWay = false;
  let isIncomplete = false;

  async function sayWaiting(): Promise<void> {
    // A birth that is due comes behind this turn, and would have the last one of several answers alone.
    while (!session.isBirthDue()) {
      const text = waiting.next();
      if (text === null) {
        isUnderWay = false;
        if (isIncomplete) onCaughtUp();
        isIncomplete = false;
        return;
      }
      node.setAnswer(text);
      session.sayNode();
      // After the end of a connection, the next birth has the newest answer.
      await session.drained()?.catch(() => {});
    }
    begin();
  }

  function begin(): void {
    run(sayWaiting).catch(loss.report);
  }

  return (sender, text) => {
    const gone = waiting.push(sender, text);
    if (gone !== null) {
      isIncomplete = true;
      report.answerDropped(gone.key);
    }
    if (isUnderWay) return;
    isUnderWay = true;
    begin();
  };
}
