/** What the bench asks of the gateway: whether metrics and recorder get anything from now on. */
export interface SwitchRequest {
  readonly isOn: boolean;
}

/**
 * What the gateway answers of the time since it was asked before, when nothing of that waits to be written.
 */
export interface SwitchReply {
  /** User and system time of all its threads. */
  readonly cpuMicros: number;
  /** How often metrics and recorder were given something. */
  readonly handedOver: number;
}

/** One in the process. */
export const watching = { isOn: true, handedOver: 0 };

/** Whether metrics and recorder get what is there for them; counts it. */
export function isHandedOver(): boolean {
  if (watching.isOn) watching.handedOver += 1;
  return watching.isOn;
}

/** What the recorder has put off until it writes. */
export const putOff = new Set<() => void>();
