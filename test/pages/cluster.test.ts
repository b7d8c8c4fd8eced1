import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openNetwork, type TestMachine, type TestNetwork, whatMachinesLack } from "./cluster-harness.ts";
import { blockOf, codeBlocks } from "./page.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const PAGE = "docs/cluster.md";
const lack = whatMachinesLack();
if (lack !== null) {
  if (process.env.CI) throw new Error(`CI must run the blocks of ${PAGE}, and lacks ${lack}`);
  process.stderr.write(`the blocks of ${PAGE} are skipped: they need ${lack}\n`);
}

/** By its first line. Each is run here. */
const blocks = {
  check: "sudo fleetgate check --online",
  init: "fleetgate init --cluster hall-1",
  etcd: "sudo apt install",
  users: "export ETCDCTL_ENDPOINTS",
  gateway: "sudo install -m 644 cluster/ca.pem",
  section: "cluster:",
  shown: "  ok       etcd",
  restart: "sudo systemctl restart fleetgate",
  active: "sudo fleetgate status --active",
  handover: "sudo fleetgate handover",
  drill: "sudo fleetgate handover --test",
  keepalived: "sudo apt install keepalived",
  address: "ip -brief address show eth0",
  fence: "  fence:",
  fenceProgram: "sudo tee /etc/fleetgate/fence",
  fenceConfirm: "sudo fleetgate fence-confirm box-a",
  hang: "sudo systemctl kill --signal=STOP fleetgate",
  leave: "sudo systemctl stop fleetgate",
  stop: "sudo systemctl stop etcd",
  anotherInit: "fleetgate init --cluster hall-2",
  another: "etcdctl role add hall-2",
  anotherGateway: "sudo install -m 644 cluster/hall-2.pem",
  remove: "id=$(etcdctl",
  existing: "sudo sed -i s/STATE=new",
  full: "revision=$(etcdctl",
  reset: "sudo fleetgate journal reset",
  moveIn: "sudo fleetgate journal to-cluster",
  moveOut: "sudo fleetgate journal from-cluster",
};
const block = (name: keyof typeof blocks) => blockOf([PAGE], blocks[name]);

test("each block of the page is run here", () => {
  const known = Object.values(blocks);
  expect(codeBlocks(PAGE).filter((text) => !known.some((first) => text.startsWith(first)))).toEqual([]);
});

const DESK = "10.20.0.1";
const boxes = ["box-a", "box-b"];
let network: TestNetwork;
let desk: TestMachine;
beforeAll(async () => {
  if (lack !== null) return;
  network = await openNetwork(
    new Map([
      ["desk", DESK],
      ["box-a", "10.20.0.11"],
      ["box-b", "10.20.0.12"],
      ["vote", "10.20.0.13"],
    ]),
  );
  desk = network.machine("desk");
});
afterAll(async () => {
  await network?.close();
});

/** Waits until etcd does what the text asks for. */
const becomes = (text: string) =>
  expect.poll(() => desk.try(text, "cluster").code, { timeout: 60_000, interval: 500 }).toBe(0);
const settings = () => block("users").split("\n").slice(0, 2).join("\n");
const health = () => `${settings()}\netcdctl endpoint health`;

/** The lines of etcd in the check, without the figures. */
const etcdLines = (text: string) =>
  text
    .split("\n")
    .filter((line) => /^ {2}\w+ +etcd /.test(line))
    .map((line) =>
      line
        .replace(/\d+\.\d+\.\d+/, "VERSION")
        .replace(/keeps [\d.]+/, "keeps")
        .replace(/at most [\d.]+ ms/, "quickly")
        .replace(/leads|follows/, "is"),
    );

function checkOn(name: string): string {
  return network.machine(name).try(block("check")).out;
}

function installGateway(name: string): void {
  network.machine(name).run(`cat >/etc/fleetgate/fleetgate.yaml <<END
gateway: { id: plant1, dataDir: /var/lib/fleetgate }
fleet:
  grpc: { address: "fleet:7443" }
  https: https://fleet:7444
  credentials: api-key.json
  ca: ca.pem
  locations: [plant-1]
rights:
  - { source: { protocol: cli, name: root }, role: engineer }
END
echo '{"api_key":"k","scope":"s","secret":"x"}' >/etc/fleetgate/api-key.json
cp cluster/ca.pem /etc/fleetgate/
${block("gateway")}`);
}

