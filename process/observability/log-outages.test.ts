import { expect, test } from 'vitest';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { createLog } from './log.ts';

const start = () => {
  const lines: { readonly msg: string; readonly repeated?: number }[] = [];
  const time = { ms: 0 };
  const log = createLog({
    level: 'info',
    elapsedMs: () => time.ms,
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  return { log, lines, time };
};

const away = (stream: number, cause: string) =>
  new LogUnavailable(`no answer to thing-${stream}`, { cause: new Error(cause) });

test('an outage logs one line for each cause and minute, with the number of those left out', () => {
  const { log, lines, time } = start();
  const words = 'A follower failed.';
  for (let index = 0; index < 50; index += 1) {
    log.error({ err: away(index, `port ${index}: reset`), follower: `f${index}` }, words);
    log.child({ requestId: index }).error({ err: away(index, 'refused') }, words);
    log.warn({ code: 'unavailable', reason: `thing-${index}`, cause: 'refused' }, 'A request failed.');
    log.warn({ err: new Error('no answer'), check: 'event log' }, 'A check fails.');
    log.warn({ err: new Error('no answer'), check: 'database' }, 'A check fails.');
  }
  expect(lines.map(({ msg, repeated }) => [msg, repeated])).toEqual([
    [words, undefined],
    [words, undefined],
    ['A request failed.', undefined],
    ['A check fails.', undefined],
    ['A check fails.', undefined],
  ]);
  time.ms += 60_000;
  log.error({ err: away(1, 'refused') }, words);
  expect(lines.at(-1)).toMatchObject({ msg: words, repeated: 49 });
});

test('failures that are no outage are all logged', () => {
  const { log, lines } = start();
  for (let index = 0; index < 3; index += 1) {
    log.error({ err: new Error('a fault') }, 'A request failed.');
    log.info({ err: away(1, 'refused') }, 'request');
  }
  expect(lines).toHaveLength(6);
});
