import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../wire/grpc/reflection/v1/reflection_pb.js";
import { codes, Refusal } from "../refusal.ts";
import { createDescriptorIndex, type DescriptorIndex } from "./descriptor-index.ts";
import type { GrpcMethod } from "./method.ts";

/**
 * Server reflection, v1 and v1alpha (their messages have the same numbers), for generic clients. Needs no
 * token.
 */
export function reflectionMethods(
  fleetNames: readonly string[],
  otherNames: readonly string[],
): ReadonlyMap<string, GrpcMethod> {
  const names = [...fleetNames, ...otherNames, ServerReflection.typeName];
  const index = createDescriptorIndex(fleetNames);
  const method: GrpcMethod = {
    kind: "dialogue",
    answer(bytes) {
      const request = decode(bytes);
      return toBinary(
        ServerReflectionResponseSchema,
        create(ServerReflectionResponseSchema, {
          validHost: request.host,
          originalRequest: request,
          messageResponse: respond(request.messageRequest, names, index),
        }),
      );
    },
  };
  const call = ServerReflection.method.serverReflectionInfo.name;
  return new Map([
    [`/${ServerReflection.typeName}/${call}`, method],
    [`/grpc.reflection.v1alpha.ServerReflection/${call}`, method],
  ]);
}

type Question = ServerReflectionRequest["messageRequest"];
type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

function respond(question: Question, names: readonly string[], index: DescriptorIndex): Answer {
  switch (question.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(index.byFileName(question.value), question.value);
    case "fileContainingSymbol":
      return files(index.bySymbol(question.value), question.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      return files(
        index.byExtension(containingType, extensionNumber),
        `${containingType} ${extensionNumber}`,
      );
    }
    case "allExtensionNumbersOfType":
      return {
        case: "allExtensionNumbersResponse",
        value: {
          baseTypeName: question.value,
          extensionNumber: [...index.extensionNumbers(question.value)],
        },
      };
    case undefined:
      return failure(codes.INVALID_ARGUMENT, "the request asks nothing");
  }
}

function files(found: readonly Uint8Array[] | undefined, asked: string): Answer {
  if (found === undefined) return failure(codes.NOT_FOUND, `${asked} is not known`);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [...found] } };
}

function failure(errorCode: number, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function decode(bytes: Uint8Array): ServerReflectionRequest {
  try {
    return fromBinary(ServerReflectionRequestSchema, bytes);
  } catch {
    throw new Refusal("INVALID_ARGUMENT", "the request is no ServerReflectionRequest");
  }
}
