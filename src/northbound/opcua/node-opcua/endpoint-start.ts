import { Server } from "node:net";
import type { OPCUAServer, OPCUAServerEndPoint } from "node-opcua";
import { listenError } from "../../../platform/listener.ts";

/** The socket on which an endpoint listens. */
export function listenerOf(endpoint: OPCUAServerEndPoint): Server {
  const listener: unknown = Reflect.get(endpoint, "_server");
  if (!(listener instanceof Server)) throw new Error("node-opcua keeps its listener elsewhere now");
  return listener;
}

/**
 * Starts an initialised server whose endpoints listen by `begin`, which may try several times. node-opcua
 * 2.182 shuts a server down for good when an endpoint fails.
 *
 * @param begin resolves when an attempt has succeeded, or no further one is made
 */
export async function startServer(
  server: OPCUAServer,
  begin: (listen: () => Promise<void>) => Promise<void>,
): Promise<void> {
  for (const endpoint of server.endpoints) {
    endpoint.start = (done) => void begin(() => listen(endpoint)).then(() => done(), done);
  }
  await server.start();
}

/**
 * Listens once. Rejects with PortTaken, PortRefused or the system's error. After a failed attempt node-opcua
 * leaves its handlers at the socket.
 */
function listen(endpoint: OPCUAServerEndPoint): Promise<void> {
  const listener = listenerOf(endpoint);
  const events = ["error", "listening"].map((name) => ({ name, before: listener.rawListeners(name) }));
  return new Promise((resolve, reject) => {
    endpoint.listen((error) => {
      if (!error) {
        resolve();
        return;
      }
      for (const { name, before } of events)
        for (const left of listener.rawListeners(name))
          if (!before.includes(left)) listener.off(name, left as () => void);
      reject(listenError(error, "opcua", endpoint.port));
    });
  });
}
