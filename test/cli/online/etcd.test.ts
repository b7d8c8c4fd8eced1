import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Part } from "../../../src/cli/online/endpoints.ts";
import { alarmsPart, clusterPart, memberPart } from "../../../src/cli/online/etcd.ts";
import type { MemberStatus } from "../../../src/cluster/etcd/client.ts";
import type { KeyedCertificate } from "../../../src/platform/certificate-authority.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { bytes, done, hasEtcd, hasEtcdctl, startEtcd, type TestEtcd } from "../../cluster/etcd-harness.ts";
import { createClientCertificate } from "../../support/client-certificate.ts";
import { configText, createOnlineHarness, type OnlineHarness, startOther } from "./online-harness.ts";

let harness: OnlineHarness;
beforeEach(async () => {
  harness = await createOnlineHarness();
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
});

/** What the check says of etcd. The fleet service is not there. */
async function check(endpoints: readonly string[], tls = ""): Promise<readonly Part[]> {
  const parts = await harness.check(
    configText(
      { grpc: "127.0.0.1:1", https: "https://127.0.0.1:1" },
      `cluster:
  name: hall-1
  member: a
  members: { a: {}, b: {} }
  etcd: { endpoints: ${JSON.stringify(endpoints)}${tls} }
`,
    ),
  );
  return [...parts.values()].filter(({ part }) => part.includes("etcd"));
}

function partOf(parts: readonly Part[], name: string): Part {
  const found = parts.find(({ part }) => part === name);
  if (found === undefined) throw new Error(`no ${name} in ${parts.map(({ part }) => part).join()}`);
  return found;
}

const one = "etcd cluster.etcd.endpoints[0]";
const wrongOnes = (parts: readonly Part[]) =>
  parts.flatMap(({ part, state }) => (state === "wrong" ? [part] : []));

describe.skipIf(!hasEtcd)("three members", () => {
  let etcd: TestEtcd;
  beforeEach(async () => {
    etcd = await startEtcd({ members: 3 });
  });
  afterEach(async () => {
    await etcd?.close();
  });

  it("are each asked, and as one, and nothing is written", async () => {
    const client = etcd.client();
    const before = done(await client.range({ keys: { prefix: "" } })).header.revision;
    const parts = await check(etcd.endpoints);
    expect(wrongOnes(parts)).toEqual([]);
    expect(parts.filter(({ detail }) => / version 3\.\d+\.\d+, leads, and keeps /.test(detail))).toHaveLength(
      1,
    );
    expect(parts.filter(({ detail }) => /, follows, and keeps 0(\.\d)? MB/.test(detail))).toHaveLength(2);
    expect(partOf(parts, "etcd cluster").detail).toMatch(/^3 members of one cluster, version 3\.\d+\.\d+$/);
    expect(partOf(parts, "etcd alarms").detail).toBe("none");
    expect(partOf(parts, "etcd keys").detail).toBe(
      "a majority answers, and /fleetgate/hall-1/ may be read and written",
    );
    expect(partOf(parts, "connection cluster.etcd.endpoints[2]").detail).toMatch(
      /takes connections, without TLS/,
    );
    expect(done(await client.range({ keys: { prefix: "" } })).header.revision).toBe(before);
  });

  it("are two once one is down: what is wrong is that one", async () => {
    await etcd.members[0]?.kill();
    const parts = await check(etcd.endpoints);
    expect(wrongOnes(parts)).toEqual(["connection cluster.etcd.endpoints[0]"]);
    expect(partOf(parts, one)).toMatchObject({ state: "skipped", detail: "there is no connection to it" });
    expect(partOf(parts, "etcd keys").state).toBe("ok");
  });

  it("have no leader once two are down", async () => {
    await etcd.members[0]?.kill();
    await etcd.members[1]?.kill();
    const alone = etcd.client();
    await expect
      .poll(async () => done(await alone.status(etcd.endpoints[2] ?? "")).value.leaderId, { timeout: 10_000 })
      .toBeNull();
    const parts = await check(etcd.endpoints);
    expect(partOf(parts, "etcd cluster.etcd.endpoints[2]")).toMatchObject({
      state: "wrong",
      detail: expect.stringMatching(/and knows no leader$/),
      advice: expect.stringMatching(/whether a majority of the members runs/),
    });
    expect(partOf(parts, "etcd keys")).toMatchObject({
      state: "wrong",
      advice: expect.stringMatching(/majority of the members runs|etcd runs there/),
    });
  });

  it("are not all in the configuration, or one is twice", async () => {
    expect(partOf(await check(etcd.endpoints.slice(0, 2)), "etcd cluster")).toMatchObject({
      state: "wrong",
      detail: expect.stringMatching(
        /^etcd has 3 members \(m\d+, m\d+, m\d+\), and cluster\.etcd\.endpoints has 2$/,
      ),
    });
    const [first = "", second = ""] = etcd.endpoints;
    const parts = await check([first, second, first.replace("127.0.0.1", "localhost")]);
    expect(partOf(parts, "etcd cluster")).toMatchObject({
      state: "wrong",
      detail: expect.stringMatching(/ and localhost:\d+ lead to the same member$/),
    });
  });

  it("are of another cluster", async () => {
    const other = await startEtcd();
    const [first = "", second = ""] = etcd.endpoints;
    const parts = await check([first, second, ...other.endpoints]);
    await other.close();
    expect(partOf(parts, "etcd cluster")).toMatchObject({
      state: "wrong",
      detail: `the endpoints lead to 2 clusters of etcd: ${first} and ${second}; ${other.endpoints[0]}`,
      advice: expect.stringMatching(/an etcd that was started alone is a cluster of its own/),
    });
  });
});

