import { expect, it } from "vitest";
import { connectFaultOf } from "../../src/platform/connect-fault.ts";

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
