// Over 200 lines, because it is one suite: what a log does with its witnesses, over restarts and failures.
import { expect } from 'vitest';
import { test } from '../../test/engines/three-witnesses.ts';
import { until } from '../../testing/until.ts';
import { cosignatureIn } from '../tree/cosignature.ts';
import { parseNote, writeSignature } from '../tree/note.ts';
import { parsePolicy } from '../tree/policy.ts';
import { readTreeHead } from '../tree/tiles.ts';
import { startWitnesses } from './service.ts';
import { forgetWitnesses, saveCosigned } from './witness-rows.ts';

/** In any order. */
const linesIn = (head: { readonly note: string } | undefined): ReadonlySet<string> =>
  new Set(head?.note.split('\n'));

test('a head is witnessed once enough witnesses have cosigned it, whoever is down', async ({
  audited,
  policy,
  side,
  three: [, , third],
}) => {
  await third.stop();
  await audited.append(5);
  await using _running = await side.start(policy);
  const { witnessed, newest } = await until(side.heads, (heads) => heads.witnessed?.size === 5);
  const note = parseNote(witnessed?.note ?? '');
  const found = parsePolicy(policy).witnesses.map(({ key }) => note && cosignatureIn(note, key).is);
  expect(found).toEqual(['right', 'right', 'absent']);
  expect(linesIn(newest)).toEqual(linesIn(witnessed));
  const down = await until(side.rows, (rows) => rows[2]?.problem != null);
  expect(down[2]).toMatchObject({
    names: ['w3'],
    size: 0,
    isRefusing: false,
    failingSince: expect.any(Date),
  });
  expect(side.complaints()).toEqual([
    expect.objectContaining({ msg: 'A witness does not cosign the head of the log.' }),
  ]);

  await third.restart();
  await until(side.rows, (rows) => rows[2]?.size === 5);
  await audited.append(300);
  const later = await until(side.heads, (heads) => heads.witnessed?.size === 305);
  expect(parseNote(later.witnessed?.note ?? '')?.signatures.length).toBeGreaterThanOrEqual(3);
});

test('without enough witnesses, the newest head has the cosignatures that there are', async ({
  audited,
  policy,
  side,
  three: [, second, third],
}) => {
  await second.stop();
  await third.stop();
  await audited.append(2);
  await using _running = await side.start(policy);
  await until(side.rows, (rows) => rows[0]?.size === 2);
  const { newest, witnessed, hasWitnesses } = await side.heads();
  expect(parseNote(newest?.note ?? '')?.signatures).toHaveLength(2);
  expect([witnessed, hasWitnesses]).toEqual([undefined, true]);
});

test('a restarted process goes on, and asks nothing while nothing is new', async ({
  audited,
  policy,
  side,
  three,
}) => {
  await audited.append(5);
  {
    await using _running = await side.start(policy);
    await until(side.rows, (rows) => rows.every(({ size }) => size === 5));
  }
  const before = await side.rows();
  for (const witness of three) await witness.stop();
  await using _again = await side.start(policy);
  await audited.untilChained();
  expect(await side.rows()).toEqual(before);
  expect(side.complaints()).toEqual([]);
  for (const witness of three) await witness.restart();
  await audited.append(1);
  await until(side.heads, (heads) => heads.witnessed?.size === 6);
});

test('a start keeps one line of each key of what a process before has stored', async ({
  audited,
  policy,
  side,
}) => {
  await audited.append(5);
  {
    await using _running = await side.start(policy);
    await until(side.rows, (rows) => rows.every(({ size }) => size === 5));
  }
  const before = await side.rows();
  await audited.pool.query('update audit.witness set cosignatures = repeat(cosignatures, 3)');
  expect(parseNote((await side.heads()).newest?.note ?? '')?.signatures).toHaveLength(10);
  await using _again = await side.start(policy);
  expect(await side.rows()).toEqual(before);
  expect(parseNote((await side.heads()).newest?.note ?? '')?.signatures).toHaveLength(4);
});

