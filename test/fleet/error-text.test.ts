import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { expect, test } from "vitest";
import { errorText } from "../../src/fleet/error-text.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";

test("what OpenSSL says of a refused handshake is one line, the same each time", async () => {
  const authority = await createCa(Date.now());
  const { certificate, key } = await createServerCertificate(authority, ["localhost"], Date.now());
  const server = createServer({ cert: certificate, key, minVersion: "TLSv1.3" });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: "127.0.0.1", maxVersion: "TLSv1.2", rejectUnauthorized: false });
  const [error] = (await once(socket, "error").catch((failure: unknown) => [failure])) as [Error];
  server.close();
  // The raw text is what is to be mended: should it ever be clean by itself, this test says so.
  expect(error.message).toMatch(/:error:.*\n$/);
  expect(errorText(error)).toMatch(/^TLS: .*alert protocol version$/);
});

test("any other text is itself, on one line", () => {
  expect(errorText(new Error(" connect ECONNREFUSED\n127.0.0.1:1 \n"))).toBe(
    "connect ECONNREFUSED 127.0.0.1:1",
  );
  expect(errorText(new AggregateError([new Error("first"), new Error("second")]))).toBe("first");
  expect(errorText("write EPROTO 00AB:error:0A000412:SSL routines::bad certificate:../ssl/s3.c:916:\n")).toBe(
    "write EPROTO TLS: bad certificate",
  );
  expect(errorText("a text")).toBe("a text");
});
