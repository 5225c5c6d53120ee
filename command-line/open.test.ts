import { expect, test } from 'vitest';
import { callAt } from '../test/engines/call-line.ts';

const URL = 'http://localhost:4999';

const call = (args: readonly string[], openPage?: (url: string) => Promise<boolean>) =>
  callAt({ environment: { DATA_DIR: '/nowhere', PORT: '4999' }, ...(openPage && { openPage }) }, [
    'open',
    ...args,
  ]);

test.each<[readonly string[], string]>([
  [[], `${URL}/console`],
  [['docs'], `${URL}/docs`],
  [['/articles/7'], `${URL}/articles/7`],
  [['console', '--url', 'https://annals.example/'], 'https://annals.example/console'],
  [['docs', '--json'], `{"url":"${URL}/docs"}`],
])('%j prints the address without a browser', async (args, output) => {
  expect(await call(args)).toMatchObject({ exit: 0, output, complaint: '' });
});

test('on a desktop it opens the address', async () => {
  const opened: string[] = [];
  await call(['docs'], async (url) => opened.push(url) > 0);
  await call(['docs', '--print'], async (url) => opened.push(url) > 0);
  expect(opened).toEqual([`${URL}/docs`]);
});

test('a browser that does not start is reported', async () => {
  expect(await call([], async () => false)).toMatchObject({
    exit: 0,
    complaint: 'No browser could be opened: open the address yourself.',
  });
});

test('an unknown page is named', async () => {
  expect(await call(['consol'])).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining('did you mean “console”?'),
  });
});
