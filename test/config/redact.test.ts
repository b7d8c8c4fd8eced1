import { expect, it } from "vitest";
import { redact, secretsOf } from "../../src/config/running-config.ts";

it("hides every secret at any depth and shows the rest", () => {
  const config = {
    gateway: { id: "plant1" },
    fleet: {
      credentials: { apiKey: "SECRET", scope: "acme", secret: "SECRET" },
      tls: {
        ca: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        client: { certificate: "-----BEGIN CERTIFICATE-----\nMIIB", key: "SECRET" },
      },
      proxyUrl: "http://gw:SECRET@proxy:3128/",
      families: new Map([["cart-1", "cart"]]),
    },
    mqtt: { broker: { kind: "external", password: "SECRET", users: [{ name: "a", password: "SECRET" }] } },
    opcua: { users: [{ name: "line1", secret: { kind: "plain", text: "SECRET" } }] },
  };
  const shown = JSON.stringify(redact(config));
  expect(shown).not.toContain("SECRET");
  expect(shown).not.toContain("MIIB");
  expect(redact(config)).toMatchObject({
    gateway: { id: "plant1" },
    fleet: {
      credentials: { scope: "acme" },
      families: { "cart-1": "cart" },
      proxyUrl: "http://(hidden)@proxy:3128/",
    },
    mqtt: { broker: { kind: "external", users: [{ name: "a" }] } },
  });
});

it("leaves what is not there as it is, so that one sees that a secret is missing", () => {
  expect(redact({ password: null, other: undefined })).toEqual({ password: null, other: undefined });
});

it("finds the secrets themselves, however deep", () => {
  const config = {
    fleet: { credentials: { apiKey: "one" }, grpc: { address: "a:1" } },
    opcua: { users: new Map([["me", { password: { kind: "scrypt", salt: "two" } }]]), key: null },
    certificates: [{ key: "web.certificate", path: "web.pem" }],
  };
  expect(secretsOf(config)).toEqual(["one", "two"]);
});