/** Gives the gateway of a box the certificate and the key of the simulated service, and starts it. */
function startGateway(name: string): void {
  const machine = network.machine(name);
  machine.run(
    "cp ../desk/sim/fleet/credentials.json /etc/fleetgate/api-key.json; cp ../desk/sim/fleet/ca.pem /etc/fleetgate/",
  );
  machine.run(block("restart").split("\n")[0] ?? "");
}

/** 0: it leads, 1: it stands by, 3: it does not run. */
const codeOf = (name: string) => network.machine(name).try(block("active")).code;
const codes = () => boxes.map(codeOf);

const STATUS =
  "curl --silent --max-time 5 --unix-socket /var/lib/fleetgate/control.sock http://box/api/v1/status";
/** The same as `codeOf`. To start that program again and again would keep a processor busy. */
function roleCodeOf(name: string): number {
  const { out } = network.machine(name).try(STATUS);
  if (out === "") return 3;
  return /"role":"leader"/.test(out) ? 0 : /"role":"standby"/.test(out) ? 1 : 2;
}
const SOON = { timeout: 90_000, interval: 250 };
async function become(...wanted: number[][]): Promise<void> {
  await expect.poll(() => boxes.map(roleCodeOf), SOON).toBeOneOf(wanted);
  await expect.poll(codes, { ...SOON, interval: 1_000 }).toBeOneOf(wanted);
}

/** A machine has the name and the address of one that is gone. */
function replaceEtcd(name: string): void {
  const machine = network.machine(name);
  machine.run("rm -r /var/lib/etcd/fleetgate /etc/etcd");
  desk.run(`${settings()}\n${block("remove").replaceAll("vote", name)}`, "cluster");
  const lines = block("etcd").trimEnd().split("\n");
  machine.run([...lines.slice(0, -1), block("existing"), ...lines.slice(-1)].join("\n"));
}

test.runIf(lack === null)("three machines become a cluster by the blocks of the page", async () => {
  desk.run(block("init"));
  for (const name of ["desk", "box-a", "box-b", "vote"])
    network.machine(name).run(`(cat ../desk/cluster/hosts && echo ${DESK} fleet) >>/etc/hosts`);
  for (const name of ["box-a", "box-b", "vote"]) network.machine(name).run(block("etcd"));
  network.machine("vote").run("rm -r cluster");
  await becomes(health());
  expect(desk.run(block("users"), "cluster")).toContain("Authentication Enabled");

  for (const name of boxes) {
    expect(network.machine(name).run("cat cluster/hall-1.yaml")).toBe(
      block("section").replace("member: box-a", `member: ${name}`),
    );
    installGateway(name);
    const lines = etcdLines(checkOn(name));
    expect(lines).toEqual(expect.arrayContaining(etcdLines(block("shown"))));
    expect(lines).toHaveLength(10);
    expect(lines.filter((line) => !line.startsWith("  ok "))).toEqual([]);
  }
});

test.runIf(lack === null)("a gateway may write its own keys, and no others", () => {
  const own = `${settings()}\nexport ETCDCTL_CERT=box-a/hall-1.pem ETCDCTL_KEY=box-a/hall-1.key`;
  desk.run(`${own}\netcdctl put /fleetgate/hall-1/test x && etcdctl del /fleetgate/hall-1/test`, "cluster");
  for (const key of ["/fleetgate/hall-2/test", "/fleetgate/hall-10", "test"])
    expect(desk.try(`${own}\netcdctl put ${key} x`, "cluster")).toMatchObject({
      code: 1,
      out: expect.stringContaining("permission denied"),
    });
  expect(desk.run(block("anotherInit"))).toMatch(/^Written: .*box-b\/hall-2\.key$/m);
  for (const name of boxes) network.machine(name).run("rm -rf cluster");
  desk.run(`${settings()}\n${block("another")}`, "cluster");
  const files = "cd /etc/fleetgate && cat hall-1.pem secrets/hall-1.key fleetgate.yaml";
  for (const name of boxes) {
    const machine = network.machine(name);
    const before = machine.run(files);
    machine.run(block("anotherGateway"));
    expect(machine.run(files)).toBe(before);
    const added = machine.run("cd /etc/fleetgate && cat hall-2.yaml hall-2.pem secrets/hall-2.key");
    expect(added).toMatch(
      /certificate: hall-2.pem\n +key: secrets\/hall-2.key\n[\s\S]*CERTIFICATE[\s\S]*KEY/,
    );
  }
});

