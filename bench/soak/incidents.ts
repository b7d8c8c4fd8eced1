import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ownBuild } from "../build.ts";
import { pause, until } from "../section-run.ts";
import type { Plant } from "./plant.ts";
import type { Incident } from "./schedule.ts";

const RECOVERED_WITHIN_MS = 30_000;
const OVER_WITHIN_MS = 120_000;
const LOOK_MS = 50;
const LONGEST_OUTAGE_MS = 3_000;
/** Long enough to be seen in the health. */
const SHORTEST_OUTAGE_MS = 1_000;
const ways = ["limit", "unavailable", "unauthenticated", "goaway", "reset"] as const;

/** Lets an incident happen. Resolves with the milliseconds until the gateway had recovered, or rejects. */
export type Happen = (incident: Incident) => Promise<number>;

export function createHappenings(plant: Plant, random: () => number): Happen {
  const thumbprints = new Set<string>();
  const outageMs = () => SHORTEST_OUTAGE_MS + random() * (LONGEST_OUTAGE_MS - SHORTEST_OUTAGE_MS);
  const stateOf = async (part: string) => (await plant.health()).components[part]?.state;
  const untilUp = (part: string) =>
    until(`${part} is up again`, async () => (await stateOf(part)) === "up", RECOVERED_WITHIN_MS, LOOK_MS);
  const untilFelt = (part: string) =>
    until(`${part} is down`, async () => (await stateOf(part)) !== "up", RECOVERED_WITHIN_MS, LOOK_MS);

  const certificateRenewed = async () => {
    const renew = [ownBuild.script, "certs", "renew", "--config", plant.configuration];
    await promisify(execFile)(process.execPath, renew);
    await promisify(execFile)(process.execPath, [...renew, "--activate"]);
    await pause(500);
    const shown = await plant.crashPlc();
    if (thumbprints.has(shown)) throw new Error("the gateway shows the certificate that was renewed");
    thumbprints.add(shown);
  };

  const happen: Readonly<Record<Incident, () => Promise<void>>> = {
    async "broker restart"() {
      await plant.endBroker();
      await untilFelt("mqtt");
      await pause(outageMs());
      await plant.startBroker();
      await untilUp("mqtt");
    },
    async "link outage"() {
      plant.cutFleetLink(outageMs());
      await untilFelt("fleet");
      await untilUp("fleet");
    },
    async "streams ended"() {
      const how = ways[Math.floor(random() * ways.length)];
      await plant.control("faults", { kind: "end-streams", how });
      await untilUp("fleet");
    },
    async "tokens expired"() {
      await plant.control("faults", { kind: "expire-tokens" });
      await untilUp("fleet");
    },
    async "PLC crash"() {
      thumbprints.add(await plant.crashPlc());
    },
    "certificate renewal": certificateRenewed,
  };
  return async (incident) => {
    const startedMs = performance.now();
    const over = plant.subscriber.disturb();
    const recovered = happen[incident]().then(() => plant.subscriber.received());
    await Promise.race([recovered, tooLate(incident)]);
    over();
    return performance.now() - startedMs;
  };
}

function tooLate(incident: Incident): Promise<never> {
  return new Promise((_, reject) => {
    const late = () =>
      reject(new Error(`${incident}: the plant has not recovered in ${OVER_WITHIN_MS / 1_000} s`));
    setTimeout(late, OVER_WITHIN_MS);
  });
}