describe.skipIf(!hasEtcd)("one member", () => {
  it("is no safe failover", async () => {
    const etcd = await startEtcd();
    const parts = await check(etcd.endpoints);
    await etcd.close();
    expect(partOf(parts, "etcd cluster")).toMatchObject({
      state: "ok",
      advice: expect.stringMatching(/no safe failover is possible with fewer than three/),
    });
  });

  it("has an alarm when it is full", async () => {
    const etcd = await startEtcd({ options: ["--quota-backend-bytes", "200000"] });
    const client = etcd.client();
    for (let n = 0; n < 100; n += 1) await client.put(`fill/${n}`, new Uint8Array(50_000));
    const parts = await check(etcd.endpoints);
    await etcd.close();
    expect(partOf(parts, "etcd alarms")).toMatchObject({
      state: "wrong",
      detail: expect.stringMatching(/^NOSPACE of m\d+$/),
      advice: expect.stringMatching(/compact, defrag, alarm disarm/),
    });
  });

  it("is another program", async () => {
    const other = await startOther();
    const parts = await check([`127.0.0.1:${other.port}`]);
    other.close();
    expect(partOf(parts, one)).toMatchObject({
      state: "wrong",
      advice: expect.stringMatching(/etcd runs there/),
    });
    expect(partOf(parts, "etcd cluster").state).toBe("skipped");
  });
});

