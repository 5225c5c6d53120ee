import { targetOf, wire } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { deleted, notFound, Rejection } from '../base/rejection.ts';
import type { CommandInfo, Domain, EventElsewhere, EventInfo, Kind, Row } from '../registry/registry.ts';
import { type Draft, draftOf, happen } from './draft.ts';
import { evolveOf } from './evolve.ts';
import { type Context, invariantOf, type Look } from './guards.ts';
import { referencesAfter } from './reads.ts';
import type { AggregateState, Happened } from './state.ts';

/** `on('mergedInto', 'absorbed', values)` of a decision. */
export const onTarget = (reference: string, event: string, values: Row = {}): EventElsewhere => ({
  reference,
  event,
  values,
});

/** The references whose targets a command can change, including commands that its form can run next. */
export const alsoOf = (kind: Kind, { also, next }: CommandInfo): readonly string[] => [
  ...new Set([also, ...next.map((name) => kind.commands[name]?.also ?? {})].flatMap(Object.keys)),
];

/** The events of other aggregates that a command can append beside its own, with their kinds. */
export const eventsElsewhereOf = (
  domain: Domain,
  kind: Kind,
  { also }: Pick<CommandInfo, 'also'>,
): readonly (readonly [Kind, EventInfo])[] =>
  Object.entries(also).flatMap(([reference, names]) => {
    const def = kind.fields[reference];
    const target = def && domain.kinds[targetOf(def)];
    return target === undefined
      ? []
      : names.flatMap((name) => {
          const event = target.events[name];
          return event === undefined ? [] : [[target, event] as const];
        });
  });

/** Whether an event is one of this aggregate. Every event has the id of its aggregate. */
export const isEventOf =
  ({ name }: Kind, id: unknown): ((event: Happened) => boolean) =>
  ({ type, data }) =>
    type.startsWith(`${name}.`) && data[`${name}Id`] === id;

/** The kind and the id of the aggregate of an event. */
export const aggregateOf = (domain: Domain, { type, data }: Happened): { kind: Kind; id: number } => {
  const [name = ''] = type.split('.', 1);
  const kind = domain.kinds[name];
  if (kind === undefined) throw new Error(`${type} belongs to no aggregate of the domain`);
  return { kind, id: data[`${name}Id`] as number };
};

type Drafted = Draft & { readonly target: Kind; readonly formOf: (values: Row) => Row };

type Deciding = {
  readonly form: Row;
  readonly fields: Row;
  readonly chosen: readonly EventElsewhere[];
  readonly context: Context;
};

/** Drafts the events that a decision returned for the targets of its references, in their order. */
export const draftElsewhere = (
  domain: Domain,
  kind: Kind,
  command: CommandInfo,
): ((deciding: Deciding) => readonly Happened[]) => {
  const drafts = draftsOf(domain, kind, command);
  return ({ form, fields, chosen, context }) => {
    const after = referencesAfter(kind, fields, command.list === undefined ? form : {});
    const states = new Map<string, AggregateState>();
    const events: Happened[] = [];
    for (const { reference, event, values } of chosen) {
      const draft = drafts.get(`${reference}.${event}`);
      if (draft === undefined)
        throw new Error(
          `${kind.name}: ${command.name} decided on ${event} of ${reference}, which is not in its \`also\``,
        );
      const { target } = draft;
      const id = after[reference];
      if (target === kind && id === fields.id)
        throw new Rejection('invalid_command', {
          errors: [
            {
              pointer: `/${wire(reference, kind.fields[reference])}`,
              detail: `Must be another ${target.name}.`,
            },
          ],
        });
      const place = `${target.name} ${id}`;
      let state = states.get(place) ?? context.look(target.name, id);
      if (state.status !== 'present')
        throw new Rejection((state.status === 'ended' ? deleted : notFound)(target.name));
      const evolve = foldOf(target);
      for (const data of draft.dataOf(draft.formOf(values), state, { computed: values, context })) {
        draft.demandUploads(state, data, values);
        const happened = happen(evolve, draft, { state, data, metadata: metadataOf(context) });
        events.push(happened.event);
        state = happened.after;
        if (state.status !== 'present') break;
      }
      states.set(place, state);
    }
    return events;
  };
};

