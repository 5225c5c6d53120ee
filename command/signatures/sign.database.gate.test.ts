// Over 200 lines, because it is one matrix: who signs what, and for what else the signature is tried.
import { expect } from 'vitest';
import type { RecordedSignature, SignatureProof } from '#kernel/base/signature.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { policyOf, senderCaller } from '#shared/policy.ts';
import { createSignatures } from '#shared/signatures/signatures.ts';
import {
  allEvents,
  by,
  type CommandSide,
  Died,
  mortal,
  registerUser,
  system,
} from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { batches } from '../../test/toy/batches.ts';
import { until } from '../../testing/until.ts';

const policy = policyOf(batches);
const BOT = 'web>bot';
const PROOF: SignatureProof = {
  ...{ means: 'passkey', key: { kty: 'EC' }, authenticatorData: 'AA', clientDataJSON: 'AA', signature: 'AA' },
};

type Person = { readonly userId: number; readonly role: string };
type More = {
  readonly client?: string | null;
  readonly by?: 'tool' | 'service';
  readonly to?: CommandSide;
  readonly idempotencyKey?: string;
  readonly ifVersion?: number;
  readonly reason?: string;
  readonly signature?: string;
};
type Refused = {
  readonly code: string;
  readonly details: { readonly request: string; readonly href: string };
};

let aheadMs = 0;
const clock = realTimeAhead(() => aheadMs);

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: batches, clock })
  .extend('lab', { scope: 'file' }, async ({ side }) => {
    const person = async (name: string, role: string): Promise<Person> => ({
      userId: await registerUser(side, { name, role: role as never }),
      role,
    });
    const [mia, rita, other] = [
      await person('Mia', 'maker'),
      await person('Rita', 'releaser'),
      await person('Otto', 'releaser'),
    ];
    const signatures = createSignatures(side);
    const send = (command: Command, as: Person | undefined, more: More = {}) => {
      const { client = 'web', by: how, to = side, ...rest } = more;
      const caller = as === undefined ? system : { ...callerIn(policy, as), client, ...(how && { by: how }) };
      return to.send(command as never, by(caller as never, rest as never));
    };
    const refusal = (command: Command, as: Person, more: More = {}): Promise<Refused> =>
      send(command, as, more).then(
        () => ({ code: 'done' }) as never,
        (error: Refused) => error,
      );
    /** Sends it, signs what it asks for, and returns the id of the signature. */
    const sign = async (command: Command, as: Person, more: More = {}): Promise<string> => {
      const { code, details } = await refusal(command, as, more);
      expect(code).toBe('signature_required');
      expect(await signatures.give(details.request, PROOF)).toBe(true);
      return details.request;
    };
    const batchOf = async (as: Person = mia) =>
      (await send({ type: 'MakeBatch', product: 'Aspirin', note: 'Mine' }, as)).id;
    const release = (batchId: number, verdict = 'pass') => ({ type: 'ReleaseBatch', batchId, verdict });
    return { person, mia, rita, other, signatures, send, refusal, sign, batchOf, release };
  });

const lastOf = async (side: CommandSide, stream: string) =>
  (await allEvents(side)).filter((event) => event.stream === stream).at(-1);
const signatureAt = async (side: CommandSide, stream: string): Promise<RecordedSignature | undefined> =>
  (await lastOf(side, stream))?.metadata.signature;

test('without a signature it is refused, with the page to sign it, and nothing happens', async ({
  side,
  lab,
}) => {
  const { rita, refusal, batchOf, release } = lab;
  const id = await batchOf();
  const { code, details } = await refusal(release(id), rita);
  expect([code, details]).toEqual([
    'signature_required',
    {
      request: expect.stringMatching(/^[\w-]{43}$/),
      href: `/account/sign?link=${details.request}`,
      meaning: 'approval',
    },
  ]);
  expect((await lastOf(side, `batch-${id}`))?.type).toBe('batch.made');
  // It was asked for, but nobody has signed it.
  expect(await refusal(release(id), rita, { signature: details.request })).toMatchObject({
    code: 'signature_required',
    details: { request: details.request },
  });
});

