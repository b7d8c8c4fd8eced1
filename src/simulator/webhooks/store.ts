import { join } from "node:path";
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { readIfThere } from "../../platform/kept-file.ts";
import { type WebhookSubscription, WebhookSubscriptionSchema } from "../../wire/fleet/v1/webhook_pb.js";
import { writeWhole } from "../data-file.ts";

/** Keeps subscriptions over a restart. */
export interface SubscriptionStore {
  load(): Promise<readonly WebhookSubscription[]>;
  /** Resolves when exactly these are on disk. Further calls meanwhile are written one after the other. */
  save(subscriptions: readonly WebhookSubscription[]): Promise<void>;
}

/** One file in the data folder, for its owner only: headers hold secrets. */
export function createSubscriptionStore(dataDir: string): SubscriptionStore {
  const file = join(dataDir, "webhooks.json");
  let last: Promise<void> = Promise.resolve();
  return {
    async load() {
      const text = await readIfThere(file);
      if (text === undefined) return [];
      try {
        const stored = JSON.parse(text) as JsonValue[];
        return stored.map((json) => fromJson(WebhookSubscriptionSchema, json));
      } catch (cause) {
        throw new Error(`${file} is damaged: repair it, or remove it and its subscriptions`, { cause });
      }
    },
    save(subscriptions) {
      const text = JSON.stringify(subscriptions.map((each) => toJson(WebhookSubscriptionSchema, each)));
      const write = () => writeWhole(file, text, "secret");
      // After the last write, also if it failed: its caller knows that.
      last = last.then(write, write);
      return last;
    },
  };
}
