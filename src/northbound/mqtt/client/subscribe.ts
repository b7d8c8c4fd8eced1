import type { IClientSubscribeOptions, MqttClient } from "mqtt";

/** A filter was refused, by MQTT 3.1.1 and 5. */
const REFUSED = 0x80;

/**
 * Subscribes, and resolves with the filters that the broker refused: mqtt.js rejects for all of them, and
 * with it for those that were granted. Rejects when there is no answer.
 */
export function subscribe(
  client: MqttClient,
  filters: readonly string[],
  options: IClientSubscribeOptions,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    client.subscribe([...filters], options, (error, _subscriptions, answer) => {
      const codes = answer?.granted;
      if (codes?.length === filters.length)
        resolve(filters.filter((_filter, index) => Number(codes[index]) >= REFUSED));
      else reject(error ?? new Error("the broker answered a subscription with other filters"));
    });
  });
}
