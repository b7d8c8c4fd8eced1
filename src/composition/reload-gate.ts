import type { Config } from "../config/load.ts";
import type { ReloadConfiguration } from "../contracts/reload.ts";
import { type Source, sourceKey } from "../domain/command.ts";
import type { Health } from "../platform/component.ts";
import type { Live } from "../platform/live.ts";
import type { FindRefusals, Reload } from "./reload.ts";

/** Holds requests back until the gateway can reload, and knows who may refuse one. */
export interface ReloadGate {
  readonly request: ReloadConfiguration;
  /** Of the present configuration. */
  readonly hash: Live<string>;
  /** Registers a function that is asked whether a reload may change the configuration. */
  refuseReload(refusalsOf: FindRefusals): void;
  readonly refusals: FindRefusals;
  open(reload: Reload): void;
  /** The gateway has ended: waiting requests are refused. */
  end(): void;
  health(): Health;
}

export function createReloadGate(hash: Live<string>): ReloadGate {
  let settle: (reload: Reload | null) => void = () => {};
  const opened = new Promise<Reload | null>((resolve) => {
    settle = resolve;
  });
  let health: () => Health = () => ({ state: "up" });
  const finders: FindRefusals[] = [];
  return {
    hash,
    refuseReload: (refusalsOf) => void finders.push(refusalsOf),
    refusals: (next) => finders.flatMap((refusalsOf) => refusalsOf(next)),
    async request(by) {
      const reload = await opened;
      if (reload !== null) return reload.request(by);
      const refused = [{ path: "", reason: "the gateway has ended" }];
      return { applied: [], refused, warnings: [], hash: hash.now() };
    },
    open(reload) {
      health = reload.health;
      settle(reload);
    },
    end: () => settle(null),
    health: () => health(),
  };
}

/** Whether a source is a user of one configuration that the next one does not have. */
export function goneUsers(before: Config, now: Config): (source: Source) => boolean {
  const kept = new Set(usersOf(now).map(sourceKey));
  const gone = new Set(
    usersOf(before)
      .map(sourceKey)
      .filter((key) => !kept.has(key)),
  );
  return (source) => gone.has(sourceKey(source));
}

function usersOf({ rights, mqtt }: Config): readonly Source[] {
  const clients = mqtt?.broker.kind === "embedded" ? mqtt.broker.users : [];
  return [
    ...rights.accounts.map(({ source }) => source),
    ...clients.map(({ name }) => ({ protocol: "mqtt", name }) as const),
  ];
}
