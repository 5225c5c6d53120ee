import { createHash } from 'node:crypto';

// The unit for the cost of tasks that no peer has: parsing, printing and hashing one small JSON document. It
// takes twice as long on a machine that is half as fast, so a cost in this unit is the same on both.

const DOCUMENT = JSON.stringify({
  id: 8001,
  title: 'On engines',
  body: 'An analytical one. '.repeat(12),
  tags: ['engines'],
  at: '2026-01-01T00:00:00Z',
});
const TIMES = 20_000;

const work = (): void => {
  for (let time = 0; time < TIMES; time += 1)
    createHash('sha256')
      .update(JSON.stringify(JSON.parse(DOCUMENT)))
      .digest('hex');
};

/** Compiled before the first measurement. */
work();

/** The microseconds of CPU time for one document, now. */
export const yardstickUs = (): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TIMES;
};