test('with it, the event has what was signed, by whom, when and with which meaning', async ({
  side,
  lab,
}) => {
  const { rita, send, sign, batchOf, release } = lab;
  const id = await batchOf();
  const signature = await sign({ ...release(id), report: 'r'.repeat(600) }, rita);
  await send({ ...release(id), report: 'r'.repeat(600) }, rita, { signature });
  const recorded = await signatureAt(side, `batch-${id}`);
  expect(recorded?.proof).toEqual(PROOF);
  expect(JSON.parse(recorded?.statement ?? '')).toMatchObject({
    ...{ annals: 'signature', user: rita.userId, meaning: 'approval', command: 'ReleaseBatch' },
    ...{ item: `batch-${id}`, version: 1 },
    form: { batchId: id, verdict: 'pass', report: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  });
});

test('is used once, also by parallel requests', async ({ lab }) => {
  const { rita, send, refusal, sign, batchOf } = lab;
  const certify = { type: 'IssueCertificate', batchId: await batchOf(), text: 'Good' };
  const signature = await sign(certify, rita);
  const codes = await Promise.all(
    Array.from({ length: 5 }, () =>
      send(certify, rita, { signature }).then(
        () => 'done',
        (error: Refused) => error.code,
      ),
    ),
  );
  expect(codes.toSorted()).toEqual(['done', ...Array(4).fill('signature_invalid')]);
  expect((await refusal(certify, rita, { signature })).code).toBe('signature_invalid');
});

test('a repeated request with the same key happens once', async ({ side, lab }) => {
  const { rita, send, sign, batchOf } = lab;
  const certify = { type: 'IssueCertificate', batchId: await batchOf(), text: 'Good' };
  const signature = await sign(certify, rita, { idempotencyKey: 'once' });
  const made = await send(certify, rita, { signature, idempotencyKey: 'once' });
  expect((await send(certify, rita, { signature, idempotencyKey: 'once' })).id).toBe(made.id);
  expect(JSON.parse((await signatureAt(side, `certificate-${made.id}`))?.statement ?? '')).toMatchObject({
    ...{ item: 'certificate', version: null },
  });
});

test('of two processes one uses it', async ({ side, other, lab }) => {
  const { rita, send, sign, batchOf } = lab;
  const certify = { type: 'IssueCertificate', batchId: await batchOf(), text: 'Good' };
  const signature = await sign(certify, rita);
  const done = await Promise.allSettled(
    [side, other, side, other].map((to) => send(certify, rita, { to, signature })),
  );
  expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test.for(['before', 'after'] as const)(
  'a process that dies %s the append has its command repeated, once',
  async (when, { database, lab }) => {
    const { rita, send, sign, batchOf } = lab;
    let dies: typeof when | undefined = when;
    await using dying = await database.open({
      domain: batches,
      clock,
      wrapLog: mortal((stream) => {
        const died = stream.startsWith('certificate-') ? dies : undefined;
        if (died !== undefined) dies = undefined;
        return died;
      }),
    });
    const certify = { type: 'IssueCertificate', batchId: await batchOf(), text: 'Good' };
    const keyed = { to: dying, idempotencyKey: `dies-${when}`, signature: await sign(certify, rita) };
    await expect(send(certify, rita, keyed)).rejects.toBeInstanceOf(Died);
    const { id } = await send(certify, rita, keyed);
    const made = (await allEvents(dying)).filter(
      ({ type, data }) =>
        type === ('certificate.issued' as string) &&
        (data as { batchId?: number }).batchId === certify.batchId,
    );
    expect(made.map(({ stream }) => stream)).toEqual([`certificate-${id}`]);
    await expect(send(certify, rita, { signature: keyed.signature })).rejects.toMatchObject({
      code: 'signature_invalid',
    });
  },
);

test('is for one form, one item, one command, one person and one version', async ({ side, lab }) => {
  const { mia, rita, other, send, refusal, sign, batchOf, release } = lab;
  const [id, second] = [await batchOf(), await batchOf()];
  const signature = await sign(release(id), rita);
  for (const [command, as] of [
    [release(id, 'fail'), rita],
    [{ ...release(id), report: 'More' }, rita],
    [release(second), rita],
    [{ type: 'ScrapBatch', batchId: id }, rita],
    [release(id), other],
  ] as const)
    expect([command, (await refusal(command, as, { signature })).code]).toEqual([
      command,
      'signature_invalid',
    ]);
  await send({ type: 'NoteBatch', batchId: id, note: 'Later' }, mia, {
    signature: await sign({ type: 'NoteBatch', batchId: id, note: 'Later' }, mia),
  });
  expect((await refusal(release(id), rita, { signature })).code).toBe('version_mismatch');
  expect((await lastOf(side, `batch-${id}`))?.type).toBe('batch.noted');
});

test('expires, and nobody can sign or send it later', async ({ lab }) => {
  const { rita, signatures, refusal, sign, batchOf, release } = lab;
  const id = await batchOf();
  const { details } = await refusal(release(id), rita);
  const signature = await sign(release(id), rita);
  aheadMs = 16 * 60_000;
  try {
    expect(await signatures.give(details.request, PROOF)).toBe(false);
    expect((await refusal(release(id), rita, { signature })).code).toBe('signature_invalid');
  } finally {
    aheadMs = 0;
  }
});

test('agents, tokens, services and senders are refused, with and without a signature', async ({
  side,
  lab,
}) => {
  const { rita, refusal, sign, send, batchOf, release } = lab;
  const id = await batchOf();
  const signature = await sign(release(id), rita);
  for (const more of [
    { client: BOT },
    { client: 'annals-token:abc' },
    { client: 'https://agent.example/annals.json' },
    { by: 'tool' },
    { by: 'service' },
  ] as const)
    for (const given of [{}, { signature }])
      expect([more, (await refusal(release(id), rita, { ...more, ...given })).code]).toEqual([
        more,
        'signer_required',
      ]);
  const sender = senderCaller(policy, { name: 'bank', role: 'releaser' as never });
  await expect(side.send(release(id) as never, by(sender))).rejects.toMatchObject({
    code: 'signer_required',
  });
  // None of them has used it up.
  expect(await send(release(id), rita, { signature })).toMatchObject({ version: 2 });
});

test('what would be refused is refused before anybody signs, and a no-op needs no signature', async ({
  lab,
}) => {
  const { mia, rita, send, refusal, sign, batchOf, release } = lab;
  const id = await batchOf();
  expect((await refusal({ type: 'RecallBatch', batchId: id }, rita, { reason: 'x' })).code).toBe(
    'batch_not_released',
  );
  expect((await refusal({ type: 'RecallBatch', batchId: id }, rita)).code).toBe('reason_required');
  expect((await refusal(release(id), rita, { ifVersion: 7 })).code).toBe('version_mismatch');
  await send({ type: 'NoteBatch', batchId: id, note: 'Mine' }, mia);
  await send(release(id), rita, { signature: await sign(release(id), rita) });
  // It is released with this verdict already.
  expect((await refusal(release(id), rita)).code).toBe('done');
  expect((await refusal(release(id, 'fail'), rita)).code).toBe('batch_not_made');
});

test('a value that turns the writing direction is shown as it was stored', async ({ lab }) => {
  const { rita, signatures, refusal, batchOf, release } = lab;
  const turned = { ...release(await batchOf()), report: 'pay \u202e001\u202c' };
  const { details } = await refusal(turned, rita);
  const found = await signatures.find(details.request);
  expect(Object.fromEntries(found?.asked.form ?? []).report).toBe('pay [U+202E]001[U+202C]');
  expect(JSON.parse(found?.asked.statement ?? '').form.report).toBe(turned.report);
});

test('what changes nothing when it is looked at changes nothing later without a signature', async ({
  database,
  side,
  lab,
}) => {
  const { mia, send, sign, batchOf } = lab;
  const batchId = await batchOf();
  const other = { type: 'NoteBatch', batchId, note: 'Other' };
  const signature = await sign(other, mia);
  let overtaken = false;
  await using racing = await database.open({
    domain: batches,
    clock,
    wrapLog: (log) => ({
      ...log,
      async *read(stream, from, to) {
        yield* log.read(stream, from, to);
        if (overtaken || stream !== `batch-${batchId}`) return;
        overtaken = true;
        await send(other, mia, { signature });
      },
    }),
  });
  await send({ type: 'NoteBatch', batchId, note: 'Mine' }, mia, { to: racing }).catch(() => undefined);
  expect(overtaken).toBe(true);
  expect(await lastOf(side, `batch-${batchId}`)).toMatchObject({ version: 2, data: { note: 'Other' } });
});

test('personal values are recorded only as hashes of which nobody has the key', async ({ side, lab }) => {
  const { mia, send, sign, batchOf } = lab;
  const id = await batchOf();
  const note = { type: 'NoteBatch', batchId: id, note: 'Secret of Mia' };
  await send(note, mia, { signature: await sign(note, mia) });
  const recorded = await signatureAt(side, `batch-${id}`);
  expect(recorded?.statement).not.toContain('Secret');
  expect(JSON.parse(recorded?.statement ?? '').form).toEqual({
    ...{ batchId: id, note: { hmac: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  });
  const { rows } = await side.pool.query<{ asked: Buffer }>('select asked from auth.signature');
  expect(rows.some(({ asked }) => asked.includes('Secret'))).toBe(false);
});

test('a JSON patch, an item of a list and an end are signed as well', async ({ side, lab }) => {
  const { mia, send, sign, batchOf } = lab;
  const id = await batchOf();
  for (const [command, type] of [
    [
      { type: 'PatchBatch', batchId: id, patch: [{ op: 'replace', path: '/note', value: 'New' }] },
      'batch.noted',
    ],
    [{ type: 'SampleBatch', batchId: id, code: 'S1' }, 'batch.sampled'],
    [{ type: 'ScrapBatch', batchId: id }, 'batch.scrapped'],
  ] as const) {
    await send(command, mia, { signature: await sign(command, mia) });
    expect(await lastOf(side, `batch-${id}`)).toMatchObject({
      type,
      metadata: { signature: { proof: PROOF } },
    });
  }
});

test('consequences are not signed', async ({ side, lab }) => {
  const { mia, rita, send, sign, batchOf } = lab;
  const batchId = await batchOf();
  const certify = { type: 'IssueCertificate', batchId, text: 'Good' };
  const { id } = await send(certify, rita, { signature: await sign(certify, rita) });
  const scrap = { type: 'ScrapBatch', batchId };
  await send(scrap, mia, { signature: await sign(scrap, mia) });
  const ended = await until(
    () => lastOf(side, `certificate-${id}`),
    (event) => event?.type === ('certificate.ended' as string),
  );
  expect(ended?.metadata.signature).toBe(undefined);
});

test('an agent asks, and the person signs the approval, which both events keep', async ({ side, lab }) => {
  const { person, rita, other, send, refusal, sign, batchOf, release } = lab;
  const stranger = await person('Stranger', 'maker');
  const id = await batchOf();
  await send(release(id), rita, { signature: await sign(release(id), rita) });
  const recall = { type: 'RecallBatch', batchId: id };
  const asked = await refusal(recall, rita, { client: BOT, reason: 'Complaint' });
  expect(asked.code).toBe('confirmation_required');
  const agentRequestId = Number(asked.details.request);
  const approve = { type: 'ApproveAgentRequest', agentRequestId };
  expect((await refusal(approve, rita, { client: BOT })).code).toBe('person_required');
  expect((await refusal(approve, stranger)).code).toBe('agent_request_not_found');
  const signature = await sign(approve, other);
  expect((await refusal({ ...approve, targetVersion: 9 }, other, { signature })).code).toBe(
    'version_mismatch',
  );
  expect((await refusal(recall, rita, { signature, reason: 'Complaint' })).code).toBe('signature_invalid');
  await send(approve, other, { signature });
  const [approved, recalled] = [
    await signatureAt(side, `agentRequest-${agentRequestId}`),
    await lastOf(side, `batch-${id}`),
  ];
  expect(recalled).toMatchObject({
    type: 'batch.recalled',
    metadata: { actor: `user:${rita.userId}`, client: BOT, reason: 'Complaint', signature: approved },
  });
  expect(JSON.parse(approved?.statement ?? '')).toMatchObject({
    ...{ user: other.userId, meaning: 'responsibility', item: `agentRequest-${agentRequestId}` },
    form: { approves: { command: 'RecallBatch', of: `/batches/${id}`, version: 2 } },
  });
});

test('a request that comes into being while it is approved is not approved without a signature', async ({
  database,
  side,
  lab,
}) => {
  const { rita, other, send, refusal, sign, batchOf, release } = lab;
  const id = await batchOf();
  await send(release(id), rita, { signature: await sign(release(id), rita) });
  const recall = { type: 'RecallBatch', batchId: id };
  const { details } = await refusal(recall, rita, { client: BOT, reason: 'Complaint' });
  const agentRequestId = Number(details.request);
  let isEarly = true;
  await using racing = await database.open({
    domain: batches,
    clock,
    wrapLog: (log) => ({
      ...log,
      async *read(stream, from, to) {
        const isUnseen = isEarly && stream === `agentRequest-${agentRequestId}`;
        if (isUnseen) isEarly = false;
        else yield* log.read(stream, from, to);
      },
    }),
  });
  const approve = { type: 'ApproveAgentRequest', agentRequestId };
  const { code } = await refusal(approve, other, { to: racing });
  expect([isEarly, code]).toEqual([false, 'conflict']);
  expect((await lastOf(side, `batch-${id}`))?.type).toBe('batch.released');
});

test('a row that somebody has changed or copied counts as none', async ({ side, lab }) => {
  const { rita, refusal, sign, batchOf, release } = lab;
  const [id, second] = [await batchOf(), await batchOf()];
  const signed = await sign(release(id), rita);
  const { details } = await refusal(release(second), rita);
  await side.pool.query(
    `update auth.signature set signed = (select signed from auth.signature where signed is not null limit 1)
     where signed is null`,
  );
  expect((await refusal(release(second), rita, { signature: details.request })).code).toBe(
    'signature_required',
  );
  await side.pool.query('update auth.signature set user_id = 1');
  expect((await refusal(release(id), rita, { signature: signed })).code).toBe('signature_invalid');
});
