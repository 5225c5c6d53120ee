import { expect, expectTypeOf, test } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import type { publishingWithCollections } from '../test/toy/collections.ts';
import type { helpdesk } from '../test/toy/helpdesk.ts';
import type { lending } from '../test/toy/lending.ts';
import type { plans } from '../test/toy/plans.ts';
import type { privateHelpdesk } from '../test/toy/private-helpdesk.ts';
import { can } from './can.ts';
import { createClient } from './client.ts';
import type { Problem } from './problem.ts';
import type { AggregatesOf } from './types/declared.ts';
import type { ProblemCode } from './types/problems.ts';
import type { Item, Written } from './types/representation.ts';

// tsc checks what compiles here and what does not; nothing of it is called.

const never = createClient<typeof publishing>({ url: 'http://localhost:4000' });
type Publishing = typeof publishing;
type Article = Item<Extract<AggregatesOf<Publishing>, { kind: 'article' }>, Publishing>;

const items = async (client: typeof never) => {
  const article = await client.articles.get(1, { at: 'v3' });
  expectTypeOf(article.title).toEqualTypeOf<string>();
  expectTypeOf(article.author).toEqualTypeOf<{ readonly id: number; readonly name: string }>();
  expectTypeOf(article.status).toEqualTypeOf<'draft' | 'published'>();
  expectTypeOf(article.tags).toEqualTypeOf<readonly string[]>();
  expectTypeOf(article.cover).toEqualTypeOf<string | null>();
  expectTypeOf(article.publishedAt).toEqualTypeOf<string | null>();
  expectTypeOf(article.updatedAt).toEqualTypeOf<string>();
  expectTypeOf(article).toEqualTypeOf<Article>();
  // @ts-expect-error: there is no such field.
  article.titel;
  const comment = await client.comments.get(2);
  expectTypeOf(comment.articleId).toEqualTypeOf<number>();
  const user = await client.me();
  expectTypeOf(user.email).toEqualTypeOf<string | null | undefined>();
  expectTypeOf(user.role).toEqualTypeOf<'reader' | 'author' | 'admin' | undefined>();
  expectTypeOf(can(article, 'publish')).toEqualTypeOf<boolean>();
  // @ts-expect-error: there is no such action.
  can(article, 'print');
};

const lists = async (client: typeof never) => {
  for await (const { title } of client.articles.list({
    status: 'draft',
    tag: 'x',
    author: 7,
    q: 'word',
    sort: '-publishedAt',
    limit: 5,
  }))
    expectTypeOf(title).toEqualTypeOf<string>();
  // @ts-expect-error: there is no such state.
  client.articles.list({ status: 'printed' });
  // @ts-expect-error: it cannot be ordered by this.
  client.articles.list({ sort: 'title' });
  // @ts-expect-error: comments are listed under an article.
  client.comments.list();
  client.articles.of(1).comments.list({ sort: '-createdAt' });
  client.users.of(1).articles.list({ status: 'draft' });
  const { groups, hasMore } = await client.articles.aggregate({
    groupBy: ['author', 'status', 'month(publishedAt)'],
    measures: ['count', 'max(publishedAt)'],
    having: ['count:3..'],
    sort: ['-count'],
    status: 'draft',
  });
  expectTypeOf(groups).toEqualTypeOf<
    readonly {
      readonly key: {
        readonly author: number | null;
        readonly status: 'draft' | 'published' | null;
        readonly publishedAt: string | null;
      };
      readonly count: number;
      readonly max: { readonly publishedAt: string | null };
    }[]
  >();
  expectTypeOf(hasMore).toEqualTypeOf<boolean>();
  const whole = await client.users.of(1).articles.aggregate();
  expectTypeOf(whole.groups[0]?.count).toEqualTypeOf<number | undefined>();
  // @ts-expect-error: texts have no sum.
  client.articles.aggregate({ measures: ['sum(title)'] });
  // @ts-expect-error: times are grouped by period.
  client.articles.aggregate({ groupBy: ['publishedAt'] });
  // @ts-expect-error: files are in no group.
  client.articles.aggregate({ groupBy: ['cover'] });
  // @ts-expect-error: comments are grouped under an article.
  client.comments.aggregate();
  client.articles.of(1).comments.aggregate({ groupBy: ['author'] });
  // @ts-expect-error: there is no such list.
  client.articles.of(1).notes;
  // @ts-expect-error: there is no such collection.
  client.books;
};

