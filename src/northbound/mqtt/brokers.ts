import type { Connection } from "../../contracts/link.ts";
import type { Peer } from "../../contracts/peers.ts";
import { every } from "../../platform/clock.ts";
import type { Health } from "../../platform/component.ts";
import { createLive, type Live } from "../../platform/live.ts";
import {
  createTlsFiles,
  TLS_FILES_LOOK_MS,
  type TlsFilesParts,
  type TlsTexts,
} from "../../platform/tls-files.ts";
import { createBrokerOrder } from "./broker-order.ts";
import { correctStatus, type LeftStatus, reachable } from "./client/checking.ts";
import { brokerName, brokersOf, type ExternalBrokerOptions, type MqttOptions } from "./options.ts";

/** The brokers of the configuration, and the certificates for them. */
export interface Brokers {
  /** Connects to the first that takes the gateway. */
  connect(signal: AbortSignal): Promise<Connection>;
  /** The index is that of the broker in use, or last used, in the order of preference. */
  figures(isConnected: boolean): { readonly connected: number; readonly brokerIndex: number };
  /** All of them, in the order of preference. */
  peers(isConnected: boolean): readonly Peer[];
  /** What is wrong although there is a connection. */
  problems(): readonly (string | null)[];
}

/**
 * @param openAt opens the gateway's connection to a broker
 * @param left what the status topic should say at a broker that the gateway has left; null: it has none there
 * @param returns whether it goes back to an earlier broker that is reachable again
 */
export function createBrokers(
  options: MqttOptions,
  openAt: (options: MqttOptions, signal: AbortSignal) => Promise<Connection>,
  left: (() => LeftStatus) | null,
  parts: TlsFilesParts,
  returns = true,
): Brokers {
  const { clock, log } = parts;
  const tls = options.broker.kind === "embedded" ? null : createBrokerTls(options.broker, parts);
  const brokers = brokersOf(options, tls?.texts);
  let openedAtMs: number | null = null;
  const order = createBrokerOrder({
    brokers,
    clock,
    log,
    async open(broker, signal) {
      const connection = await openAt(broker, signal);
      openedAtMs = clock.nowMs();
      return connection;
    },
    reachable: (broker, ...rest) =>
      returns
        ? reachable(broker, clock, ...rest)
        : Promise.reject(new Error("the gateway stays where it is")),
    correctStatus: (broker, signal) =>
      left === null ? Promise.resolve() : correctStatus(broker, clock, left(), signal),
  });
  return {
    connect(signal) {
      tls?.watch(signal);
      return order.connect(signal);
    },
    figures: (isConnected) => ({ connected: Number(isConnected), brokerIndex: order.place() }),
    peers: (isConnected) =>
      brokers.map((broker, index) => {
        const isUsed = isConnected && index === order.place();
        return {
          kind: "broker",
          name: brokerName(broker),
          client: "",
          address: addressOf(broker),
          state: isUsed ? "connected" : isConnected ? "unused" : "lost",
          sinceMs: isUsed ? openedAtMs : null,
          detail: isUsed ? "" : order.reason(index),
        };
      }),
    problems: () => [order.problem(), tls?.problem() ?? null],
  };
}

/**
 * The health of a link. Without a connection only the missing connection is reported.
 *
 * @param whyNot why the gateway is not at the broker; null: nothing keeps it away
 */
export function healthOf(
  isConnected: boolean,
  whyNot: string | null,
  duplicate: string | null,
  ofConnection: readonly (string | null)[],
  figures: Readonly<Record<string, number>>,
): Health {
  if (whyNot !== null && !isConnected) return { state: "up", detail: whyNot, figures };
  const problems = [duplicate, ...(isConnected ? ofConnection : [])];
  const detail = problems.filter((one) => one !== null).join("; ");
  if (detail === "") return { state: isConnected ? "up" : "down", figures };
  return { state: isConnected ? "degraded" : "down", detail, figures };
}

/** A URL may have a token as its query. */
function addressOf({ broker }: MqttOptions): string {
  return broker.kind === "external" ? new URL(broker.url).host : "";
}

/** The certificates for the brokers of the plant, as their files have them now. */
export interface BrokerTls {
  /** For the next connection. One that is open goes on as it is. */
  readonly texts: Live<TlsTexts>;
  /** Reads the files again when they change, until the signal is aborted. Once is enough. */
  watch(signal: AbortSignal): void;
  /** Why the files as they are now are not used; null when they are. */
  problem(): string | null;
}

function createBrokerTls({ tls, tlsPaths }: ExternalBrokerOptions, parts: TlsFilesParts): BrokerTls {
  const open = () => createTlsFiles(tlsPaths.now(), tls.now(), parts);
  const texts = createLive(tls.now());
  let files = open();
  let isWatching = false;
  async function look(): Promise<void> {
    await files.look();
    texts.replace(files.current());
  }
  tlsPaths.onChange(() => {
    files = open();
    texts.replace(files.current());
    void look();
  });
  return {
    texts,
    watch(signal) {
      if (isWatching) return;
      isWatching = true;
      void look();
      every(parts.clock, TLS_FILES_LOOK_MS, signal, () => void look());
    },
    problem: () => files.problem(),
  };
}
