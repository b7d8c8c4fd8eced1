import { once } from "node:events";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import type { Part } from "../../../src/cli/online/endpoints.ts";
import { checkOnline } from "../../../src/cli/online/online-check.ts";
import type { KeyedCertificate } from "../../../src/platform/certificate-authority.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { type ConfigFolder, createConfigFolder } from "../../config/config-folder.ts";

/** A check of one configuration, in a folder of its own. */
export interface OnlineHarness extends AsyncDisposable {
  readonly folder: ConfigFolder;
  /** Every part by its name. */
  check(text: string): Promise<ReadonlyMap<string, Part>>;
}

export async function createOnlineHarness(): Promise<OnlineHarness> {
  const folder = await createConfigFolder();
  return {
    folder,
    async check(text) {
      const config = await folder.config(text);
      const { signal } = new AbortController();
      const parts = await checkOnline(config, { clock: systemClock, signal, isForUnit: false, report() {} });
      return new Map(parts.map((part) => [part.part, part]));
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A configuration of a service at these ports; `more` are further sections. */
export function configText(
  fleet: {
    readonly grpc: string;
    readonly https: string;
    readonly ca?: string;
    readonly credentials?: string;
  },
  more = "",
): string {
  return `
gateway: { id: plant1, dataDir: data }
fleet:
  grpc: { address: "${fleet.grpc}" }
  https: ${fleet.https}
  ${fleet.ca === undefined ? "" : `ca: ${fleet.ca}`}
  credentials: ${fleet.credentials ?? "api-key.json"}
  locations: [plant-1]
${more}`;
}

/** An HTTPS server with this certificate, on a free port. */
export async function startHttps({ certificate, key }: KeyedCertificate) {
  const server = createServer({ cert: certificate, key }, (_, answer) => answer.writeHead(404).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, close: () => void server.close() };
}

/** A server of another program, on a free port. */
export async function startOther() {
  const server = createTcpServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, close: () => void server.close() };
}
