import { kebab } from '#kernel/base/names.ts';
import { acceptedBy } from '#kernel/decide/accepted-files.ts';
import { editOf } from '#kernel/decide/forms.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { sampleFor } from '../sample-file.ts';
import type { Checks } from './checks.ts';
import { isHidden, mayAs, mayReadPart, partsOf, UnknownCondition } from './declared.ts';
import { checkContent } from './file-content.ts';
import { addItem, commandOn, type Filling, keysIn, makeBefore, pathOf } from './items.ts';
import { askingAs, giverOf, openSeenRows } from './seen-rows.ts';
import type { Situation } from './situations.ts';
import { type Made, MERGE, type Stage } from './stage.ts';

const filesIn = ({ name }: Kind, field: string, list?: ListInfo): string =>
  `the files in ${[name, ...(list === undefined ? [] : [list.name]), field].join('.')}`;
/** The files that an existing item can be given. */
const uploadsOf = (kind: Kind, list: ListInfo): readonly string[] =>
  commandOn(kind, list, 'addItem') && commandOn(kind, list, 'changeItem')
    ? Object.entries(list.fields).flatMap(([name, def]) => (def.kind === 'upload' ? [name] : []))
    : [];

/** The names under which checks of uploads are counted. */
export const filesOf = (kind: Kind): readonly string[] => [
  ...(editOf(kind)?.form ?? []).flatMap((name) =>
    kind.fields[name]?.kind === 'upload' ? [filesIn(kind, name)] : [],
  ),
  ...Object.values(kind.lists).flatMap((list) =>
    uploadsOf(kind, list).map((name) => filesIn(kind, name, list)),
  ),
];

/**
 * An uploaded file is readable for those who may read the aggregate it belongs to, and belongs to nothing
 * else.
 */
export const checkFiles = async (stage: Stage, checks: Checks, { kind }: Situation): Promise<void> => {
  const edit = editOf(kind);
  for (const name of edit?.form ?? []) {
    if (edit === undefined || kind.fields[name]?.kind !== 'upload') continue;
    // Some states accept no file.
    for (const situation of stage.found.situations)
      if (
        situation.kind === kind &&
        situation.later.length === 0 &&
        (await checkFile(stage, checks, { situation, edit, name }))
      )
        break;
  }
};

type Uploading = { readonly situation: Situation; readonly edit: CommandInfo; readonly name: string };

/** Returns whether the file was accepted. */
const checkFile = async (
  stage: Stage,
  checks: Checks,
  { situation, edit, name }: Uploading,
): Promise<boolean> => {
  const { kind } = situation;
  const [made, other] = [await stage.make(situation), await stage.make(situation)];
  const [by, byOther] = [await giverOf(stage, made, edit.name), await giverOf(stage, other, edit.name)];
  const accepts = acceptedBy(kind.fields[name] as FieldDef);
  const sample = sampleFor(accepts);
  if (sample === undefined) return true;
  const path = `${made.path}/${kebab(name)}`;
  const put = await stage.ask('PUT', path, { token: by.token, ...sample });
  if (put.status === 409) return false;
  checks.equal(put.status, 200, `PUT of ${kind.name}.${name}: ${JSON.stringify(put.body)}`);
  const headers = { 'consistency-token': put.headers.get('consistency-token') ?? '' };
  const { body } = await stage.session.read<Readonly<Record<string, string>>>(made.path, {
    token: by.token,
    headers,
  });
  const of = checks.of(filesIn(kind, name));
  const given = { path, item: made.path, field: name, address: body[name] ?? '', token: by.token };
  await checkContent(stage, of, { ...given, accepts, sample });
  await checkReaders(stage, of, { made, field: name, address: body[name] ?? '' });
  const taken = await stage.ask('PATCH', other.path, {
    token: byOther.token,
    body: { [name]: body[name] },
    type: MERGE,
  });
  checks.equal(
    taken.status,
    422,
    `the file of another ${kind.name} as ${name}: ${JSON.stringify(taken.body)}`,
  );
  for (const one of [made, other]) await stage.unmake(one);
  return true;
};

type File = { readonly made: Made; readonly field: string; readonly address: string };

