import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { guardAppendCall } from './append-call.ts';

const aCall = () => {
  const call = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const heard: unknown[] = [];
  call.on('data', (answer: { forgotten?: boolean }) => {
    if (answer.forgotten) throw new TypeError('undefined is not iterable');
    heard.push(answer);
  });
  call.on('error', (error) => heard.push(error));
  const retired = new AbortController();
  let ended = 0;
  guardAppendCall(call, { retired: retired.signal, onAnswer: () => {}, onEnded: () => (ended += 1) });
  return { call, heard, retired, endedTimes: () => ended };
};
const settled = () => new Promise(setImmediate);

test('an answer to what the client has forgotten is dropped, and the next is heard', async () => {
  const { call, heard } = aCall();
  call.write({ n: 1 });
  call.write({ forgotten: true });
  call.write({ n: 2 });
  await settled();
  expect(heard).toEqual([{ n: 1 }, { n: 2 }]);
});

test('a call always takes what is written, so that nobody waits for it to drain when it fails', () => {
  const { call } = aCall();
  expect([1, 2, 3].map((n) => call.write({ n }))).toEqual([true, true, true]);
});

test('a failure is heard, but not that of a client that was replaced', async () => {
  const [current, replaced] = [aCall(), aCall()];
  replaced.retired.abort();
  for (const { call } of [current, replaced]) call.emit('error', new Error('gone'));
  expect([current.heard.length, replaced.heard.length]).toEqual([1, 0]);
});

test('the end of the call is told, but not that of a client that was replaced', async () => {
  const [current, replaced] = [aCall(), aCall()];
  replaced.retired.abort();
  for (const { call } of [current, replaced]) call.end();
  await settled();
  expect([current.endedTimes(), replaced.endedTimes()]).toEqual([1, 0]);
});