test.runIf(lack === null)("one gateway leads, and the other one when the first has ended", async () => {
  desk.run("fleetgate simulate --json --host 0.0.0.0 --certificate-name fleet --data sim >sim.log 2>&1 &");
  await becomes("grep ready ../sim.log");
  const [restart = ""] = block("restart").split("\n");
  for (const name of boxes) startGateway(name);
  await become([0, 1], [1, 0]);
  const first = codes().indexOf(0);
  const leader = network.machine(boxes[first] ?? "");
  leader.run(block("leave"));
  await become(first === 0 ? [3, 0] : [0, 3]);
  leader.run(restart);
  await become(first === 0 ? [1, 0] : [0, 1]);
});

test.runIf(lack === null)("the leader hands over, and the drill comes back", async () => {
  const lines = () =>
    checkOn("box-a")
      .split("\n")
      .filter((line) => line.includes("cluster member"));
  await expect
    .poll(() => lines().filter((line) => / {2}ok .*; the configuration is the same$/.test(line)).length, {
      timeout: 60_000,
      interval: 1_000,
    })
    .toBe(2);
  const first = codes().indexOf(0);
  const leader = network.machine(boxes[first] ?? "");
  const other = boxes[1 - first] ?? "";
  expect(leader.run(block("handover"))).toMatch(new RegExp(`^${other} leads, after ${boxes[first]}, since `));
  await become(first === 0 ? [1, 0] : [0, 1]);
  expect(
    network
      .machine(other)
      .run(block("drill"))
      .match(/ leads, after /g),
  ).toHaveLength(2);
  await become(first === 0 ? [1, 0] : [0, 1]);
});

/** When each box has had the address, in microseconds, by what `ip monitor` has written. */
function timesOf(name: string): readonly (readonly [from: number, to: number])[] {
  const times: (readonly [number, number])[] = [];
  let sinceUs: number | null = null;
  for (const line of network.machine(name).run("cat address.log").split("\n")) {
    const at = /^\[([\d-]+T[\d:]+)\.(\d+)\]/.exec(line);
    if (at === null || !line.includes(ADDRESS)) continue;
    const us = Date.parse(`${at[1]}Z`) * 1_000 + Number(at[2]);
    if (!line.includes("Deleted")) sinceUs ??= us;
    else if (sinceUs !== null) {
      times.push([sinceUs, us]);
      sinceUs = null;
    }
  }
  return sinceUs === null ? times : [...times, [sinceUs, Number.POSITIVE_INFINITY]];
}
const ADDRESS = "10.20.0.10/";
const has = (name: string) => network.machine(name).run(block("address")).includes(ADDRESS);

test.runIf(lack === null)("an address moves with the leader, and no two boxes have it", async () => {
  for (const name of boxes) {
    network.machine(name).run("(exec ip -ts monitor address >address.log 2>&1) & echo $! >monitor.pid");
    network.machine(name).run(block("keepalived"));
  }
  async function onLeader(...wanted: readonly string[]): Promise<string> {
    const found = () => {
      const [holder = "", ...others] = boxes.filter(has);
      if (others.length > 0 || holder === "") return "";
      return roleCodeOf(holder) === 0 && codeOf(holder) === 0 ? holder : "";
    };
    let holder = "";
    await expect
      .poll(() => {
        holder = found();
        return holder;
      }, SOON)
      .toBeOneOf([...wanted]);
    return holder;
  }
  const first = await onLeader(...boxes);
  const second = boxes.find((name) => name !== first) ?? "";
  network.machine(first).run(block("handover"));
  await onLeader(second);
  // One that hangs answers nobody.
  const hung = network.machine(second);
  hung.run(block("hang"));
  await onLeader(first);
  hung.run(block("hang").replace("STOP", "CONT"));
  await become([0, 1], [1, 0]);
  await onLeader(...boxes);
  const [one = [], other = []] = boxes.map(timesOf);
  const both = one.flatMap(([from, to]) => other.filter(([start, end]) => start < to && from < end));
  expect(both).toEqual([]);
  expect([one.length, other.length]).not.toContain(0);
  for (const name of boxes) network.machine(name).run("kill $(cat monitor.pid); systemctl stop keepalived");
});

/** A management controller that keeps what it was told. */
const BMC = `#!/bin/sh
echo "$*" >>/etc/fleetgate/bmc.log
case "$*" in *status) echo "Chassis Power is $(cat /etc/fleetgate/bmc)" ;; *"power on") ;; *) echo off >/etc/fleetgate/bmc ;; esac`;

