import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { date, integer, line, list } from '#kernel/declare/fields.ts';

/**
 * Rights to write without the right to read, roles without any right to read, an aggregate without public
 * events, a text with room for one character, and a timer that acts at once if its day is in the past.
 */
const base = domain({ name: 'suggestions', roles: ['guest', 'keeper'] });
const { aggregate } = base;

const suggestion = aggregate('suggestion', {
  fields: {
    text: line(100),
    mark: line(1),
    dueOn: date().optional(),
    marks: list({ points: integer(1, 9) }, { max: 9 }),
  },
  events: {
    made: { creates: ['text', 'mark', 'dueOn'] },
    marked: { adds: 'marks' },
    reminded: { sets: { dueOn: null } },
    dropped: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    mark: { emits: 'marked' },
    remind: { emits: 'reminded', internal: true },
    drop: { emits: 'dropped' },
  },
  rights: { read: { keeper: true }, write: { guest: true, keeper: true } },
  timers: { remind: { at: 'dueOn', run: 'remind' } },
});

const entry = aggregate('entry', {
  names: { plural: 'entries' },
  fields: { text: line(2) },
  events: { noted: { creates: ['text'], hidden: true } },
  commands: { note: { emits: 'noted' } },
  rights: { read: { guest: true }, write: { signedIn: true } },
});

export const suggestions = assemble(base, [suggestion, entry]);
