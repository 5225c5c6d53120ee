// Over 200 lines, because it is one history with each fault that a line can have.

import { expect } from 'vitest';
import { allEvents } from '../../test/engines/command-side.ts';
import { startImporting } from '../../test/engines/importing.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: helpdesk })
  .extend('importing', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    const { importing, ...started } = await startImporting(side);
    onCleanup(() => started[Symbol.asyncDispose]());
    return importing;
  });

const user = (key: string, role: string, more: object = {}) => ({
  ...{ key, at: '2020-01-01T00:00:00Z', command: 'user.register' },
  form: { name: key, role, ...more },
});
const BEGIN = [user('ada', 'customer'), user('bert', 'agent')];
const open = { actor: 'ada', command: 'ticket.open' };
const ticket = (key: string, minute: number) => ({
  ...{ ...open, key, at: `2020-02-01T00:${String(minute).padStart(2, '0')}:00Z` },
  form: { subject: key, details: 'Help.' },
});
const TICKETS = Array.from({ length: 60 }, (_, minute) => ticket(`t-${minute}`, minute));
const to = (
  of: string,
  minute: number,
  more: object & { readonly [name: string]: unknown; readonly key: string },
) => ({
  of,
  at: `2020-03-01T00:${minute}:00Z`,
  ...more,
});
const HISTORY: readonly { readonly key: string }[] = [
  ...BEGIN,
  ...TICKETS,
  to('t-1', 10, { key: 's-1', actor: 'bert', command: 'ticket.solve' }),
  to('t-1', 11, { key: 's-2', actor: 'bert', command: 'ticket.solve' }),
  to('t-2', 12, { key: 'm-1', actor: 'bert', command: 'ticket.reply', form: { text: 'Yes' } }),
];

test('lines are appended in their order, and a repetition imports only what is missing', async ({
  side,
  importing,
}) => {
  expect(await importing(HISTORY.slice(0, 30))).toMatchObject({ imported: 30, known: 0, unchanged: 0 });
  expect(await importing(HISTORY)).toMatchObject({ imported: 34, known: 30, unchanged: 1 });
  expect(await importing(HISTORY)).toMatchObject({ imported: 0, known: 64, unchanged: 1 });
  const events = await allEvents(side);
  const times = events.map(({ metadata }) => String(metadata.at));
  expect(times).toEqual(times.toSorted());
  expect(events).toHaveLength(64);
  expect(events.map(({ metadata }) => metadata.request)).toEqual(
    HISTORY.filter(({ key }) => key !== 's-2').map(({ key }) => `import:${key}`),
  );
});

const late = (more: object) => ({ key: 'late', at: '2020-03-02T00:00:00Z', ...more });

test.for([
  ['a line that is no JSON', ['{'], 'Line 66: it is not JSON.'],
  ['a line without a key', [{ at: '2020-03-02T00:00:00Z', command: 'ticket.open' }], 'Line 66: key: '],
  ['a key that repeats', [late({ ...open, key: 't-1' })], 'Line 66 (t-1): an earlier line has this key.'],
  [
    'a time before that of the line above',
    [late({ ...open, at: '2020-01-02T00:00:00Z' })],
    'Line 66 (late): its time is before that of the line above: sort them by time.',
  ],
  [
    'a time in the future',
    [late({ ...open, at: '2990-01-02T00:00:00Z' })],
    'Line 66 (late): its time, 2990-01-02T00:00:00.000Z, is in the future.',
  ],
  [
    'a misspelt member',
    [{ key: 'late', at: '2020-03-02T00:00:00Z', comand: 'ticket.open' }],
    'Line 66: comand: There is no such field. Did you mean “command”?',
  ],
  [
    'neither a command nor an event',
    [late({ of: 't-1' })],
    'Line 66 (late): it needs either a command or an event.',
  ],
  [
    'an unknown event',
    [late({ event: 'ticket.burnt' })],
    'Line 66 (late): ticket has no event burnt: use one of opened, changed, solved, replied, noteAdded, messageCorrected, withdrawn.',
  ],
  [
    'an unknown event of users, without the hidden ones',
    [late({ event: 'user.burnt' })],
    'Line 66 (late): user has no event burnt: use one of registered, updated, deleted.',
  ],
  [
    'an unknown aggregate',
    [late({ command: 'team.form' })],
    'Line 66 (late): the domain has no aggregate team.',
  ],
  [
    'an unknown command',
    [late({ command: 'ticket.burn' })],
    'Line 66 (late): ticket has no command burn: use one of open, change, reply',
  ],
  [
    'an actor that no line created',
    [late({ ...open, actor: 'cleo' })],
    'Line 66 (late): no earlier line with the key “cleo” created a user.',
  ],
  [
    'a form that does not fit',
    [late({ ...open, form: { subject: 'x', details: 'y', colour: 'red' } })],
    'Line 66 (late): colour: There is no such field.',
  ],
  [
    'a misspelt field',
    [late({ ...open, form: { sujbect: 'x', details: 'y' } })],
    'Line 66 (late): sujbect: There is no such field. Did you mean “subject”?',
  ],
  [
    'an item for a command without a list',
    [late({ command: 'ticket.solve', of: 't-3', item: 'm-1' })],
    'Line 66 (late): item: ticket.solve concerns no item of a list, so it has none.',
  ],
  [
    'an item for a command that adds one',
    [late({ command: 'ticket.reply', of: 't-3', item: 'm-1', form: { text: 'x' } })],
    'Line 66 (late): item: ticket.reply adds a message, so it has none.',
  ],
  [
    'no item for a command on one',
    [late({ command: 'ticket.correctMessage', of: 't-2', form: { text: 'x' } })],
    'Line 66 (late): item: name the message.',
  ],
  [
    'an aggregate for a creation',
    [late({ ...open, of: 't-3' })],
    'Line 66 (late): of: ticket.open creates a ticket, so it has none.',
  ],
  ['no aggregate for a change', [late({ command: 'ticket.solve' })], 'Line 66 (late): of: name the ticket.'],
  [
    'a creation without owner and actor',
    [late({ command: 'ticket.open', form: { subject: 'x', details: 'y' } })],
    'Line 66 (late): requesterId: name the owner, or an actor, who is the owner then.',
  ],
  [
    'a refusal of the domain',
    [late({ command: 'ticket.change', actor: 'ada', of: 't-1', form: { subject: 'New' } })],
    'Line 66 (late): The ticket is not open (ticket_not_open).',
  ],
] as const)('%s ends the import with a sentence', async ([, lines, sentence], { importing }) => {
  await expect(importing([...HISTORY, ...lines])).rejects.toThrow(sentence);
});

