import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Log } from '#shared/log.ts';
import { createLog } from './log.ts';

const capture = (
  level = 'info',
): { log: Log; lines: () => Record<string, unknown>[]; text: () => string } => {
  const written: string[] = [];
  const log = createLog({ level, destination: { write: (line: string) => void written.push(line) } });
  const text = () => written.join('');
  return {
    log,
    text,
    lines: () =>
      text()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  };
};

test('a line is JSON with level, time, message, and fields', () => {
  const { log, lines } = capture();
  log.info({ requestId: 'r-1', status: 200 }, 'request');
  expect(lines()).toEqual([
    expect.objectContaining({
      level: 'info',
      msg: 'request',
      requestId: 'r-1',
      status: 200,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    }),
  ]);
});

test('lines below the level are not logged', () => {
  const { log, text } = capture('warn');
  log.info('quiet');
  expect(text()).toBe('');
});

const KEYS = [
  'authorization',
  'Cookie',
  'set-cookie',
  'DPoP',
  'password',
  'client_secret',
  'accessToken',
  'refresh_token',
  'MASTER_KEY',
];

test.each([...KEYS, 'name', 'email', 'text', 'code_verifier'])('%s is hidden at any depth', (key) => {
  const { log, text } = capture();
  log.info({ [key]: 'hunter2', deep: [{ deeper: { [key]: 'hunter2' } }] }, 'message');
  log.child({ [key]: 'hunter2' }).warn('message');
  expect(text()).not.toContain('hunter2');
  expect(text()).toContain('[redacted]');
});

test('the password of a URL is hidden, in fields and in errors', () => {
  const { log, text } = capture();
  const url = 'postgres://annals:hunter2@127.0.0.1/annals';
  log.error({ url, err: new Error(`cannot reach ${url}`, { cause: new Error(url) }) }, 'message');
  expect(text()).not.toContain('hunter2');
  expect(text()).toContain('postgres://annals:[redacted]@127.0.0.1/annals');
});

test('an error is logged with its type, code, stack, and cause, and without the properties that its driver adds', () => {
  const { log, lines } = capture();
  const cause = Object.assign(new RangeError('inner'), { code: 'E1' });
  log.error(
    { err: Object.assign(new TypeError('outer', { cause }), { detail: 'Key (email)=(ada@example.org)' }) },
    'message',
  );
  const [line] = lines();
  expect(line?.err).toMatchObject({
    type: 'TypeError',
    message: 'outer',
    stack: expect.stringContaining('log.test.ts'),
    cause: { type: 'RangeError', code: 'E1' },
  });
  expect(JSON.stringify(line)).not.toContain('ada@');
});

test('an error given alone is described as well', () => {
  const { log, lines } = capture();
  log.error(new Error('alone'));
  expect(lines()[0]).toMatchObject({ level: 'error', err: { message: 'alone' }, msg: 'alone' });
});

test('a structure that refers to itself does not stop the log', () => {
  const { log, text } = capture();
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  log.info({ loop }, 'message');
  expect(text()).toContain('[too deep]');
});

/** The log lines of a separate process. */
const writtenBy = (script: string): readonly string[] => {
  const log = `const log = (await import('${new URL('./log.ts', import.meta.url)}')).createLog({ level: 'info' });`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', `${log}${script}`], {
    encoding: 'utf8',
  });
  return [...stdout.matchAll(/"msg":"(\w+)"/g)].map(([, message = '']) => message);
};

test.each([
  ['a process that ends by itself', `log.info('one'); process.exit(3)`],
  ['a process that fails', `log.info('one'); throw new Error('unforeseen')`],
  [
    'a process that is killed once it has told of trouble',
    `log.info('one'); log.warn('two'); process.kill(process.pid, 'SIGKILL')`,
  ],
  [
    'a process that is killed a turn later',
    `log.info('one'); setImmediate(() => process.kill(process.pid, 'SIGKILL'))`,
  ],
])('%s has written its lines, in their order', (_, script) => {
  expect(writtenBy(script)).toEqual(script.includes('two') ? ['one', 'two'] : ['one']);
});
