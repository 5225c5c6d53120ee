import type { FieldDef } from '#kernel/declare/fields.ts';
import { kebab, targetOf, wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { operate } from '../../test/engines/installation.ts';
import { searchDatabase, searchFolder } from '../../test/engines/search-everywhere.ts';
import { until } from '../../test/engines/until.ts';
import { freshBody } from './attempts.ts';
import type { Checks } from './checks.ts';
import { fieldsOfForm } from './forms.ts';
import { MERGE, requestOf, type Stage } from './stage.ts';
import { markerOf } from './values.ts';

const ERASED_WITHIN_MS = 60_000;

/** Whatever is personal, in every field and list that says so, is in no table and no file once its person is deleted. */
export const checkErasure = async (stage: Stage, checks: Checks): Promise<void> => {
  const { installation, domain, admin, session } = stage;
  const { DATABASE_URL = '', DATA_DIR = '' } = installation.settings;
  const person = await stage.people.signUp(markOf('Person'));
  const marks = new Map<string, string>([
    ['user.name', person.name],
    ['user.email', person.email],
  ]);
  const paths: string[] = [`/users/${person.userId}`];
  const { user } = domain.kinds;
  if (user) await markUser(stage, user, { person: person.userId, marks });
  for (const kind of Object.values(domain.kinds)) {
    const path = kind.name === 'user' ? undefined : await markKind(stage, kind, { person: person.userId, marks });
    if (path !== undefined) paths.push(path);
  }
  await stage.read('/', admin);
  await operate(['projection', 'rebuild'], installation.settings, domain);
  const search = async () => [
    ...(await searchDatabase(DATABASE_URL, [...marks.values()])),
    ...(await searchFolder(DATA_DIR, [...marks.values()])),
  ];
  const before = new Set((await search()).map(({ text }) => text));
  for (const [field, mark] of marks)
    if (!field.endsWith('(before)')) checks.equal(before.has(mark), true, `${field} is found before its person is deleted`);
  await session.write('DELETE', `/users/${person.userId}`, { token: admin.token });
  const left = await until(search, (found) => found.length === 0, ERASED_WITHIN_MS).catch(search);
  checks.equal(
    left.map(({ place, text }) => `${[...marks].find(([, mark]) => mark === text)?.[0]} in ${place}`),
    [],
    'what is left of the person',
  );
  for (const path of paths)
    for (const shown of [path, `${path}/history?limit=100`, `${path}?at=v1`]) {
      const look = async () => JSON.stringify((await stage.read<unknown>(shown, admin)).body ?? '');
      const text = await until(look, (seen) => ![...marks.values()].some((mark) => seen.includes(mark))).catch(look);
      checks.equal(
        [...marks.values()].filter((mark) => text.includes(mark)),
        [],
        `${shown} shows nothing of it`,
      );
    }
};

const markOf = (word: string): string => `${word}${markerOf(TEXT) ?? ''}`;
const TEXT = { kind: 'text', demanded: { safeParse: () => ({ success: true }) } } as unknown as FieldDef;

type Marking = { readonly person: number; readonly marks: Map<string, string> };

const isOfPerson = (kind: Kind, def: FieldDef): boolean => {
  const of = def.personal?.of ?? kind.owner;
  return (
    def.personal !== undefined && (of === undefined || (kind.fields[of] !== undefined && targetOf(kind.fields[of] as FieldDef) === 'user'))
  );
};

/** A form with a mark in each personal field, and the person wherever somebody is named. */
const marked = async (stage: Stage, kind: Kind, command: CommandInfo, { person, marks }: Marking): Promise<Row> => {
  const form: Record<string, unknown> = { ...(await freshBody(stage, kind, command)) };
  for (const [name, def] of fieldsOfForm(kind, command)) {
    if (def.kind === 'ref' && targetOf(def) === 'user') form[wire(name, def)] = person;
    const mark = isOfPerson(kind, def) ? markerOf(def) : undefined;
    if (mark === undefined) continue;
    form[name] = mark;
    const key = `${kind.name}.${command.list === undefined ? '' : `${command.list.name}.`}${name}`;
    const former = marks.get(key);
    if (former !== undefined) marks.set(`${key} (before)`, former);
    marks.set(key, mark);
  }
  if (command.kind === 'create' && kind.owner !== undefined) form[wire(kind.owner, kind.fields[kind.owner])] = person;
  return form;
};

/** What a domain adds to users. */
const markUser = async (stage: Stage, user: Kind, marking: Marking): Promise<void> => {
  const changes = Object.fromEntries(
    Object.entries(user.fields).flatMap(([name, def]) => {
      const mark = def.personal && !['name', 'email'].includes(name) ? markerOf(def) : undefined;
      if (mark !== undefined) marking.marks.set(`user.${name}`, mark);
      return mark === undefined ? [] : [[name, mark] as const];
    }),
  );
  if (Object.keys(changes).length > 0)
    await stage.session.write('PATCH', `/users/${marking.person}`, { token: stage.admin.token, type: MERGE, body: changes });
};

/** Creates one of the person's, changes it, and adds to its lists. Answers with its path if it has anything personal. */
const markKind = async (stage: Stage, kind: Kind, marking: Marking): Promise<string | undefined> => {
  const { domain, session, admin, found } = stage;
  const all = Object.values(kind.commands).filter(({ internal }) => !internal);
  const creation = all.find((command) => command.kind === 'create');
  const holds = (command: CommandInfo): boolean => fieldsOfForm(kind, command).some(([, def]) => isOfPerson(kind, def));
  if (creation === undefined || !all.some(holds)) return undefined;
  const def = kind.parent === undefined ? undefined : kind.fields[kind.parent];
  const situation = found.situations.find((each) => each.kind === kind && each.later.length === 0);
  if (situation === undefined) return undefined;
  const made = await stage.make(situation);
  const parent = def && made.ids.get(Number(situation.state.fields[kind.parent ?? '']));
  const params = def ? { [`${targetOf(def)}Id`]: parent } : {};
  const [method, path] = requestOf(domain, kind, creation, params);
  const { written } = await session.write(method, path, { token: admin.token, body: await marked(stage, kind, creation, marking) });
  const self = `/${kind.path}/${written.id}`;
  for (const command of all.filter(
    (each) => (each.kind === 'edit' || each.kind === 'addItem' || each.kind === 'changeItem') && holds(each),
  )) {
    const ids: Record<string, unknown> = { [`${kind.name}Id`]: written.id };
    if (command.kind === 'changeItem' && command.list !== undefined) {
      const items = await stage.read<readonly { readonly _links: { readonly self: { readonly href: string } } }[]>(
        `${self}/${kebab(command.list.name)}`,
        admin,
      );
      const href = items.body[0]?._links.self.href;
      if (href === undefined) continue;
      ids[command.list.id.name] = decodeURIComponent(href.split('/').at(-1) ?? '');
    }
    const request = requestOf(domain, kind, command, ids);
    await session.write(...request, { token: admin.token, body: await marked(stage, kind, command, marking) });
  }
  return self;
};
