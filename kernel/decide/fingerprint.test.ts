import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, ref, states } from '../declare/fields.ts';
import type { Domain } from '../registry/registry.ts';
import { followingOf } from './reactions.ts';

const rights = { read: { anyone: true }, write: { anyone: true } } as const;
const base = domain({ name: 'plans', roles: ['planner'] });
const team = base.aggregate('team', {
  fields: { name: line(9) },
  events: { founded: { creates: ['name'] }, dissolved: { ends: true } },
  commands: { found: { emits: 'founded' }, dissolve: { emits: 'dissolved' } },
  rights,
});
const plan = base.aggregate('plan', {
  fields: { team: ref(team), title: line(9), size: integer(0, 9), status: states('open', 'held', 'done') },
  events: {
    made: { creates: ['team', 'title', 'size'] },
    moved: { changes: ['team'] },
    held: { sets: { status: 'held' } },
    finished: { sets: { status: 'done' } },
    dropped: { ends: true },
  },
  facts: { small: { size: { max: 3 }, status: ['open', 'held'] } },
  commands: {
    make: { emits: 'made' },
    move: { emits: 'moved' },
    hold: { emits: 'held' },
    finish: { emits: 'finished' },
    drop: { emits: 'dropped' },
  },
  rights,
  reactions: { team: { dissolved: { run: 'finish', when: 'small' } }, moved: () => [] },
  timers: { late: { after: 'made', wait: '1 day', run: 'finish', when: { small: false }, pause: 'held' } },
});
const note = base.aggregate('note', {
  fields: { text: line(9) },
  events: { noted: { creates: ['text'] } },
  commands: { note: { emits: 'noted' } },
  rights,
});
const plans = assemble(base, [team, plan]);
const { team: TEAM, plan: PLAN } = plans.kinds;
if (
  !TEAM ||
  !PLAN?.events.made ||
  !PLAN.events.moved ||
  !PLAN.events.finished ||
  !PLAN.timers.late ||
  !TEAM.events.dissolved
)
  throw new Error('They are declared');
const { made, moved, finished } = PLAN.events;
const { late } = PLAN.timers;
const { dissolved } = TEAM.events;

const planning = (changed: Partial<typeof PLAN>): Domain => ({
  ...plans,
  kinds: { ...plans.kinds, plan: { ...PLAN, ...changed } },
});
const fingerprint = (of: Domain): string | undefined => followingOf(of)?.fingerprint;
const turned = <Part extends object>(part: Part): Part =>
  Object.fromEntries(Object.entries(part).toReversed()) as Part;

test.each<[string, Domain]>([
  ['another aggregate from which nothing follows', assemble(base, [team, plan, note])],
  ['the order of aggregates', assemble(base, [plan, team])],
  ['the order of events', planning({ events: turned(PLAN.events) })],
  [
    'the order of what is in a condition',
    planning({ facts: { ...PLAN.facts, small: { status: ['held', 'open'], size: { max: 3 } } } }),
  ],
  [
    'a name for a condition',
    planning({ reactions: { team: { dissolved: { run: 'finish', when: PLAN.facts.small } } } }),
  ],
  [
    'documentation',
    planning({
      says: 'What is to be done.',
      events: { ...PLAN.events, held: { ...PLAN.events.held, says: 'It waits.' } as never },
    }),
  ],
  ['rights', planning({ rights: {} })],
])('%s does not change the fingerprint', (_, changed) => {
  expect(fingerprint(changed)).toBe(fingerprint(plans));
});

test.each<[string, Domain]>([
  [
    'what a fact means',
    planning({ facts: { ...PLAN.facts, small: { size: { max: 4 }, status: ['open', 'held'] } } }),
  ],
  [
    'how long a timer waits',
    planning({ timers: { late: { ...late, starts: { after: ['plan.made'], wait: { ms: 7 } } } } }),
  ],
  [
    'the time of another field',
    planning({ timers: { late: { ...late, starts: { at: 'dueAt', beforeMs: 0 } } } }),
  ],
  ['what a timer asks', planning({ timers: { late: { ...late, when: undefined } } })],
  ['an event that pauses', planning({ events: { ...PLAN.events, held: finished } })],
  [
    'an event that starts with another state',
    planning({ fields: { ...PLAN.fields, status: { ...PLAN.fields.status, initial: 'held' } as never } }),
  ],
  [
    'an event that leads elsewhere',
    planning({ events: { ...PLAN.events, moved: { ...moved, values: [], sets: { team: 7 } } } }),
  ],
  [
    'an event of which an earlier version said where to',
    planning({ events: { ...PLAN.events, made: { ...made, version: 2 } } }),
  ],
  [
    'the version of what a command records',
    planning({
      commands: {
        ...PLAN.commands,
        finish: { ...PLAN.commands.finish, events: [{ ...finished, version: 2 }] } as never,
      },
    }),
  ],
  [
    'an end',
    {
      ...plans,
      kinds: {
        ...plans.kinds,
        team: { ...TEAM, events: { ...TEAM.events, dissolved: { ...dissolved, effect: 'notes' } } },
      },
    },
  ],
  ['an end of its own', planning({ events: { ...PLAN.events, moved: { ...moved, effect: 'ends' } } })],
  ['to which events code reacts', planning({ react: {} })],
  ['without a timer', planning({ timers: {} })],
])('%s changes the fingerprint', (_, changed) => {
  expect(fingerprint(changed)).not.toBe(fingerprint(plans));
});
