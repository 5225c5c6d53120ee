import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { arbitraryEvent } from '#shared/events/arbitrary-event.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { ARTICLES, projectArticle } from './articles.ts';
import type { Table } from './change.ts';
import { COMMENTS, projectComment } from './comments.ts';
import { tablesOf } from './tables.ts';
import { projectUser, USERS } from './users.ts';

const tables = tablesOf(publishing);
const written: Record<string, [Table<never>, (event: never) => unknown]> = {
  user: [USERS as never, projectUser],
  article: [ARTICLES as never, projectArticle],
  comment: [COMMENTS as never, projectComment],
};

test.each(Object.entries(written))('%s: the same table', (kind, [table]) => {
  const derived = tables.ofKind(kind);
  const { name, columns, parent, personal } = derived ?? ({} as Table);
  expect({ name, columns, parent, personal }).toEqual({
    name: table.name,
    columns: table.columns,
    parent: table.parent,
    personal: table.personal,
  });
});

test('the same changes', () => {
  fc.assert(
    fc.property(arbitraryEvent, fc.option(fc.constant('seal'), { nil: undefined }), (event, seal) => {
      const [kind = ''] = event.type.split('.');
      const known = written[kind];
      if (!known) return;
      const whole = {
        ...event,
        version: 3,
        metadata: { at: '2026-01-01T00:00:00.000Z', actor: 'user:1' },
        ...(seal && { seal }),
      } as unknown as DecodedEvent;
      expect(tables.ofKind(kind)?.project(whole)).toEqual(known[1](whole as never));
    }),
    { numRuns: 2_000 },
  );
});
