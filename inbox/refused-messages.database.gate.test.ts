import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  REFUSED_KEPT_MAX,
  type RefusedMessage,
  readRefusedMessages,
  recordRefusedMessages,
} from '#process/operations/refused-messages.ts';
import { EVERY_PART } from '../parts.ts';
import { callAt } from '../test/engines/call-line.ts';
import type { CommandSide } from '../test/engines/command-side.ts';
import { openInbox, SIGN, test } from '../test/engines/inbox.ts';
import { captureLog } from '../test/serve.ts';
import { until } from '../testing/until.ts';
import { part } from './query-part.ts';
import { openRefusalRecorder } from './record-refusals.ts';

const ALL = { after: undefined, before: undefined, isBackward: false, rowsMax: 10_000 };

/** The refusals of a sender, the oldest first, once there are enough. */
const refusalsOf = ({ pool }: CommandSide, sender: string, count: number) =>
  until(
    async () => (await readRefusedMessages(pool, ALL, sender)).toReversed(),
    (found) => found.length >= count,
  );

test('a refused message is listed with its reason, and a verified one with its id and type', async ({
  aClaim,
  inbox,
  side,
}) => {
  const settled = { type: 'transfer.settled', data: { claim: 1, reference: 'IBAN of Ada' } };
  const { body, headers } = SIGN.bank(settled, { id: 'msg_absent' });
  const unsigned = { body: JSON.stringify({ ...settled, secret: 'hunter2' }), headers };
  const large = { body: 'x'.repeat(30_000), headers };
  expect((await inbox.post('bank', unsigned)).status).toBe(401);
  expect((await inbox.post('bank', { body, headers })).status).toBe(404);
  expect((await inbox.post('bank', large)).status).toBe(413);
  expect(
    (await inbox.post('bank', { body, headers: { ...headers, 'Content-Type': 'text/plain' } })).status,
  ).toBe(415);
  expect((await inbox.post('bank', SIGN.bank({ type: 'transfer.odd' }, { id: 'msg_odd' }))).status).toBe(422);
  const found = await refusalsOf(side, 'bank', 5);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(found).toMatchObject([
    {
      ...{ code: 'invalid_signature', messageId: null, messageType: null },
      ...{ bytes: unsigned.body.length, sha256: sha256(unsigned.body), request: expect.stringMatching(/./) },
    },
    {
      ...{ code: 'claim_not_found', messageId: 'msg_absent', messageType: 'transfer.settled' },
      ...{ bytes: body.length, sha256: sha256(body), reason: expect.stringMatching(/./) },
    },
    { code: 'body_too_large', messageId: null, bytes: 30_000, sha256: null },
    { code: 'unsupported_media_type', messageId: null, bytes: body.length, sha256: null },
    { code: 'invalid_request', messageId: 'msg_odd', messageType: 'transfer.odd' },
  ]);
  // Neither the content, nor the error of the domain's own code.
  expect(JSON.stringify(found)).not.toMatch(/IBAN|hunter2|secret reasons/);
  // A refusal that is acknowledged is one, and what was carried out or ignored is none.
  const paid = (claim: number, id: string) =>
    inbox.post('stripe', SIGN.stripe({ type: 'payout.paid', data: { object: { id, claim } } }));
  const claim = await aClaim();
  expect((await paid(claim, 'po_1')).body).toMatchObject({ outcome: 'done' });
  expect((await paid(claim, 'po_2')).body).toMatchObject({ outcome: 'refused' });
  expect(await inbox.post('stripe', SIGN.stripe({ type: 'other' }))).toMatchObject({ status: 200 });
  expect(await refusalsOf(side, 'stripe', 1)).toMatchObject([
    { code: 'claim_not_open', messageType: 'payout.paid' },
  ]);
  const counted = await inbox.metrics.getSingleMetricAsString('annals_inbox_messages_total');
  expect(counted).toMatch(/sender="bank",outcome="body_too_large"\} 1/);
  expect(counted).toMatch(/sender="bank",outcome="unsupported_media_type"\} 1/);
});

test('texts that a database cannot store are stored as others, and large ones in part', async ({
  inbox,
  side,
}) => {
  const type = `transfer.\u0000\ud800${'x'.repeat(5_000)}`;
  const { headers } = SIGN.bank({});
  const lengths = { ...headers, 'X-Request-Id': 'of-the-sender' };
  await inbox.post('probe', {
    body: 'not json',
    headers: { ...lengths, 'X-Probe-Time': '\u00ff'.repeat(900) },
  });
  const [first] = await refusalsOf(side, 'probe', 1);
  expect(first).toMatchObject({ code: 'invalid_signature', request: 'of-the-sender' });
  await using recorder = await openRefusalRecorder({ ...side, log: captureLog().log });
  const odd = {
    sender: 'odd',
    code: 'invalid_request',
    reason: `\u0007${type}`,
    messageId: 'a',
    messageType: type,
  };
  recorder.record({ ...odd, bytes: Number.MAX_VALUE, sha256: null, request: 'r' });
  const [stored] = await refusalsOf(side, 'odd', 1);
  expect(stored).toMatchObject({ bytes: null, messageType: expect.stringMatching(/^transfer\. \ufffdx+$/) });
  expect([stored?.reason.length, stored?.messageType?.length]).toEqual([500, 500]);
});

