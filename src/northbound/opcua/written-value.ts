import { type DataType, type NumericRange, type Variant, VariantArrayType } from "node-opcua";

/** Whether one whole value of the type was written: no list of them, and no part of one. */
export function isWholeValue(variant: Variant, type: DataType, range: NumericRange | null): boolean {
  return variant.dataType === type && variant.arrayType === VariantArrayType.Scalar && range === null;
}
