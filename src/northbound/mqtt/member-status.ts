import type { ClusterView } from "../../contracts/cluster.ts";
import type { Connection } from "../../contracts/link.ts";
import { followRole } from "../../models/cluster.ts";
import { isoTime } from "../../models/json-text.ts";
import { type BackoffOptions, createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Component, Health } from "../../platform/component.ts";
import { describeError, messageOf } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import { createBrokers } from "./brokers.ts";
import { checkingParts } from "./client/checking.ts";
import { endClient, openClient, within } from "./client/client.ts";
import { TopicRefused } from "./client/limited-client.ts";
import { watchLoss } from "./connection.ts";
import type { MemberPayload } from "./models/state.ts";
import type { MqttOptions } from "./options.ts";

export interface MemberStatusParts {
  readonly cluster: ClusterView;
  readonly sessionId: string;
  /** When the program was built, by which the clock is judged; null: not known. */
  readonly builtAt: Date | null;
  readonly backoff: BackoffOptions;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

/** For the first status, and for the last. */
const ANSWER_MS = 10_000;
const GOODBYE_MS = 2_000;

/**
 * Publishes at the broker that this member of the cluster is there, and its role, whoever leads: by a client
 * of its own, that does nothing else.
 *
 * @param topic that of this member
 */
export function createMemberStatus(options: MqttOptions, topic: string, parts: MemberStatusParts): Component {
  const { cluster, sessionId, builtAt, clock, random, log } = parts;
  const { member } = cluster;
  const roleNow = followRole(cluster);
  const backoff = createBackoff(parts.backoff, random);
  const own = { ...options, clientId: `${options.clientId}-${member}` };
  let problem: string | null = "connecting for the first time";
  let latest = "";

  function payloadOf(state: MemberPayload["state"], details: Partial<MemberPayload>): string {
    const payload: MemberPayload = {
      state,
      session_id: sessionId,
      gateway_id: options.gatewayId,
      member,
      ...details,
    };
    return JSON.stringify(payload);
  }
  const offline = () => payloadOf("offline", { at: isoTime(clock.nowMs()) });
  const online = () =>
    payloadOf("online", { role: roleNow(), epoch: cluster.epoch(), at: isoTime(clock.nowMs()) });

  async function open(broker: MqttOptions, signal: AbortSignal): Promise<Connection> {
    const will = { topic, payload: payloadOf("offline", {}) };
    const client = await openClient(broker, { ...checkingParts, will }, signal);
    const loss = watchLoss(client);
    const say = (payload: string) => {
      latest = payload;
      return loss.orElse((done) => {
        client.publish(topic, payload, { qos: 1, retain: true }, (error) =>
          done(error instanceof TopicRefused ? null : error),
        );
      });
    };
    if (!(await within(clock, ANSWER_MS, say(online())))) {
      client.end(true);
      throw loss.cause() ?? new Error("the MQTT broker did not acknowledge the status of the member");
    }
    const endFollowing = cluster.onChange(() => void say(online()).catch(() => {}));
    void loss.lost.then(endFollowing);
    return {
      lost: loss.lost,
      write: () => Promise.resolve(0),
      async [Symbol.asyncDispose]() {
        endFollowing();
        if (loss.cause() !== null) return;
        if (await within(clock, GOODBYE_MS, say(offline()))) await endClient(client, clock);
        else client.end(true);
      },
    };
  }

  const left = () => ({ topic, offline: offline(), latest });
  const brokers = createBrokers(own, open, left, { builtAt, clock, log });

  /** Returns whether the next connection may be opened at once. */
  async function serve(signal: AbortSignal): Promise<boolean> {
    const connection = await brokers.connect(signal);
    problem = null;
    backoff.reset();
    const cause = await new Promise<Error | null>((resolve) => {
      const stopListening = onAbort(signal, () => resolve(null));
      void connection.lost.then(resolve).then(stopListening);
      void connection.movesOn?.then(() => resolve(null));
    });
    await connection[Symbol.asyncDispose]();
    if (cause !== null) throw cause;
    return true;
  }

  function note(error: unknown): void {
    if (problem === null) log.warn({ cause: describeError(error) }, "the status of this member is not shown");
    problem = messageOf(error);
  }

  return {
    name: "mqtt-member",
    async run(signal, ready) {
      ready();
      while (!signal.aborted) {
        const movesOn = await serve(signal).catch((error: unknown) => {
          if (!signal.aborted) note(error);
          return false;
        });
        if (!movesOn) await sleep(clock, backoff.nextMs(), signal);
      }
    },
    health: (): Health => (problem === null ? { state: "up" } : { state: "degraded", detail: problem }),
  };
}
