import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { SealBroken } from '#shared/keys/seal.ts';
import { LIFETIMES_S } from '../security/lifetimes.ts';
import type { RecordSeal } from './seal-record.ts';
import { insertUsedOnce } from './statements.ts';

/**
 * State between two pages that the server does not store: the browser carries it, encrypted. A ticket is
 * valid for a limited time, for one purpose, and for one browser, by the values it is bound to.
 */
export type Tickets = {
  issue(purpose: Purpose, boundTo: readonly string[], content: Content): string;
  /** Returns the content; undefined if the ticket is invalid or expired. */
  open(purpose: Purpose, boundTo: readonly string[], ticket: string): Content | undefined;
  /** Opens it once: of parallel callers, one gets the content. */
  use(purpose: Purpose, boundTo: readonly string[], ticket: string): Promise<Content | undefined>;
};

type Content = Readonly<Record<string, string>>;
type Kept = { readonly content: Content; readonly id: string; readonly endsAtMs: number };

const MS_PER_SECOND = 1_000;
const MINUTE_MS = 60_000;
/** The lifetime of each purpose. */
const LIFETIMES_MS = {
  'second step': 10 * MINUTE_MS,
  'second factor': 30 * MINUTE_MS,
  // As long as its page may stay open.
  passkey: LIFETIMES_S.Interaction * MS_PER_SECOND,
  // A person at an identity provider may have to find a phone first.
  'upstream sign-in': 20 * MINUTE_MS,
  'upstream link': 20 * MINUTE_MS,
  'new passkey': 5 * MINUTE_MS,
  'confirm address': 24 * 60 * MINUTE_MS,
} as const;
type Purpose = keyof typeof LIFETIMES_MS;

export const TICKET_MAX = 1_000;
const ID_BYTES = 16;

type Dependencies = { readonly pool: Pool; readonly seal: RecordSeal; readonly clock: Clock };

export const createTickets = ({ pool, seal, clock }: Dependencies): Tickets => {
  const bindingOf = (purpose: Purpose, boundTo: readonly string[]): Buffer =>
    seal.hash(`ticket ${purpose}`, JSON.stringify(boundTo));
  const unsealed = (purpose: Purpose, boundTo: readonly string[], ticket: string): Kept | undefined => {
    try {
      const kept = seal.unseal(
        `ticket ${purpose}`,
        bindingOf(purpose, boundTo),
        Buffer.from(ticket, 'base64url'),
      ) as Kept;
      return kept.endsAtMs > clock.nowMs() ? kept : undefined;
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  };
  return {
    issue(purpose, boundTo, content) {
      const id = randomBytes(ID_BYTES).toString('base64url');
      const kept = { content, id, endsAtMs: clock.nowMs() + LIFETIMES_MS[purpose] } satisfies Kept;
      return seal.seal(`ticket ${purpose}`, bindingOf(purpose, boundTo), kept).toString('base64url');
    },
    open: (purpose, boundTo, ticket) => unsealed(purpose, boundTo, ticket)?.content,
    async use(purpose, boundTo, ticket) {
      const kept = unsealed(purpose, boundTo, ticket);
      if (kept === undefined) return undefined;
      const isFirst = await insertUsedOnce(
        pool,
        seal.hash('used once', `ticket\0${kept.id}`),
        LIFETIMES_MS[purpose] / MS_PER_SECOND,
      );
      return isFirst ? kept.content : undefined;
    },
  };
};
