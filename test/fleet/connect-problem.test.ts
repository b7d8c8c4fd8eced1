import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createConnect, createOpenSockets } from "../../src/fleet/channels/connection.ts";
import { createPreflight } from "../../src/fleet/channels/preflight.ts";
import { createHttp } from "../../src/fleet/http.ts";
import { defaultFleetTimes } from "../../src/fleet/options.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { startHttps } from "../cli/online/online-harness.ts";

const DAY_MS = 86_400_000;
/** Nobody serves the discard protocol. */
const noProxy = "http://user:s3cr3t@127.0.0.1:9";
const authority = await createCa(Date.now() - 1_000 * DAY_MS);
const ca = authority.certificate;
const closers: Array<() => void> = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function start(names: readonly string[], nowMs = Date.now()): Promise<string> {
  const server = await startHttps(await createServerCertificate(authority, names, nowMs));
  closers.push(server.close);
  return server.address;
}

/** HTTP/2, as gRPC has it. */
async function startGrpc(nowMs: number): Promise<string> {
  const { certificate, key } = await createServerCertificate(authority, ["127.0.0.1"], nowMs);
  const server = createSecureServer({ cert: certificate, key }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What a gRPC connection fails with. */
async function grpcProblem(grpcAddress: string, proxyUrl: string | null = null): Promise<string> {
  const options = { grpcAddress, proxyUrl, tls: { ca, client: null }, times: defaultFleetTimes };
  const connect = createConnect(
    options,
    systemClock,
    createPreflight(options, systemClock),
    createOpenSockets(),
  );
  return await connect(AbortSignal.timeout(5_000)).then(
    () => "",
    (error: Error) => error.message,
  );
}

/** What a request over HTTPS fails with. */
async function httpsProblem(address: string, proxyUrl: string | null = null): Promise<string> {
  const url = `https://${address}`;
  const servers = { httpsUrl: "https://fleet.example.com", authUrl: url };
  const options = { ...servers, proxyUrl, tls: { ca, client: null }, times: defaultFleetTimes };
  await using http = createHttp(options, systemClock);
  const { signal } = new AbortController();
  const request = { verb: "GET", url, headers: {}, body: null, deadlineMs: 5_000, signal, reads: true };
  return await http.send(request).then(
    () => "",
    (error: Error) => error.message,
  );
}

it("an expired certificate is named with host, key and clock, in the same words all day", async () => {
  const address = await start(["127.0.0.1"], Date.now() - 500 * DAY_MS);
  const today = new Date().toISOString().slice(0, 10);
  const end = `(${address}): the server's certificate has expired; this machine's clock says ${today};`;
  expect(await httpsProblem(address)).toContain(`fleet.authUrl ${end}`);
  const grpc = await startGrpc(Date.now() - 500 * DAY_MS);
  expect(await grpcProblem(grpc)).toContain(`fleet.grpc.address ${end.replace(address, grpc)}`);
});

it("a port of HTTPS where gRPC is wanted is said to be swapped", async () => {
  expect(await grpcProblem(await start(["127.0.0.1"]))).toMatch(/^fleet\.grpc\.address .*may be swapped/);
});

it("a proxy that is down is blamed, not the service behind it", async () => {
  for (const problem of [
    await grpcProblem("fleet.example.com:443", noProxy),
    await httpsProblem("fleet.example.com:443", noProxy),
  ]) {
    expect(problem).toMatch(/^the proxy, fleet\.proxy\.url \(127\.0\.0\.1:9\): nothing listens there/);
    expect(problem).not.toContain("s3cr3t");
  }
});

it("a name that leads to an address where nothing listens is named with it", async () => {
  const says = /\(localhost:9\): nothing listens there \(ECONNREFUSED; localhost leads to .*127\.0\.0\.1/;
  expect(await grpcProblem("localhost:9")).toMatch(says);
  expect(await httpsProblem("localhost:9")).toMatch(says);
});
