import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { line, ref, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'notes', roles: ['clerk'] });
const { aggregate, user } = base;
const VALID = {
  ...{ cron: '0 3 * * *', timeZone: 'Europe/Berlin', run: 'close', when: 'open' },
  ...{ missed: 'skip' as unknown, form: undefined as unknown },
};

const withSchedules = (schedules: Record<string, object>, owner?: string) =>
  assemble(base, [
    aggregate('note', {
      ...(owner !== undefined && { owner }),
      fields: { subject: line(20), status: states('open', 'closed'), ...(owner && { [owner]: ref(user) }) },
      events: {
        opened: { creates: ['subject'] },
        closed: { sets: { status: 'closed' } },
        changed: { changes: ['subject'] },
      },
      commands: { open: { emits: 'opened' }, close: { emits: 'closed' }, change: { emits: 'changed' } },
      rights: { read: { signedIn: true }, write: { signedIn: true } },
      schedules,
    } as never) as never,
  ]);
const declared =
  (part: object, name = 'nightly', owner?: string) =>
  () =>
    withSchedules({ [name]: { ...VALID, ...part } }, owner);
const subject = (text: unknown) => ({ run: 'open', when: undefined, form: () => ({ subject: text }) });

test.each<[object, RegExp, string?, string?]>([
  [{ cron: '0 3 * *' }, /“0 3 \* \*”: use five fields/],
  [{ cron: '0 0 3 * * *' }, /use five fields/],
  [{ cron: '61 3 * * *' }, /which is invalid \(Invalid value for minute: 61\)/],
  [{ cron: '? 3 * * *' }, /use five fields/],
  [{ cron: '2026-01-01T00:00:00' }, /use five fields/],
  [{ cron: '0 3 30 2 *' }, /never true/],
  [{ timeZone: 'Europe/Berln' }, /not in the IANA list: use Europe\/Berlin/],
  [{ timeZone: '+02:00' }, /not in the IANA list/],
  [{ run: 'shut' }, /runs shut, which is not one of its commands: use one of open, close, change/],
  [{ run: 'open', form: () => ({ subject: 'x' }) }, /`when` selects nothing/],
  [subject(5), /a form that it refuses \(subject: /],
  [{ ...subject(''), form: () => ({ title: 'x' }) }, /a form that it refuses/],
  [{ run: 'change' }, /changes nothing without a form/],
  [
    { ...subject('x'), form: ({ at }: { at: { date: string } }) => ({ subject: at.date.slice(1) }) },
    /`form` that fails/,
  ],
  [subject('x'), /without an owner/, 'nightly', 'author'],
  [{ when: { status: 'caller' } }, /caller|status/],
  [{ missed: undefined }, /no valid `missed`: use 'skip', or \{ catchUp: 7 \}/],
  [{ missed: { catchUp: 0 } }, /from 1 to 100/],
  [{ missed: { catchUp: 101 } }, /from 1 to 100/],
  [{ missed: 'later' }, /no valid `missed`/],
  [{ zone: 'UTC' }, /has `zone`, which has no meaning there/],
  [{}, /name it like nightly-report/, 'nightlyReport'],
])('%o is refused in a sentence', (part, message, name, owner) => {
  expect(declared(part, name, owner)).toThrow(message);
});

test('valid schedules are accepted', () => {
  for (const part of [
    {},
    { cron: '@daily' },
    { cron: '0 9 L * *' },
    subject('x'),
    // As one that counts from a day: no run before it matters.
    { ...subject('x'), form: ({ at }: { at: string }) => ({ subject: at < '2029' ? 5 : 'x' }) },
    { missed: { catchUp: 100 } },
  ])
    expect(declared(part)).not.toThrow();
});