export const metadataOf = ({ at, callerId }: Context): NonNullable<Happened['metadata']> => ({
  at,
  actor: callerId === null ? 'anonymous' : `user:${callerId}`,
});

const draftsOf = (domain: Domain, kind: Kind, command: CommandInfo): ReadonlyMap<string, Drafted> =>
  new Map(
    Object.keys(command.also).flatMap((reference) =>
      eventsElsewhereOf(domain, kind, { also: { [reference]: command.also[reference] ?? [] } }).map(
        ([target, event]) =>
          [
            `${reference}.${event.name}`,
            { ...draftOf(target, event), target, formOf: formOf(target, event) },
          ] as const,
      ),
    ),
  );

/** A decision names values as the state does; a form names references by their ids, and items by theirs. */
export const formOf = (target: Kind, { type, effect, list }: EventInfo): ((values: Row) => Row) => {
  const names = new Map(
    list === undefined
      ? Object.entries(target.fields).map(([name, def]) => [name, wire(name, def)])
      : [
          ...Object.entries(list.fields).map(([name, def]) => [name, wire(name, def)] as const),
          ...['id', ...(list.key === undefined ? [] : [list.key])].map(
            (name) => [name, list.id.name] as const,
          ),
          ...(effect === 'moves' ? [['before', 'before'] as const] : []),
        ],
  );
  const initial =
    effect === 'adds' && list !== undefined
      ? Object.fromEntries(
          Object.entries(list.fields).map(([name, def]) => [wire(name, def), def.initial ?? null]),
        )
      : {};
  const sealed = Object.entries(list?.fields ?? target.fields)
    .filter(([, { personal, optional }]) => personal && !optional)
    .map(([name]) => name);
  return (values) => {
    // An erased value cannot be sealed again.
    if (sealed.some((name) => values[name] === null)) throw new Rejection('user_deleted');
    const given = Object.entries(values).map(([name, value]) => {
      const key = names.get(name);
      if (key === undefined) throw new Error(`the decision on ${type} has ${name}, which is no field of it`);
      return [key, value] as const;
    });
    return { ...initial, ...Object.fromEntries(given) };
  };
};

/** The look after some events, which belong to any aggregates. */
export const lookAfter = (
  domain: Domain,
  { look, ...context }: Context,
  events: readonly Happened[],
): Look => {
  if (events.length === 0) return look;
  const metadata = metadataOf({ ...context, look });
  const states = new Map<string, AggregateState>();
  for (const event of events) {
    const { kind, id } = aggregateOf(domain, event);
    const place = `${kind.name} ${id}`;
    states.set(place, foldOf(kind)(states.get(place) ?? look(kind.name, id), { ...event, metadata }));
  }
  return (kind, id) => states.get(`${kind} ${id}`) ?? look(kind, id);
};

/** Refuses unless the invariants of each aggregate of these events hold after them. */
export const demandInvariants = (domain: Domain, events: readonly Happened[], context: Context): void => {
  const places = new Map(
    events.map((event) => {
      const { kind, id } = aggregateOf(domain, event);
      return [`${kind.name} ${id}`, { kind, id }] as const;
    }),
  );
  for (const { kind, id } of places.values()) {
    const state = context.look(kind.name, id);
    if (state.status !== 'present') continue;
    for (const demand of invariantsOf(domain)(kind)) demand(state.fields, context);
  }
};

const invariantsOf = oncePer((domain: Domain) =>
  oncePer((kind: Kind) => {
    const all = Object.entries(kind.invariants);
    return all.map(([name, condition]) => invariantOf(domain, kind, { name, condition }));
  }),
);

const foldOf = oncePer(evolveOf);
