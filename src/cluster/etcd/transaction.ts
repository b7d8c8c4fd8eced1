import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Compare_CompareResult,
  Compare_CompareTarget,
  type CompareSchema,
  type RequestOpSchema,
  type ResponseOp,
  type TxnRequest,
  TxnRequestSchema,
  type TxnResponse,
} from "../../wire/etcd/rpc_pb.js";
import { type Entry, entryOf, type Keys, keyRange } from "./values.ts";

export type Relation = "equal" | "not_equal" | "greater" | "less";

/**
 * A condition on one key, or on each key of a prefix. Of a key that is absent, and of a prefix without keys,
 * all numbers are 0, and the value is met by nothing.
 */
export type Comparison = Keys &
  (
    | {
        readonly target: "create_revision" | "mod_revision" | "version" | "lease";
        readonly is: Relation;
        readonly to: bigint;
      }
    | { readonly target: "value"; readonly is: Relation; readonly to: Uint8Array }
  );

export interface Put {
  readonly kind: "put";
  readonly key: string;
  readonly value: Uint8Array;
  /** The key ends with this lease. */
  readonly lease?: bigint;
}

export type Operation =
  | Put
  | { readonly kind: "delete"; readonly keys: Keys }
  | { readonly kind: "range"; readonly keys: Keys }
  /** Its comparisons decide about its own operations only. */
  | { readonly kind: "transaction"; readonly transaction: Transaction };

/** Does `success` if all comparisons are met, else `failure`; as a whole, or not at all. */
export interface Transaction {
  readonly compare?: readonly Comparison[];
  readonly success?: readonly Operation[];
  readonly failure?: readonly Operation[];
}

export type OperationResult =
  | { readonly kind: "put" }
  | { readonly kind: "delete"; readonly deleted: bigint }
  | { readonly kind: "range"; readonly entries: readonly Entry[] }
  | { readonly kind: "transaction"; readonly result: TransactionResult };

export interface TransactionResult {
  /** Whether the comparisons were met. */
  readonly succeeded: boolean;
  /** One for each operation that was done, in their order. */
  readonly results: readonly OperationResult[];
}

/** etcd's default (`--max-txn-ops`). */
const MOST_OPERATIONS = 128;

export function transactionRequest(transaction: Transaction): TxnRequest {
  return create(TxnRequestSchema, requestOf(transaction));
}

function requestOf({ compare, success, failure }: Transaction): MessageInitShape<typeof TxnRequestSchema> {
  return {
    compare: (compare ?? []).map(compareOf),
    success: (success ?? []).map(operationOf),
    failure: (failure ?? []).map(operationOf),
  };
}

const relations: Readonly<Record<Relation, Compare_CompareResult>> = {
  equal: Compare_CompareResult.EQUAL,
  not_equal: Compare_CompareResult.NOT_EQUAL,
  greater: Compare_CompareResult.GREATER,
  less: Compare_CompareResult.LESS,
};

function compareOf(comparison: Comparison): MessageInitShape<typeof CompareSchema> {
  const common = { ...keyRange(comparison), result: relations[comparison.is] };
  const { target, to } = comparison;
  switch (target) {
    case "create_revision":
      return {
        ...common,
        target: Compare_CompareTarget.CREATE,
        targetUnion: { case: "createRevision", value: to },
      };
    case "mod_revision":
      return {
        ...common,
        target: Compare_CompareTarget.MOD,
        targetUnion: { case: "modRevision", value: to },
      };
    case "version":
      return {
        ...common,
        target: Compare_CompareTarget.VERSION,
        targetUnion: { case: "version", value: to },
      };
    case "lease":
      return { ...common, target: Compare_CompareTarget.LEASE, targetUnion: { case: "lease", value: to } };
    case "value":
      return { ...common, target: Compare_CompareTarget.VALUE, targetUnion: { case: "value", value: to } };
  }
}

function operationOf(operation: Operation): MessageInitShape<typeof RequestOpSchema> {
  switch (operation.kind) {
    case "put": {
      const { key, value, lease = 0n } = operation;
      return { request: { case: "requestPut", value: { key: Buffer.from(key), value, lease } } };
    }
    case "delete":
      return { request: { case: "requestDeleteRange", value: keyRange(operation.keys) } };
    case "range":
      return { request: { case: "requestRange", value: keyRange(operation.keys) } };
    case "transaction":
      return { request: { case: "requestTxn", value: requestOf(operation.transaction) } };
  }
}

export function transactionResult({ succeeded, responses }: TxnResponse): TransactionResult {
  return { succeeded, results: responses.map(resultOf) };
}

function resultOf({ response }: ResponseOp): OperationResult {
  switch (response.case) {
    case "responsePut":
      return { kind: "put" };
    case "responseDeleteRange":
      return { kind: "delete", deleted: response.value.deleted };
    case "responseRange":
      return { kind: "range", entries: response.value.kvs.map(entryOf) };
    case "responseTxn":
      return { kind: "transaction", result: transactionResult(response.value) };
    case undefined:
      throw new Error("etcd answered an operation with nothing");
  }
}

/** What is too much for etcd in a transaction, in words; null: nothing. */
export function operationsProblem(transaction: Transaction): string | null {
  return tooMany(transaction, MOST_OPERATIONS);
}

/**
 * As etcd counts: of a transaction its longest list counts, and a nested one has what that list leaves. So
 * 127 transactions of one operation fit into one, and 128 do not.
 */
function tooMany({ compare = [], success = [], failure = [] }: Transaction, most: number): string | null {
  const count = Math.max(compare.length, success.length, failure.length);
  if (count > most) {
    return most === MOST_OPERATIONS
      ? `a transaction of ${count} operations, and etcd takes ${most}`
      : `a nested transaction of ${count} operations, where its outer ones leave room for ${most}`;
  }
  for (const operation of [...success, ...failure]) {
    const problem = operation.kind === "transaction" ? tooMany(operation.transaction, most - count) : null;
    if (problem !== null) return problem;
  }
  return null;
}
