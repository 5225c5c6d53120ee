import { domain } from '#kernel/declare/domain.ts';
import { date, integer, line, list, prose, ref, states, upload } from '#kernel/declare/fields.ts';
import { count, sum } from '#kernel/declare/view.ts';
import { assemble } from '#kernel/registry/assemble.ts';

/**
 * A view, a reaction to a reference of items, files of items, and personal data by a path: small enough for a
 * suite of its own.
 */
const base = domain({ name: 'rounds', roles: ['client', 'nurse'] });
const { aggregate, user, view } = base;

const area = aggregate('area', {
  fields: { name: line(60) },
  events: { opened: { creates: ['name'] }, renamed: { changes: ['name'] }, closed: { ends: true } },
  commands: { open: { emits: 'opened' }, rename: { emits: 'renamed' }, close: { emits: 'closed' } },
  rights: { read: { signedIn: true }, write: { nurse: true } },
});

const visit = aggregate('visit', {
  owner: 'client',
  fields: {
    client: ref(user),
    reason: prose(200).personal({ erased: '[deleted]' }),
    minutes: integer(1, 600),
    plannedOn: date().optional().filter(),
    stops: list(
      { area: ref(area), note: line(60).optional(), map: upload().optional() },
      { max: 6, key: 'area', ordered: true },
    ),
    status: states('asked', 'done'),
  },
  events: {
    asked: { creates: ['reason', 'minutes', 'plannedOn'] },
    edited: { changes: ['reason', 'minutes', 'plannedOn'] },
    stopAdded: { adds: 'stops' },
    stopChanged: { updates: 'stops' },
    stopMoved: { moves: 'stops' },
    stopRemoved: { removes: 'stops' },
    done: { sets: { status: 'done' } },
    cancelled: { ends: true },
  },
  commands: {
    ask: { emits: 'asked' },
    edit: { emits: 'edited' },
    addStop: { emits: 'stopAdded' },
    changeStop: { emits: 'stopChanged' },
    moveStop: { emits: 'stopMoved' },
    removeStop: { emits: 'stopRemoved' },
    do: { emits: 'done' },
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
  },
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
  values: { visits: count(), minutes: sum().sort() },
  from: {
    visit: {
      by: { client: 'client' },
      on: {
        asked: { gives: { visits: 1, minutes: 'minutes' } },
        edited: { changes: { minutes: 'minutes' } },
      },
    },
  },
  rights: { read: { nurse: true, client: { client: 'caller' } } },
});

export const rounds = assemble(base, [area, visit, report], [workload]);
