import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import {
  choice,
  date,
  instant,
  integer,
  line,
  list,
  month,
  picture,
  prose,
  ref,
  states,
  week,
} from '#kernel/declare/fields.ts';
import { avg, latest, max, min, sum } from '#kernel/declare/view.ts';

/**
 * Two views, reactions to references of items and by code, a timer, files of items, and personal data by a
 * path: small enough for a suite of its own.
 */
const base = domain({ name: 'rounds', roles: ['client', 'nurse'] });
const { aggregate, user, view } = base;

const area = aggregate('area', {
  fields: {
    name: line(60),
    size: choice('village', 'town').filter(),
    stops: integer(0, 1_000).optional(),
  },
  events: {
    opened: { creates: ['name', 'size'] },
    renamed: { changes: ['name'] },
    visited: { changes: ['stops'] },
    closed: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    rename: { emits: 'renamed' },
    count: { emits: 'visited', internal: true },
    close: { emits: 'closed' },
  },
  rights: { read: { signedIn: true }, write: { nurse: true } },
});

const visit = aggregate('visit', {
  owner: 'client',
  fields: {
    client: ref(user),
    reason: prose(200).personal({ erased: '[deleted]' }),
    minutes: integer(1, 600),
    plannedOn: date().optional().filter(),
    bornOn: date().optional().personal(),
    stops: list(
      {
        area: ref(area),
        note: line(60).optional(),
        map: picture().optional(),
        photo: picture({ external: true }).optional(),
      },
      { max: 6, key: 'area', ordered: true },
    ),
    status: states('asked', 'done'),
    urgency: states('usual', 'reminded'),
  },
  events: {
    asked: { creates: ['reason', 'minutes', 'plannedOn', 'bornOn'] },
    edited: { changes: ['reason', 'minutes', 'plannedOn'] },
    stopAdded: { adds: 'stops' },
    stopChanged: { updates: 'stops' },
    stopMoved: { moves: 'stops' },
    stopRemoved: { removes: 'stops' },
    done: { sets: { status: 'done' } },
    reminded: { sets: { urgency: 'reminded' } },
    cancelled: { ends: true },
  },
  commands: {
    ask: { emits: 'asked' },
    edit: { emits: 'edited' },
    addStop: { emits: 'stopAdded' },
    changeStop: { emits: 'stopChanged' },
    moveStop: { emits: 'stopMoved' },
    removeStop: { emits: 'stopRemoved' },
    do: {
      emits: 'done',
      refuses: { tooLong: 'A visit takes at most eight hours.' },
      decide: ({ state, refuse }) => (state.minutes > 480 ? refuse('tooLong') : ['done']),
    },
    remind: { emits: 'reminded', internal: true },
    cancel: { emits: 'cancelled' },
  },
  rights: {
    read: { client: 'own', nurse: true },
    write: { client: 'own', nurse: true },
    ask: { client: 'own', admin: false },
  },
  reactions: {
    client: { deleted: { run: 'cancel', when: 'asked' } },
    'stops.area': { closed: { run: 'removeStop' } },
    done: ({ state, run }) =>
      state.stops
        .slice(0, 1)
        .map((stop) => run(area, 'count', { id: stop.area, form: { stops: state.stops.length } })),
  },
  timers: { remind: { after: 'asked', wait: '3 days', run: 'remind', when: { done: false } } },
});

/** Its text is personal data of the visit's client. */
const report = aggregate('report', {
  parent: 'visit',
  owner: 'nurse',
  fields: {
    visit: ref(visit),
    nurse: ref(user),
    summary: prose(500).personal({ of: 'visit.client', erased: '[deleted]' }),
  },
  events: { written: { creates: ['summary'] }, changed: { changes: ['summary'] }, withdrawn: { ends: true } },
  commands: { report: { emits: 'written' }, change: { emits: 'changed' }, withdraw: { emits: 'withdrawn' } },
  rights: { read: { as: 'visit' }, write: { nurse: 'own' } },
  reactions: { visit: { cancelled: { run: 'withdraw' } } },
});

const workload = view('workload', {
  of: [visit],
  key: { client: ref(user) },
  values: { visits: sum(), minutes: sum().sort() },
  from: {
    visit: {
      by: { client: 'client' },
      on: {
        asked: { gives: { visits: 1, minutes: 'minutes' } },
        edited: { changes: { minutes: 'minutes' } },
      },
    },
  },
  read: { nurse: true, client: { client: 'caller' } },
});

/** Its key has several parts, of which one changes. */
const known = view('known', {
  of: [area],
  key: { size: choice('village', 'town'), name: line(60) },
  values: { areas: sum(), renames: sum().sort(), renamedAt: latest(instant().sort()) },
  from: {
    area: {
      by: { size: 'size', name: 'name' },
      on: {
        opened: { gives: { areas: 1 } },
        renamed: { changes: { renamedAt: 'now' }, adds: { renames: 1 } },
      },
    },
  },
  read: { nurse: true },
});

/** Its key is by time, and null while a visit has no day. */
const planned = view('planned', {
  of: [visit],
  key: { week: week(), askedIn: month() },
  values: {
    average: avg().sort(),
    shortest: min(integer(1, 600)),
    longest: max(integer(1, 600).sort()),
    firstOn: min(date().sort()),
    askedAt: max(instant()),
  },
  from: {
    visit: {
      by: { week: 'plannedOn', askedIn: 'now' },
      on: {
        asked: {
          gives: {
            ...{ average: 'minutes', shortest: 'minutes', longest: 'minutes' },
            ...{ firstOn: 'plannedOn', askedAt: 'now' },
          },
        },
        edited: {
          changes: { average: 'minutes', shortest: 'minutes', longest: 'minutes', firstOn: 'plannedOn' },
        },
      },
    },
  },
  read: { nurse: true },
});

/** By the day on which an area was opened. */
const opened = view('opened', {
  of: [area],
  key: { day: date() },
  values: { areas: sum().sort(), stops: avg() },
  from: {
    area: { by: { day: 'now' }, on: { opened: { gives: { areas: 1, stops: 'stops' } } } },
  },
  read: { signedIn: true },
});

export const rounds = assemble(base, [area, visit, report], [workload, known, planned, opened]);
