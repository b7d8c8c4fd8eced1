import { mkdtemp, rename, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { KeyedCertificate } from "../../src/platform/certificate-authority.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import { createTlsFiles } from "../../src/platform/tls-files.ts";
import { serverCertificate } from "../support/server-certificate.ts";

let folder: string;
let said: string[];
const log: Log = {
  ...silentLog,
  info: (_, message) => void said.push(message),
  warn: (_, message) => void said.push(message),
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-tls-files-"));
  said = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const make = (name: string) => serverCertificate([name], Date.now());

async function open(ca: KeyedCertificate, own: KeyedCertificate, builtAt: Date | null = null) {
  const paths = { ca: join(folder, "ca.pem"), cert: join(folder, "own.pem"), key: join(folder, "own.key") };
  const write = async (path: string, text: string) => {
    // As tools for certificates do it: the file is there whole, or not at all.
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  await write(paths.ca, ca.certificate);
  await write(paths.cert, own.certificate);
  await write(paths.key, own.key);
  const texts = { ca: ca.certificate, clientCert: { cert: own.certificate, key: own.key } };
  const files = createTlsFiles(paths, texts, { builtAt, clock: systemClock, log });
  await files.look();
  return { paths, write, files };
}

it("uses new files when they have stayed so for one look, and says so once", async () => {
  const [ca, own, newCa, newOwn] = await Promise.all(["ca", "own", "ca2", "own2"].map(make));
  if (!ca || !own || !newCa || !newOwn) throw new Error("no certificates");
  const { paths, write, files } = await open(ca, own);
  await files.look();
  expect(files.current().ca).toBe(ca.certificate);

  await write(paths.ca, newCa.certificate);
  await write(paths.cert, newOwn.certificate);
  await files.look();
  // The key is still the old one: half of a change.
  expect(files.problem()).toBeNull();
  await write(paths.key, newOwn.key);
  await files.look();
  await files.look();
  const clientCert = { cert: newOwn.certificate, key: newOwn.key };
  expect(files.current()).toEqual({ ca: newCa.certificate, clientCert });
  await files.look();
  expect(said).toEqual(["the certificate files have changed: the next connection uses them"]);
});

const wrongFiles: ReadonlyArray<
  readonly [string, which: "ca" | "cert" | "key", bad: () => Promise<string>, problem: RegExp]
> = [
  ["no certificate", "cert", () => Promise.resolve("nonsense"), /own\.pem holds no certificate/],
  [
    "another's key",
    "key",
    () => make("other").then(({ key }) => key),
    /own\.key is not the key of .*own\.pem/,
  ],
  [
    "a certificate that has expired",
    "cert",
    () => serverCertificate(["own"], Date.UTC(2001, 0, 1)).then(({ certificate }) => certificate),
    /own\.pem has expired on/,
  ],
  ["no authority", "ca", () => Promise.resolve(""), /ca\.pem holds no certificate/],
];

it.each(wrongFiles)(
  "keeps what it has while a file holds %s, and is well again",
  async (_, which, bad, problem) => {
    const [ca, own] = await Promise.all(["ca", "own"].map(make));
    if (!ca || !own) throw new Error("no certificates");
    const { paths, write, files } = await open(ca, own);
    const good = { ca: ca.certificate, cert: own.certificate, key: own.key };
    await write(paths[which], await bad());
    await files.look();
    await files.look();
    await files.look();
    expect(files.current()).toEqual({ ca: good.ca, clientCert: { cert: good.cert, key: good.key } });
    expect(files.problem()).toMatch(problem);
    expect(said).toHaveLength(1);
    await write(paths[which], good[which]);
    await files.look();
    await files.look();
    expect(files.problem()).toBeNull();
  },
);

it("says that a file is away, and keeps what it has", async () => {
  const [ca, own] = await Promise.all(["ca", "own"].map(make));
  if (!ca || !own) throw new Error("no certificates");
  const { paths, files } = await open(ca, own);
  await unlink(paths.ca);
  await files.look();
  await files.look();
  expect(files.problem()).toMatch(/ca\.pem/);
  expect(files.current().ca).toBe(ca.certificate);
});

it("uses a certificate of any time while the clock is before the build", async () => {
  const [ca, own] = await Promise.all(["ca", "own"].map(make));
  const old = await serverCertificate(["old"], Date.UTC(2001, 0, 1));
  if (!ca || !own) throw new Error("no certificates");
  const { paths, write, files } = await open(ca, own, new Date(Date.now() + 2 * 86_400_000));
  await write(paths.cert, old.certificate);
  await write(paths.key, old.key);
  for (let look = 0; look < 2; look += 1) await files.look();
  expect(files.problem()).toBeNull();
  expect(files.current().clientCert?.cert).toBe(old.certificate);
});
