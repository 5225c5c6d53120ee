import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Link } from '#shared/rest/fields.ts';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';
import { addComment, as, by, draftArticle } from '../test/engines/command-side.ts';
import { SCOPES } from '../test/engines/policy.ts';
import type { ArticleId } from '../test/publishing-ids.ts';
import { until } from '../testing/until.ts';

let world: Backend;
let author: Asker;
let reader: Asker;
let other: Asker;
let admin: Asker;
beforeAll(async () => {
  world = await openBackend();
  [author, reader, other, admin] = (await Promise.all(
    (['author', 'reader', 'author', 'admin'] as const).map((role) => world.person(role)),
  )) as [Asker, Asker, Asker, Asker];
});
afterAll(() => world?.[Symbol.asyncDispose]());

const withoutScope = (person: Asker, ...missing: readonly string[]): Asker => ({
  ...person,
  scopes: SCOPES.filter((scope) => !missing.includes(scope)),
});

const CALLERS: readonly (readonly [string, () => Asker | null])[] = [
  ['nobody', () => null],
  ['a reader', () => reader],
  ['the author', () => author],
  ['another author', () => other],
  ['an administrator', () => admin],
  [
    'a service of the author that only reads',
    () => withoutScope(author, 'write:articles', 'publish:articles', 'write:comments', 'write:users'),
  ],
  [
    'a service of the author that only publishes',
    () => withoutScope(author, 'write:articles', 'write:comments', 'write:users', 'read:users'),
  ],
  [
    'a service of an administrator that writes comments',
    () => withoutScope(admin, 'write:articles', 'publish:articles', 'write:users'),
  ],
];

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

type Action = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
};
const ARTICLE_ACTIONS: Readonly<Record<string, Action>> = {
  edit: { method: 'PATCH', path: '', body: { title: 'Changed' } },
  delete: { method: 'DELETE', path: '' },
  cover: { method: 'PUT', path: '/cover', body: png, type: 'image/png' },
  uncover: { method: 'DELETE', path: '/cover' },
  publish: { method: 'POST', path: '/publish' },
  unpublish: { method: 'POST', path: '/unpublish' },
  comment: { method: 'POST', path: '/comments', body: { text: 'Well said.' } },
};
const COMMENT_ACTIONS: Readonly<Record<string, Action>> = {
  edit: { method: 'PATCH', path: '', body: { text: 'Changed' } },
  delete: { method: 'DELETE', path: '' },
};
const USER_ACTIONS: Readonly<Record<string, Action>> = {
  edit: { method: 'PATCH', path: '', body: { name: 'Changed' } },
  delete: { method: 'DELETE', path: '' },
};
/** Repeating a finished action is no error, but there is no link to it either. */
const NOTHING_TO_DO: Readonly<Record<string, (article: Readonly<Record<string, unknown>>) => boolean>> = {
  publish: ({ status }) => status === 'published',
  unpublish: ({ status }) => status === 'draft',
  uncover: ({ cover }) => cover === null,
};

/** Makes an item for each action, takes the action, and compares the result with the link shown before. */
const compare = async (
  callerOf: () => Asker | null,
  actions: Readonly<Record<string, Action>>,
  make: () => Promise<string>,
) => {
  for (const [name, { method, path, body, type }] of Object.entries(actions)) {
    const self = await make();
    const caller = callerOf();
    const item = await world.ask(self, { by: caller });
    // An invisible item has no links.
    if (item.status === 404) continue;
    const { _links = {}, ...shown } = item.body as { readonly _links?: Record<string, Link> };
    for (const { href, method: isAction } of Object.values(_links)) {
      if (isAction === undefined && href !== self)
        expect([href, (await world.ask(href, { by: caller })).status]).toEqual([href, 200]);
    }
    const link = _links[name];
    const answer = await world.ask(link?.href ?? `${self}${path}`, {
      by: caller,
      method,
      body,
      ...(type !== undefined && { type }),
    });
    const isAllowed = answer.status < 300 && NOTHING_TO_DO[name]?.(shown) !== true;
    expect(
      { name, link: link !== undefined, status: item.status },
      JSON.stringify(answer.body),
    ).toMatchObject({ link: isAllowed });
    if (link !== undefined) expect(link).toEqual({ href: `${self}${path}`, method });
    expect(
      Object.keys(_links).filter((each) => 'method' in (_links[each] as Link) && !(each in actions)),
    ).toEqual([]);
  }
};