describe.skipIf(!hasEtcd)("over TLS", () => {
  let etcd: TestEtcd;
  let ca: KeyedCertificate;
  let client: KeyedCertificate;
  let harnessOfAll: OnlineHarness;
  beforeAll(async () => {
    harnessOfAll = await createOnlineHarness();
    [ca, client] = await Promise.all([createCa(Date.now()), createClientCertificate()]);
    const server = await createServerCertificate(ca, ["127.0.0.1"], Date.now());
    const { folder } = harnessOfAll;
    etcd = await startEtcd({
      scheme: "https",
      options: [
        ...["--cert-file", await folder.write("server.crt", server.certificate)],
        ...["--key-file", await folder.write("server.key", server.key)],
        ...["--client-cert-auth", "--trusted-ca-file", await folder.write("clients.crt", client.certificate)],
      ],
    });
  });
  afterAll(async () => {
    await etcd?.close();
    await harnessOfAll?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await harness.folder.write("ca.pem", ca.certificate);
    await harness.folder.write("client.pem", client.certificate);
    await harness.folder.write("client.key", client.key);
  });
  const files = ", ca: ca.pem, certificate: client.pem, key: client.key";

  it("is well with the certificates of both sides", async () => {
    const parts = await check(etcd.endpoints, files);
    expect(wrongOnes(parts)).toEqual([]);
    expect(partOf(parts, "connection cluster.etcd.endpoints[0]").detail).toMatch(/speaks TLS/);
    expect(partOf(parts, "etcd keys").state).toBe("ok");
  });

  it("names the key of our certificate where etcd does not trust it", async () => {
    const other = await createClientCertificate();
    await harness.folder.write("client.pem", other.certificate);
    await harness.folder.write("client.key", other.key);
    expect(partOf(await check(etcd.endpoints, files), one)).toMatchObject({
      state: "wrong",
      advice: expect.stringMatching(/^let cluster\.etcd\.certificate name a certificate that etcd trusts/),
    });
  });

  it("names the key of the authority where it did not sign etcd's certificate", async () => {
    await harness.folder.write("ca.pem", (await createCa(Date.now())).certificate);
    const parts = await check(etcd.endpoints, files);
    expect(partOf(parts, "connection cluster.etcd.endpoints[0]")).toMatchObject({
      state: "wrong",
      advice: expect.stringMatching(/^let cluster\.etcd\.ca name the certificate of the CA/),
    });
    expect(partOf(parts, one).state).toBe("skipped");
  });

  it("says that the other side speaks TLS where the configuration has none", async () => {
    expect(partOf(await check(etcd.endpoints), one).state).toBe("wrong");
  });

  it.skipIf(!hasEtcdctl)("says which right the user of the certificate lacks", async () => {
    const { path } = harness.folder;
    const etcdctl = (...args: readonly string[]) => {
      const own = ["--cacert", "ca.pem", "--cert", "client.pem", "--key", "client.key"];
      const ran = spawnSync("etcdctl", [...own, "--endpoints", `https://${etcd.endpoints[0]}`, ...args], {
        cwd: path,
        encoding: "utf8",
      });
      expect(ran.status, ran.stderr).toBe(0);
    };
    etcdctl("user", "add", "root", "--no-password");
    etcdctl("user", "grant-role", "root", "root");
    etcdctl("user", "add", "gateway", "--no-password");
    etcdctl("role", "add", "hall-1");
    etcdctl("role", "grant-permission", "hall-1", "--prefix=true", "read", "/fleetgate/hall-1/");
    etcdctl("user", "grant-role", "gateway", "hall-1");
    etcdctl("auth", "enable");
    const parts = await check(etcd.endpoints, files);
    expect(partOf(parts, "etcd keys")).toMatchObject({
      state: "wrong",
      detail: "the user of cluster.etcd.certificate may not read and write /fleetgate/hall-1/",
      advice: expect.stringContaining("--prefix=true readwrite /fleetgate/hall-1/"),
    });
    expect(wrongOnes(parts)).toEqual(["etcd keys"]);
    expect((await etcd.client({ tls: { ca: ca.certificate, client } }).put("x", bytes("y"))).kind).toBe(
      "failed",
    );
  });
});

describe("a member of etcd 3.6, which tells its quota", () => {
  const status: MemberStatus = {
    memberId: 1n,
    leaderId: 2n,
    version: "3.6.1",
    storeBytes: 600_000_000,
    quotaBytes: 1_000_000_000,
    errors: [],
  };

  it("is well up to 60 % of it", () => {
    expect(memberPart("etcd", "a:1", status)).toMatchObject({
      state: "ok",
      detail: "a:1 has version 3.6.1, follows, and keeps 600 MB, which is 60 % of its quota of 1000 MB",
    });
    expect(memberPart("etcd", "a:1", { ...status, storeBytes: 610_000_000 })).toMatchObject({
      state: "wrong",
      advice: expect.stringMatching(/compact/),
    });
  });

  it("is told apart from one of another version, from one that has never started, and from a corrupt one", () => {
    const header = { clusterId: 7n, memberId: 1n, revision: 1n };
    const members = (...names: readonly string[]) => ({
      kind: "done" as const,
      value: names.map((name, index) => ({ memberId: BigInt(index + 1), name })),
      header,
      endpoint: "a:1",
    });
    const answered = ["3.6.1", "3.5.9", "3.6.1"].map((version, index) => ({
      endpoint: `${index}:1`,
      clusterId: 7n,
      status: { ...status, version, memberId: BigInt(index + 1) },
    }));
    expect(clusterPart(answered, 3, members("a", "b", "c"))).toMatchObject({
      state: "ok",
      detail: "3 members of one cluster, version 3.5.9 and 3.6.1",
      advice: expect.stringMatching(/same version/),
    });
    expect(clusterPart(answered, 3, members("a", "b", "c", ""))).toMatchObject({
      state: "wrong",
      detail: "1 of 4 members was added, and has never started",
    });
    const corrupt = { ...members(), value: [{ memberId: 2n, kind: "CORRUPT" as const }] };
    expect(alarmsPart(corrupt, members("a", "b"))).toMatchObject({
      state: "wrong",
      detail: "CORRUPT of b",
      advice: expect.stringMatching(/replace the member/),
    });
  });
});
