import { expect } from 'vitest';
import { allEvents } from '../../test/engines/command-side.ts';
import { startImporting } from '../../test/engines/importing.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: helpdesk })
  .extend('started', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    const started = await startImporting(side);
    onCleanup(() => started[Symbol.asyncDispose]());
    return started;
  });

const at = (minute: number) => `2020-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const ada = { key: 'ada', at: at(0), command: 'user.register', form: { name: 'Ada', role: 'customer' } };
const bert = { key: 'bert', at: at(0), command: 'user.register', form: { name: 'Bert', role: 'agent' } };
const open = (key: string, minute: number, more = {}) => ({
  ...{ key, at: at(minute), actor: 'ada', command: 'ticket.open', form: { subject: key, details: 'Help.' } },
  ...more,
});
const reply = (key: string, minute: number, more = {}) => ({
  ...{ key, at: at(minute), actor: 'bert', command: 'ticket.reply', of: 't-1', form: { text: key } },
  ...more,
});

test('every wrong line is named, and nothing is appended', async ({ side, started: { rehearsing } }) => {
  const lines = [
    ada,
    bert,
    '{',
    open('t-1', 1),
    open('t-2', 2, { comand: 'ticket.open' }),
    open('t-3', 3, { command: 'ticket.opn' }),
    reply('m-1', 4),
    reply('m-1', 4),
    reply('m-2', 5, { of: 't-9' }),
    // The fault of another line is reported once.
    reply('m-3', 6, { of: 't-3' }),
    reply('m-4', 2),
    reply('m-5', 2, { actor: 't-1' }),
    {
      key: 'c-1',
      at: at(7),
      actor: 'bert',
      command: 'ticket.correctMessage',
      of: 't-1',
      item: 'm-1',
      form: { txt: 'x' },
    },
    open('t-5', 8, { actor: 77 }),
    open('t-6', 9, { at: '2990-01-01T00:00:00Z' }),
  ];
  const { sentences, ...counts } = await rehearsing(lines);
  expect(sentences).toEqual([
    'Line 3: it is not JSON.',
    'Line 5: comand: There is no such field. Did you mean “command”?',
    expect.stringMatching(/^Line 6 \(t-3\): ticket has no command opn: use one of open, /),
    'Line 8 (m-1): an earlier line has this key.',
    'Line 9 (m-2): no earlier line with the key “t-9” created a ticket.',
    'Line 11 (m-4): its time is before that of the line above: sort them by time.',
    'Line 12 (m-5): no earlier line with the key “t-1” created a user.',
    expect.stringMatching(/^Line 13 \(c-1\): txt: /),
    'Line 14 (t-5): there is no user 77.',
    'Line 15 (t-6): its time, 2990-01-01T00:00:00.000Z, is in the future.',
  ]);
  expect(counts).toEqual({ lines: 15, wrong: 10, known: 0 });
  expect(await allEvents(side)).toEqual([]);
});

test('a file with lines that were imported before is rehearsed with them', async ({ started }) => {
  const lines = [ada, bert, open('t-1', 1), reply('m-1', 4)];
  await started.importing(lines.slice(0, 3));
  expect(await started.rehearsing(lines)).toEqual({ lines: 4, wrong: 0, known: 3, sentences: [] });
  const early = await started.rehearsing([...lines.slice(0, 2), reply('early', 0), ...lines.slice(2)]);
  expect(early.sentences).toEqual([
    expect.stringContaining('Line 3 (early): its time, 2020-01-01T00:00:00.000Z, is before 2020-01-01T00:01'),
  ]);
});
