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
import type { EnumModel, TagModel, Unit } from "./model/member.ts";
import { CEFACT, propertyTexts, type SharedProperty, sharedPropertiesOf } from "./model/properties.ts";
import { answerInGerman } from "./node-opcua/locales.ts";
import { cached } from "./node-opcua/lower.ts";

/** Properties with the same value for many tags: one node for all of them. */
export interface SharedProperties {
  /** Those of a tag; most tags have none. */
  of(model: Pick<TagModel, "enumeration" | "numbers" | "unit" | "range">): readonly UAVariable[];
}

type MakeValue = (inGerman: boolean) => object | object[];

/** Makes each at its first use. */
export function createSharedProperties(namespace: INamespace): SharedProperties {
  const made = new Map<string, UAVariable>();

  function property({ name, of }: SharedProperty, type: DataTypeIds, value: MakeValue): UAVariable {
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
        ...(Array.isArray(english.value) ? { arrayDimensions: [english.value.length] } : {}),
        accessLevel: "CurrentRead",
        minimumSamplingInterval: 0,
      });
      variable.setValueFromSource(english, StatusCodes.Good);
      answerInGerman(variable, variant(value(true)));
      return variable;
    });
  }

  function variableOf(shared: SharedProperty): UAVariable {
    switch (shared.name) {
      case "EnumValues":
        return property(shared, DataTypeIds.EnumValueType, enumValues(shared.enumeration));
      case "EngineeringUnits":
        return property(shared, DataTypeIds.EUInformation, engineeringUnits(shared.unit));
      case "EURange":
        return property(shared, DataTypeIds.Range, euRange(shared.range));
    }
  }

  return { of: (model) => sharedPropertiesOf(model).map(variableOf) };
}

function enumValues({ values }: EnumModel): MakeValue {
  return (inGerman) =>
    values.map(
      ({ value, name: displayName, text }) =>
        new EnumValueType({
          value: [0, value],
          // `ValueAsText` shows names of its own in every language.
          displayName:
            displayName === text.en ? translated(localized(text), inGerman) : { text: displayName },
          description: translated(localized(text), inGerman),
        }),
    );
}

function engineeringUnits(unit: Unit): MakeValue {
  return (inGerman) => {
    const information = makeEUInformation(unit.code, unit.symbol, unit.text.en);
    information.namespaceUri = CEFACT;
    information.description = translated(localized(unit.text), inGerman);
    return information;
  };
}

function euRange([low, high]: readonly [number, number]): MakeValue {
  return () => new Range({ low, high });
}

function translated(text: LocalizedText, inGerman: boolean): LocalizedText {
  return inGerman ? (germanOf(text) ?? text) : text;
}

function variant(value: object | object[]): Variant {
  const arrayType = Array.isArray(value) ? VariantArrayType.Array : VariantArrayType.Scalar;
  return new Variant({ dataType: DataType.ExtensionObject, arrayType, value });
}
