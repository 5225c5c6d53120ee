import * as z from 'zod';
import type { LogIdentity, Position, UserId, Version, WebhookId } from '../brands.ts';
import { token, visibleText } from '../values.ts';

/** The brand is given here, where the number has just been checked. */
export const userId = z.int().positive() as unknown as z.ZodType<UserId, number>;
export const webhookId = z.int().positive() as unknown as z.ZodType<WebhookId, number>;

/** A version of a stream; 0 is the version of a stream without events. */
export const version = z.int().nonnegative() as unknown as z.ZodType<Version, number>;

/** A position in the log; 0 is the position before the first event. */
export const position = z.int().nonnegative() as unknown as z.ZodType<Position, number>;

/**
 * A position within an event, with the identity of its log, because events are copied from log to log. A null
 * log means the log of the event itself: the first release did not state it. The beginning and the end of a
 * span have schemas of their own, because each has another meaning in another log.
 */
const place = { log: (z.uuid() as unknown as z.ZodType<LogIdentity, string>).nullable(), position };
export const beginning = z.strictObject(place);
export const end = z.strictObject(place);

export const roleName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/);
/** The attributes of a user that rights compare; fields with a single value. */
export const attributes = z.record(
  z.string().max(100),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);
/** A role of the domain, or `admin`. */
export type Role = string;

export const name = visibleText(100);

const NAMES_MAX = 50;
export const names = z.array(token).max(NAMES_MAX) as unknown as z.ZodType<
  readonly string[],
  readonly string[]
>;
/** A token can have every scope of a domain with hundreds of aggregates. */
export const SCOPES_MAX = 2_000;
export const scopeNames = z.array(token).max(SCOPES_MAX) as unknown as z.ZodType<
  readonly string[],
  readonly string[]
>;
