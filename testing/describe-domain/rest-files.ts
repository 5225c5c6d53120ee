import { editOf } from '#kernel/decide/forms.ts';
import { kebab } from '#kernel/registry/names.ts';
import { PIXEL } from '../pixel.ts';
import type { Checks } from './checks.ts';
import { mayAs, mayReadPart, partsOf, UnknownCondition } from './declared.ts';
import type { Situation } from './situations.ts';
import { type Made, MERGE, type Stage } from './stage.ts';
import { askingAs, giverOf, openWorld } from './world.ts';

/** A file that was uploaded can be read by those who may read what it belongs to, and belongs to nothing else. */
export const checkFiles = async (stage: Stage, checks: Checks, situation: Situation): Promise<void> => {
  const { kind } = situation;
  const edit = editOf(kind);
  for (const name of edit?.form ?? []) {
    if (edit === undefined || kind.fields[name]?.kind !== 'upload') continue;
    const [made, other] = [await stage.make(situation), await stage.make(situation)];
    const [by, byOther] = [await giverOf(stage, made, edit.name), await giverOf(stage, other, edit.name)];
    const put = await stage.ask('PUT', `${made.path}/${kebab(name)}`, { token: by.token, body: PIXEL, type: 'image/png' });
    if (put.status === 409) continue;
    checks.equal(put.status, 200, `PUT of ${kind.name}.${name}: ${JSON.stringify(put.body)}`);
    const headers = { 'consistency-token': put.headers.get('consistency-token') ?? '' };
    const { body } = await stage.session.read<Readonly<Record<string, string>>>(made.path, { token: by.token, headers });
    await checkReaders(stage, checks, { made, field: name, address: body[name] ?? '' });
    const taken = await stage.ask('PATCH', other.path, { token: byOther.token, body: { [name]: body[name] }, type: MERGE });
    checks.equal(taken.status, 422, `the file of another ${kind.name} as ${name}: ${JSON.stringify(taken.body)}`);
    for (const one of [made, other]) await stage.unmake(one);
  }
};

type File = { readonly made: Made; readonly field: string; readonly address: string };

const checkReaders = async (stage: Stage, checks: Checks, { made, field, address }: File): Promise<void> => {
  const { kind } = made.situation;
  const world = openWorld(stage);
  await world.look(kind, made.id);
  const part = partsOf(kind).find(({ reads }) => reads.includes(field));
  for (const actor of stage.actors) {
    const asking = askingAs(stage, world, actor);
    const state = world.find(kind.name, made.id) ?? {};
    try {
      const isReadable = part === undefined ? mayAs(asking, kind, 'read', state) : mayReadPart(asking, kind, part.name, state);
      const { status } = await stage.read(address, actor);
      checks.equal(status, isReadable ? 200 : 404, `the file in ${field} of ${made.situation.name} for ${actor.key}`);
    } catch (error) {
      if (!(error instanceof UnknownCondition)) throw error;
    }
  }
};
