import { connect, type Socket } from "node:net";
import { buildConnector } from "undici";
import { lateError } from "../../platform/connect-fault.ts";

/**
 * Makes connections for undici over TCP first, and over TLS then: Node.js resets only a TCP connection that
 * it was given. TLS sessions are resumed across all of them.
 *
 * @param timeoutMs for TCP, and for TLS
 */
export function createTcpFirst(tls: buildConnector.BuildOptions, timeoutMs: number) {
  const secure = buildConnector({ ...tls, timeout: timeoutMs, allowH2: false });
  return (onSocket: (socket: Socket) => void): buildConnector.connector =>
    (options, callback) => {
      const socket = connect({ host: options.hostname, port: Number(options.port || 443) });
      onSocket(socket);
      const late = setTimeout(() => socket.destroy(lateError(socket)), timeoutMs);
      const fail = (error: Error) => {
        clearTimeout(late);
        callback(error, null);
      };
      socket.once("error", fail);
      socket.once("connect", () => {
        clearTimeout(late);
        socket.removeListener("error", fail);
        secure({ ...options, httpSocket: socket }, callback);
      });
    };
}
