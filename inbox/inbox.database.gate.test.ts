// Over 200 lines, because all cases share the inbox that the fixture opens.
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, vi } from 'vitest';
import { policyOf, senderCaller } from '#shared/policy.ts';
import { allEvents, by, type CommandSide, Died, mortal } from '../test/engines/command-side.ts';
import { type Answered, openInbox, PAYOUTS, SECRETS, type Sent, SIGN, test } from '../test/engines/inbox.ts';
import { later } from '../test/engines/later.ts';

afterEach(() => {
  vi.useRealTimers();
});

const settled = (claim: number, reference = 'T-1') => ({
  type: 'transfer.settled',
  timestamp: '2026-01-01T00:00:00Z',
  data: { claim, reference },
});
/** Their types are those of another domain. */
const eventsIn = async (side: CommandSide): Promise<readonly AnyEvent[]> =>
  (await allEvents(side)) as readonly unknown[] as readonly AnyEvent[];
type AnyEvent = {
  readonly type: string;
  readonly stream: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly actor: string };
};

const done = { status: 200, body: { outcome: 'done' } };

describe('a signed message', () => {
  test('of Standard Webhooks becomes a command, with the sender as its actor', async ({
    aClaim,
    inbox,
    side,
  }) => {
    const claim = await aClaim();
    const answer = await inbox.post('bank', SIGN.bank(settled(claim)));
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'done', id: claim } });
    expect(answer.headers.get('consistency-token')).toMatch(/./);
    const paid = (await allEvents(side)).filter(({ stream }) => stream === `claim-${claim}`).at(-1);
    expect(paid).toMatchObject({
      type: 'claim.paid',
      data: { reference: 'T-1' },
      metadata: { actor: 'system:inbox-bank', client: null },
    });
  });

  test('of every other scheme becomes one too', async ({ aClaim, inbox, side }) => {
    const [one, other] = [await aClaim(), await aClaim()];
    const object = { id: 'po_1', claim: one };
    expect(await inbox.post('stripe', SIGN.stripe({ type: 'payout.paid', data: { object } }))).toMatchObject(
      done,
    );
    expect(await inbox.post('ledger', SIGN.ledger(settled(other)))).toMatchObject(done);
    const issue = { action: 'opened', issue: { title: 'It burns', number: 7 } };
    expect(await inbox.post('github', SIGN.github(issue))).toMatchObject(done);
    expect(await inbox.post('probe', SIGN.probe({ text: 'Smoke' }, { id: 'a-1' }))).toMatchObject(done);
    const takeover = { sub: 'ada', events: { 'https://id.example/events/takeover': {} } };
    expect(await inbox.post('identity', SIGN.identity(takeover))).toMatchObject(done);
    const reported = (await eventsIn(side)).filter(({ type }) => type === 'incident.reported');
    expect(reported.map(({ data, metadata }) => [metadata.actor, data.title, data.source])).toEqual([
      ['system:inbox-github', 'It burns', 'issue 7'],
      ['system:inbox-probe', 'Smoke', 'alarm a-1'],
      ['system:inbox-identity', 'Takeover of ada', null],
    ]);
  });

  test.for(['bank', 'stripe', 'github', 'probe', 'identity', 'ledger'] as const)(
    'of %s is accepted by each secret while they are rotated',
    async (name, { inbox }) => {
      for (const secret of [0, 1]) {
        const sent = SIGN[name]({ type: 'unknown', text: null } as never, { secret });
        expect(await inbox.post(name, sent)).toMatchObject({ status: 200, body: { outcome: 'ignored' } });
      }
    },
  );

  test('without a command is acknowledged', async ({ inbox, side }) => {
    const head = await side.eventLog.head();
    expect(await inbox.post('bank', SIGN.bank({ type: 'transfer.planned' }))).toMatchObject({
      status: 200,
      body: { outcome: 'ignored' },
    });
    expect(await inbox.post('bank', SIGN.bank({}))).toMatchObject({ body: { outcome: 'ignored' } });
    expect(await inbox.post('bank', SIGN.bank({ type: 'constructor' }))).toMatchObject({
      body: { outcome: 'ignored' },
    });
    // The mapping says that nothing follows.
    expect(await inbox.post('probe', SIGN.probe({ text: null }))).toMatchObject({
      body: { outcome: 'ignored' },
    });
    expect(await side.eventLog.head()).toBe(head);
  });

  test('is also received under /api', async ({ aClaim, inbox }) => {
    const { headers, body } = SIGN.bank(settled(await aClaim()));
    const response = await fetch(`${inbox.url}/api/inbox/bank`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
  });
});

