import * as z from 'zod';
import { StartRefused } from '#shared/start-refused.ts';
import type { AnnalsByHttp } from './annals-by-http.ts';

/** The last that is made: where it is, the whole demo is. */
const lastClient = (seed: number): string => `demo-${seed}-reading-list`;

export const isMade = async ({ send }: AnnalsByHttp, seed: number): Promise<boolean> =>
  (await send('GET', `/clients/${lastClient(seed)}`, { expected: [404] })).status !== 404;

const CONFLICT = 409;

/** Programs as others would register them. */
export const makeClients = async ({ send }: AnnalsByHttp, seed: number): Promise<void> => {
  const service = {
    clientId: `demo-${seed}-search-index`,
    name: 'Search index',
    grantTypes: ['client_credentials'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    scopes: ['read:articles', 'read:events'],
    defaultScopes: ['read:articles', 'read:events'],
    serviceAccountRole: 'reader',
  };
  const application = {
    clientId: lastClient(seed),
    name: 'Reading List',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://localhost:3000/callback'],
    scopes: ['openid', 'profile', 'read:articles', 'write:comments'],
    defaultScopes: ['openid', 'read:articles'],
  };
  for (const body of [service, application]) await send('POST', '/clients', { body, expected: [CONFLICT] });
};

type Hook = { readonly description: string; readonly path: string; readonly eventTypes: readonly string[]; readonly payload: string };

const HOOKS: readonly Hook[] = [
  { description: 'Search index', path: '/search-index', eventTypes: ['article.*'], payload: 'full' },
  { description: 'Newsletter', path: '/newsletter', eventTypes: ['article.published', 'comment.added'], payload: 'thin' },
  { description: 'Old mailing list', path: '/old-list', eventTypes: ['article.published'], payload: 'thin' },
];

const Registered = z.array(z.object({ id: z.number(), description: z.string().nullable(), disabledReason: z.string().optional() }));
const Made = z.object({ id: z.number() });
const UnfitUrl = z.object({ errors: z.tuple([z.object({ pointer: z.literal('/url') })]) });
const UNFIT = 422;

/**
 * Leads the webhooks of the demo to a receiver, registering those that are not there yet; at the end they are disabled, so that nothing is sent to where
 * nobody listens any more. Undefined where none may lead to this machine.
 */
export const makeWebhooks = async (annals: AnnalsByHttp, seed: number, receiverUrl: string): Promise<AsyncDisposable | undefined> => {
  const { send } = annals;
  const listed = Registered.parse((await send('GET', '/webhooks?limit=100')).body);
  const ids: number[] = [];
  for (const { path, ...hook } of HOOKS) {
    const content = { ...hook, description: `Demo ${seed}: ${hook.description}`, url: receiverUrl + path };
    const known = listed.find(({ description }) => description === content.description);
    // What has said that it is gone stays so.
    if (known?.disabledReason === 'gone') continue;
    const id = known === undefined ? await register(annals, content) : known.id;
    if (id === undefined) return undefined;
    if (known !== undefined) await leadTo(annals, id, content.url);
    ids.push(id);
  }
  return { [Symbol.asyncDispose]: () => disable(annals, ids).catch(unlessGone) };
};

const register = async ({ send }: AnnalsByHttp, content: object): Promise<number | undefined> => {
  const { status, body } = await send('POST', '/webhooks', { body: content, expected: [UNFIT] });
  if (status !== UNFIT) return Made.parse(body).id;
  UnfitUrl.parse(body);
  return undefined;
};

const leadTo = async ({ send }: AnnalsByHttp, id: number, url: string): Promise<void> => {
  await send('PATCH', `/webhooks/${id}`, { body: { url } });
  await send('POST', `/webhooks/${id}/enable`);
};

/** Where Annals has ended, nothing is sent anyway. */
const unlessGone = (error: unknown): void => {
  if (!(error instanceof StartRefused)) throw error;
};

const disable = async ({ sendAtEnd: send }: AnnalsByHttp, ids: readonly number[]): Promise<void> => {
  for (const id of ids) {
    const { body } = await send('GET', `/webhooks/${id}`);
    if (z.object({ enabled: z.boolean() }).parse(body).enabled) await send('POST', `/webhooks/${id}/disable`);
  }
};
