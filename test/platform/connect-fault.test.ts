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
