/**
 * An Error message (OPC UA part 6, 7.1.2.5): header, status code, reason. A server sends it if it cannot
 * secure an answer, or need not, and every client understands it.
 */
export function errorFrame(status: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const frame = Buffer.alloc(16 + text.byteLength);
  frame.write("ERRF", "latin1");
  frame.writeUInt32LE(frame.byteLength, 4);
  frame.writeUInt32LE(status, 8);
  frame.writeUInt32LE(text.byteLength, 12);
  text.copy(frame, 16);
  return frame;
}
