import { expect, test } from 'vitest';
import { scanFile } from './scan-file.ts';

const FILE = {
  field: 'claim.items.receipt',
  pointer: '/receipt',
  type: 'application/pdf',
  bytes: 5,
  sha256: 'a'.repeat(64),
  name: 'receipt.pdf',
  content: (async function* () {})(),
};

test('nothing accepts a file', () => expect(scanFile(async () => undefined, FILE)).resolves.toBeUndefined());

test('a sentence refuses it, at its field', () =>
  expect(scanFile(async ({ name }) => `${name} has a virus.`, FILE)).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'receipt.pdf has a virus.',
    extensions: { errors: [{ pointer: '/receipt', detail: 'receipt.pdf has a virus.' }] },
  }));

test('the client gets the beginning of a long answer of a scanner', async () => {
  const refused = scanFile(async () => 'x'.repeat(1_000_000), FILE);
  await expect(refused).rejects.toMatchObject({ message: 'x'.repeat(1_000) });
});

test.each([
  ['false', false],
  ['null', null],
  ['an empty sentence', ''],
])('so does %s, from a scanner without types', (_, answer) =>
  expect(scanFile(async () => answer as never, FILE)).rejects.toMatchObject({ code: 'invalid_request' }),
);

test.each([
  ['rejects', () => Promise.reject(new Error('no connection'))],
  [
    'throws',
    () => {
      throw new Error('no connection');
    },
  ],
])('a scanner that %s accepts nothing', (_, scan) =>
  expect(scanFile(scan, FILE)).rejects.toMatchObject({
    code: 'unavailable',
    cause: { message: 'no connection' },
  }),
);

test('neither does one that takes too long, and it is told so', async () => {
  let signal: AbortSignal | undefined;
  const endless = (file: { readonly signal: AbortSignal }) => {
    signal = file.signal;
    return new Promise<undefined>(() => {});
  };
  await expect(scanFile(endless, FILE, 1)).rejects.toMatchObject({
    code: 'unavailable',
    cause: { message: 'the scanner took more than 1 ms' },
  });
  expect(signal?.aborted).toBe(true);
});
