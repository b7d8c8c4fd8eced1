import { expect, it } from "vitest";
import { type PagePlace, pageUrl } from "../../../src/northbound/web/host-check.ts";
import { serverCertificate } from "../../support/server-certificate.ts";

const certificate = (await serverCertificate(["gateway.plant", "10.1.2.3"], Date.now())).certificate;
const place: PagePlace = { host: "0.0.0.0", port: 8443, hostnames: [], addresses: [], certificate: null };

it.each<[string, Partial<PagePlace>, string]>([
  [
    "a name that the certificate has",
    { certificate, hostnames: ["old.plant", "gateway.plant"] },
    "https://gateway.plant:8443",
  ],
  ["an address that it has", { certificate, addresses: ["192.0.2.1", "10.1.2.3"] }, "https://10.1.2.3:8443"],
  ["the first name, if it has none", { certificate, hostnames: ["old.plant"] }, "https://old.plant:8443"],
  ["the first address without TLS", { addresses: ["192.0.2.1", "10.1.2.3"] }, "http://192.0.2.1:8443"],
  ["the address of its network", { host: "192.0.2.7", addresses: ["10.1.2.3"] }, "http://192.0.2.7:8443"],
  ["an IPv6 address in brackets", { host: "::", addresses: ["2001:db8::1"] }, "http://[2001:db8::1]:8443"],
  [
    "loopback, which no name reaches",
    { host: "127.0.0.1", hostnames: ["gateway.plant"] },
    "http://127.0.0.1:8443",
  ],
  ["no usual port", { host: "192.0.2.7", port: 80 }, "http://192.0.2.7"],
  ["this machine, without a network", {}, "http://localhost:8443"],
])("a browser is led to %s", (_what, changed, url) => {
  expect(pageUrl({ ...place, ...changed })).toBe(url);
});