const checkReaders = async (stage: Stage, checks: Checks, { made, field, address }: File): Promise<void> => {
  const { kind } = made.situation;
  const seenRows = openSeenRows(stage);
  await seenRows.look(kind, made.id);
  const part = partsOf(kind).find(({ reads }) => reads.includes(field));
  for (const actor of stage.actors) {
    const asking = askingAs(stage, seenRows, actor);
    const state = seenRows.find(kind.name, made.id) ?? {};
    try {
      const isReadable =
        part === undefined ? mayAs(asking, kind, 'read', state) : mayReadPart(asking, kind, part.name, state);
      const { status } = await stage.read(address, actor);
      checks.equal(
        status,
        isReadable ? 200 : 404,
        `the file in ${field} of ${made.situation.name} for ${actor.key}`,
      );
    } catch (error) {
      if (!(error instanceof UnknownCondition)) throw error;
    }
  }
};

/** The same for the items of lists, some of which fewer may read. */
export const checkFilesOfItems = async (stage: Stage, checks: Checks, { kind }: Situation): Promise<void> => {
  for (const list of Object.values(kind.lists))
    for (const field of uploadsOf(kind, list)) {
      const addition = commandOn(kind, list, 'addItem');
      const before = addition && (await makeBefore(stage, kind, addition));
      if (addition === undefined || before === undefined) continue;
      const filling: Filling = { stage, list, addition, made: before.made, by: before.by };
      // One item for each value of the field that decides who may read it.
      for (let count = 0; count < Math.min(list.max, ITEMS); count += 1)
        await addItem(filling, await keysIn(filling));
      for (const key of await keysIn(filling))
        await checkFileOfItem(filling, checks.of(filesIn(kind, field, list)), { field, key });
      await stage.unmake(before.made);
    }
};
const ITEMS = 2;

const checkFileOfItem = async (
  filling: Filling,
  checks: Checks,
  { field, key }: { readonly field: string; readonly key: string },
): Promise<void> => {
  const { stage, made, list, by } = filling;
  const { kind } = made.situation;
  const item = `${pathOf(made, list)}/${encodeURIComponent(key)}`;
  const accepts = acceptedBy(list.fields[field] as FieldDef);
  const sample = sampleFor(accepts);
  if (sample === undefined) return;
  const at = `${item}/${kebab(field)}`;
  const put = await stage.ask('PUT', at, { token: by.token, ...sample });
  if (put.status >= 300) return;
  const headers = { 'consistency-token': put.headers.get('consistency-token') ?? '' };
  const { body } = await stage.session.read<Readonly<Record<string, string>>>(item, {
    token: stage.admin.token,
    headers,
  });
  const given = { path: at, item, field, address: body[field] ?? '', token: by.token };
  await checkContent(stage, checks, { ...given, accepts, sample });
  await checkForeignFile(filling, checks, { field, key, address: body[field] });
  const seenRows = openSeenRows(stage);
  const state = (await seenRows.look(kind, made.id)) ?? {};
  const part = partsOf(kind).find(
    ({ reads, items }) =>
      reads.includes(list.name) ||
      (items[list.name] !== undefined && isHidden(items[list.name] as Row, body)),
  );
  for (const actor of stage.actors) {
    const asking = askingAs(stage, seenRows, actor);
    const isReadable =
      part === undefined ? mayAs(asking, kind, 'read', state) : mayReadPart(asking, kind, part.name, state);
    const { status } = await stage.read(body[field] ?? '', actor);
    checks.equal(
      status,
      isReadable ? 200 : 404,
      `the file in ${field} of ${item}${part ? ` (${part.name})` : ''} for ${actor.key}`,
    );
  }
};

/** Another item of the list does not accept it. */
const checkForeignFile = async (
  filling: Filling,
  checks: Checks,
  { field, key, address }: { readonly field: string; readonly key: string; readonly address: unknown },
): Promise<void> => {
  const { stage, made, list } = filling;
  const other = (await keysIn(filling)).find((each) => each !== key);
  const change = commandOn(made.situation.kind, list, 'changeItem');
  if (other === undefined || change === undefined) return;
  const { token } = await giverOf(stage, made, change.name);
  const path = `${pathOf(made, list)}/${encodeURIComponent(other)}`;
  const { status, body } = await stage.ask('PATCH', path, { token, body: { [field]: address }, type: MERGE });
  checks.equal(status, 422, `the file of item ${key} as ${field} of ${path}: ${JSON.stringify(body)}`);
};
