import { type DataType, type DataValue, type NumericRange, type Variant, VariantArrayType } from "node-opcua";

/** Whether one whole value of the type was written: no list of them, and no part of one. */
export function isWholeValue(variant: Variant, type: DataType, range: NumericRange | null): boolean {
  return variant.dataType === type && variant.arrayType === VariantArrayType.Scalar && range === null;
}

/**
 * Whether nothing but a value is written. No status but Good (0) and no timestamp can be: `AccessLevel` has
 * neither StatusWrite nor TimestampWrite (OPC UA part 4, 5.10.4).
 */
export function isValueAlone({ statusCode, sourceTimestamp, serverTimestamp }: DataValue): boolean {
  return statusCode.value === 0 && sourceTimestamp === null && serverTimestamp === null;
}
