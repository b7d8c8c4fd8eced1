import { crc32 } from "node:zlib";

/** Bytes before the text of a record: its checksum and its key's, joined by exclusive or. */
const SEAL_BYTES = 4;

/** Describes a damaged record. */
export const damagedRecord = "a record is not as it was written";

/** The checksum of a record is wrong. */
export class RecordDamaged extends Error {
  override readonly name: string = "RecordDamaged";
}

/** A record as it is on the disk: a checksum over key and value, then the value as JSON. */
export function sealRecord(key: string, value: unknown): Buffer {
  const text = JSON.stringify(value);
  const bytes = Buffer.allocUnsafe(SEAL_BYTES + Buffer.byteLength(text));
  bytes.write(text, SEAL_BYTES);
  // JSON has no lone surrogate, so the text and its bytes have the same checksum.
  bytes.writeInt32LE(crc32(text) ^ crc32(key));
  return bytes;
}

/** The value of a record. @throws RecordDamaged */
export function openRecord(key: string, bytes: Buffer): unknown {
  if (!isIntact(key, keySumOf(bytes))) throw new RecordDamaged(damagedRecord);
  return JSON.parse(bytes.toString("utf8", SEAL_BYTES));
}

/** The checksum of the key of an intact record. lmdb's own buffer is longer than its `length`. */
export function keySumOf(bytes: Buffer): number {
  if (bytes.length < SEAL_BYTES) return Number.NaN;
  return crc32(bytes.subarray(SEAL_BYTES, bytes.length)) ^ bytes.readInt32LE();
}

export function isIntact(key: string, keySum: number): boolean {
  return (crc32(key) | 0) === keySum;
}
