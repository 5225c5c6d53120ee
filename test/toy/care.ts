import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, integer, line, list, picture, prose, ref, states } from '#kernel/declare/fields.ts';
import { latest, sum } from '#kernel/declare/view.ts';

/**
 * A domain of home care: the notes of a visit are personal data of the client, who is one, two or three
 * references away.
 */
const base = domain({
  name: 'care',
  roles: ['client', 'nurse'],
  user: { read: { anyone: true }, fields: { phone: line(40).optional().personal() } },
});
const { aggregate, user, view } = base;

const everybody = { read: { signedIn: true }, write: { signedIn: true } } as const;

export const visit = aggregate('visit', {
  owner: 'client',
  fields: {
    client: ref(user),
    reason: prose(200).personal({ erased: '[deleted]' }),
    place: choice('home', 'ward'),
    minutes: integer(1, 600),
    photo: picture({ external: true }).optional(),
    needs: list({ need: line(80).personal(), minutes: integer(1, 60) }, { max: 5 }),
    status: states('asked', 'done'),
    urgency: states('usual', 'reminded'),
  },
  derived: { needed: { sum: 'needs.minutes' } },
  events: {
    asked: { creates: ['reason', 'place', 'minutes'] },
    edited: { changes: ['reason', 'minutes', 'photo'] },
    needAdded: { adds: 'needs' },
    urgentNeedAdded: { adds: 'needs' },
    needChanged: { updates: 'needs' },
    needExtended: { updates: 'needs', fields: ['minutes'] },
    needRemoved: { removes: 'needs' },
    done: { sets: { status: 'done' }, carries: ['minutes'] },
    reminded: { sets: { urgency: 'reminded' } },
    cancelled: { ends: true },
  },
  commands: {
    ask: { emits: 'asked' },
    edit: { emits: 'edited' },
    addNeed: { emits: 'needAdded' },
    addUrgentNeed: { emits: 'urgentNeedAdded' },
    changeNeed: { emits: 'needChanged' },
    extendNeed: { emits: 'needExtended' },
    removeNeed: { emits: 'needRemoved' },
    do: { emits: 'done' },
    remind: { emits: 'reminded', internal: true },
    cancel: { emits: 'cancelled' },
  },
  rights: { read: { client: 'own', nurse: ['asked', 'done'] }, write: { signedIn: true } },
  reactions: { client: { deleted: { run: 'cancel', when: 'asked' } } },
  timers: { remind: { after: 'asked', wait: '3 days', run: 'remind', when: 'asked' } },
});

/**
 * Its text and its items are personal data of the visit's client. Its conclusion is copied to a remark, by
 * code that reacts.
 */
export const report = aggregate('report', {
  parent: 'visit',
  owner: 'nurse',
  fields: {
    visit: ref(visit),
    nurse: ref(user),
    summary: prose(500).optional().personal({ of: 'visit.client' }),
    measures: list(
      { remark: line(80).optional().personal({ of: 'visit.client' }), pulse: integer(1, 300) },
      { max: 5 },
    ),
  },
  events: {
    opened: { creates: ['summary'] },
    concluded: { changes: ['summary'] },
    measured: { adds: 'measures' },
    corrected: { updates: 'measures' },
    withdrawn: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    conclude: { emits: 'concluded' },
    measure: { emits: 'measured' },
    correct: { emits: 'corrected' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: { read: { as: 'visit' }, write: { signedIn: true } },
  reactions: {
    visit: { cancelled: { run: 'withdraw' } },
    concluded: ({ form, state, run }) =>
      run(remark, 'make', {
        form: { reportId: state.id, nurseId: state.nurse, text: form.summary ?? 'Nothing to tell.' },
      }),
  },
});

/** Written by a nurse, about the client three references away. */
export const remark = aggregate('remark', {
  parent: 'report',
  owner: 'nurse',
  fields: {
    report: ref('report'),
    nurse: ref(user),
    text: prose(500).personal({ of: 'report.visit.client', erased: '[deleted]' }),
  },
  events: { made: { creates: ['text'] }, changed: { changes: ['text'] }, withdrawn: { ends: true } },
  commands: { make: { emits: 'made' }, change: { emits: 'changed' }, withdraw: { emits: 'withdrawn' } },
  rights: { read: { as: 'report' }, write: { signedIn: true } },
});

/** Personal data of its subject, not of its author. */
const letter = aggregate('letter', {
  owner: 'sender',
  fields: {
    sender: ref(user),
    about: ref(user),
    text: prose(500).personal({ of: 'about', erased: '[deleted]' }),
  },
  events: { sent: { creates: ['about', 'text'] }, changed: { changes: ['text'] }, burnt: { ends: true } },
  commands: { send: { emits: 'sent' }, change: { emits: 'changed' }, burn: { emits: 'burnt' } },
  rights: everybody,
});

/** Nothing of it is personal, and all of it stays. */
const workload = view('workload', {
  of: [visit],
  key: { client: ref(user) },
  values: { visits: sum(), minutes: sum(), lastPlace: latest(choice('home', 'ward')) },
  from: {
    visit: {
      by: { client: 'client' },
      on: {
        asked: { gives: { visits: 1, minutes: 'minutes', lastPlace: 'place' } },
        edited: { changes: { minutes: 'minutes' } },
      },
    },
  },
  read: { signedIn: true },
});

export const care = assemble(base, [visit, report, remark, letter], [workload]);
