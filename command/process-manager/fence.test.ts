import { expect, test } from 'vitest';
import { logWaiting } from './fence.ts';

test('the start and the end of a wait are logged once each', () => {
  const lines: string[] = [];
  const log = {
    info: (text: string) => void lines.push(text),
    warn: (text: string) => void lines.push(text),
  };
  const waiting = logWaiting(log as never);
  waiting.ends();
  for (let times = 0; times < 2; times += 1) waiting.begins();
  for (let times = 0; times < 2; times += 1) waiting.ends();
  expect(lines).toEqual([
    'Reactions and timers follow the declaration of another release; this process waits.',
    'Reactions and timers follow the declaration of this process again.',
  ]);
});
