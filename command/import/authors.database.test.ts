import { expect } from 'vitest';
import { allEvents } from '../../test/engines/command-side.ts';
import { startImporting } from '../../test/engines/importing.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { departments } from '../../test/toy/departments.ts';

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: departments })
  .extend('importing', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    const { importing, ...started } = await startImporting(side);
    onCleanup(() => started[Symbol.asyncDispose]());
    return importing;
  });

const register = { command: 'user.register', form: { name: 'Ada', role: 'member', department: 'sales' } };
const moves = { command: 'user.update', of: 'ada', form: { department: 'law' } };
const draft = (department: string) => ({
  ...{ actor: 'ada', command: 'report.draft', form: { department, title: 'Q1', cost: null } },
});
const lines = (...all: readonly object[]) =>
  all.map((line, index) => ({ key: ['ada'][index] ?? `l-${index}`, at: '2020-01-01T00:00:00Z', ...line }));

test('a condition on a field of the caller holds for the author as of the line', async ({
  side,
  importing,
}) => {
  const past = lines(register, draft('sales'), moves, draft('law'));
  expect(await importing(past)).toMatchObject({ imported: 4 });
  const drafted = (await allEvents(side)).filter(({ type }) => String(type) === 'report.drafted');
  expect(drafted.map(({ data }) => data)).toMatchObject([{ department: 'sales' }, { department: 'law' }]);
  // A later run reads the author from the log.
  const refused = importing([...past, { ...draft('sales'), key: 'no', at: '2020-01-01T00:00:00Z' }]);
  await expect(refused).rejects.toThrow('Line 5 (no): The report is not ours (report_not_ours).');
});