describe('a message', () => {
  const tampered = ({ headers, body }: Sent): Sent => ({ headers, body: body.replace('T-1', 'T-2') });
  const withHeader = ({ headers, body }: Sent, name: string, value: string | undefined): Sent => ({
    headers: Object.fromEntries(
      Object.entries({ ...headers, [name]: value }).filter(([, each]) => each !== undefined),
    ) as Sent['headers'],
    body,
  });
  const bank = () => SIGN.bank(settled(1));
  const event = { sub: 'x', events: { 'https://id.example/events/takeover': {} } };

  test.for<[string, string, () => Sent, number, string, RegExp]>([
    ['a changed body', 'bank', () => tampered(bank()), 401, 'invalid_signature', /does not match the body/],
    [
      'a cut body',
      'bank',
      () => ({ ...bank(), body: bank().body.slice(0, -9) }),
      401,
      'invalid_signature',
      /match/,
    ],
    ['no body', 'bank', () => ({ ...bank(), body: '' }), 401, 'invalid_signature', /./],
    [
      'no signature',
      'bank',
      () => withHeader(bank(), 'webhook-signature', undefined),
      401,
      'invalid_signature',
      /has no webhook-signature/,
    ],
    [
      'an empty signature',
      'bank',
      () => withHeader(bank(), 'webhook-signature', 'v1,'),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'a signature of another version',
      'bank',
      () =>
        withHeader(
          bank(),
          'webhook-signature',
          String(bank().headers['webhook-signature']).replace('v1', 'v9'),
        ),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'another id than was signed',
      'bank',
      () => withHeader(bank(), 'webhook-id', 'msg_other'),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'an old time',
      'bank',
      () => SIGN.bank(settled(1), { ageS: 320 }),
      401,
      'invalid_signature',
      /32\d seconds ago, but at most 300/,
    ],
    [
      'a future time',
      'bank',
      () => SIGN.bank(settled(1), { ageS: -320 }),
      401,
      'invalid_signature',
      /in the future/,
    ],
    [
      'a changed time',
      'bank',
      () =>
        withHeader(
          SIGN.bank(settled(1), { ageS: 900 }),
          'webhook-timestamp',
          String(Math.round(Date.now() / 1000)),
        ),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'the signature of another sender',
      'stripe',
      () => bank(),
      401,
      'invalid_signature',
      /has no Stripe-Signature/,
    ],
    [
      'an old time of Stripe',
      'stripe',
      () => SIGN.stripe({ type: 'x' }, { ageS: 400 }),
      401,
      'invalid_signature',
      /seconds ago/,
    ],
    [
      'two times of Stripe',
      'stripe',
      () => withHeader(SIGN.stripe({}), 'Stripe-Signature', 't=1,t=2,v1=aa'),
      401,
      'invalid_signature',
      /one time/,
    ],
    [
      'a changed body of Stripe',
      'stripe',
      () => ({ ...SIGN.stripe({ a: 'T-1' }), body: '{}' }),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'the old scheme of Stripe alone',
      'stripe',
      () =>
        withHeader(
          SIGN.stripe({}),
          'Stripe-Signature',
          `t=${Math.round(Date.now() / 1000)},v0=${'a'.repeat(64)}`,
        ),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'no prefix at GitHub',
      'github',
      () => withHeader(SIGN.github({}), 'X-Hub-Signature-256', 'a'.repeat(64)),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'a SHA-1 digest at GitHub',
      'github',
      () => withHeader(SIGN.github({}), 'X-Hub-Signature-256', `sha1=${'a'.repeat(40)}`),
      401,
      'invalid_signature',
      /match/,
    ],
    [
      'no id at GitHub',
      'github',
      () => withHeader(SIGN.github({}), 'X-GitHub-Delivery', undefined),
      422,
      'invalid_request',
      /no id in the header X-GitHub-Delivery/,
    ],
    [
      'an old time of a digest',
      'probe',
      () => SIGN.probe({ text: 'x' }, { ageS: 301 + 30 }),
      401,
      'invalid_signature',
      /ago/,
    ],
    [
      'an id with spaces',
      'probe',
      () => SIGN.probe({ text: 'x' }, { id: 'a b' }),
      422,
      'invalid_request',
      /no id in the field alarm.id/,
    ],
    [
      'the algorithm none',
      'identity',
      () => SIGN.identity(event, { algorithm: 'none' }),
      401,
      'invalid_signature',
      /key and an algorithm/,
    ],
    [
      'a shared key',
      'identity',
      () => SIGN.identity(event, { algorithm: 'HS256' }),
      401,
      'invalid_signature',
      /key and an algorithm/,
    ],
    [
      'another audience',
      'identity',
      () => SIGN.identity({ ...event, aud: 'others' }),
      401,
      'invalid_signature',
      /audience \(aud\) must contain payouts/,
    ],
    [
      'another issuer',
      'identity',
      () => SIGN.identity({ ...event, iss: 'https://other.example' }),
      401,
      'invalid_signature',
      /issuer/,
    ],
    [
      'an expired token',
      'identity',
      () => SIGN.identity({ ...event, exp: Math.round(Date.now() / 1000) - 400 }),
      401,
      'invalid_signature',
      /expired/,
    ],
    [
      'a token from the future',
      'identity',
      () => SIGN.identity(event, { ageS: -400 }),
      401,
      'invalid_signature',
      /future/,
    ],
    [
      'a token with a text for a time',
      'identity',
      () => SIGN.identity({ ...event, exp: 'never' }),
      401,
      'invalid_signature',
      /exp must be a number/,
    ],
    ['no JWS', 'identity', () => ({ ...SIGN.identity(event), body: 'a.b' }), 401, 'invalid_signature', /./],
    [
      'a changed body beside a JWS',
      'ledger',
      () => tampered(SIGN.ledger(settled(1))),
      401,
      'invalid_signature',
      /key and an algorithm/,
    ],
    [
      'a JWS with a payload in the header',
      'ledger',
      () => withHeader(SIGN.ledger({}), 'X-JWS-Signature', 'a.b.c'),
      401,
      'invalid_signature',
      /detached/,
    ],
    [
      'an unreadable JWS header',
      'ledger',
      () => withHeader(SIGN.ledger({}), 'X-JWS-Signature', '!!..x'),
      401,
      'invalid_signature',
      /cannot be read/,
    ],
    [
      'an audience that nobody declared',
      'ledger',
      () => SIGN.ledger({ ...settled(1), aud: 'x' }),
      401,
      'invalid_signature',
      /names none/,
    ],
    [
      'a form',
      'bank',
      () => withHeader(bank(), 'Content-Type', 'application/x-www-form-urlencoded'),
      415,
      'unsupported_media_type',
      /application\/json/,
    ],
    [
      'a compressed body',
      'bank',
      () => withHeader(bank(), 'Content-Encoding', 'gzip'),
      400,
      'malformed_request',
      /./,
    ],
    ['a large body', 'bank', () => SIGN.bank({ type: 'x'.repeat(21_000) }), 413, 'body_too_large', /20000/],
    [
      'a payload of another form',
      'bank',
      () => SIGN.bank({ type: 'transfer.settled', data: { claim: 'one' } }),
      422,
      'invalid_request',
      /transfer.settled does not have the form/,
    ],
    ['a list', 'bank', () => SIGN.bank([] as object), 200, '', /./],
    [
      'a payload that the mapping cannot read',
      'bank',
      () => SIGN.bank({ type: 'transfer.odd' }),
      422,
      'invalid_request',
      /operator finds the reason in the log/,
    ],
    [
      'a number that is none',
      'bank',
      () => SIGN.bank({ type: 'transfer.numbered', number: 'x' }),
      422,
      'invalid_request',
      /invalid value/,
    ],
    ['an unknown item', 'bank', () => SIGN.bank(settled(987_654)), 404, 'claim_not_found', /./],
    [
      'a value that no command takes',
      'bank',
      () => SIGN.bank(settled(987_654, 'x'.repeat(50))),
      422,
      'invalid_command',
      /./,
    ],
  ])('with %s is refused in a sentence', async ([, sender, make, status, code, says], { inbox, side }) => {
    const head = await side.eventLog.head();
    const answer = await inbox.post(sender, make());
    expect({ status: answer.status, ...(code !== '' && { code: answer.body.code }) }).toEqual({
      status,
      ...(code !== '' && { code }),
    });
    if (code !== '') expect(String(answer.body.detail ?? answer.body.title)).toMatch(says);
    expect(JSON.stringify(answer.body)).not.toContain('secret reasons');
    const added = (await allEvents(side)).filter(({ position }) => position > head);
    expect(added.filter(({ stream }) => !stream.startsWith('command-'))).toEqual([]);
  });

  test('in invalid JSON or UTF-8 is refused, although it is signed', async ({ inbox }) => {
    const webhook = new Webhook(SECRETS.BANK_WEBHOOK_SECRETS.split(' ')[0] ?? '');
    for (const body of ['{"type":', '{"type":"a","type":"b"}', 'null', '"x"']) {
      const at = new Date();
      const headers = {
        ...{ 'Content-Type': 'application/json', 'webhook-id': randomUUID() },
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      };
      const signature = webhook.sign(headers['webhook-id'], at, body);
      const answer = await inbox.post('bank', {
        headers: { ...headers, 'webhook-signature': signature },
        body,
      });
      if (body.startsWith('{'))
        expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
      else expect(answer).toMatchObject({ status: 200, body: { outcome: 'ignored' } });
    }
  });

  test('to an unknown sender, or by another method, is refused', async ({ inbox }) => {
    expect((await inbox.post('nobody', bank())).status).toBe(404);
    const response = await fetch(`${inbox.url}/inbox/bank`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  test('is counted and logged for operators, and the cause of a failed mapping too', async ({ inbox }) => {
    await inbox.post('bank', SIGN.bank({ type: 'transfer.odd' }, { id: 'msg_logged' }));
    const text = await inbox.metrics.metrics();
    expect(text).toMatch(/annals_inbox_messages_total\{sender="bank",outcome="invalid_signature"\} [1-9]/);
    const line = inbox
      .logged()
      .split('\n')
      .find((each) => each.includes('msg_logged') && each.includes('refused a message'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      ...{ sender: 'bank', outcome: 'invalid_request', messageId: 'msg_logged', messageType: 'transfer.odd' },
      err: { message: 'secret reasons' },
    });
  });
});

describe('a repeated message', () => {
  const eventsOf = async (side: CommandSide, claim: number) =>
    (await eventsIn(side)).filter(({ stream, type }) => stream === `claim-${claim}` && type === 'claim.paid');

  test('is answered as the first, also by another process, and days later', async ({
    aClaim,
    database,
    inbox,
    side,
  }) => {
    const claim = await aClaim();
    const id = `msg_${randomUUID()}`;
    expect(await inbox.post('bank', SIGN.bank(settled(claim), { id }))).toMatchObject(done);
    const again = { status: 200, body: { outcome: 'repeated', id: claim } };
    expect(await inbox.post('bank', SIGN.bank(settled(claim), { id }))).toMatchObject(again);
    await using otherSide = await database.open({ domain: PAYOUTS });
    await using other = await openInbox(otherSide);
    expect(await other.post('bank', SIGN.bank(settled(claim), { id }))).toMatchObject(again);
    later(3 * 24 * 3_600_000);
    expect(await other.post('bank', SIGN.bank(settled(claim), { id }))).toMatchObject(again);
    expect(await eventsOf(side, claim)).toHaveLength(1);
  });

  test('may differ where its command does not', async ({ aClaim, inbox }) => {
    const object = { id: 'po_2', claim: await aClaim() };
    const id = `evt_${randomUUID()}`;
    const sent = (pending: number) =>
      inbox.post(
        'stripe',
        SIGN.stripe({ type: 'payout.paid', pending_webhooks: pending, data: { object } }, { id }),
      );
    expect((await sent(2)).body.outcome).toBe('done');
    expect((await sent(1)).body.outcome).toBe('repeated');
  });

  test('with another command is refused', async ({ aClaim, inbox, side }) => {
    const [one, other] = [await aClaim(), await aClaim()];
    const id = `msg_${randomUUID()}`;
    await inbox.post('bank', SIGN.bank(settled(one), { id }));
    expect(await inbox.post('bank', SIGN.bank(settled(other), { id }))).toMatchObject({
      status: 422,
      body: {
        code: 'idempotency_key_reused',
        title: expect.stringContaining('Another message with this id'),
      },
    });
    expect(await eventsOf(side, other)).toEqual([]);
  });

  test('of another sender is another message', async ({ aClaim, inbox }) => {
    const id = randomUUID();
    const [one, other] = [await aClaim(), await aClaim()];
    expect(await inbox.post('bank', SIGN.bank(settled(one), { id }))).toMatchObject(done);
    expect(await inbox.post('ledger', SIGN.ledger(settled(other), { id }))).toMatchObject(done);
  });

  test('runs once if it arrives many times at once, in two processes', async ({
    aClaim,
    database,
    inbox,
    side,
  }) => {
    const claim = await aClaim();
    const id = `msg_${randomUUID()}`;
    await using otherSide = await database.open({ domain: PAYOUTS });
    await using other = await openInbox(otherSide);
    const answers: readonly Answered[] = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 ? inbox : other).post('bank', SIGN.bank(settled(claim), { id })),
      ),
    );
    for (const { status, headers } of answers) {
      expect([200, 503]).toContain(status);
      if (status === 503) expect(headers.get('retry-after')).toBe('5');
    }
    expect(answers.filter(({ body }) => body.outcome === 'done')).toHaveLength(1);
    expect(await eventsOf(side, claim)).toHaveLength(1);
  });

  test.for(['before', 'after'] as const)(
    'decides once if the process dies %s the append',
    async (when, { aClaim, database, inbox, side }) => {
      const claim = await aClaim();
      const id = `msg_${randomUUID()}`;
      {
        const wrapLog = mortal((stream) => (stream.startsWith('claim-') ? when : undefined));
        await using dyingSide = await database.open({ domain: PAYOUTS, wrapLog });
        await using dying = await openInbox(dyingSide);
        expect((await dying.post('bank', SIGN.bank(settled(claim), { id }))).status).toBe(500);
        expect(dying.logged()).toContain(Died.name);
      }
      // The first delivery may still run.
      expect((await inbox.post('bank', SIGN.bank(settled(claim), { id }))).status).toBe(503);
      later(11_000);
      expect(await inbox.post('bank', SIGN.bank(settled(claim), { id }))).toMatchObject(done);
      expect(await eventsOf(side, claim)).toHaveLength(1);
    },
  );
});

