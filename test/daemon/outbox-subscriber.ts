import mqtt, { type MqttClient } from "mqtt";
import type { Published } from "../support/recording-relay.ts";

/** A SCADA client that hears all events, and comes back by itself only when it is told to. */
export interface OutboxSubscriber {
  /** What it has taken, in its order. */
  readonly taken: readonly Published[];
  /** Connects, as often as it needs, and subscribes. Resolves when it has for the first time. */
  come(): Promise<void>;
  /** Leaves in order. */
  leave(): Promise<void>;
  /** Ends without a word. */
  kill(): void;
  /** Keeps its connection, and takes nothing, so that nothing is acknowledged. */
  stop(): void;
  resume(): void;
}

export function createOutboxSubscriber(
  port: number,
  cleanups: Array<() => Promise<unknown>>,
): OutboxSubscriber {
  const taken: Published[] = [];
  let client: MqttClient | null = null;
  let isStopped = false;
  let held: Array<() => void> = [];

  function resume(): void {
    isStopped = false;
    for (const take of held) take();
    held = [];
  }

  function kill(): void {
    const ending = client;
    client = null;
    held = [];
    ending?.stream.destroy();
    ending?.end(true);
  }

  cleanups.push(async () => kill());
  return {
    taken,
    come() {
      const coming = mqtt.connect(`mqtt://127.0.0.1:${port}`, { clientId: "scada", reconnectPeriod: 100 });
      coming.on("error", () => {});
      const subscribed = new Promise<void>((resolve) => {
        coming.on("connect", () => coming.subscribe("fleetgate/outbox/#", { qos: 1 }, () => resolve()));
      });
      // The next message waits for `done`, and so does the acknowledgement.
      coming.handleMessage = ({ topic, payload }, done) => {
        const take = () => {
          if (client !== coming) return;
          if (topic.includes("/event/"))
            taken.push({ topic, text: payload.toString(), isAcknowledged: true });
          done();
        };
        if (isStopped) held.push(take);
        else take();
      };
      client = coming;
      return subscribed;
    },
    async leave() {
      const leaving = client;
      await leaving?.endAsync();
      if (client === leaving) client = null;
    },
    kill,
    stop() {
      isStopped = true;
    },
    resume,
  };
}
