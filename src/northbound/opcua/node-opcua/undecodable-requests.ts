import {
  BinaryStream,
  ExtensionObject,
  MessageBuilder,
  type OPCUAServer,
  RequestHeader,
  ServiceFault,
  type StatusCode,
  StatusCodes,
} from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { lower, wrap } from "./lower.ts";

/** Counts the requests that could not be decoded, and were answered so. */
export interface UndecodableRequests {
  readonly count: number;
}

interface Message {
  readonly request: UndecodableRequest;
}
interface UndecodableRequest {
  readonly requestHeader: RequestHeader;
}
/** The parts of node-opcua's channel and server that an answer needs. */
interface Channel {
  readonly remoteAddress: string;
  send_response(type: string, response: ServiceFault, message: Message): void;
}
interface RequestServer {
  on_request(message: Message, channel: Channel): void;
}
/** The decoder of a channel's messages. */
interface Builder {
  readonly messageHeader: { readonly msgType: string };
  readonly securityHeader: unknown;
  readonly sequenceHeader: { readonly requestId: number };
  readonly channelId: number;
}
type Emit = (this: Builder, event: string, ...values: unknown[]) => boolean;

/** At most one log line in this time, for all connections. */
const LOG_EVERY_MS = 10_000;

/** The handle of a header that node-opcua has not decoded. */
const NO_HANDLE = 0xdead_beef;

/** The longest list of a request: twice the limit of a service. */
const LONGEST_LIST = 20_000;
/** All lists of a message together: decoding as many small items takes a turn that nobody notices. */
const MOST_ITEMS = 40_000;

/** The decoded part of such requests, with the reason why decoding failed. */
const undecodable = new WeakMap<object, StatusCode>();
/** Why the message in this turn cannot be decoded; null: nothing is wrong with it so far. */
let failure: StatusCode | null = null;
/** Whether the next object to construct is the message itself, which has no length before it. */
let isWhole = false;
/** How many items the message in this turn may still have; infinite outside of decoding. */
let itemsLeft = Number.POSITIVE_INFINITY;
let isPatched = false;

/**
 * Answers a request that cannot be decoded with BadDecodingError, and one whose lists are too long with
 * BadEncodingLimitsExceeded. node-opcua 2.182 decodes a million items in one turn. It ignores what it cannot
 * decode, and its client waits until its own timeout. The channel stays open, because the frame was valid.
 * For an initialised server.
 */
export function answerUndecodable(server: OPCUAServer, clock: Clock, log: Log): UndecodableRequests {
  passOnUndecodable();
  // Each new server sets its own limit for the whole process.
  BinaryStream.maxArrayLength = LONGEST_LIST;
  const own = lower<RequestServer>(server, "on_request");
  const handle = own.on_request.bind(server);
  let count = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  own.on_request = (message, channel) => {
    const serviceResult = undecodable.get(message.request);
    if (serviceResult === undefined) {
      handle(message, channel);
      return;
    }
    count += 1;
    const nowMs = clock.monotonicMs();
    if (nowMs - loggedAtMs >= LOG_EVERY_MS) {
      loggedAtMs = nowMs;
      log.warn({ from: channel.remoteAddress, count }, "an OPC UA request could not be decoded");
    }
    const { requestHeader } = message.request;
    if (requestHeader.requestHandle === NO_HANDLE) requestHeader.requestHandle = 0;
    channel.send_response("MSG", new ServiceFault({ responseHeader: { serviceResult } }), message);
  };
  return {
    get count() {
      return count;
    },
  };
}

/**
 * Passes them on like other messages, so that the channel checks their token. Only a server gets requests.
 */
function passOnUndecodable(): void {
  if (isPatched) return;
  const emit = lower<{ emit: Emit }>(MessageBuilder.prototype, "emit").emit;
  isPatched = true;
  refuseLongLists();
  noticeHalfObjects();
  const patched: Emit = function (event, ...values) {
    const [request] = values;
    const isUndecodable = event === "invalid_message" || (event === "message" && failure !== null);
    if (!isUndecodable || !isRequest(request) || this.messageHeader.msgType !== "MSG") {
      return emit.call(this, event, ...values);
    }
    // node-opcua writes it out for its log, which forwards no text.
    request.toString = () => "";
    undecodable.set(request, failure ?? StatusCodes.BadDecodingError);
    const { securityHeader, sequenceHeader, channelId } = this;
    return emit.call(this, "message", request, "MSG", securityHeader, sequenceHeader.requestId, channelId);
  };
  Reflect.set(MessageBuilder.prototype, "emit", patched);
}

/** A decoded message is emitted in the turn in which it was decoded. */
function refuseLongLists(): void {
  const stream = lower<{ checkArrayLength(length: number): void }>(
    BinaryStream.prototype,
    "checkArrayLength",
  );
  const { checkArrayLength } = stream;
  stream.checkArrayLength = function (length) {
    itemsLeft -= length;
    const isTooLong = length > LONGEST_LIST || itemsLeft < 0;
    if (isTooLong) failure ??= StatusCodes.BadEncodingLimitsExceeded;
    checkArrayLength.call(this, isTooLong ? Number.POSITIVE_INFINITY : length);
  };
  const builder = lower<{ _decodeMessageBody(body: Buffer): boolean }>(
    MessageBuilder.prototype,
    "_decodeMessageBody",
  );
  const { _decodeMessageBody: decode } = builder;
  builder._decodeMessageBody = function (body) {
    [itemsLeft, failure, isWhole] = [MOST_ITEMS, null, true];
    try {
      return decode.call(this, body);
    } finally {
      [itemsLeft, failure] = [Number.POSITIVE_INFINITY, null];
    }
  };
}

/** The parts of an object in a message that decoding it needs. */
interface Decodable {
  decode(stream: BinaryStream, options?: unknown): void;
}
type Construct = (type: unknown) => Decodable;

/**
 * node-opcua 2.182 goes on with what it has of an ExtensionObject that it cannot decode: a filter whose where
 * clause is missing lets each event through.
 */
function noticeHalfObjects(): void {
  wrap<Construct>(ExtensionObject.schema.getDataTypeFactory(), "constructObject", (construct) => (type) => {
    const object = construct(type);
    if (isWhole) isWhole = false;
    else if (itemsLeft < Number.POSITIVE_INFINITY) noticeHalf(object);
    return object;
  });
}

/** Its length stands before it. */
function noticeHalf(object: Decodable): void {
  const decode = object.decode.bind(object);
  const checked: Decodable["decode"] = (stream, options) => {
    Reflect.deleteProperty(object, "decode");
    const end = stream.length + stream.buffer.readUInt32LE(stream.length - 4);
    try {
      decode(stream, options);
    } catch (error) {
      failure ??= StatusCodes.BadDecodingError;
      throw error;
    }
    if (stream.length !== end) failure ??= StatusCodes.BadDecodingError;
  };
  Object.defineProperty(object, "decode", { value: checked, configurable: true });
}

function isRequest(message: unknown): message is UndecodableRequest {
  return (
    typeof message === "object" &&
    message !== null &&
    Reflect.get(message, "requestHeader") instanceof RequestHeader
  );
}
