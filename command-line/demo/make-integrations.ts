import * as z from 'zod';
import type { DemoClient, DemoWebhook, PlannedDemo, Send } from '#kernel/demo/demo.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import type { AnnalsByHttp } from './annals-by-http.ts';

const idOf = (seed: number, { clientId }: DemoClient): string => `demo-${seed}-${clientId}`;

/** The last client is made after everything else. */
export const isMade = async (send: Send, seed: number, { clients }: PlannedDemo): Promise<boolean> =>
  (await send('GET', `/clients/${idOf(seed, clients.at(-1) ?? clients[0])}`, { expected: [404] })).status !== 404;

const CONFLICT = 409;

/** Programs as others would register them. */
export const makeClients = async (send: Send, seed: number, clients: readonly DemoClient[]): Promise<void> => {
  for (const client of clients) await send('POST', '/clients', { body: { ...client, clientId: idOf(seed, client) }, expected: [CONFLICT] });
};

const Registered = z.array(z.object({ id: z.number(), description: z.string().nullable(), disabledReason: z.string().optional() }));
const Made = z.object({ id: z.number() });
const UnfitUrl = z.object({ errors: z.tuple([z.object({ pointer: z.literal('/url') })]) });
const UNFIT = 422;

type Registering = { readonly annals: AnnalsByHttp; readonly seed: number; readonly webhooks: readonly DemoWebhook[] };

/**
 * Leads the webhooks of the demo to a receiver, registering those that are not there yet; at the end they are disabled, so that nothing is sent to where
 * nobody listens any more. Undefined where none may lead to this machine.
 */
export const makeWebhooks = async ({ annals, seed, webhooks }: Registering, receiverUrl: string): Promise<AsyncDisposable | undefined> => {
  const { send } = annals;
  const listed = Registered.parse((await send('GET', '/webhooks?limit=100')).body);
  const ids: number[] = [];
  for (const { path, receiver: _, ...webhook } of webhooks) {
    const content = { ...webhook, description: `Demo ${seed}: ${webhook.description}`, url: receiverUrl + path };
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
