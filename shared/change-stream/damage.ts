import { MalformedEvent, UnknownEventType } from '#shared/events/errors.ts';
import { MasterKeyMismatch } from '#shared/keys/key-store.ts';

/** Whether it is the event that cannot be read, rather than the database that does not answer. */
export const isDamage = (error: unknown): boolean => KINDS.some((kind) => error instanceof kind);

const KINDS = [MalformedEvent, UnknownEventType, MasterKeyMismatch, TypeError, SyntaxError];
