import type { UserId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { htmlPieces } from './html-pieces.ts';
import type { Section } from './section.ts';

export const FORMATS = ['json', 'html'] as const;
export type Format = (typeof FORMATS)[number];

export type Heading = {
  readonly userId: UserId;
  readonly at: string;
  /** The actor who requested it: a user, or the operator at the machine. */
  readonly by: string;
  /** The name of the domain. */
  readonly domain: string;
};

/** Says at the beginning of each export what it leaves out. */
export const LEFT_OUT = [
  'Data of other people is left out: of an item that only names this person, there are its number and the fields that name them, and of events by others no personal fields.',
  'Secrets are left out: passwords, codes, keys, tokens and the secrets of webhooks.',
  'An export that does not end with the word that it is complete was interrupted: ask again.',
] as const;

/** The export as a file, in pieces: no more than a record is in memory. */
export const writeExport = (
  format: Format,
  heading: Heading,
  sections: readonly Section[],
): AsyncGenerator<string> =>
  format === 'json' ? jsonPieces(heading, sections) : htmlPieces({ ...heading, leftOut: LEFT_OUT }, sections);

async function* jsonPieces(
  { userId, at, by, domain }: Heading,
  sections: readonly Section[],
): AsyncGenerator<string> {
  const heading = { format: 'annals-person-1', domain, userId, at, by, leftOut: LEFT_OUT };
  yield `${JSON.stringify(heading).slice(0, -1)},"sections":[`;
  for (const [index, { name, title, says, records }] of sections.entries()) {
    yield `${index === 0 ? '' : ','}\n${JSON.stringify({ name, title, says }).slice(0, -1)},"records":[`;
    let count = 0;
    for await (const record of records) {
      yield `${count === 0 ? '' : ','}\n${textOf(record)}`;
      count += 1;
    }
    yield `],"count":${count}}`;
  }
  yield '\n],"isComplete":true}\n';
}

/** PostgreSQL counts in numbers that are too large for JSON. */
const textOf = (record: JsonObject): string =>
  JSON.stringify(record, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

export const typeOf = (format: Format): string =>
  format === 'json' ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8';

export const fileNameOf = ({ userId, at }: Pick<Heading, 'userId' | 'at'>, format: Format): string =>
  `person-${userId}-${at.slice(0, 'yyyy-mm-dd'.length)}.${format}`;