const articleBy = async (writer: Asker, published: boolean) =>
  `/articles/${await draftArticle(world.side, writer.id, published)}`;
const commentBy = async (
  writer: Asker,
  articleAuthor: Asker,
  afterwards: (articleId: ArticleId) => Promise<unknown> = async () => {},
) => {
  const articleId = await draftArticle(world.side, articleAuthor.id);
  const commentId = await addComment(world.side, writer.id, articleId);
  await afterwards(articleId);
  return `/comments/${commentId}`;
};

describe.each(CALLERS)('%s gets links to exactly the actions that they may take', (_, caller) => {
  test.each([true, false])('on an article of the author (published: %s)', async (published) => {
    await compare(caller, ARTICLE_ACTIONS, () => articleBy(author, published));
  });

  test('on an article of the author with a cover', async () => {
    await compare(caller, ARTICLE_ACTIONS, async () => {
      const path = await articleBy(author, true);
      await world.ask(`${path}/cover`, { by: author, method: 'PUT', body: png, type: 'image/png' });
      return path;
    });
  });

  test('lists link to their create action only if the caller may take it', async () => {
    const [published, draft] = [await articleBy(author, true), await articleBy(author, false)];
    for (const [list, body] of [
      ['/articles', { title: 'New', body: '', tags: [] }],
      ['/users', { name: 'New' }],
      [`${published}/comments`, { text: 'New' }],
      [`${draft}/comments`, { text: 'New' }],
    ] as const) {
      const by = caller();
      const shown = await world.ask(list, { by, headers: { accept: 'application/hal+json' } });
      // An invisible list has no links.
      if (shown.status >= 400) continue;
      const { create } = (shown.body as { _links: Record<string, Link> })._links;
      const { status } = await world.ask(list, { by, method: 'POST', body });
      expect({ list, create }).toEqual({
        list,
        create: status === 201 ? { href: list, method: 'POST' } : undefined,
      });
    }
  });

  test('on an article whose author was deleted', async () => {
    await compare(caller, ARTICLE_ACTIONS, async () => {
      const leaving = await world.person('author');
      const path = await articleBy(leaving, true);
      await world.side.send({ type: 'DeleteUser', userId: leaving.id }, by(as(leaving.id)));
      return path;
    });
  });

  test('on comments: a reader’s, the author’s own, on a draft, of a deleted user', async () => {
    await compare(caller, COMMENT_ACTIONS, () => commentBy(reader, author));
    await compare(caller, COMMENT_ACTIONS, () => commentBy(author, other));
    const unpublish = (articleId: ArticleId) =>
      world.side.send({ type: 'UnpublishArticle', articleId }, by(as(author.id)));
    await compare(caller, COMMENT_ACTIONS, () => commentBy(reader, author, unpublish));
    await compare(caller, COMMENT_ACTIONS, async () => {
      const leaving = await world.person('reader');
      return commentBy(leaving, author, async () => {
        await world.side.send({ type: 'DeleteUser', userId: leaving.id }, by(as(leaving.id)));
        // After this, no event can be written for this user: the key is gone.
        await until(
          () => world.side.keys.find([leaving.id]),
          (keys) => keys.get(leaving.id) === 'destroyed',
        );
      });
    });
  });

  test('on another user', async () => {
    await compare(caller, USER_ACTIONS, async () => `/users/${(await world.person('reader')).id}`);
  });
});

test('users may change and delete themselves', async () => {
  let person: Asker | null = null;
  const make = async () => {
    person = await world.person('reader');
    return `/users/${person.id}`;
  };
  await compare(() => person, USER_ACTIONS, make);
});

test('lists show the same of each item as the item itself', async () => {
  await addComment(world.side, reader.id, await draftArticle(world.side, author.id));
  for (const caller of [null, reader, author, other, admin]) {
    for (const list of ['/articles?limit=5', '/users?limit=5', `/users/${author.id}/articles?limit=5`]) {
      const { body } = await world.ask(list, { by: caller });
      for (const item of body as readonly { _links: { self: Link } }[])
        expect((await world.ask(item._links.self.href, { by: caller })).body).toEqual(item);
    }
  }
});