const refusal = (sender: string, code: string, number: number, at = new Date()): RefusedMessage => ({
  ...{ id: `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`, at, sender, code },
  ...{ reason: 'No.', messageId: null, messageType: null, bytes: 1, sha256: null, request: randomUUID() },
});

test('many refusals of one kind displace only their own, and old ones go', async ({ side }) => {
  const { pool } = side;
  const old = new Date(Date.now() - 31 * 24 * 3_600_000);
  await pool.query('truncate operations.refused_message');
  await recordRefusedMessages(pool, [refusal('a', 'forbidden', 1), refusal('b', 'invalid_signature', 2)]);
  const flood = Array.from({ length: REFUSED_KEPT_MAX + 50 }, (_, index) =>
    refusal('a', 'invalid_signature', 100 + index),
  );
  // Two processes at once.
  await Promise.all([recordRefusedMessages(pool, flood), recordRefusedMessages(pool, flood.slice(0, 100))]);
  await recordRefusedMessages(pool, []);
  const kept = (await readRefusedMessages(pool, ALL)).map(({ sender, code }) => `${sender} ${code}`);
  expect(kept.filter((each) => each === 'a invalid_signature')).toHaveLength(REFUSED_KEPT_MAX);
  expect(kept).toEqual(expect.arrayContaining(['a forbidden', 'b invalid_signature']));
  expect((await readRefusedMessages(pool, ALL, 'a'))[0]?.id).toBe(flood.at(-1)?.id);
  await pool.query('update operations.refused_message set at = $1 where sender = $2', [old, 'a']);
  expect(await readRefusedMessages(pool, ALL, 'a')).toEqual([]);
  await recordRefusedMessages(pool, []);
  const { rowCount } = await pool.query('select from operations.refused_message');
  expect(rowCount).toBe(1);
});

test('administrators read them in pages, of one sender or of all', async ({ side }) => {
  const { pool } = side;
  await pool.query('truncate operations.refused_message');
  await recordRefusedMessages(
    pool,
    Array.from({ length: 5 }, (_, index) => refusal(index % 2 ? 'a' : 'b', 'forbidden', index + 1)),
  );
  const { reads } = await part.open({ pool, domain: side.domain } as never);
  const page = async (asked: object) =>
    (await reads?.listRefusedMessages?.({} as never, asked as never)) as {
      readonly items: readonly RefusedMessage[];
      readonly links: Readonly<Record<string, string>>;
    };
  const numbersIn = (items: readonly RefusedMessage[]) => items.map(({ id }) => Number(id.slice(-3)));
  const first = await page({ limit: 2 });
  expect(numbersIn(first.items)).toEqual([5, 4]);
  const after = new URLSearchParams(first.links.next?.split('?')[1]).get('after') ?? '';
  expect(numbersIn((await page({ limit: 9, after })).items)).toEqual([3, 2, 1]);
  expect(numbersIn((await page({ sender: 'a' })).items)).toEqual([4, 2]);
  await expect(page({ after: 'forged' })).rejects.toMatchObject({ code: 'unknown_cursor' });
});

test('the command line lists them, and harmless to a terminal', async ({ database, side }) => {
  await side.pool.query('truncate operations.refused_message');
  const at = new Date();
  const verified = { messageId: 'msg_1', messageType: 'transfer\u001b[31m', reason: 'It is open.' };
  await recordRefusedMessages(side.pool, [
    refusal('a', 'invalid_signature', 1, at),
    { ...refusal('b', 'claim_not_open', 2, at), ...verified },
  ]);
  const call = (...args: readonly string[]) => {
    const environment = { NODE_ENV: 'test', ...database.settings };
    return callAt({ domain: side.domain, parts: EVERY_PART, environment }, ['inbox', 'refused', ...args]);
  };
  const { exit, lines } = await call();
  expect(exit).toBe(0);
  expect(lines).toEqual([
    expect.stringMatching(/^\S+ {2}b {2}claim_not_open: It is open\., id msg_1, type transfer\S*, 1 bytes$/),
    `${at.toISOString()}  a  invalid_signature: No., not verified, 1 bytes`,
  ]);
  expect(lines.join()).not.toContain('\u001b');
  const [json] = (await call('--sender', 'b', '--json')).lines;
  expect(JSON.parse(json ?? '')).toMatchObject({ sender: 'b', ...verified });
  expect((await call('--sender', 'nobody')).output).toBe('No message was refused.');
});

test('what is not written yet is written when the process stops', async ({ database, side }) => {
  await side.pool.query('truncate operations.refused_message');
  {
    await using other = await database.open({ domain: side.domain });
    await using inbox = await openInbox(other);
    const { body, headers } = SIGN.bank({});
    await Promise.all(Array.from({ length: 20 }, () => inbox.post('bank', { body: `${body} `, headers })));
  }
  expect(await readRefusedMessages(side.pool, ALL, 'bank')).toHaveLength(20);
});
