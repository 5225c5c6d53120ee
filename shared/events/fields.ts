import * as z from 'zod';
import { token, visibleText } from '#kernel/declare/values.ts';
import type { LogIdentity, Position, UserId, Version, WebhookId } from '#shared/brands.ts';

/** The brand is given here, where the number has just been checked. */
export const userId = z.int().positive() as unknown as z.ZodType<UserId, number>;
export const webhookId = z.int().positive() as unknown as z.ZodType<WebhookId, number>;

/** A version of a stream; 0 is the version of a stream without events. */
export const version = z.int().nonnegative() as unknown as z.ZodType<Version, number>;

/** A place in the log; 0 is the place before the first event. */
export const position = z.int().nonnegative() as unknown as z.ZodType<Position, number>;

/**
 * A place for events to hold, which are copied from log to log: it says in which log it is that. Nothing
 * means the log that the event is in, because the first release did not say. Where a span ends is told from
 * where one begins, because of what either is in another log.
 */
const place = { log: (z.uuid() as unknown as z.ZodType<LogIdentity, string>).nullable(), position };
export const beginning = z.strictObject(place);
export const end = z.strictObject(place);

/** As a role can be called. */
export const roleName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/);
/** What rights compare of a user; fields of the kernel’s types that are one value. */
export const attributes = z.record(
  z.string().max(100),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);
/** Of the domain, or `admin`. */
export type Role = string;

export const name = visibleText(100);

const NAMES_MAX = 50;
export const names = z.array(token).max(NAMES_MAX) as unknown as z.ZodType<
  readonly string[],
  readonly string[]
>;
