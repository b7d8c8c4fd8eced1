import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { writeShims } from "./shell.ts";

/** A machine of a network: its own addresses, processes and host name, and its own `/etc` and `/var/lib`. */
export interface TestMachine {
  /** Runs a text in its shell, in the home folder or below it. Throws if a line of it fails. */
  run(text: string, folder?: string): string;
  /** The same for a text that may fail. */
  try(text: string, folder?: string): { readonly code: number | null; readonly out: string };
  /** The end of the log of a unit. */
  log(unit: string): string;
}

export interface TestNetwork {
  machine(name: string): TestMachine;
  close(): Promise<void>;
}

const overlay = (folder: string, upper: string) =>
  `mkdir -p ${upper}/up ${upper}/work && mount -t overlay overlay -o lowerdir=${folder},upperdir=${upper}/up,workdir=${upper}/work ${folder}`;

/** Null: it has what machines need. Else what it lacks. */
export function whatMachinesLack(): string | null {
  const trial = mkdtempSync(join(tmpdir(), "fleetgate-machines-"));
  const script = `mount -t tmpfs none ${trial} && ${overlay("/etc", `${trial}/etc`)} && ip link add br0 type bridge`;
  const isPossible = spawnSync("unshare", ["-mn", "sh", "-c", script]).status === 0;
  rmSync(trial, { recursive: true, force: true });
  if (!isPossible) return "the rights of root to mount, and ip (iproute2)";
  const programs = ["etcd", "etcdctl", "nsenter", "setpriv", "keepalived", "curl"];
  const missing = programs.filter((name) => spawnSync("which", [name]).status !== 0);
  return missing.length === 0 ? null : missing.join(", ");
}

/** What systemd does by the units of etcd and keepalived (Debian's) and of the gateway. */
const systemctl = (base: string) => [
  "for unit; do :; done",
  `file=${base}/$unit-$MACHINE`,
  "stop() { [ -f $file.pid ] || return 0; kill $(cat $file.pid) || true; while is_there; do sleep 0.05; done; rm $file.pid; }",
  "is_there() { grep -qs '^State:.[^Z]' /proc/$(cat $file.pid)/status; }",
  "etcd() { env -i PATH=$PATH ETCD_NAME=$MACHINE ETCD_DATA_DIR=/var/lib/etcd/default $(grep ^ETCD_ /etc/default/etcd) \\",
  "  setpriv --reuid etcd --regid etcd --clear-groups etcd >>$file.log 2>&1 & }",
  "fleetgate() { fleetgate-unit >>$file.log 2>&1 & }",
  "keepalived() { command keepalived --dont-fork --log-console >>$file.log 2>&1 & }",
  "signal() { kill -$1 $(cat /proc/$(cat $file.pid)/task/*/children); }",
  'case "$*" in',
  '"enable etcd") ;;',
  '"kill --signal=STOP fleetgate") signal STOP ;;',
  '"kill --signal=CONT fleetgate") signal CONT ;;',
  '"stop etcd" | "stop fleetgate" | "stop keepalived") stop ;;',
  '"start etcd" | "restart --no-block etcd" | "restart fleetgate" | "restart keepalived") stop; $unit; echo $! >$file.pid ;;',
  '*) echo "no unit: $*" >&2; exit 1 ;;',
  "esac",
];

/** `Restart=on-failure`, and what the unit of the gateway excepts. */
const gatewayUnit = [
  "trap 'kill $child; wait $child; exit 0' TERM",
  "while :; do",
  "  fleetgate run --config /etc/fleetgate/fleetgate.yaml & child=$!",
  "  wait $child",
  "  case $? in 0 | 65 | 78) exit ;; esac",
  "  sleep 1",
  "done",
];

const shims = (base: string) => ({
  sudo: ['exec "$@"'],
  // As the package of Debian does, it starts what it has installed.
  apt: [
    'case "$*" in',
    '"install etcd-server") exec systemctl start etcd ;;',
    '"install keepalived") ;;',
    "*) exit 1 ;;",
    "esac",
  ],
  systemctl: systemctl(base),
  "fleetgate-unit": gatewayUnit,
  scp: [`exec cp -r "$2" "${base}/home/\${3%%:*}/\${3#*:}"`],
  fleetgate: [`exec ${process.execPath} ${resolve("dist/main.js")} "$@"`],
});

