import type { Socket } from "node:net";

/** TCP connections to the service that are open. */
export interface OpenSockets {
  add(socket: Socket): void;
  /**
   * Cuts them with a reset. An orderly close would leave it to the kernel to deliver for minutes what it has
   * taken, and a command that arrives late moves a robot that others have stopped meanwhile.
   */
  cut(): void;
}

export function createOpenSockets(): OpenSockets {
  const sockets = new Set<Socket>();
  return {
    add(socket) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    },
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
  };
}
