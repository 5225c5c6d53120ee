// Own server: an installation that opts into the inbox, and is killed between two deliveries.
import { expect, test } from 'vitest';
import { runAnnals, spawnAnnals } from '../annals-process.ts';
import { post, SECRETS, SIGN } from '../engines/inbox.ts';
import { openPlace, type Place, PROGRAM, PUBLIC_URL } from '../engines/start-with-parts.ts';

const FILE = 'test/toy/payouts.ts';
const PARTS = ['graphql', 'inbox'] as const;

const start = async (place: Place, ...role: readonly string[]) => {
  const annals = spawnAnnals([PROGRAM, ...role], { ...place.environmentFor(PARTS, FILE), ...SECRETS });
  const [, url = ''] = await annals.said(/"url":"([^"]+)","msg":"Annals is ready\."/);
  return { url, annals, [Symbol.asyncDispose]: () => annals[Symbol.asyncDispose]() };
};

type Sent = {
  readonly token: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
};

const send = async (method: string, url: string, { token, body, headers }: Sent) => {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as never };
};

test('every surface names the sender, and a message is carried out once although the process is killed', async () => {
  await using place = await openPlace();
  const tokenOf = (sub: number, role: string, scope: string) =>
    place.mint.token({ aud: PUBLIC_URL, sub: String(sub), role, scope });
  const admin = await tokenOf(1, 'admin', 'read:users write:users read:claims read:events');
  const paidIn = (claim: number) =>
    SIGN.bank({ type: 'transfer.settled', data: { claim, reference: 'T-1' } }, { id: 'msg_once' });
  let claim = 0;
  {
    await using first = await start(place);
    const user = { name: 'Ada', role: 'employee' };
    const { id } = (await send('POST', `${first.url}/users`, { token: admin, body: user })).body as Made;
    const employee = await tokenOf(id, 'employee', 'write:claims read:claims');
    const form = { purpose: 'Train', amount: 500 };
    claim = ((await send('POST', `${first.url}/claims`, { token: employee, body: form })).body as Made).id;
    const answer = await post(first.url, 'bank', paidIn(claim));
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'done', id: claim } });

    const headers = { 'consistency-token': answer.headers.get('consistency-token') ?? '' };
    const by = { actor: 'system:inbox-bank' };
    const read = (path: string) => send('GET', `${first.url}${path}`, { token: admin, headers });
    expect((await read(`/claims/${claim}`)).body).toMatchObject({ status: 'paid', reference: 'T-1' });
    expect((await read(`/claims/${claim}/history`)).body).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'claim.paid', ...by })]),
    );
    expect((await read('/events?actor=system:inbox-bank')).body).toEqual([
      expect.objectContaining({ type: 'claim.paid', client: null, ...by }),
    ]);
    const query = `{ claim(id: ${claim}) { history(first: 9) { nodes { type actor } } } }`;
    const shown = await send('POST', `${first.url}/graphql`, { token: admin, body: { query }, headers });
    expect(JSON.stringify(shown.body)).toContain('system:inbox-bank');
    const openapi = (await read('/openapi.json')).body as { readonly paths: Record<string, object> };
    expect(openapi.paths['/inbox/bank']).toMatchObject({
      post: { operationId: 'receiveBank', tags: ['Inbox'], security: expect.anything() },
    });
  }
  // The role alone serves the inbox as well.
  await using second = await start(place, 'command');
  expect(await post(second.url, 'bank', paidIn(claim))).toMatchObject({
    status: 200,
    body: { outcome: 'repeated', id: claim },
  });
});

type Made = { readonly id: number };

test('a start without the secret of a sender is refused with one sentence', async () => {
  await using place = await openPlace();
  const environment = { ...place.environmentFor(PARTS, FILE), ...SECRETS, BANK_WEBHOOK_SECRETS: '' };
  const { exit, output } = await runAnnals([PROGRAM], environment);
  expect(exit).not.toBe(0);
  expect(output.trim().split('\n').at(-1)).toBe(
    'BANK_WEBHOOK_SECRETS is not set, and the inbox cannot verify the messages of bank without it: set it, or name its file in BANK_WEBHOOK_SECRETS_FILE.',
  );
});
