import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  connect,
  createServer,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from "node:net";
import { expect, it } from "vitest";
import { allowLongWays, connectFaultOf, lateError } from "../../src/platform/connect-fault.ts";

const peer = { key: "fleet.https", port: 443, caKey: null, certificateKey: null };

it.each([
  ["ENOTFOUND", "localhost", 'let /etc/hosts have the line "127.0.0.1 localhost"'],
  ["EAI_AGAIN", "localhost", 'let /etc/hosts have the line "127.0.0.1 localhost"'],
  [
    "ENOTFOUND",
    "fleet.example",
    "correct the name in fleet.https, or let this machine's name server know it",
  ],
  ["EAI_AGAIN", "fleet.example", "look at the name servers of this machine (/etc/resolv.conf)"],
])("says where a name has to be known: %s of %s", (code, host, advice) => {
  const error = Object.assign(new Error("getaddrinfo"), { code });
  expect(connectFaultOf(error, { ...peer, host }, 0)).toMatchObject({ advice });
});

function refusedAt(address: string): Error {
  return Object.assign(new Error("connect"), { code: "ECONNREFUSED", address });
}

it("says to which addresses a name led where nothing listens", () => {
  const named = { ...peer, host: "fleet.example" };
  expect(connectFaultOf(refusedAt("10.1.2.3"), named, 0).what).toBe(
    "nothing listens there (ECONNREFUSED; fleet.example leads to 10.1.2.3)",
  );
  const both = Object.assign(new AggregateError([refusedAt("::1"), refusedAt("127.0.0.1")]), {
    code: "ECONNREFUSED",
  });
  expect(connectFaultOf(both, named, 0).what).toBe(
    "nothing listens there (ECONNREFUSED; fleet.example leads to 127.0.0.1, ::1)",
  );
  const wrapped = new Error("fetch failed", { cause: refusedAt("10.1.2.3") });
  expect(connectFaultOf(wrapped, named, 0).what).toContain("leads to 10.1.2.3");
});

it("does not repeat an address that the configuration names itself", () => {
  const { what } = connectFaultOf(refusedAt("10.1.2.3"), { ...peer, host: "10.1.2.3" }, 0);
  expect(what).toBe("nothing listens there (ECONNREFUSED)");
});

it("says which addresses were tried when there is no answer in time", async () => {
  const named = { ...peer, host: "fleet.example" };
  const timedOut = ["::1", "127.0.0.1"].map((address) =>
    Object.assign(new Error("connect"), { code: "ETIMEDOUT", address }),
  );
  const both = Object.assign(new AggregateError(timedOut), { code: "ETIMEDOUT" });
  const what = "there is no answer in time (fleet.example leads to 127.0.0.1, ::1)";
  expect(connectFaultOf(both, named, 0).what).toBe(what);

  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const socket = connect({
    host: "fleet.example",
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    lookup: (_name, _options, found) =>
      found(null, [
        { address: "::1", family: 6 },
        { address: "127.0.0.1", family: 4 },
      ]),
  });
  try {
    await new Promise((resolve) => socket.once("connect", resolve));
    expect(connectFaultOf(lateError(socket), named, 0).what).toBe(what);
  } finally {
    socket.destroy();
    server.close();
  }
});

it.each([
  [5_000, 2_000],
  [1_000, 500],
])("gives each address of a name its time: of %i ms %i", (connectMs, attemptMs) => {
  const usual = getDefaultAutoSelectFamilyAttemptTimeout();
  try {
    allowLongWays(connectMs);
    expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(attemptMs);
  } finally {
    setDefaultAutoSelectFamilyAttemptTimeout(usual);
  }
});

/** A listener of a process that stands still, without room: the kernel takes a connection a second later. */
async function slowListener() {
  const program =
    'const s = require("net").createServer().listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => console.log(s.address().port))';
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const port = Number(line);
  child.kill("SIGSTOP");
  const filling = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}));
  // Those for which there was room.
  await Promise.all(filling.slice(0, 2).map((socket) => once(socket, "connect")));
  return {
    port,
    goOn: () => child.kill("SIGCONT"),
    end() {
      for (const socket of filling) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}

it("connects over a long way to a name whose IPv6 address goes nowhere, which Node.js alone does not", async () => {
  const usual = getDefaultAutoSelectFamilyAttemptTimeout();
  const dial = async () => {
    const listener = await slowListener();
    const socket = connect({
      host: "fleet.example",
      port: listener.port,
      lookup: (_name, _options, found) =>
        found(null, [
          { address: "127.0.0.1", family: 4 },
          { address: "::1", family: 6 },
        ]),
    });
    const ended = new Promise<string | undefined>((resolve) => {
      socket.once("connect", () => resolve("connected"));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    // The kernel has dropped the first packet, and sends it again after a second.
    setImmediate(listener.goOn);
    try {
      return await ended;
    } finally {
      socket.destroy();
      listener.end();
    }
  };
  try {
    expect(await dial()).toBe("ETIMEDOUT");
    allowLongWays(5_000);
    expect(await dial()).toBe("connected");
  } finally {
    setDefaultAutoSelectFamilyAttemptTimeout(usual);
  }
});
