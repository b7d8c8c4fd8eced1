/**
 * Checks the framing of an MQTT byte stream: a fixed header gives the length of its packet, and aedes would
 * collect up to 256 MB for one before it is checked. The returned function is called with each chunk, and
 * returns whether all is well.
 */
export function createFrameLimit(limitBytes: number): (chunk: Uint8Array) => boolean {
  /** Bytes of the current packet's body still to come; negative while its header is read. */
  let bodyLeft = -1;
  let length = 0;
  let shift = 0;
  let typeSeen = false;
  return (chunk) => {
    let at = 0;
    while (at < chunk.byteLength) {
      if (bodyLeft > 0) {
        const skipped = Math.min(bodyLeft, chunk.byteLength - at);
        bodyLeft -= skipped;
        at += skipped;
        if (bodyLeft === 0) bodyLeft = -1;
        continue;
      }
      const byte = chunk[at] ?? 0;
      at += 1;
      if (!typeSeen) {
        typeSeen = true;
        length = 0;
        shift = 0;
        continue;
      }
      // The remaining length: seven bits a byte, lowest first, at most four bytes (MQTT 3.1.1, 2.2.3).
      length += (byte & 0x7f) << shift;
      shift += 7;
      const more = (byte & 0x80) !== 0;
      if (length > limitBytes || (more && shift > 21)) return false;
      if (more) continue;
      typeSeen = false;
      bodyLeft = length === 0 ? -1 : length;
    }
    return true;
  };
}
