import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, line, list, ref, states } from '#kernel/declare/fields.ts';

/** A domain with rights by lists of other aggregates: the members of a team, the directors of its company. */
const base = domain({
  name: 'teams',
  roles: ['member', 'director'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;

const company = aggregate('company', {
  names: { plural: 'companies' },
  fields: { name: line(50), directors: list({ person: ref(user) }, { max: 20, key: 'person' }) },
  events: {
    founded: { creates: ['name'] },
    directorNamed: { adds: 'directors' },
    directorDismissed: { removes: 'directors' },
  },
  facts: { directed: { directors: { some: { person: 'caller' } } } },
  commands: {
    found: { emits: 'founded' },
    nameDirector: { emits: 'directorNamed' },
    dismissDirector: { emits: 'directorDismissed' },
  },
  rights: { read: { signedIn: true }, write: {} },
});

const team = aggregate('team', {
  fields: {
    company: ref(company),
    name: line(50),
    members: list({ person: ref(user), part: choice('guest', 'approver') }, { max: 100 }),
  },
  events: {
    formed: { creates: ['company', 'name'] },
    renamed: { changes: ['name'] },
    joined: { adds: 'members' },
    changed: { updates: 'members' },
    left: { removes: 'members' },
    dissolved: { ends: true },
  },
  facts: {
    ours: { members: { some: { person: 'caller' } } },
    approvable: { members: { some: { person: 'caller', part: 'approver' } } },
  },
  commands: {
    form: { emits: 'formed' },
    rename: { emits: 'renamed' },
    join: { emits: 'joined' },
    change: { emits: 'changed' },
    leave: { emits: 'left' },
    dissolve: { emits: 'dissolved' },
  },
  rights: {
    read: { member: 'ours', director: { company: 'directed' } },
    write: {},
    rename: { member: 'approvable' },
  },
});

const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    team: ref(team),
    purpose: line(100),
    status: states('draft', 'submitted', 'approved').filter(),
  },
  events: {
    drafted: { creates: ['team', 'purpose'] },
    reworded: { changes: ['purpose'] },
    submitted: { sets: { status: 'submitted' } },
    approved: { sets: { status: 'approved' }, subscribe: true },
  },
  commands: {
    draft: { emits: 'drafted', when: { team: 'ours' } },
    reword: { emits: 'reworded', when: 'draft' },
    submit: { emits: 'submitted', when: 'draft' },
    approve: { emits: 'approved', when: 'submitted' },
  },
  rights: {
    read: {
      member: ['own', { draft: false, team: 'ours' }],
      director: { draft: false, team: { company: 'directed' } },
    },
    write: { member: 'own' },
    approve: { member: { own: false, team: 'approvable' } },
  },
});

const remark = aggregate('remark', {
  parent: 'claim',
  owner: 'author',
  fields: { claim: ref(claim), author: ref(user), text: line(100) },
  events: { made: { creates: ['text'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { as: 'claim' }, write: { signedIn: true } },
});

export const teams = assemble(base, [company, team, claim, remark]);
