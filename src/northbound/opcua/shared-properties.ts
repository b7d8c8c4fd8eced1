import {
  DataType,
  DataTypeIds,
  EnumValueType,
  type INamespace,
  type LocalizedText,
  makeEUInformation,
  Range,
  resolveNodeId,
  StatusCodes,
  type UAVariable,
  VariableTypeIds,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { germanOf, localized, textsOf } from "./localized.ts";
import type { EnumModel } from "./model/enum-model.ts";
import type { TagModel } from "./model/member.ts";
import type { Unit } from "./model/units.ts";
import { answerInGerman } from "./node-opcua/locales.ts";
import { cached } from "./node-opcua/lower.ts";

/** The property that names the values of an enumeration (OPC UA part 8, 5.3.3.4). */
export const ENUM_VALUES = "EnumValues";

/** The units of UN/CEFACT (OPC UA part 8, 5.6.4.3). */
const CEFACT = "http://www.opcfoundation.org/UA/units/un/cefact";

const propertyTexts = {
  [ENUM_VALUES]: {
    german: "Werte",
    en: "What each number means",
    de: "Was jede Zahl bedeutet",
  },
  EngineeringUnits: {
    german: "Einheit",
    en: "The unit of the value",
    de: "Die Einheit des Werts",
  },
  EURange: {
    german: "Bereich",
    en: "From where to where the value usually is; a percent deadband is a part of that",
    de: "Von wo bis wo der Wert üblicherweise liegt; ein Prozent-Totband ist ein Teil davon",
  },
} as const;

/** Properties that say the same of many tags: one node for all of them. */
export interface SharedProperties {
  /** Those of a tag; none of most. */
  of(model: Pick<TagModel, "enumeration" | "numbers" | "unit" | "range">): readonly UAVariable[];
}

/** Makes each when it is asked for first. */
export function createSharedProperties(namespace: INamespace): SharedProperties {
  const made = new Map<string, UAVariable>();

  function property(
    name: keyof typeof propertyTexts,
    of: string,
    type: DataTypeIds,
    value: (inGerman: boolean) => object | object[],
  ): UAVariable {
    return cached(made, `${name}.${of}`, () => {
      const english = variant(value(false));
      const variable = namespace.addVariable({
        browseName: { name, namespaceIndex: 0 },
        nodeId: `s=${name}.${of}`,
        ...textsOf(name, propertyTexts[name]),
        typeDefinition: resolveNodeId(VariableTypeIds.PropertyType),
        modellingRule: "Mandatory",
        dataType: resolveNodeId(type),
        valueRank: Array.isArray(english.value) ? 1 : -1,
        accessLevel: "CurrentRead",
        minimumSamplingInterval: 0,
      });
      variable.setValueFromSource(english, StatusCodes.Good);
      answerInGerman(variable, variant(value(true)));
      return variable;
    });
  }

  return {
    of({ enumeration = undefined, numbers = enumeration, unit, range }) {
      return [
        ...(numbers === undefined ? [] : [enumValues(numbers)]),
        ...(range === undefined ? [] : [euRange(range)]),
        ...(unit === undefined ? [] : [engineeringUnits(unit)]),
      ];
    },
  };

  function enumValues({ name, values }: EnumModel): UAVariable {
    return property(ENUM_VALUES, name, DataTypeIds.EnumValueType, (inGerman) =>
      values.map(
        ({ value, name: displayName, text }) =>
          new EnumValueType({
            value: [0, value],
            // With names of its own `ValueAsText` shows these, in every language.
            displayName: displayName === text.en ? told(localized(text), inGerman) : { text: displayName },
            description: told(localized(text), inGerman),
          }),
      ),
    );
  }
  function engineeringUnits(unit: Unit): UAVariable {
    return property("EngineeringUnits", unit.code, DataTypeIds.EUInformation, (inGerman) => {
      const information = makeEUInformation(unit.code, unit.symbol, unit.text.en);
      information.namespaceUri = CEFACT;
      information.description = told(localized(unit.text), inGerman);
      return information;
    });
  }
  function euRange([low, high]: readonly [number, number]): UAVariable {
    return property("EURange", `${low} to ${high}`, DataTypeIds.Range, () => new Range({ low, high }));
  }
}

function told(text: LocalizedText, inGerman: boolean): LocalizedText {
  return inGerman ? (germanOf(text) ?? text) : text;
}

function variant(value: object | object[]): Variant {
  const arrayType = Array.isArray(value) ? VariantArrayType.Array : VariantArrayType.Scalar;
  return new Variant({ dataType: DataType.ExtensionObject, arrayType, value });
}
