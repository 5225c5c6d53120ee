import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import type { AuditedLog } from '../test/engines/audited-log.ts';
import { startTestAuthority } from '../test/engines/test-authority.ts';
import { test } from '../test/engines/three-witnesses.ts';
import { until } from '../testing/until.ts';
import { isWitnessed } from './cosign/enough.ts';
import { sendOutside } from './outside.ts';
import { checkTimeStamp } from './time/check-time-stamp.ts';
import { readNewestStamp } from './time/time-stamp-rows.ts';
import { parsePolicy } from './tree/policy.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('Time stamps are not tested, because there is no openssl.');

type Settings = Parameters<typeof sendOutside>[0]['settings'];

const start = async (audited: AuditedLog, settings: Settings): Promise<AsyncDisposable> => {
  await using opening = new AsyncDisposableStack();
  const given = { ...audited, log: pino({ level: 'silent' }), metrics: createMetrics(), settings };
  const onHead = await sendOutside(given, opening);
  opening.use(await audited.startChain(onHead));
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

test.skipIf(!hasOpenssl)(
  'the settings have heads cosigned, and stamped when enough have cosigned',
  async ({ audited, folder, policy, side }) => {
    await using authority = await startTestAuthority(folder);
    await audited.append(4);
    const timeStamps = { url: authority.url, everyMs: 3_600_000 };
    const stamp = () => readNewestStamp(audited.pool, side.origin);
    {
      await using _witnessed = await start(audited, { witnesses: `${policy}\n` });
      await until(side.heads, ({ witnessed }) => witnessed?.size === 4);
    }
    // The head that was witnessed before the authority was set is stamped too.
    await using _both = await start(audited, { witnesses: `${policy}\n`, timeStamps });
    const stamped = await until(stamp, (found) => found !== undefined);
    expect(stamped).toMatchObject({ size: 4, isWitnessed: true });
    const { note = '', token = Buffer.alloc(0) } = stamped ?? {};
    expect(isWitnessed(note, parsePolicy(policy))).toBe(true);
    const trusted = [new X509Certificate(authority.ca)];
    expect(checkTimeStamp(token, Buffer.from(note), trusted)).toMatchObject({ by: 'CN=Test TSA' });
    await audited.append(1);
    await until(side.heads, ({ witnessed }) => witnessed?.size === 5);
    expect(authority.asked()).toBe(1);
  },
);

test('without the settings nobody is asked, and proofs need no witnesses', async ({
  audited,
  policy,
  side,
}) => {
  await audited.append(4);
  {
    await using _witnessed = await start(audited, { witnesses: `${policy}\n` });
    await until(side.heads, ({ witnessed }) => witnessed?.size === 4);
  }
  await using _alone = await start(audited, {});
  expect(await side.heads()).toMatchObject({ hasWitnesses: false, newest: { size: 4 } });
});
