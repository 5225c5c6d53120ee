import { createCollection, createOptimisticAction, eq, queryOnce } from '@tanstack/db';
import { expectTypeOf, test } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import { createClient } from '../client/client.ts';
import type { expenses } from '../examples/expenses/domain/domain.ts';
import { annalsCollection, annalsCommand } from '../package/tanstack.ts';
import type { spendingDomain } from '../test/toy/spending.ts';

// tsc checks what compiles here and what does not; nothing of it is called.

const client = createClient<typeof publishing>({ url: 'http://localhost:4000' });
const ofViews = createClient<typeof spendingDomain>({ url: 'http://localhost:4000' });

const lists = async () => {
  const articles = createCollection(
    annalsCollection({
      client,
      list: client.articles,
      query: { status: 'draft', tag: 'x', sort: '-publishedAt' },
      subscribe: ['article.*', 'comment.added'],
      onInsert: ({ item, options }) => {
        expectTypeOf(item.title).toEqualTypeOf<string>();
        return client.articles.create({ title: item.title, body: item.body }, options);
      },
      onUpdate: async ({ original, changes, unchanged, options }) => {
        expectTypeOf(original.status).toEqualTypeOf<'draft' | 'published'>();
        expectTypeOf(changes.title).toEqualTypeOf<string | undefined>();
        // @ts-expect-error: there is no such field.
        changes.titel;
        return client.articles.edit(await unchanged(), { title: changes.title ?? '' }, options);
      },
      onDelete: ({ original, options }) => client.articles.delete(original.id, options),
    }),
  );
  expectTypeOf(articles.get(7)?.author).toEqualTypeOf<
    { readonly id: number; readonly name: string } | undefined
  >();
  // @ts-expect-error: the key is a number.
  articles.get('7');
  articles.update(7, (article) => {
    article.title = 'Two';
    // @ts-expect-error: there is no such state.
    article.status = 'printed';
  });
  articles.insert(articles.utils.draft({ title: 'Three' }));
  // @ts-expect-error: there is no such field.
  articles.utils.draft({ titel: 'Three' });
  expectTypeOf(articles.utils.connection().state).toEqualTypeOf<'connecting' | 'live' | 'refused'>();
  const found = await queryOnce((query) =>
    query.from({ article: articles }).where(({ article }) => eq(article.status, 'draft')),
  );
  expectTypeOf(found[0]?.title).toEqualTypeOf<string | undefined>();
  const publish = createOptimisticAction(
    annalsCommand({
      onMutate: (id: number) => void articles.update(id, () => {}),
      command: (id: number, options) => client.articles.publish(id, undefined, options),
      also: [articles],
    }),
  );
  expectTypeOf(publish).parameter(0).toEqualTypeOf<number>();
};

const others = () => {
  const comments = createCollection(
    annalsCollection({ client, list: client.articles.of(7).comments, limit: 50 }),
  );
  expectTypeOf(comments.get(1)?.articleId).toEqualTypeOf<number | undefined>();
  const spending = createCollection(
    annalsCollection({ client: ofViews, list: ofViews.spending, query: { team: 3 } }),
  );
  expectTypeOf(spending.get('3')?.paid).toEqualTypeOf<number | undefined>();
  // @ts-expect-error: rows of views have the path of their key.
  spending.get(3);
  // @ts-expect-error: there is no such state.
  annalsCollection({ client, list: client.articles, query: { status: 'printed' } });
  // @ts-expect-error: the collection pages by itself.
  annalsCollection({ client, list: client.articles, query: { after: 'x' } });
  // @ts-expect-error: there is no such type of event.
  annalsCollection({ client, list: client.articles, subscribe: ['article.printed'] });
  // @ts-expect-error: comments are listed under an article.
  annalsCollection({ client, list: client.comments });
};

/** A reference that is also a filter, and one that may be empty. */
const references = async (client: ReturnType<typeof createClient<typeof expenses>>) => {
  const claim = await client.claims.get(1);
  expectTypeOf(claim.team).toEqualTypeOf<{ readonly id: number; readonly name: string | null }>();
  expectTypeOf(claim.paidBy).toEqualTypeOf<{ readonly id: number; readonly name: string | null } | null>();
};

test('the types of collections follow from the declaration', () => {
  expectTypeOf(lists).toBeFunction();
  expectTypeOf(others).toBeFunction();
  expectTypeOf(references).toBeFunction();
});
