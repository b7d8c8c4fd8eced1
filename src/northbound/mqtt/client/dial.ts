import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { createWebSocketStream, WebSocket } from "ws";
import { bareHost } from "../../../platform/url-host.ts";
import type { ExternalBrokerOptions } from "../options.ts";

/** MQTT 3.1.1 and 5, 6: the subprotocol that a client must offer. */
const SUBPROTOCOL = "mqtt";
/** One frame may carry several packets. */
const LARGEST_FRAME = 16 * 1024 * 1024;

const PORTS: Readonly<Record<string, number>> = { "mqtt:": 1883, "mqtts:": 8883, "ws:": 80, "wss:": 443 };

/** Host without brackets, and port, of the URL of a broker. */
export function brokerAddress(url: string): { readonly host: string; readonly port: number } {
  const { protocol, hostname, port } = new URL(url);
  return {
    host: bareHost(hostname),
    port: port === "" ? (PORTS[protocol] ?? 0) : Number(port),
  };
}

/**
 * Opens the connection that carries MQTT. Nagle's algorithm would cost tens of milliseconds a message; `ws`
 * switches it off itself.
 */
export function dial(broker: ExternalBrokerOptions, handshakeMs: number): Duplex {
  const { protocol } = new URL(broker.url);
  const address = brokerAddress(broker.url);
  switch (protocol) {
    case "mqtt:":
      return connectTcp(address).setNoDelay(true);
    case "ws:":
    case "wss:":
      return dialWebSocket(broker, handshakeMs);
    default:
      return connectTls({ ...address, ...tlsOptions(broker) }).setNoDelay(true);
  }
}

function dialWebSocket(broker: ExternalBrokerOptions, handshakeMs: number): Duplex {
  const socket = new WebSocket(broker.url, [SUBPROTOCOL], {
    handshakeTimeout: handshakeMs,
    maxPayload: LARGEST_FRAME,
    perMessageDeflate: false,
    ...tlsOptions(broker),
  });
  return createWebSocketStream(socket);
}

/** RFC 6066 allows no IP address as the server's name. */
function tlsOptions({ url, tls }: ExternalBrokerOptions) {
  const { ca, clientCert } = tls.now();
  const { host } = brokerAddress(url);
  return {
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === null ? {} : { ca }),
    ...(clientCert === null ? {} : { cert: clientCert.cert, key: clientCert.key }),
  };
}