describe('a refusal by the state', () => {
  test('is a conflict, and its message may come again', async ({ aClaim, inbox }) => {
    const claim = await aClaim();
    await inbox.post('bank', SIGN.bank(settled(claim)));
    const late = { type: 'transfer.failed', data: { claim } };
    expect(await inbox.post('bank', SIGN.bank(late))).toMatchObject({
      status: 409,
      body: { code: 'claim_not_open', title: 'The claim is not open.' },
    });
  });

  test('is acknowledged if the declaration says so', async ({ aClaim, inbox }) => {
    const claim = await aClaim();
    const paid = (id: string) =>
      inbox.post('stripe', SIGN.stripe({ type: 'payout.paid', data: { object: { id, claim } } }));
    expect(await paid('po_3')).toMatchObject(done);
    expect(await paid('po_4')).toEqual({
      status: 200,
      headers: expect.anything(),
      body: { outcome: 'refused', code: 'claim_not_open', title: 'The claim is not open.' },
    });
  });
});

describe('the rights of a sender', () => {
  test('are those of its role: conditions of rights hold for it', async ({ aClaim, inbox }) => {
    const failed = async (amount: number) =>
      inbox.post('bank', SIGN.bank({ type: 'transfer.failed', data: { claim: await aClaim(amount) } }));
    expect(await failed(900)).toMatchObject(done);
    expect(await failed(5_000)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  test('never include those of a user or an administrator', async ({ aClaim, side }) => {
    const claim = await aClaim();
    const commands = [
      { type: 'FileClaim', purpose: 'Own', amount: 1 },
      { type: 'PayClaim', claimId: claim, reference: 'R' },
      { type: 'FailClaim', claimId: claim },
      { type: 'ReportIncident', title: 'T' },
      { type: 'RegisterUser', name: 'Eve', email: null, role: 'admin' },
      { type: 'DeleteUser', userId: 1 },
      { type: 'RegisterWebhook', url: 'https://a.example/', eventTypes: ['*'] },
      { type: 'ExpireClaim', claimId: claim },
    ] as const;
    const outcomes: Record<string, string[]> = {};
    for (const role of ['employee', 'bank', 'monitor'])
      for (const command of commands) {
        const caller = senderCaller(policyOf(PAYOUTS), { name: 'tried', role });
        const outcome = await side.send(command, by(caller)).then(
          () => 'done',
          ({ code }: { readonly code: string }) => code,
        );
        outcomes[command.type] = [...(outcomes[command.type] ?? []), outcome];
      }
    expect(outcomes).toEqual({
      // An employee’s own, and a sender owns nothing.
      FileClaim: ['invalid_command', 'invalid_command', 'invalid_command'],
      PayClaim: ['claim_not_found', 'done', 'claim_not_found'],
      FailClaim: ['claim_not_found', 'claim_not_open', 'claim_not_found'],
      ReportIncident: ['forbidden', 'forbidden', 'done'],
      RegisterUser: ['forbidden', 'forbidden', 'forbidden'],
      DeleteUser: ['forbidden', 'forbidden', 'forbidden'],
      RegisterWebhook: ['invalid_command', 'invalid_command', 'invalid_command'],
      ExpireClaim: ['invalid_command', 'invalid_command', 'invalid_command'],
    });
  });
});
