// The broker of a plant, mosquitto, in a process of its own; aedes where it is not installed. Its cost is
// nobody's.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";

/** What the bench is told of the broker. */
export interface PlantBroker {
  readonly port: number;
  readonly name: "mosquitto" | "aedes";
}

const LOOK_MS = 20;
const binary = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/opt/homebrew/sbin/mosquitto"].find(
  existsSync,
);

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.end(() => resolve(true)));
    socket.once("error", () => resolve(false));
  });
}

async function startMosquitto(program: string, folder: string, port: number): Promise<PlantBroker> {
  const configuration = join(folder, "mosquitto.conf");
  // Without the limits it drops what a client does not take at once; Nagle's algorithm costs tens of
  // milliseconds.
  const lines = [
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "set_tcp_nodelay true",
    "max_queued_messages 0",
    "max_inflight_messages 0",
  ];
  writeFileSync(configuration, `${lines.join("\n")}\n`);
  const mosquitto = spawn(program, ["-c", configuration], { stdio: "ignore" });
  mosquitto.once("exit", () => process.exit(1));
  process.once("exit", () => mosquitto.kill("SIGKILL"));
  process.once("SIGTERM", () => process.exit(0));
  while (!(await isListening(port))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return { port, name: "mosquitto" };
}

async function startAedes(port: number): Promise<PlantBroker> {
  const { Aedes } = await import("aedes");
  const broker = await Aedes.createBroker({ concurrency: 5_000, queueLimit: 5_000 });
  const server = createServer({ noDelay: true }, broker.handle);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { port, name: "aedes" };
}

const folder = process.argv[2] ?? "";
/** One that is given is that of a broker that was there before. */
const port = Number(process.argv[3] ?? (await freePort()));
process.send?.(await (binary === undefined ? startAedes(port) : startMosquitto(binary, folder, port)));
