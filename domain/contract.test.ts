import { expect, test } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { runCommandLine } from '../command-line/program.ts';
import { publishing } from './publishing.ts';

test('the contract of publishing is recorded: if a difference is wanted, list it in CHANGELOG.md with the reason, and npm run contract:record', async () => {
  const lines: string[] = [];
  const exit = await runCommandLine(['domain', 'check', '--exact'], {
    domain: publishing,
    parts: [],
    environment: {},
    clock: REAL_TIME,
    signal: new AbortController().signal,
    write: async (line) => void lines.push(line),
    complain: (line) => void lines.push(line),
  });
  expect({ exit, said: lines.join('\n') }).toEqual({
    exit: 0,
    said: 'The domain matches the contract in domain/contract.',
  });
});
