import mqtt from "mqtt";
import { type SectionRun, until } from "./section-run.ts";

/** What the gateway says of its robots' availability on MQTT, and when it came. */
export class Availability {
  readonly #now = new Map<string, string>();
  readonly #goodAtMs = new Map<string, number>();
  readonly #leftGood = new Set<string>();

  /** Listens to the gateway `id` until the run ends. */
  static async watch(run: SectionRun, mqttPort: number, id: string): Promise<Availability> {
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${mqttPort}`, { clientId: `watch-${id}` });
    run.onEnd(() => client.endAsync(true));
    const watched = new Availability();
    const prefix = `fleetgate/${id}/robots/`;
    client.on("message", (topic, payload) => {
      watched.#note(topic.slice(prefix.length, topic.lastIndexOf("/")), payload.toString());
    });
    await client.subscribeAsync(`${prefix}+/availability`, { qos: 0 });
    return watched;
  }

  #note(robot: string, quality: string): void {
    this.#now.set(robot, quality);
    if (quality === "good") this.#goodAtMs.set(robot, Date.now());
    else this.#leftGood.add(robot);
  }

  good(): number {
    return [...this.#now.values()].filter((quality) => quality === "good").length;
  }

  async allGood(robots: number, withinMs: number): Promise<void> {
    await until(`${robots} robots good`, () => this.good() >= robots, withinMs);
  }

  /** Forgets which robots were not good. */
  beginRound(): void {
    this.#leftGood.clear();
  }

  /** Robots that were not good since the round began. */
  get leftGood(): number {
    return this.#leftGood.size;
  }

  /** When each robot became good last, in Unix milliseconds. */
  goodAtMs(): readonly number[] {
    return [...this.#goodAtMs.values()];
  }
}
