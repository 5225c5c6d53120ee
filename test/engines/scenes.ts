import { randomUUID } from 'node:crypto';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople, type People, type TokenHolder } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import type { Installation } from './installation.ts';
import { SCOPES } from './policy.ts';

/**
 * The callers. Items are the author's, or the service's if a service is the caller. `service` has the scope
 * of the operation, and those of reading; `bare` is the same service with every scope but that one.
 */
export const CALLERS = ['anonymous', 'reader', 'author', 'other', 'admin', 'service', 'bare'] as const;
type CallerName = (typeof CALLERS)[number];
/** The service without the scope comes first: with the scope it may end its own tokens. */
export const CALLERS_IN_TURN: readonly CallerName[] = [
  'bare',
  ...CALLERS.filter((caller) => caller !== 'bare'),
];

export type Asked = { readonly situation: Situation; readonly caller: CallerName; readonly scope: string };

type Ids = {
  readonly userId?: number;
  readonly articleId?: number;
  readonly commentId?: number;
  readonly webhookId?: number;
  readonly deliveryId?: string;
  readonly replayId?: string;
  readonly orderId?: string;
  readonly eventId?: string;
  readonly stream?: string;
};

/** The caller, and the item of this one attempt. */
type Scene = {
  readonly holder: TokenHolder | undefined;
  readonly ids: Ids;
  /** Additions of the situation to the request. */
  readonly more: object | undefined;
  /** For reads, which must wait for the item. */
  readonly visible: Readonly<Record<string, string>>;
};

/** Sets up scenes in which operations are tried. */
export const openScenes = async (installation: Installation): Promise<(asked: Asked) => Promise<Scene>> => {
  const people = await openPeople(installation);
  const workshop = openWorkshop(restClientOf(installation), people.administrator);
  const third = await workshop.write('POST', '/users', { name: 'Thea', role: 'author' });
  const { author, tokenOf } = await openCallers(people, workshop);
  return async ({ situation, caller, scope }) => {
    const holder = await tokenOf(caller, scope);
    const ownerId = (caller === 'service' || caller === 'bare' ? holder : author)?.userId ?? 0;
    const prepare: Prepare = SITUATIONS[situation];
    const { body: more, ...ids } = await prepare(workshop, {
      caller,
      callerId: holder?.userId ?? third,
      ownerId,
      third,
    });
    return { holder, ids, more, visible: workshop.visible() };
  };
};

type Callers = {
  readonly author: TokenHolder;
  tokenOf(caller: CallerName, scope: string): Promise<TokenHolder | undefined>;
};

const openCallers = async (people: People, { write }: Workshop): Promise<Callers> => {
  const [someone, author, other] = [
    await people.signUp('Rita'),
    await people.signUp('Ada'),
    await people.signUp('Otto'),
  ];
  await write('PATCH', `/users/${someone.userId}`, { role: 'reader' });
  const reader = await people.signIn(someone, 'reader');
  const service = await people.registerService('author');
  const persons = { anonymous: undefined, reader, author, other, admin: people.administrator };
  const known = new Map<string, Promise<TokenHolder>>();
  const serviceWith = (scopes: readonly string[]): Promise<TokenHolder> => {
    const key = scopes.join(' ');
    const token = known.get(key) ?? people.tokenOf(service, scopes);
    known.set(key, token);
    return token;
  };
  return {
    author,
    async tokenOf(caller, scope) {
      if (caller === 'service')
        return serviceWith([...new Set([scope, 'read:users', 'read:articles', 'read:comments'] as const)]);
      return caller === 'bare' ? serviceWith(SCOPES.filter((each) => each !== scope)) : persons[caller];
    },
  };
};

/** Where the administrator makes the items of attempts. */
type Workshop = {
  /** Returns the id. */
  write(method: string, path: string, body?: object): Promise<number>;
  articleBy(authorId: number, publish: boolean): Promise<number>;
  commentBy(authorId: number, articleId: number): Promise<number>;
  webhookOf(ownerId: number, enabled?: boolean): Promise<number>;
  /** The id of the first item of a list, once there is one. */
  firstOf(path: string): Promise<string>;
  /** For reads, which must wait for the item. */
  visible(): Readonly<Record<string, string>>;
};

