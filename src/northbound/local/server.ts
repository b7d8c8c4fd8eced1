import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { aborted, type Component } from "../../platform/component.ts";
import { describeError } from "../../platform/log.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import { createLocalCommands, type LocalCommandParts } from "./commands.ts";
import { createLineReader } from "./line-reader.ts";
import type { LocalOptions } from "./options.ts";
import { clearSocket, listenPrivately } from "./socket-file.ts";

export type LocalServerParts = Omit<LocalCommandParts, "startByMs">;

const MOST_CLIENTS = 64;
/** The longest line that is read. */
const LINE_BYTES = 256 * 1024;
/** A client that does not read its answers is let go of at this much. */
const UNREAD_BYTES = 16_000_000;
/** How long a client has to take its last answers when the gateway stops. */
const FAREWELL_MS = 500;

/**
 * The door for programs of this machine: JSON lines over a Unix domain socket. There is
 * no login: who may open the file is the gateway's own user, or root, and either may do
 * to the gateway whatever they like. The user that a line names is for the audit log.
 */
export function createLocalServer(options: LocalOptions, parts: LocalServerParts): Component {
  const { clock, log } = parts;
  const commands = createLocalCommands({ ...parts, startByMs: options.startByMs });
  const clients = new Set<Socket>();
  let turnedAway = 0;
  let isOpen = false;

  function serve(socket: Socket): void {
    clients.add(socket);
    let hasEnded = false;
    const say = (line: string) => {
      if (!socket.writable) return;
      socket.write(`${line}\n`);
      if (socket.writableLength <= UNREAD_BYTES) return;
      log.warn(
        { unreadBytes: socket.writableLength },
        "a local client does not read its answers: it is let go of",
      );
      socket.destroy();
    };
    const endIfDone = () => {
      if (hasEnded && conversation.inFlight() === 0) socket.end();
    };
    const conversation = commands.converse(say, endIfDone);
    const reader = createLineReader(LINE_BYTES, conversation.take, () => {
      conversation.reject(`a line has at most ${LINE_BYTES} bytes`);
      hasEnded = true;
      endIfDone();
    });
    socket.on("data", reader.push);
    socket.on("end", () => {
      reader.end();
      hasEnded = true;
      endIfDone();
    });
    socket.on("error", (error) => log.debug({ err: error }, "a local client was lost"));
    socket.on("close", () => clients.delete(socket));
  }

  function welcome(socket: Socket): void {
    if (clients.size < MOST_CLIENTS) {
      serve(socket);
      return;
    }
    turnedAway += 1;
    socket.destroy();
  }

  async function close(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of clients) socket.end();
    const cancel = clock.after(FAREWELL_MS, () => {
      for (const socket of clients) socket.destroy();
    });
    await closed;
    cancel();
  }

  return {
    name: "local",
    health: () => ({
      state: isOpen ? "up" : "down",
      figures: { clients: clients.size, clientsTurnedAway: turnedAway, ...commands.figures() },
    }),
    async run(signal, ready) {
      await makeFolder(dirname(options.socketPath));
      await clearSocket(options.socketPath);
      const server = createServer({ allowHalfOpen: true }, welcome);
      await listenPrivately(server, options.socketPath);
      server.on("error", (error) => log.error({ cause: describeError(error) }, "the control socket failed"));
      isOpen = true;
      ready();
      await aborted(signal);
      isOpen = false;
      await close(server);
    },
  };
}
