import type { Socket } from "node:net";

/** Connections of one kind, such as the idle ones of a listener, with a bound for all of them. */
export interface BoundedConnections {
  /**
   * Adds a connection. Beyond the bound, the oldest connection of the address with the most is closed. So an
   * address that opens connections without end costs no other address its own.
   */
  add(socket: Socket): void;
  /** The connection is no longer of this kind. */
  remove(socket: Socket): void;
  figures(): { readonly open: number; readonly closed: number };
}

/**
 * @param limit how many there may be now
 * @param onClose is called for each connection that was closed for another
 */
export function createBoundedConnections(
  limit: () => number,
  onClose: (address: string) => void,
): BoundedConnections {
  const byAddress = new Map<string, Set<Socket>>();
  const addresses = new Map<Socket, string>();
  /** Connections join and leave this kind again and again. */
  const watched = new WeakSet<Socket>();
  let closed = 0;

  function remove(socket: Socket): void {
    const address = addresses.get(socket);
    if (address === undefined) return;
    addresses.delete(socket);
    const others = byAddress.get(address);
    others?.delete(socket);
    if (others?.size === 0) byAddress.delete(address);
  }

  function closeOne(): void {
    let largest: ReadonlySet<Socket> = new Set();
    for (const sockets of byAddress.values()) if (sockets.size > largest.size) largest = sockets;
    const [oldest] = largest;
    if (oldest === undefined) return;
    const address = addresses.get(oldest) ?? "";
    remove(oldest);
    closed += 1;
    oldest.destroy();
    onClose(address);
  }

  return {
    add(socket) {
      if (socket.destroyed) return;
      // Unix sockets have no address: they count as one.
      const { remoteAddress = "" } = socket;
      remove(socket);
      addresses.set(socket, remoteAddress);
      byAddress.set(remoteAddress, (byAddress.get(remoteAddress) ?? new Set()).add(socket));
      if (!watched.has(socket)) socket.once("close", () => remove(socket));
      watched.add(socket);
      if (addresses.size > limit()) closeOne();
    },
    remove,
    figures: () => ({ open: addresses.size, closed }),
  };
}
