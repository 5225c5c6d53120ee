import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { sharedTest } from '../engines/installation-fixture.ts';

type Post = {
  readonly id: string;
  readonly title: string;
  readonly version: number;
  readonly status: string;
};
const CREATE = `mutation ($input: PostInput!) {
  createPost(input: $input) { id title status version tags author { id name posts(limit: 100) { id } } comments { id } }
}`;
const creating = (...titles: readonly string[]): string =>
  `mutation { ${titles.map((title, index) => `p${index}: createPost(input: { title: "${title}", body: "" }) { id title }`).join(' ')} }`;

const test = sharedTest
  .extend('create', { scope: 'file' }, ({ ada, graphql }) => async (title: string, more: object = {}) => {
    const { data, errors } = await graphql<{ createPost: Post }>(CREATE, {
      token: ada.token,
      variables: { input: { title, body: '', ...more } },
    });
    expect(errors).toBeUndefined();
    return data.createPost;
  })
  .extend(
    'keyed',
    { scope: 'file' },
    ({ ada, graphql }) =>
      (key: string, query: string) =>
        graphql<Record<string, { id: string }>>(query, {
          token: ada.token,
          headers: { 'idempotency-key': key },
        }),
  );

describe('the answer to a mutation', () => {
  test('contains its own write, at any depth', async ({ ada, create, graphql, rita }) => {
    const post = await create('Seen at once', { tags: ['engines'], publish: true });
    expect(post).toMatchObject({
      title: 'Seen at once',
      status: 'published',
      tags: ['engines'],
      comments: [],
    });
    expect(post).toMatchObject({
      author: { id: String(ada.userId), name: 'Ada', posts: expect.arrayContaining([{ id: post.id }]) },
    });
    const text = 'Well said.';
    const { data } = await graphql<{ addComment: { id: string } }>(
      'mutation ($id: ID!, $text: String!) { addComment(postId: $id, input: { text: $text }) { id text author { name } post { comments { id text } } } }',
      { token: rita.token, variables: { id: post.id, text } },
    );
    const { id } = data.addComment;
    expect(data.addComment).toEqual({
      id,
      text,
      author: { name: 'Rita' },
      post: { comments: [{ id, text }] },
    });
    const deleted = await graphql<{ deleteComment: string }>(
      'mutation ($id: ID!) { deleteComment(id: $id) }',
      { token: rita.token, variables: { id } },
    );
    expect(deleted.data.deleteComment).toBe(id);
    const { data: after } = await graphql<{ post: { comments: [] } }>(
      'query ($id: ID!) { post(id: $id) { comments { id } } }',
      {
        variables: { id: post.id },
      },
    );
    expect(after.post.comments).toEqual([]);
  });

  test('several root fields run one after the other', async ({ ada, create, graphql }) => {
    const { id } = await create('In order');
    const { data, errors } = await graphql<Record<string, Post>>(
      `mutation ($id: ID!) {
        one: updatePost(id: $id, changes: { title: "One" }, ifVersion: 1) { title version status }
        two: updatePost(id: $id, changes: { title: "Two" }, ifVersion: 2) { title version status }
        three: publishPost(id: $id, ifVersion: 3) { title version status }
      }`,
      { token: ada.token, variables: { id } },
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      one: { title: 'One', version: 2, status: 'draft' },
      two: { title: 'Two', version: 3, status: 'draft' },
      three: { title: 'Two', version: 4, status: 'published' },
    });
  });

  test('an outdated version is refused', async ({ ada, create, graphql }) => {
    const { id } = await create('Versions');
    const edit = (ifVersion: number) =>
      graphql(
        'mutation ($id: ID!, $ifVersion: Int) { updatePost(id: $id, changes: { title: "New" }, ifVersion: $ifVersion) { version } }',
        {
          token: ada.token,
          variables: { id, ifVersion },
        },
      );
    expect((await edit(1)).data).toEqual({ updatePost: { version: 2 } });
    const { data, errors } = await edit(1);
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ extensions: { code: 'version_mismatch', details: { version: 2 } } }]);
  });

  test('refusals of the domain have the codes of REST', async ({ create, graphql, rita }) => {
    const { id } = await create('Of Ada', { publish: true });
    const { status, errors } = await graphql('mutation ($id: ID!) { deletePost(id: $id) }', {
      token: rita.token,
      variables: { id },
    });
    expect([status, errors?.[0]?.extensions.code]).toEqual([200, 'forbidden']);
  });
});

describe('an Idempotency-Key', () => {
  test('returns the first answer to a repetition, for each root field', async ({ keyed }) => {
    const key = randomUUID();
    const first = await keyed(key, creating('One', 'Two'));
    expect(first.errors).toBeUndefined();
    expect(first.data.p0?.id).not.toBe(first.data.p1?.id);
    expect((await keyed(key, creating('One', 'Two'))).data).toEqual(first.data);
    // A repetition finishes one that failed half way.
    const more = await keyed(key, creating('One', 'Two', 'Three'));
    expect(more.data).toMatchObject(first.data);
    expect(more.data.p2?.id).toBeDefined();
    expect((await keyed(randomUUID(), creating('One', 'Two'))).data.p0?.id).not.toBe(first.data.p0?.id);
  });

  test('refuses another input', async ({ keyed }) => {
    const key = randomUUID();
    await keyed(key, creating('One'));
    const { data, errors } = await keyed(key, creating('Another'));
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ path: ['p0'], extensions: { code: 'idempotency_key_reused' } }]);
  });
});
