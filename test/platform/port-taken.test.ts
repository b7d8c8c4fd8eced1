import { once } from "node:events";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { listenError, PortRefused, PortTaken, refusalAdvice } from "../../src/platform/listener.ts";

async function listenFault(host: string, port: number): Promise<unknown> {
  const server = createServer().listen(port, host);
  return once(server, "error").then(([error]) => error);
}

it("tells a port that is taken from an address that is none of this machine", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const taken = listenError(await listenFault("127.0.0.1", port), "web", port);
  other.close();
  expect(taken).toBeInstanceOf(PortTaken);
  const refused = listenError(await listenFault("192.0.2.1", 8080), "web", 8080);
  expect(refused).toBeInstanceOf(PortRefused);
  expect(refused).toMatchObject({ code: "EADDRNOTAVAIL", listener: "web", port: 8080 });
});

it("says how to allow a low port", () => {
  const error = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
  expect(listenError(error, "opcua", 443)).toMatchObject({ code: "EACCES", port: 443 });
  const advice = refusalAdvice("EACCES", 443, "opcua.listen.port");
  expect(advice).toContain("from 1024 on with opcua.listen.port");
  expect(advice).toContain("sysctl net.ipv4.ip_unprivileged_port_start=443");
});
