import { expect } from 'vitest';
import type { AuditedLog } from '../../test/engines/audited-log.ts';
import { test } from '../../test/engines/three-witnesses.ts';
import { aWitnessedLog } from '../../test/witnessed-log.ts';
import { until } from '../../testing/until.ts';
import { openSigner } from '../stored/signing-keys.ts';
import { noteKeyOf } from '../tree/note-key.ts';

/** Another history, signed with the key of the log. */
const forkOf = async (audited: AuditedLog) => {
  const signer = await openSigner(audited);
  const key = noteKeyOf(signer.publicKey, audited.eventLog.identity);
  return aWitnessedLog({ key, sign: (text) => Buffer.from(signer.sign(text), 'base64url') }, 'two');
};

test('a log that shows a witness another history is refused: the first of all alarms', async ({
  audited,
  policy,
  side,
  three: [first],
}) => {
  const body = await (await forkOf(audited)).request(0, 4);
  const { status } = await fetch(`${first.url}/add-checkpoint`, { method: 'POST', body });
  expect(status).toBe(200);

  await audited.append(6);
  await using running = await side.start(policy);
  const [refusing] = await until(side.rows, (rows) => rows[0]?.isRefusing === true);
  expect(refusing?.problem).toBe('The proof does not lead from the head that it has cosigned.');
  expect(side.complaints()).toEqual([
    expect.objectContaining({
      level: 50,
      msg: 'A witness says that the log contradicts what it has seen before.',
    }),
  ]);
  expect(await running.metrics.metrics()).toMatch(/^annals_audit_witness_refusals 1$/m);
  // An unreachable witness takes nothing back.
  await first.stop();
  await until(
    async () => side.complaints().length,
    (count) => count > 1,
  );
  expect((await side.rows())[0]).toMatchObject({ isRefusing: true, problem: refusing?.problem });
  // The others are enough.
  await until(side.heads, (heads) => heads.witnessed?.size === 6);
  await first.restart();
  expect(first.sizeOf(side.origin)).toBe(4);
});

test('a witness that knows more events than the log has is an alarm too', async ({
  audited,
  policy,
  side,
  three: [first],
}) => {
  const body = await (await forkOf(audited)).request(0, 200);
  await fetch(`${first.url}/add-checkpoint`, { method: 'POST', body });
  await audited.append(6);
  await using _running = await side.start(policy);
  const [refusing] = await until(side.rows, (rows) => rows[0]?.isRefusing === true);
  expect(refusing?.problem).toBe('It has cosigned a head over 200 events, and the log has 6.');
});