const openWorkshop = (ask: RestClient, { token }: TokenHolder): Workshop => {
  let cursor: string | undefined;
  const write: Workshop['write'] = async (method, path, body) => {
    const { status, headers, body: answer } = await ask(method, path, { token, body });
    if (status >= 300)
      throw new Error(`${method} ${path} was answered with ${status}: ${JSON.stringify(answer)}`);
    cursor = headers.get('consistency-token') ?? cursor;
    return (answer as { id: number }).id;
  };
  return {
    write,
    articleBy: (authorId, publish) =>
      write('POST', '/articles', { authorId, title: 'On engines', body: '', tags: ['engines'], publish }),
    commentBy: (authorId, articleId) =>
      write('POST', `/articles/${articleId}/comments`, { authorId, text: 'A comment.' }),
    // To an address where nothing listens, for events that do not happen here.
    webhookOf: (ownerId, enabled = true) =>
      write('POST', '/webhooks', {
        ownerId,
        url: 'http://127.0.0.1:9/',
        eventTypes: ['client.deleted'],
        enabled,
      }),
    firstOf: async (path) => {
      const items = async () =>
        (await ask('GET', path, { token })).body as readonly { readonly id: string }[];
      const [first] = await until(items, ({ length }) => length > 0);
      return first?.id ?? '';
    },
    visible: () => (cursor === undefined ? {} : { 'consistency-token': cursor }),
  };
};

type Cast = {
  readonly caller: CallerName;
  readonly callerId: number;
  readonly ownerId: number;
  readonly third: number;
};
type Target = Ids & { readonly body?: object };
type Prepare = (workshop: Workshop, persons: Cast) => Promise<Target>;

/** The administrator changes and deletes a new user; the others, the author or themselves. */
const userFor = async ({ write }: Workshop, { caller, ownerId }: Cast): Promise<number> =>
  caller === 'admin' ? write('POST', '/users', { name: 'Nora' }) : ownerId;

const SITUATIONS = {
  '': async () => ({}),
  user: async (workshop, persons) => ({ userId: await userFor(workshop, persons) }),
  'role of a user': async (workshop, persons) => ({
    userId: await userFor(workshop, persons),
    body: { role: 'admin' },
  }),
  published: async ({ articleBy }, { ownerId }) => ({ articleId: await articleBy(ownerId, true) }),
  draft: async ({ articleBy }, { ownerId }) => ({ articleId: await articleBy(ownerId, false) }),
  'in the name of another': async ({ articleBy }, { ownerId, third }) => ({
    articleId: await articleBy(ownerId, true),
    body: { authorId: third },
  }),
  'published at once': async () => ({ body: { publish: true } }),
  own: async ({ articleBy, commentBy }, { ownerId, callerId }) => ({
    commentId: await commentBy(callerId, await articleBy(ownerId, true)),
  }),
  'of another': async ({ articleBy, commentBy }, { ownerId, third }) => ({
    commentId: await commentBy(third, await articleBy(ownerId, true)),
  }),
  'on a draft': async ({ articleBy, commentBy, write }, { ownerId, third }) => {
    const articleId = await articleBy(ownerId, true);
    const commentId = await commentBy(third, articleId);
    await write('POST', `/articles/${articleId}/unpublish`);
    return { commentId };
  },
  'for another': async (_workshop, { third }) => ({ body: { ownerId: third } }),
  webhook: async ({ webhookOf }, { ownerId }) => ({ webhookId: await webhookOf(ownerId) }),
  'disabled webhook': async ({ webhookOf }, { ownerId }) => ({ webhookId: await webhookOf(ownerId, false) }),
  'no order': async () => ({ orderId: randomUUID() }),
  'no event': async () => ({ eventId: randomUUID() }),
  'not parked': async () => ({ stream: 'article-8001' }),
  delivery: async ({ webhookOf, write, firstOf }, { ownerId }) => {
    const webhookId = await webhookOf(ownerId);
    await write('POST', `/webhooks/${webhookId}/test`);
    return { webhookId, deliveryId: await firstOf(`/webhooks/${webhookId}/deliveries`) };
  },
  replay: async ({ webhookOf, write, firstOf }, { ownerId }) => {
    const webhookId = await webhookOf(ownerId);
    await write('POST', `/webhooks/${webhookId}/replay`, { from: new Date().toISOString() });
    return { webhookId, replayId: await firstOf(`/webhooks/${webhookId}/replays`) };
  },
} as const satisfies Record<string, Prepare>;
export type Situation = keyof typeof SITUATIONS;
