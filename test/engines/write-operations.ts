import { expect } from 'vitest';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { WEBHOOK_FORM } from '../webhook-form.ts';
import { OPERATIONS, operation as operationOf } from './operations.ts';
import { ARTICLE, test as base, make, type WriteAnswer, type WriteApi } from './write-api.ts';

/** A valid request, so that a test invalidates one thing of it. */
export type GoodWrite = {
  readonly name: string;
  readonly operation: RestOperation;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly type: string;
};

const { enabled: _, ...FORM } = WEBHOOK_FORM;
const WEBHOOK = { ...FORM, description: 'The shop', headers: { 'X-Team': 'blue' } };

const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>> = {
  createUser: { name: 'Ada', email: null, role: 'reader' },
  replaceUser: { name: 'Ada', email: null },
  editUser: { name: 'Ada', email: null },
  deleteUser: undefined,
  createArticle: { ...ARTICLE, cover: null, publish: false },
  replaceArticle: { ...ARTICLE, cover: null },
  editArticle: { ...ARTICLE, cover: null },
  deleteArticle: undefined,
  publishArticle: undefined,
  unpublishArticle: undefined,
  addComment: { text: 'Well said.' },
  replaceComment: { text: 'Well said.' },
  editComment: { text: 'Well said.' },
  deleteComment: undefined,
  createWebhook: WEBHOOK,
  replaceWebhook: WEBHOOK,
  editWebhook: WEBHOOK,
  deleteWebhook: undefined,
  rotateWebhookSecret: undefined,
  enableWebhook: undefined,
  disableWebhook: undefined,
};

/** Every write without uploads; JSON merge patches also with their own media type. */
export const GOOD_WRITES: readonly GoodWrite[] = Object.entries(BODIES).flatMap(([id, body]) => {
  const operation = operationOf(id);
  const types = Object.keys(operation.body ?? { '': undefined }).filter(
    (type) => type !== 'application/json-patch+json',
  );
  return types.map((type) => ({
    name: `${operation.method} ${operation.path} ${type}`.trim(),
    operation,
    body,
    type,
  }));
});

/** All writes of the interface: none may be missing above. */
export const WRITES_EXPECTED = Object.entries(OPERATIONS).filter(
  ([id, { role }]) => role === 'command' && !id.endsWith('Cover'),
).length;

export const isOnItem = ({ operation }: GoodWrite): boolean => operation.path.includes('{');
export const isCreation = ({ operation }: GoodWrite): boolean => operation.answer.status === 201;

/** The first write of each kind. The code for all writes, `mountWrite`, distinguishes nothing else. */
export const WRITE_OF_EACH_KIND: readonly GoodWrite[] = [
  ...new Map(
    GOOD_WRITES.toReversed().map((write) => [
      [write.operation.method, write.type, isOnItem(write), isCreation(write)].join(' '),
      write,
    ]),
  ).values(),
];

type Items = {
  readonly userId: number;
  readonly articleId: number;
  readonly commentId: number;
  readonly webhookId: number;
};

const makeItems = async (api: WriteApi): Promise<Items> => {
  const userId = await make(api, '/users', { name: 'Grace' }, api.admin);
  const articleId = await make(api, '/articles', { ...ARTICLE, publish: true });
  const commentId = await make(api, `/articles/${articleId}/comments`, { text: 'One' });
  // Changed, so that the first version is outdated.
  await api.send('PATCH', `/users/${userId}`, { body: { name: 'Hopper' }, by: api.admin });
  await api.send('PATCH', `/comments/${commentId}`, { body: { text: 'Two' } });
  const webhookId = await make(api, '/webhooks', WEBHOOK);
  await api.send('PATCH', `/webhooks/${webhookId}`, { body: { description: 'The other shop' } });
  return { userId, articleId, commentId, webhookId };
};

export const pathOf = (
  { path }: RestOperation,
  items: Readonly<Record<keyof Items, string | number>>,
): string => path.replaceAll(/\{(\w+)\}/g, (_, name: keyof Items) => String(items[name]));

type Change = {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** With an item of each kind, and with a check of refusals. */
export const test = base
  .extend('items', { scope: 'file' }, ({ api }) => makeItems(api))
  .extend(
    'refuse',
    { scope: 'file' },
    ({ api, items }) =>
      /** Sends a changed write as the administrator; checks that it is refused and nothing is written. */
      async (write: GoodWrite, change: Change): Promise<WriteAnswer> => {
        const { operation, type, body } = write;
        const before = await api.side.eventLog.head();
        const answer = await api.send(operation.method, change.path ?? pathOf(operation, items), {
          ...{ body, ...change },
          headers: { ...(type !== '' && { 'Content-Type': type }), ...change.headers },
          by: api.admin,
        });
        expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
        expect(answer.body).toMatchObject({
          status: answer.status,
          requestId: answer.headers.get('x-request-id'),
          title: expect.any(String),
        });
        expect(await api.side.eventLog.head()).toBe(before);
        return answer;
      },
  );
