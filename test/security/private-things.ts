import type { Replay } from '#shared/rest/deliveries.ts';
import type { Delivery } from '#shared/rest/delivery.ts';
import { openPeople, type People, type Person } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import type { WebhookSink } from '../../testing/http/webhook-sink.ts';
import { until } from '../../testing/until.ts';
import type { Installation } from '../engines/installation.ts';

/** Part of everything private of one user, so that any leak contains it. */
export const CANARY = 'canary-9d1f';

/** The items of a user, with only a published article visible to others, and another user. */
export type PrivateThings = {
  readonly people: People;
  readonly owner: Person;
  readonly stranger: Person;
  readonly draft: number;
  readonly published: number;
  /** A formerly published article, and a comment on it. */
  readonly withdrawn: number;
  readonly comment: number;
  readonly webhook: number;
  readonly delivery: string;
  readonly replay: string;
  /** Before all of it, and after. */
  readonly begin: string;
  readonly end: string;
  /** Everything that nobody else may see: the canary, the address, and ids. */
  readonly secrets: readonly string[];
};

const BROKEN = '-broken';

export const makePrivateThings = async (
  installation: Installation,
  sink: WebhookSink,
): Promise<PrivateThings> => {
  sink.behave(({ path }, response) => {
    response.writeHead(path.endsWith(BROKEN) ? 500 : 200, { 'x-answer': CANARY }).end(`${CANARY} answers`);
  });
  const people = await openPeople(installation);
  const owner = await people.signUp('Ada');
  const stranger = await people.signUp('Otto');
  const session = restSessionOver(restClientOf(installation));
  const write = async (method: string, path: string, body?: object) =>
    (await session.write(method, path, { token: owner.token, ...(body && { body }) })).written;
  const first = async <Item>(path: string): Promise<Item> => {
    const items = async () => (await session.read<Item[]>(path, { token: owner.token })).body;
    const [item] = await until(items, ({ length }) => length > 0);
    return item as Item;
  };
  const published = await write('POST', '/articles', {
    title: 'Public',
    body: 'For all.',
    tags: [],
    publish: true,
  });
  const content = { title: `${CANARY} title`, body: `${CANARY} body`, tags: [CANARY] };
  const draft = await write('POST', '/articles', content);
  const withdrawn = await write('POST', '/articles', {
    title: `${CANARY} withdrawn`,
    body: '',
    tags: [],
    publish: true,
  });
  const comment = await write('POST', `/articles/${withdrawn.id}/comments`, { text: `${CANARY} comment` });
  await write('POST', `/articles/${withdrawn.id}/unpublish`);
  const webhook = await write('POST', '/webhooks', {
    ...{
      url: `${sink.url}/${CANARY}`,
      description: `${CANARY} webhook`,
      eventTypes: ['article.*'],
      headers: { 'X-Canary': CANARY },
    },
  });
  await write('POST', `/webhooks/${webhook.id}/test`);
  await write('POST', `/webhooks/${webhook.id}/replay`, { from: published.cursor });
  const delivery = await first<Delivery>(`/webhooks/${webhook.id}/deliveries?state=delivered`);
  const replay = await first<Replay>(`/webhooks/${webhook.id}/replays`);
  const broken = await write('POST', '/webhooks', {
    url: `${sink.url}/${CANARY}${BROKEN}`,
    eventTypes: ['article.*'],
  });
  await write('POST', `/webhooks/${broken.id}/replay`, { from: published.cursor });
  await first('/deliveries/failed');
  const end = await write('POST', '/articles', { title: 'The end', body: '', tags: [], publish: true });
  const ids = { draft: draft.id, withdrawn: withdrawn.id, comment: comment.id, webhook: webhook.id };
  return {
    ...{ people, owner, stranger, published: published.id, ...ids, delivery: delivery.id, replay: replay.id },
    ...{ begin: published.cursor, end: end.cursor },
    // The id of something formerly public is known.
    secrets: [CANARY, owner.email, String(draft.id), String(webhook.id), delivery.id, replay.id],
  };
};
