import { expect, test } from 'vitest';
import { runAnnals } from './annals-process.ts';

test.each([{ args: [] }, { args: ['--help'] }, { args: ['query'] }, { args: ['audit', 'verify'] }])(
  'a declaration that contradicts itself is one sentence, with $args',
  async ({ args }) => {
    expect(await runAnnals(['test/toy/contradicting-main.ts', ...args])).toEqual({
      exit: 1,
      output: 'page: the table sheets already belongs to sheet: give it another name.\n',
    });
  },
);
