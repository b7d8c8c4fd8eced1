import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createConfigFolder, minimal } from "../../config/config-folder.ts";
import { endPrograms, newFolder } from "../program.ts";
import { piped } from "../typed.ts";

afterEach(endPrograms);

const machines = "box-a=10.20.0.11,box-b=10.20.0.12,vote=10.20.0.13";
const init = (folder: string, ...more: readonly string[]) =>
  piped(folder, ["init", "--cluster", "hall-1", "--machines", machines, ...more]);

it("makes a folder for each machine, whose certificates one authority has signed for their use", async () => {
  const folder = newFolder();
  const { code, out } = init(folder);
  expect(code).toBe(0);
  expect(out).toContain("scp -r cluster/vote vote:cluster");
  const text = (name: string) => readFileSync(join(folder, "cluster", name), "utf8");
  const ca = new X509Certificate(text("ca.pem"));
  const order = [
    ["root", "root", undefined, ["1.3.6.1.5.5.7.3.2"]],
    ["box-a/hall-1", "hall-1", undefined, ["1.3.6.1.5.5.7.3.2"]],
    ["vote/etcd", "etcd", "DNS:vote, IP Address:10.20.0.13", ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]],
  ] as const;
  for (const [name, commonName, names, uses] of order) {
    const certificate = new X509Certificate(text(`${name}.pem`));
    expect(certificate.verify(ca.publicKey), name).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(text(`${name}.key`)))).toBe(true);
    expect([certificate.subject, certificate.subjectAltName, certificate.keyUsage, certificate.ca]).toEqual([
      `CN=${commonName}`,
      names,
      uses,
      false,
    ]);
    expect(statSync(join(folder, "cluster", `${name}.key`)).mode & 0o777).toBe(0o600);
  }
  await using plant = await createConfigFolder();
  await plant.write("etcd-ca.pem", text("ca.pem"));
  await plant.write("hall-1.pem", text("box-b/hall-1.pem"));
  const key = (await plant.write("hall-1.key", text("box-b/hall-1.key"))) ?? "";
  const section = text("box-b/hall-1.yaml").replace("secrets/hall-1.key", key);
  expect((await plant.config(`${minimal}opcua: {}\n${section}`)).cluster).toMatchObject({
    member: "box-b",
    members: [{ opcuaUri: "urn:box-a:fleetgate:hall-1" }, { opcuaUri: "urn:box-b:fleetgate:hall-1" }],
    etcd: { endpoints: ["box-a:2379", "box-b:2379", "vote:2379"] },
  });
});

it("keeps what is there, and makes what is missing", () => {
  const folder = newFolder();
  init(folder);
  const path = (name: string) => join(folder, "cluster", name);
  const before = readFileSync(path("box-a/etcd.pem"), "utf8");
  const ca = new X509Certificate(readFileSync(path("ca.pem"), "utf8"));
  for (const name of ["box-b/etcd.pem", "box-b/etcd.key"]) rmSync(path(name));
  const again = init(folder);
  expect(again.code).toBe(0);
  expect(again.out.match(/^Written: .*$/gm)?.map((line) => line.replace(/.*cluster\//, ""))).toEqual([
    "box-b/etcd.key",
    "box-b/etcd.pem",
  ]);
  expect(readFileSync(path("box-a/etcd.pem"), "utf8")).toBe(before);
  expect(new X509Certificate(readFileSync(path("box-b/etcd.pem"), "utf8")).verify(ca.publicKey)).toBe(true);

  rmSync(path("vote/etcd.key"));
  expect(init(folder)).toMatchObject({ code: 64, err: expect.stringContaining("etcd.pem is there alone") });
  rmSync(path("vote/etcd.pem"));
  writeFileSync(path("vote/default"), "ETCD_NAME=other\n");
  expect(init(folder)).toMatchObject({ code: 64, err: expect.stringContaining("is of other machines") });
});

it("makes the files of a second cluster, which share nothing with the first but the CA", () => {
  const folder = newFolder();
  init(folder);
  expect(init(folder, "--cluster", "hall-2").code).toBe(0);
  const [first = new Set(), second = new Set()] = ["hall-1", "hall-2"].map((cluster) => {
    const text = readFileSync(join(folder, "cluster/box-a", `${cluster}.yaml`), "utf8");
    return new Set(text.match(/urn:[^"]+|(?<=ca: |certificate: |key: ).+/g));
  });
  expect(first.size).toBe(5);
  expect([...first].filter((value) => second.has(value))).toEqual(["etcd-ca.pem"]);
});

it.each([
  ["a=10.0.0.1,b=10.0.0.2", "--machines needs three"],
  ["a=10.0.0.1,b=10.0.0.2,c=10.0.0.2", "has a name or an address twice"],
  ["a=10.0.0.1,b=box,c=10.0.0.3", '"box" is no address of b: write b=10.0.0.1'],
  ["a/x=10.0.0.1,b=10.0.0.2,c=10.0.0.3", '"a/x" is no name of a machine'],
])("refuses %s", (list, message) => {
  expect(init(newFolder(), "--machines", list)).toMatchObject({
    code: 64,
    err: expect.stringContaining(message),
  });
});

it("refuses a name that no key of etcd can have, and machines without a cluster", () => {
  expect(piped(newFolder(), ["init", "--cluster", "a/b", "--machines", machines])).toMatchObject({
    code: 64,
    err: expect.stringContaining('"a/b" is no name of a cluster'),
  });
  expect(piped(newFolder(), ["init", "--machines", machines])).toMatchObject({
    code: 64,
    err: expect.stringContaining("--machines and --out need --cluster"),
  });
});
