import { type DataType, type DataValue, type NumericRange, type Variant, VariantArrayType } from "node-opcua";

/** Whether one whole value of the type was written, and not a list or a part. */
export function isWholeValue(variant: Variant, type: DataType, range: NumericRange | null): boolean {
  return variant.dataType === type && variant.arrayType === VariantArrayType.Scalar && range === null;
}

/**
 * Whether only a value is written. Neither a status other than Good (0) nor a timestamp can be written:
 * `AccessLevel` has neither StatusWrite nor TimestampWrite (OPC UA part 4, 5.10.4).
 */
export function isValueAlone({ statusCode, sourceTimestamp, serverTimestamp }: DataValue): boolean {
  return statusCode.value === 0 && sourceTimestamp === null && serverTimestamp === null;
}
