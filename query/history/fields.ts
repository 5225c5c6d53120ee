import type { LogIdentity, Position } from '#shared/brands.ts';
import type { FieldChange } from '#shared/rest/history.ts';
import type { Kind } from '../as-of/aggregates.ts';
import { missedSince } from '../webhooks/representation.ts';
import { diffLines } from './line-diff.ts';

/** What a column of the read model is called where clients see it. Others say nothing that the entry does not say itself. */
const FIELDS: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  user: { name: 'name', email: 'email', role: 'role' },
  article: {
    author_id: 'author.id',
    title: 'title',
    body: 'body',
    tags: 'tags',
    status: 'status',
    cover: 'cover',
    published_at: 'publishedAt',
  },
  comment: { article_id: 'articleId', author_id: 'author.id', text: 'text' },
  webhook: {
    owner_id: 'ownerId',
    url: 'url',
    description: 'description',
    event_types: 'eventTypes',
    filter_article_id: 'filter.articleId',
    filter_author_id: 'filter.authorId',
    payload: 'payload',
    is_ordered: 'ordered',
    rate_per_second: 'limits.ratePerSecond',
    concurrency: 'limits.concurrency',
    header_names: 'headers',
    scopes: 'scopes',
    is_enabled: 'enabled',
    disabled_reason: 'disabledReason',
    missed_since: 'missedSince',
    old_secrets_end_at: 'secretsEndAt',
  },
};

export const fieldOf = (kind: Kind, column: string): string | undefined => FIELDS[kind]?.[column];

/** What an event has set of those columns; a place in the log is told together with the log that it is of. */
export const valuesIn = (kind: Kind, row: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(row)
      .filter(([column]) => fieldOf(kind, column) !== undefined)
      .map(([column, value]) => [column, column === 'missed_since' && value !== null ? { log: row.missed_log, position: value } : value]),
  );

type Told = NonNullable<FieldChange['from']> | null;
type Values = { readonly from: unknown; readonly to: unknown };

/** Texts that are read by the line. */
const TEXTS: ReadonlySet<string> = new Set(['body', 'text', 'description']);
/** What is no longer than this is easier read as it was and as it became. */
const SHORT_CHARACTERS = 200;

/** How a field is told to have changed. */
export const fieldChange = (field: string, { from, to }: Values, identity: LogIdentity): FieldChange => {
  const isLong = [from, to].some((text) => typeof text === 'string' && (text.length > SHORT_CHARACTERS || text.includes('\n')));
  if (!TEXTS.has(field) || !isLong) return { field, from: told(field, from, identity), to: told(field, to, identity) };
  const { text, isTruncated } = diffLines(String(from ?? ''), String(to ?? ''));
  return { field, diff: text, ...(isTruncated && { truncated: true }) };
};

/** Places in the log are cursors for clients; all else is JSON as the event had it. */
const told = (field: string, value: unknown, log: LogIdentity): Told => {
  if (field !== 'missedSince' || (value ?? null) === null) return (value ?? null) as Told;
  const place = value as { readonly log: LogIdentity | null; readonly position: Position };
  return missedSince({ missed_log: place.log, missed_since: place.position }, log);
};
