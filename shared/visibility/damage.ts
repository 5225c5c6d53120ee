import { StreamCut } from '#shared/event-log/errors.ts';
import { MalformedEvent, UnknownEventType } from '#shared/events/errors.ts';
import { MasterKeyMismatch } from '#shared/keys/key-store.ts';

/** Whether the event is unreadable, rather than the database unreachable. */
export const isDamage = (error: unknown): boolean => KINDS.some((kind) => error instanceof kind);

const KINDS = [MalformedEvent, UnknownEventType, StreamCut, MasterKeyMismatch, TypeError, SyntaxError];
