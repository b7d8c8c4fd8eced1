import { Argument, DataType, type UAMethod, type UAVariable, Variant, VariantArrayType } from "node-opcua";
import { germanOf, localized } from "./localized.ts";
import type { Text } from "./model/text.ts";
import { answerInGerman } from "./node-opcua/locales.ts";
import { standardId } from "./node-opcua/lower.ts";

/** An input or output of a method. */
export interface MethodArgument {
  readonly name: string;
  readonly dataType: DataType;
  readonly text: Text;
  readonly isList?: boolean;
}

/** As node-opcua takes it, in English. */
export function argumentOf({ name, dataType, text, isList = false }: MethodArgument) {
  return {
    name,
    dataType: standardId(dataType),
    valueRank: isList ? 1 : -1,
    description: localized(text),
  };
}

/** Lets German sessions read what the arguments of a method are. */
export function describeInGerman(
  method: UAMethod,
  inputs: readonly MethodArgument[],
  outputs: readonly MethodArgument[],
): void {
  const described = { InputArguments: inputs, OutputArguments: outputs };
  for (const [name, given] of Object.entries(described)) {
    const variable = method.getChildByName(name);
    if (variable === null) throw new Error(`${method.browseName.name} has no ${name}`);
    answerInGerman(variable as UAVariable, inGerman(given));
  }
}

function inGerman(given: readonly MethodArgument[]): Variant {
  return new Variant({
    dataType: DataType.ExtensionObject,
    arrayType: VariantArrayType.Array,
    value: given.map((each) => {
      const argument = argumentOf(each);
      return new Argument({ ...argument, description: germanOf(argument.description) });
    }),
  });
}