/** Runs a script in some namespaces. That of pids is none of them, so that it can name other holders. */
function enter({ pid }: Holder, namespaces: readonly string[], script: string): void {
  const ran = spawnSync("nsenter", ["-t", String(pid), ...namespaces, "sh", "-ec", script], {
    encoding: "utf8",
  });
  if (ran.status !== 0) throw new Error(`${script}: ${ran.stderr}`);
}

interface Holder {
  readonly process: ChildProcess;
  /** The first process of the machine. */
  readonly pid: number;
}

/** Machines by name and address, in one network. */
export async function openNetwork(machines: ReadonlyMap<string, string>): Promise<TestNetwork> {
  const base = mkdtempSync(join(tmpdir(), "fleetgate-machines-"));
  writeShims(join(base, "bin"), shims(base));
  const hub = await hold();
  const holders = new Map<string, Holder>();
  const close = async () => {
    const all = [hub, ...holders.values()].map(({ process }) => process);
    const ended = all.map((process) => once(process, "exit"));
    for (const process of all) process.kill("SIGKILL");
    await Promise.all(ended);
    rmSync(base, { recursive: true, force: true });
  };
  try {
    enter(hub, ["-n"], "ip link add br0 type bridge && ip link set br0 up");
    for (const [name, address] of machines) {
      const holder = await hold();
      holders.set(name, holder);
      const at = holders.size;
      mkdirSync(join(base, "home", name), { recursive: true });
      mkdirSync(join(base, "root", name), { recursive: true });
      const ends = `ip link add v${at} type veth peer name e${at} && ip link set v${at} master br0 up`;
      enter(hub, ["-n"], `${ends} && ip link set e${at} netns ${holder.pid}`);
      const root = join(base, "root", name);
      enter(
        holder,
        ["-m", "-n"],
        [
          `ip link set e${at} name eth0`,
          `ip link set lo up && ip addr add ${address}/24 dev eth0 && ip link set eth0 up`,
          `mount -t tmpfs none ${root}`,
          overlay("/etc", `${root}/etc`),
          overlay("/var/lib", `${root}/lib`),
          overlay("/usr/bin", `${root}/bin`),
          `cp ${join(base, "bin", "fleetgate")} /usr/bin/`,
          "mount -t tmpfs none /run",
          "echo 127.0.0.1 localhost >/etc/hosts",
          ": >/etc/default/etcd",
          "mkdir -p /etc/fleetgate/secrets && echo fleetgate:x:64999: >>/etc/group",
          // Its gateway runs as root.
          "echo fleetgate:x:0:0::/:/bin/sh >>/etc/passwd",
        ].join("\n"),
      );
    }
  } catch (error) {
    await close();
    throw error;
  }

  return {
    machine(name) {
      const holder = holders.get(name);
      if (holder === undefined) throw new Error(`there is no machine ${name}`);
      const attempt = (text: string, folder = ".") => {
        const script = join(base, "script");
        // Who enters the namespace of mounts is in its root folder.
        writeFileSync(script, `set -eo pipefail\ncd ${join(base, "home", name, folder)}\n${text}\n`);
        const ran = spawnSync("nsenter", ["-t", String(holder.pid), "-m", "-n", "-p", "bash", script], {
          encoding: "utf8",
          env: { PATH: `${join(base, "bin")}:${process.env.PATH}`, MACHINE: name },
          timeout: 60_000,
        });
        return { code: ran.status, out: `${ran.stdout}${ran.stderr}${ran.error?.message ?? ""}` };
      };
      return {
        try: attempt,
        log: (unit) => logOf(join(base, `${unit}-${name}.log`)),
        run(text, folder) {
          const { code, out } = attempt(text, folder);
          expect(code, `${name}: ${text}\n${out}\n${logOf(join(base, `etcd-${name}.log`))}`).toBe(0);
          return out;
        },
      };
    },
    close,
  };
}

function logOf(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(-3_000);
  } catch {
    return "";
  }
}

/** Namespaces of their own. They end with the process, which ends by itself if the test does not end it. */
async function hold(): Promise<Holder> {
  const own = ["-mn", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const child = spawn("unshare", [...own, "sh", "-c", "echo begun; exec sleep 1000"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
  return { process: child, pid: Number(children.trim()) };
}