const commands = async (client: typeof never) => {
  expectTypeOf(await client.articles.create({ title: 'x', body: 'y' })).toEqualTypeOf<Written>();
  await client.articles.create({
    title: 'x',
    body: 'y',
    tags: ['a'],
    cover: null,
    publish: true,
    authorId: 7,
  });
  // @ts-expect-error: an article has a body.
  client.articles.create({ title: 'x' });
  // @ts-expect-error: there is no such field.
  client.articles.create({ title: 'x', body: 'y', subtitle: 'z' });
  const written = await client.articles.edit(1, { title: 'x' });
  await client.articles.publish(written, undefined, { idempotencyKey: 'mine', ifMatch: false });
  // @ts-expect-error: it takes no form.
  client.articles.publish(1, { title: 'x' });
  // @ts-expect-error: there is no such command.
  client.articles.print(1);
  // @ts-expect-error: a state is changed by commands alone.
  client.articles.edit(1, { status: 'published' });
  await client.articles.putFile(1, 'cover', new Blob([]));
  // @ts-expect-error: a title is no file.
  client.articles.putFile(1, 'title', new Blob([]));
  await client.articles.of(1).comments.create({ text: 'x' });
  await client.comments.edit(2, { text: 'x' });
  // @ts-expect-error: the only field must be there.
  client.comments.edit(2, {});
  expectTypeOf(await client.articles.delete(1)).toEqualTypeOf<void>();
};

const events = async (client: typeof never) => {
  for await (const event of client.follow({ types: ['article.drafted', 'comment.*'] })) {
    expectTypeOf(event.type).toEqualTypeOf<
      'article.drafted' | 'comment.added' | 'comment.edited' | 'comment.deleted'
    >();
    if (event.type === 'comment.added')
      expectTypeOf(event.data.text).toEqualTypeOf<string | null | undefined>();
    expectTypeOf(event.cursor).toEqualTypeOf<string>();
  }
  // @ts-expect-error: there is no such event.
  client.follow({ types: ['article.printed'] });
};

const problems = (client: typeof never, error: unknown) => {
  if (client.isProblem(error, 'article_not_published', 'version_mismatch'))
    expectTypeOf(error).toEqualTypeOf<Problem<'article_not_published' | 'version_mismatch'>>();
  if (client.isProblem(error)) expectTypeOf(error).toEqualTypeOf<Problem<ProblemCode<Publishing>>>();
  // @ts-expect-error: there is no such code.
  client.isProblem(error, 'article_not_printed');
};

const listsOfItems = async () => {
  const client = createClient<typeof publishingWithCollections>({ url: '' });
  const items = client.collections.of(1).items;
  for await (const item of items.list()) expectTypeOf(item._links).not.toBeAny();
};

const commandsOnItems = async (error: unknown) => {
  const desk = createClient<typeof helpdesk>({ url: '' });
  const { messages } = desk.tickets.of(1);
  const { messageId } = await messages.add({ text: 'x' });
  expectTypeOf(messageId).toEqualTypeOf<number>();
  // @ts-expect-error: the server sets the author.
  messages.add({ text: 'x', authorId: 7 });
  messages.edit(messageId, { text: 'y' });
  // @ts-expect-error: nobody changes who may read a message.
  messages.edit(messageId, { internal: false });
  expectTypeOf(await desk.tickets.addNote(1, { text: 'x' })).toEqualTypeOf<Written>();
  const { tasks } = createClient<typeof plans>({ url: '' }).plans.of(1);
  await tasks.add({ title: 'x' });
  expectTypeOf(await tasks.finish(1)).toEqualTypeOf<Written>();
  await tasks.drop(1, { reason: null });
  // @ts-expect-error: it has a form.
  tasks.drop(1);
  // @ts-expect-error: there is no such command.
  tasks.print(1);
  createClient<typeof plans>({ url: '' }).isProblem(error, 'plan_task_not_todo');
};

const ownRefusals = (error: unknown) => {
  const client = createClient<typeof lending>({ url: '' });
  client.isProblem(error, 'loan_out_full', 'loan_open_full', 'book_code_taken');
  client.loans.return(1);
};

const privateUsers = async () => {
  const client = createClient<typeof privateHelpdesk>({ url: '' });
  const ticket = await client.tickets.get(1);
  expectTypeOf(ticket.customer).toEqualTypeOf<{ readonly id: number; readonly name: string | null }>();
  const user = await client.users.get(2);
  expectTypeOf(user.name).toEqualTypeOf<string>();
  expectTypeOf(user.phone).toEqualTypeOf<string | null | undefined>();
};

test('tsc has checked these types', () => {
  const own = [listsOfItems, commandsOnItems, ownRefusals, privateUsers];
  for (const checked of [items, lists, commands, events, problems, ...own])
    expect(checked).toBeTypeOf('function');
});
