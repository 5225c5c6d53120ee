import type { Position } from '#kernel/base/brands.ts';
import type { StreamCut } from '#shared/event-log/errors.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { MalformedEvent, UnknownEventType } from '#shared/events/errors.ts';
import { MasterKeyMismatch } from '#shared/keys/key-store.ts';
import type { Parked } from '#shared/read-model/parked.ts';

/**
 * The reason why an event could not be decoded. Rethrows failures that are not the event’s fault, such as an
 * unreachable key store.
 */
export const undecodable = (event: RecordedEvent, error: unknown): Parked => {
  if (EXPLAINED.some((kind) => error instanceof kind)) return parkedBy(event, (error as Error).message);
  if (error instanceof TypeError || error instanceof SyntaxError)
    return parkedBy(event, `Decoding the event fails with a ${error.name}`);
  throw error;
};

/** Their messages explain the fault, and quote no content. */
const EXPLAINED = [MalformedEvent, UnknownEventType, MasterKeyMismatch];

/**
 * SQLSTATE classes by which PostgreSQL refuses values: data exceptions, constraints, and limits of its own.
 */
const OF_VALUES = ['22', '23', '54'];

/** Whether the database refuses the values; any other failure would park every aggregate. */
export const isRefusalOfValues = (error: unknown): error is Refusal =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  OF_VALUES.includes(error.code.slice(0, 2));

type Refusal = Error & { readonly code: string; readonly constraint?: string };

/** Leaves out the server’s own message, because it quotes values, which may be personal. */
export const unwritable = (event: Pick<RecordedEvent, NamedField>, { code, constraint }: Refusal): Parked =>
  parkedBy(
    event,
    `The database refuses the values of the event: SQLSTATE ${code}${constraint === undefined ? '' : `, constraint ${constraint}`}`,
  );

/** The event that the stream lacks first; nobody knows its type any more. */
export const cutAt = ({ stream, lacks, message: reason }: StreamCut, position: Position): Parked => ({
  ...{ stream, version: lacks.from, position, type: '', reason },
});

type NamedField = 'stream' | 'version' | 'position' | 'type';

const parkedBy = (
  { stream, version, position, type }: Pick<RecordedEvent, NamedField>,
  reason: string,
): Parked => ({
  stream,
  version,
  position,
  type,
  reason,
});
