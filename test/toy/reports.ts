import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { date, integer, line, states } from '#kernel/declare/fields.ts';

/** A domain with schedules: a report of every night, catching up, and a reminder to open tasks on Mondays. */
const base = domain({ name: 'reports', roles: ['clerk'] });
const { aggregate } = base;

const report = aggregate('report', {
  fields: { day: date(), title: line(60).unique() },
  events: { opened: { creates: ['day', 'title'] } },
  commands: { open: { emits: 'opened' } },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
  schedules: {
    'nightly-report': {
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
      run: 'open',
      form: ({ date: day }) => ({ day, title: `Report of ${day}` }),
      missed: { catchUp: 3 },
    },
  },
});

const task = aggregate('task', {
  fields: { subject: line(60), reminders: integer(0, 1_000).default(0), status: states('open', 'done') },
  events: {
    added: { creates: ['subject'] },
    finished: { sets: { status: 'done' } },
    reminded: { computes: ['reminders'] },
  },
  commands: {
    add: { emits: 'added' },
    finish: { emits: 'finished' },
    remind: {
      emits: 'reminded',
      internal: true,
      decide: ({ state }) => [['reminded', { reminders: state.reminders + 1 }]],
    },
  },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
  schedules: {
    'monday-reminder': { cron: '0 9 * * MON', timeZone: 'UTC', run: 'remind', when: 'open', missed: 'skip' },
  },
});

export const reports = assemble(base, [report, task]);
