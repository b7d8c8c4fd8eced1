import { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";

/** Bytes that arrive for longer than this are not read any more. */
const READ_ON_MS = 1_000;

/**
 * Answers bytes that are no HTTP request, and closes the connection. It reads and ignores what the client
 * still sends: a connection that is closed with unread bytes is reset, and the client loses the answer. A
 * connection in its TLS handshake is closed without an answer (docs/internals/decisions.md, Each protocol of
 * the web listener has a server).
 *
 * @param text the whole HTTP answer
 */
export function answerLast(connection: Duplex, text: string): void {
  // Each further piece is reported as an error too.
  if (!connection.writable) return;
  // Inside of the answer to an earlier request, the client would read it as a part of that answer.
  if (isAnswering(connection)) return void connection.destroy();
  // Null until the handshake is finished.
  if (connection instanceof TLSSocket && connection.alpnProtocol === null) return void connection.destroy();
  connection.end(text);
  const timer = setTimeout(() => connection.destroy(), READ_ON_MS);
  timer.unref();
  connection.once("close", () => clearTimeout(timer));
}

/** Whether an answer has begun. Node keeps it with the connection, and looks there for the same purpose. */
function isAnswering(connection: Duplex): boolean {
  const message: unknown = Reflect.get(connection, "_httpMessage");
  return message instanceof ServerResponse && message.headersSent;
}
