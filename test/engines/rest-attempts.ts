import { randomUUID } from 'node:crypto';
import { type Reply, restClientOf } from '../../testing/http/rest-client.ts';
import type { TokenHolder } from '../../testing/people.ts';
import { PIXEL } from '../../testing/pixel.ts';
import type { Installation } from './installation.ts';
import { operation } from './operations.ts';
import { type Asked, openScenes } from './scenes.ts';

/** Tries an operation as a caller, on an item made for this one attempt. */
export type Attempt = (id: string, asked: Asked) => Promise<Reply>;

export const openRestAttempts = async (installation: Installation): Promise<Attempt> => {
  const ask = restClientOf(installation);
  const sceneOf = await openScenes(installation);
  return async (id, asked) => {
    const { method, path } = operation(id);
    const { holder, ids, more, visible } = await sceneOf(asked);
    const json =
      asked.situation === 'role of a user'
        ? more
        : { ...BODIES[id]?.(asked.caller === 'author' ? holder : undefined), ...more };
    return ask(
      method,
      path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => String(ids[name])),
      {
        token: holder?.token,
        ...(id === 'putCover' ? { body: PIXEL, type: 'image/png' } : BODIES[id] && { body: json }),
        headers: method === 'GET' ? visible : {},
      },
    );
  };
};

/** Nothing listens there. */
const WEBHOOK = { url: 'http://127.0.0.1:9/', eventTypes: ['client.deleted'] };

const BODIES: Readonly<Record<string, (author: TokenHolder | undefined) => object>> = {
  createUser: () => ({ name: 'Nadia', email: `${randomUUID()}@example.com` }),
  // An application cannot change the address of its own user.
  replaceUser: (author) => ({ name: 'Augusta', email: author?.email ?? null }),
  editUser: () => ({ name: 'Augusta Ada' }),
  createArticle: () => ({ title: 'New', body: '', tags: [] }),
  replaceArticle: () => ({ title: 'Replaced', body: '', tags: [], cover: null }),
  editArticle: () => ({ title: 'Edited' }),
  addComment: () => ({ text: 'Well said.' }),
  replaceComment: () => ({ text: 'Replaced.' }),
  editComment: () => ({ text: 'Edited.' }),
  createWebhook: () => WEBHOOK,
  replaceWebhook: () => ({
    ...{ ...WEBHOOK, description: null, filter: {}, payload: 'full', ordered: false },
    ...{ limits: { ratePerSecond: 1, concurrency: 1 }, headers: {} },
  }),
  editWebhook: () => ({ description: 'Edited.' }),
  releaseParkedItem: () => ({ version: 1 }),
  replayWebhook: () => ({ from: new Date().toISOString() }),
};