test('an event happens whatever the commands demand', async ({ side, importing }) => {
  const happened = [
    late({ event: 'ticket.changed', key: 'e-1', actor: 'ada', of: 't-1', form: { subject: 'Told late' } }),
    late({ event: 'ticket.noteAdded', key: 'e-2', actor: 'bert', of: 't-1', form: { text: 'Odd' } }),
  ];
  expect(await importing([...HISTORY, ...happened])).toMatchObject({ imported: 2 });
  const [changed, noted] = (await allEvents(side)).slice(-2);
  expect(changed).toMatchObject({ type: 'ticket.changed', data: { subject: 'Told late' } });
  expect(noted).toMatchObject({
    type: 'ticket.noteAdded',
    data: { text: 'Odd', internal: true, sentAt: '2020-03-02T00:00:00.000Z' },
  });
});

test('a file cannot change what is in the log already', async ({ side, importing }) => {
  const before = (await allEvents(side)).length;
  const inserted = { ...ticket('between', 5), form: { subject: 'between', details: 'Help.' } };
  await expect(importing([...HISTORY.slice(0, 8), inserted, ...HISTORY.slice(8)])).rejects.toThrow(
    'Line 9 (between): its time, 2020-02-01T00:05:00.000Z, is before 2020-03-02T00:00:00.000Z, that of an event in the log',
  );
  expect(await allEvents(side)).toHaveLength(before);
});

test('limits hold, and what a line names may also be named by its id', async ({ side, importing }) => {
  const twin = { form: { name: 'Twin', role: 'customer', email: 'one@example.com' } };
  const one = late({ ...twin, key: 'one', command: 'user.register' });
  await importing([...HISTORY, one]);
  await expect(
    importing([...HISTORY, one, late({ ...twin, key: 'two', command: 'user.register' })]),
  ).rejects.toThrow('Line 67 (two): Another user has this e-mail address (email_taken).');
  const registered = (await allEvents(side)).find(
    ({ type, metadata }) => type === 'user.registered' && metadata.request === 'import:one',
  );
  const actor = Number(registered?.stream.split('-')[1]);
  const { imported } = await importing([
    ...HISTORY,
    one,
    late({ ...ticket('by-id', 1), ...late({ key: 'by-id' }), actor }),
  ]);
  expect(imported).toBe(1);
});

test('a line that changed nothing stays so, though it would change something by now', async ({
  side,
  importing,
}) => {
  const change = { at: '2020-03-03T00:00:00Z', actor: 'ada', command: 'ticket.change', of: 't-3' };
  const named = (subject: string, index: number) => ({ ...change, key: `p-${index}`, form: { subject } });
  const lines = [...HISTORY, ...['Fire', 'Fire', 'Flood'].map(named)];
  const first = await importing(lines);
  const before = (await allEvents(side)).length;
  expect(await importing(lines)).toMatchObject({ imported: 0, known: first.known + first.imported });
  expect(await allEvents(side)).toHaveLength(before);
});

test('every line before a refused one is imported, and none after it', async ({ side, importing }) => {
  const at = (line: object) => ({ ...line, at: '2020-03-04T00:00:00Z' });
  const lines = Array.from({ length: 20 }, (_, number) => at(ticket(`n-${number}`, 0)));
  const wrong = at({ ...ticket('wrong', 0), command: 'ticket.opn' });
  const before = (await allEvents(side)).length;
  const importingAll = importing([...HISTORY, ...lines, wrong, at(ticket('after', 0))]);
  await expect(importingAll).rejects.toThrow('ticket has no command opn');
  expect(await allEvents(side)).toHaveLength(before + lines.length);
});

test('a stopped import continues', async ({ importing }) => {
  const stopping = AbortSignal.abort();
  expect(await importing([late(ticket('last', 1))], stopping)).toMatchObject({
    imported: 0,
    isStopped: true,
  });
});
