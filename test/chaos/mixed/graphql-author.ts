import { randomUUID } from 'node:crypto';
import type { Leaves, Write } from './history.ts';
import type { Recorder } from './recorder.ts';
import { shownIn } from './rest-author.ts';
import type { Sender } from './sender.ts';

/** A client that writes by GraphQL, whose answers contain the written data. */
export type GraphqlAuthor = {
  createPost(title: string): Promise<Post | undefined>;
  updatePost(post: Post, title: string): Promise<Post | undefined>;
  addComment(post: Post, text: string): Promise<void>;
  readPost(post: Post): Promise<void>;
};

type Post = { readonly id: string; readonly version: number };
type Options = { readonly name: string; readonly send: Sender; readonly recorder: Recorder };

const CREATE = 'mutation ($input: PostInput!) { done: createPost(input: $input) { id version title } }';
const UPDATE =
  'mutation ($id: ID!, $title: String!, $version: Int!) { done: updatePost(id: $id, changes: { title: $title }, ifVersion: $version) { id version title } }';
const COMMENT =
  'mutation ($post: ID!, $input: CommentInput!) { done: addComment(postId: $post, input: $input) { id version text } }';
const READ = 'query ($id: ID!) { post(id: $id) { version title body } }';

export const createGraphqlAuthor = ({ name, send, recorder }: Options): GraphqlAuthor => {
  const write = async ({ query, variables, path, shows, leaves }: Mutation): Promise<Post | undefined> => {
    const startMs = Date.now();
    const request = randomUUID();
    const headers = {
      accept: 'application/graphql-response+json',
      'idempotency-key': randomUUID(),
      'x-request-id': request,
    };
    const { reply, attempts } = await send('POST', '/graphql', { body: { query, variables }, headers });
    const judged = judge(reply?.body as Answer | undefined, shows);
    const { done, outcome, why } = judged;
    const [endMs, what] = [Date.now(), `GraphQL ${Object.keys(leaves)[0]}`];
    const [target, state] = [`${path}/${done?.id}`, done?.version ?? 0];
    const said = { isVisible: done !== undefined, ...(why !== undefined && { why }) };
    recorder.writes.push({
      request,
      client: name,
      what,
      startMs,
      endMs,
      attempts,
      outcome,
      leaves,
      target,
      state,
      ...said,
    });
    return done;
  };
  return {
    createPost: (title) =>
      write({
        ...{
          query: CREATE,
          variables: { input: { title, body: title, publish: true } },
          path: '/articles',
          shows: { title },
        },
        leaves: { 'article.drafted': { title, body: title }, 'article.published': {} },
      }),
    updatePost: ({ id, version }, title) =>
      write({
        query: UPDATE,
        variables: { id, title, version },
        path: '/articles',
        shows: { title },
        leaves: { 'article.edited': { title } },
      }),
    addComment: async ({ id }, text) => {
      await write({
        query: COMMENT,
        variables: { post: id, input: { text } },
        path: '/comments',
        shows: { text },
        leaves: { 'comment.added': { text } },
      });
    },
    async readPost({ id }) {
      const startMs = Date.now();
      const { reply } = await send('POST', '/graphql', { body: { query: READ, variables: { id } } });
      if (reply === undefined) return;
      const post = (reply.body as { data?: { post: Post | null } | null }).data?.post;
      const found = post?.version ?? 'gone';
      // A mutation answers once its write is visible to everybody.
      recorder.reads.push({
        client: name,
        target: `/articles/${id}`,
        startMs,
        endMs: Date.now(),
        isConsistent: true,
        found,
        ...(post && { shows: shownIn(post) }),
      });
    },
  };
};

type Mutation = {
  readonly query: string;
  readonly variables: object;
  readonly path: string;
  readonly shows: Readonly<Record<string, string>>;
  readonly leaves: Leaves;
};

type Done = Post & Readonly<Record<string, unknown>>;
type Answer = {
  readonly data?: { readonly done: Done | null } | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly committed?: boolean };
  }[];
};

/** A write that cannot be read yet counts as acknowledged, without its version. */
const judge = (
  answer: Answer | undefined,
  shows: Mutation['shows'],
): Pick<Write, 'outcome' | 'why'> & { readonly done?: Post } => {
  if (answer === undefined) return { outcome: 'unknown' };
  const done = answer.data?.done;
  if (done) {
    const isShown = Object.entries(shows).every(([field, value]) => done[field] === value);
    return isShown
      ? { outcome: 'acknowledged', done }
      : { outcome: 'refused', why: `shows something else: ${JSON.stringify(done)}` };
  }
  if (answer.errors?.[0]?.extensions?.committed) return { outcome: 'acknowledged' };
  return { outcome: 'refused', why: JSON.stringify(answer).slice(0, 300) };
};
