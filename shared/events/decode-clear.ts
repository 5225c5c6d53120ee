import * as z from 'zod';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { type Origin, readMetadata } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { type ShownSignature, signatureOf } from '#kernel/base/signature.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Catalogue } from './catalogue.ts';
import { checkStream } from './check-stream.ts';
import { eraseFields, partStored } from './personal.ts';
import { upcast } from './upcast.ts';

/** An event without its personal fields, which needs no key. */
export type ClearEvent = {
  readonly type: string;
  readonly schemaVersion: number;
  readonly at: string;
  readonly importedAt?: string;
  readonly reason?: string;
  readonly signature?: ShownSignature;
  readonly origin: Origin;
  readonly data: JsonObject;
};

/** Upcasts and checks the clear data of an event; undefined if it violates its definition. */
export const decodeClear = (
  catalogue: Catalogue,
  { type, stream, data, metadata }: RecordedEvent,
): ClearEvent | undefined => {
  const definition = catalogue.find(type);
  if (definition === undefined) return undefined;
  try {
    const { version, at, importedAt, reason, signature, trace: _, ...origin } = readMetadata(metadata);
    // As after an erasure, when nobody can open them any more either.
    const erased = eraseFields(definition, upcast(definition, version, partStored(data).clear));
    const checked = definition.erasedSchema.parse(erased) as JsonObject;
    checkStream(definition, stream, checked);
    return {
      type,
      schemaVersion: definition.version,
      at,
      ...(importedAt !== undefined && { importedAt }),
      ...(reason !== undefined && { reason }),
      ...(signature !== undefined && { signature: signatureOf(signature) }),
      origin,
      data: withoutPersonal(definition, checked),
    };
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof RangeError) return undefined;
    throw error;
  }
};

const withoutPersonal = ({ personal }: EventDefinition, data: JsonObject): JsonObject => {
  if (personal === null) return data;
  const names = new Set(personal.fields);
  return Object.fromEntries(Object.entries(data).filter(([name]) => !names.has(name)));
};
