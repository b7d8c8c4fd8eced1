import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between clients and a server, and keeps the bytes of both. */
export interface Relay {
  /** Where clients reach it. */
  readonly url: string;
  /** What clients have sent. */
  asked(): Buffer;
  /** What the server has sent. */
  answered(): Buffer;
  close(): void;
}

/** @param url of the server */
export async function openRelay(url: string): Promise<Relay> {
  const target = Number(new URL(url.replace("opc.tcp", "tcp")).port);
  const asked: Buffer[] = [];
  const answered: Buffer[] = [];
  const relay = createServer((client: Socket) => {
    const upstream = connect({ host: "127.0.0.1", port: target });
    client.on("data", (bytes) => asked.push(bytes));
    upstream.on("data", (bytes) => answered.push(bytes));
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const { port } = relay.address() as AddressInfo;
  return {
    url: `opc.tcp://localhost:${port}`,
    asked: () => Buffer.concat(asked),
    answered: () => Buffer.concat(answered),
    close: () => void relay.close(),
  };
}
