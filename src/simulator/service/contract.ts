import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageShape,
} from "@bufbuild/protobuf";
import type { BatteryEventState } from "../../wire/fleet/v1/battery_pb.js";
import type { MissionEventState } from "../../wire/fleet/v1/mission_pb.js";

/** The caller, from the token and never from the request. */
export interface Caller {
  /** The distributor that the API key is authorized for (its `scope`). */
  readonly distributor: string;
  /** The `api_key` of the credentials; two keys of one distributor are two clients. */
  readonly apiKey: string;
}

/** One stream message, encoded once for all its subscribers. */
export interface StreamMessage {
  readonly robotId: string;
  readonly message: unknown;
  /** The protobuf bytes, made on first use and kept. */
  bytes(): Uint8Array;
}

/** A change of a robot for webhooks. */
export type RobotUpdate =
  | { readonly eventType: "mission"; readonly robotId: string; readonly state: MissionEventState }
  | { readonly eventType: "battery"; readonly robotId: string; readonly state: BatteryEventState };

/**
 * The fleet service behind its transports: gRPC and REST decode, ask here, and
 * encode. Checks come in the order of docs/internals/service.md, ERR-47 (shape, ownership,
 * family, mission, state). The transport has checked the token before.
 */
export interface FleetOperations {
  /** One unary operation of FleetService or TaskService. Rejects with a Refusal; any other error is a bug. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    caller: Caller,
    request: MessageShape<I>,
  ): Promise<MessageShape<O>>;

  /**
   * Opens a stream: `deliver` gets the latest state of each selected robot before this returns, then every
   * change. Throws a Refusal. The returned function ends it.
   */
  subscribe<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    caller: Caller,
    request: MessageShape<I>,
    deliver: (message: StreamMessage) => void,
  ): () => void;
}
