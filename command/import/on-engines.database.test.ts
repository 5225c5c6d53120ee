import { describe, expect } from 'vitest';
import { allEvents } from '../../test/engines/command-side.ts';
import { startImporting } from '../../test/engines/importing.ts';
import { testOnEngines } from '../../test/engines/processes.ts';
import { lending } from '../../test/toy/lending.ts';

const DAY_MS = 86_400_000;
const at = (day: number) => new Date(Date.UTC(2020, 0, 1) + day * DAY_MS).toISOString();
const LINES: readonly object[] = [
  { key: 'ada', command: 'user.register', form: { name: 'Ada', role: 'member', email: 'ada@example.com' } },
  { key: 'b-1', command: 'book.buy', form: { code: 'one' } },
  { key: 'b-2', command: 'book.buy', form: { code: 'two', shelf: 'low' } },
  { key: 'l-1', actor: 'ada', command: 'loan.lend', form: { bookId: 'b-1' } },
  { key: 'l-1-1', actor: 'ada', command: 'loan.return', of: 'l-1' },
  { key: 'l-2', actor: 'ada', event: 'loan.lent', form: { bookId: 'b-1' } },
].map((line, day) => ({ ...line, at: at(day) }));
const last = (line: object) => ({ key: 'last', at: at(LINES.length), ...line });

const engines = testOnEngines.map(([name, base]) => {
  const test = base
    .extend('sideOptions', { scope: 'file' }, { domain: lending })
    .extend('started', { scope: 'file' }, async ({ side }, { onCleanup }) => {
      const started = await startImporting(side);
      onCleanup(() => started[Symbol.asyncDispose]());
      return started;
    });
  return [name, test] as const;
});

describe.each(engines)('on %s', (_, test) => {
  test('a file is imported in its order, in parts, and each line once', async ({ side, started }) => {
    const { importing, rehearsing } = started;
    expect(await rehearsing(LINES)).toMatchObject({ lines: 6, wrong: 0, known: 0 });
    expect(await importing(LINES.slice(0, 4))).toMatchObject({ imported: 4, known: 0 });
    expect(await importing(LINES)).toMatchObject({ imported: 2, known: 4 });
    expect(await importing(LINES)).toMatchObject({ imported: 0, known: 6 });
    expect(await rehearsing(LINES)).toMatchObject({ lines: 6, wrong: 0, known: 6 });
    const ofLines = (await allEvents(side)).filter(({ type }) => !/claimed|released/.test(type));
    expect(ofLines.map(({ metadata }) => metadata.request)).toEqual(
      ['ada', 'b-1', 'b-2', 'l-1', 'l-1-1', 'l-2'].map((key) => `import:${key}`),
    );
    expect(ofLines.map(({ metadata }) => metadata.at)).toEqual(LINES.map((__, day) => at(day)));
  });

  test.for([
    ['a taken value', { command: 'book.buy', form: { code: 'one' } }, '(book_code_taken)'],
    [
      'a limit',
      { actor: 'ada', command: 'loan.lend', form: { bookId: 'b-1' } },
      'Somebody else has the book (loan_out_full).',
    ],
    ['a time before the last event', { at: at(1), command: 'book.buy', form: { code: 'new' } }, 'is before'],
  ] as const)(
    '%s is refused, and leaves nothing in the log',
    async ([, line, sentence], { side, started }) => {
      const before = (await allEvents(side)).length;
      const lines = 'at' in line ? [last(line)] : [...LINES, last(line)];
      await expect(started.importing(lines)).rejects.toThrow(sentence);
      expect(await allEvents(side)).toHaveLength(before);
    },
  );
});