test('a start drops wrong lines of the newest head, and has it cosigned again if none is left', async ({
  audited,
  policy,
  side,
}) => {
  await audited.append(5);
  {
    await using _running = await side.start(policy);
    await until(side.rows, (rows) => rows.every(({ size }) => size === 5));
  }
  const before = await side.rows();
  const [first, second] = before.map(({ cosignatures }) => parseNote(`-\n\n${cosignatures}`)?.signatures[0]);
  if (first === undefined || second === undefined) throw new Error('two witnesses have cosigned');
  // Earlier than the right ones, and of no time at all.
  const [early, late] = [first, second].map(({ name, id, bytes }) => {
    const wrong = Buffer.from(bytes);
    wrong.writeBigUInt64BE(1n);
    return writeSignature(name, id, wrong);
  });
  const [beside, instead] = [before[0], before[1]];
  const change = 'update audit.witness set cosignatures = $2 where url = $1';
  await audited.pool.query(change, [beside?.url, `${early}${beside?.cosignatures}`]);
  await audited.pool.query(change, [instead?.url, late]);
  await using _again = await side.start(policy);
  const after = await until(side.rows, (rows) => rows[1]?.cosignatures?.includes(late ?? '') === false);
  expect(after[0]?.cosignatures).toBe(beside?.cosignatures);
  const note = await until(
    async () => parseNote((await side.heads()).newest?.note ?? ''),
    (head) => head?.signatures.length === 4,
  );
  const found = parsePolicy(policy).witnesses.map(({ key }) => note && cosignatureIn(note, key).is);
  expect(found).toEqual(['right', 'right', 'right']);
});

test('a witness that has seen more than the database remembers is asked again from there', async ({
  audited,
  policy,
  side,
}) => {
  await audited.append(5);
  {
    await using _running = await side.start(policy);
    await until(side.rows, (rows) => rows.every(({ size }) => size === 5));
  }
  await forgetWitnesses(audited.pool);
  await audited.append(4);
  await using _again = await side.start(policy);
  await until(side.heads, (heads) => heads.witnessed?.size === 9);
  expect(side.complaints()).toEqual([]);
});

test('a late answer to a process before replaces no newer cosignatures', async ({ audited, side }) => {
  const witness = { log: side.origin, url: 'https://w1.example', names: ['w1'] };
  const at = new Date('2026-11-30T10:00:00.000Z');
  for (const size of [5, 4])
    await saveCosigned(audited.pool, witness, { size, cosignatures: `of ${size}`, at });
  expect(await side.rows()).toMatchObject([{ size: 5, cosignatures: 'of 5' }]);
});

test('under another policy, a head that too few have cosigned is not witnessed', async ({
  audited,
  policy,
  side,
  three: [, , third],
}) => {
  await third.stop();
  await audited.append(3);
  {
    await using _running = await side.start(policy);
    await until(side.heads, (heads) => heads.witnessed?.size === 3);
  }
  const strict = policy.replace('group most 2', 'group most 3');
  await using _again = await side.start(strict);
  expect((await side.heads()).witnessed).toBeUndefined();
  await third.restart();
  await audited.append(1);
  await until(side.heads, (heads) => heads.witnessed?.size === 4);
});

test.for([
  ['/nowhere/witnesses.policy', 'AUDIT_WITNESSES cannot be used: /nowhere/witnesses.policy does not exist.'],
  ['quorum none\n', 'AUDIT_WITNESSES names no witness'],
  ['quorum most\n', 'AUDIT_WITNESSES cannot be used: Line 1 of the policy names “most”'],
] as const)(
  'the start is refused by a sentence if the setting is %j',
  async ([setting, sentence], { audited }) => {
    const log = undefined as never;
    await expect(startWitnesses({ ...audited, log, metrics: undefined as never, setting })).rejects.toThrow(
      sentence,
    );
  },
);

test('the tree grows whatever its witnesses do', async ({ audited, side, three: [first] }) => {
  await first.stop();
  await audited.append(3);
  await using _running = await side.start(`${first.line('w1')}\nquorum w1`);
  await audited.append(20);
  await audited.untilChained();
  expect((await readTreeHead(audited.pool))?.size).toBe(23);
  expect((await side.heads()).newest?.size).toBe(23);
});