test.runIf(lack === null)("a box that hangs is switched off before the other one leads", async () => {
  for (const name of boxes) {
    const machine = network.machine(name);
    machine.run(`cat >/usr/bin/ipmitool <<'END'\n${BMC}\nEND\nchmod 755 /usr/bin/ipmitool`);
    machine.run(block("fenceProgram"));
    machine.run(`cat >>/etc/fleetgate/fleetgate.yaml <<'END'\n${block("fence")}END`);
    machine.run(block("restart").split("\n")[0] ?? "");
  }
  await become([0, 1], [1, 0]);
  const leader = boxes[codes().indexOf(0)] ?? "";
  const otherName = boxes.find((name) => name !== leader) ?? "";
  const other = network.machine(otherName);
  expect(other.try(block("fenceConfirm")).out).toContain("no fence has failed here");
  network.machine(leader).run(block("hang"));
  await expect.poll(() => roleCodeOf(otherName), SOON).toBe(0);
  const asked = other.run("cat /etc/fleetgate/bmc.log").trimEnd().split("\n");
  const usual = `-I lanplus -H ${leader}-bmc -U fence -f /etc/fleetgate/secrets/bmc chassis power`;
  expect(asked).toEqual(["off", "status", "on"].map((each) => `${usual} ${each}`));
  network.machine(leader).run(block("hang").replace("STOP", "CONT"));
  await become([0, 1], [1, 0]);
  for (const name of boxes) {
    network.machine(name).run("sed -i '/^  fence:/,$d' /etc/fleetgate/fleetgate.yaml");
    network.machine(name).run(block("restart").split("\n")[0] ?? "");
  }
  await become([0, 1], [1, 0]);
});

test.runIf(lack === null)("a box that has died is replaced", async () => {
  const machine = network.machine("box-b");
  machine.run(`${block("stop")}\n${block("leave")}\nrm -r /var/lib/fleetgate /etc/fleetgate`);
  await become([0, 3]);
  machine.run("mkdir -p /var/lib/fleetgate /etc/fleetgate/secrets");
  replaceEtcd("box-b");
  await becomes(health());
  installGateway("box-b");
  startGateway("box-b");
  await become([0, 1]);
  for (const name of boxes) network.machine(name).run(block("leave"));
  expect(network.machine("box-a").run(block("reset"))).toMatch(/^Nothing is lost in /);
});

test.runIf(lack === null)("a cluster becomes one gateway, and a cluster again", () => {
  const [one, other] = boxes.map((name) => network.machine(name));
  expect(one?.run(block("moveOut"))).toMatch(/^Moved \d+ commands, and the numbers of \d+ slots\.$/m);
  expect(other?.try(block("moveOut"))).toMatchObject({
    code: 1,
    out: expect.stringContaining("the journal is on box-a"),
  });
  expect(one?.run(block("moveIn"))).toMatch(/^Moved \d+ commands/m);
  expect(other?.run(block("moveIn"))).toMatch(/^Moved nothing: this box has no journal/m);
});

test.runIf(lack === null)("a machine that is away is named, and may be replaced", async () => {
  network.machine("vote").run(block("stop"));
  const without = checkOn("box-b");
  expect(without).toMatch(
    /wrong +connection cluster\.etcd\.endpoints\[2\]: vote:2379: nothing listens there/,
  );
  expect(without).toContain("etcd keys: a majority answers");

  replaceEtcd("vote");
  await becomes(health());
  expect(etcdLines(checkOn("box-a")).filter((line) => !line.startsWith("  ok "))).toEqual([]);
});

test.runIf(lack === null)("an etcd that is full is mended", async () => {
  const [, restart = ""] = /^(sudo systemctl restart.*)$/m.exec(block("etcd")) ?? [];
  for (const name of ["box-a", "box-b", "vote"])
    network.machine(name).run(`echo ETCD_QUOTA_BACKEND_BYTES=16000000 >>/etc/default/etcd\n${restart}`);
  await becomes(health());
  // Each write keeps what was there before, until it is compacted.
  const put = "head -c 1000000 /dev/zero | tr '\\0' x | etcdctl put /fleetgate/hall-1/fill";
  const filled = desk.try(`${settings()}\nfor n in $(seq 30); do ${put} || exit 1; done`, "cluster");
  expect(filled).toMatchObject({ code: 1, out: expect.stringContaining("database space exceeded") });
  expect(checkOn("box-a")).toMatch(/wrong +etcd alarms: NOSPACE/);
  expect(desk.run(`${settings()}\n${block("full")}`, "cluster")).toMatch(/compacted revision \d+/);
  desk.run(`${settings()}\netcdctl del /fleetgate/hall-1/fill`, "cluster");
  expect(etcdLines(checkOn("box-a")).filter((line) => !line.startsWith("  ok "))).toEqual([]);
});
