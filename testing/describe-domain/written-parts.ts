import { targetOf, wire } from '#kernel/base/names.ts';
import { deleted } from '#kernel/base/rejection.ts';
import type { CommandInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { type Asking, partsOf } from './declared.ts';
import { referencesIn } from './forms.ts';
import { mayReadIfKnown } from './if-known.ts';
import { askingAs, openSeenRows } from './seen-rows.ts';
import type { Actor, Made, Stage } from './stage.ts';

type Writing = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly body: Row;
  readonly by: Actor;
};

/** Callers may write only the parts that they may read, and a change can leave out the others. */
export const withoutHidden = async (
  stage: Stage,
  { id }: Made,
  { kind, command, body, by }: Writing,
): Promise<Row> => {
  const parts = partsOf(kind).filter(({ reads }) => reads.some((name) => command.form.includes(name)));
  if (command.kind === 'create' || parts.length === 0) return body;
  const seenRows = openSeenRows(stage);
  const state = await seenRows.look(kind, id);
  if (state === undefined) return body;
  const asking = askingAs(stage, seenRows, by);
  const hidden = new Set(
    parts
      .filter(({ name }) => !mayReadIfKnown(asking, kind, name, state))
      .flatMap(({ reads }) => reads.map((name) => wire(name, kind.fields[name]))),
  );
  const mayLack = (name: string): boolean =>
    command.kind === 'edit' || (kind.fields[name]?.optional === true && !command.requires.includes(name));
  const lacking = new Set(command.form.filter(mayLack).map((name) => wire(name, kind.fields[name])));
  return Object.fromEntries(Object.entries(body).filter(([key]) => !(hidden.has(key) && lacking.has(key))));
};

/** Whether the body writes a part that the sender may not read, which is forbidden. */
export const writesHidden = (
  asking: Asking,
  { kind, command, body, state }: Omit<Writing, 'by'> & { readonly state: Row },
): boolean =>
  command.kind !== 'create' &&
  partsOf(kind).some(
    ({ name, reads }) =>
      reads.some((each) => each === command.list?.name || wire(each, kind.fields[each]) in body) &&
      !mayReadIfKnown(asking, kind, name, state),
  );

/** A form without a target for a required reference fits no interface, whatever the right to it is. */
export const lacksTarget = (
  { kind, command }: { readonly kind: Kind; readonly command: CommandInfo },
  body: Row,
): boolean =>
  referencesIn(kind, command).some(([name, def]) => !def.optional && body[wire(name, def)] === null);

/** A form that names a target which the sender may not read is refused, whatever the right to it is. */
export const isUnnamed = (
  { kind, command }: { readonly kind: Kind; readonly command: CommandInfo },
  { status, body }: { readonly status: number; readonly body: unknown },
): boolean => {
  const { errors = [] } = (body ?? {}) as { readonly errors?: readonly { readonly pointer?: string }[] };
  const references = new Set(referencesIn(kind, command).map(([name, def]) => `/${wire(name, def)}`));
  if (kind.owner !== undefined) references.add(`/${wire(kind.owner, kind.fields[kind.owner])}`);
  return status === 422 && errors.length > 0 && errors.every(({ pointer = '' }) => references.has(pointer));
};

/** Whether a command was refused because another aggregate that it changes too has ended, whoever sends it. */
export const isOfEndedTarget = (
  { kind, command }: { readonly kind: Kind; readonly command: CommandInfo },
  { status, body }: { readonly status: number; readonly body: unknown },
): boolean => {
  const { code } = (body ?? {}) as { readonly code?: unknown };
  return (
    status === 404 &&
    Object.keys(command.also).some((name) => {
      const def = kind.fields[name];
      return def !== undefined && code === deleted(targetOf(def));
    })
  );
};
