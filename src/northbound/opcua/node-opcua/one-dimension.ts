import { CallRequest, type OPCUAServer, type Variant, VariantArrayType, WriteRequest } from "node-opcua";

/**
 * Reads a written value, or a method's argument, with one dimension, such as `Int32[12]` with the dimensions
 * `[12]`, as an array: some clients send the dimensions of every array. node-opcua 2.182 reads it as a
 * matrix. For an initialised server that does not listen yet, before other patches handle its requests.
 */
export function takeOneDimension(server: OPCUAServer): void {
  server.on("request", (request) => {
    if (request instanceof WriteRequest) {
      for (const { value } of request.nodesToWrite ?? []) flatten(value.value);
    } else if (request instanceof CallRequest) {
      for (const { inputArguments } of request.methodsToCall ?? []) inputArguments?.forEach(flatten);
    }
  });
}

function flatten(variant: Variant | null): void {
  if (variant?.arrayType !== VariantArrayType.Matrix) return;
  const { dimensions, value } = variant;
  if (dimensions?.length !== 1 || dimensions[0] !== value?.length) return;
  variant.arrayType = VariantArrayType.Array;
  variant.dimensions = null;
}
