// Over 200 lines, because it is one thing: how a reaction is executed, from its task to the commands it
// sends.
import canonicalize from 'canonicalize';
import { v5 } from 'uuid';
import type { EventId, Position } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { idIn, kindIn } from '#kernel/base/events/streams.ts';
import { RETENTION } from '#kernel/base/keeping.ts';
import { wire } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { creationOf, typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { commandSchema } from '#kernel/decide/forms.ts';
import { findBy } from '#kernel/decide/guards.ts';
import { itemsOf } from '#kernel/decide/items.ts';
import { readsOf } from '#kernel/decide/reads.ts';
import { scheduledTime } from '#kernel/decide/schedules.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import { conditionOf } from '#kernel/decide/timers.ts';
import { type Commanded, run } from '#kernel/declare/run.ts';
import type {
  CommandInfo,
  Domain,
  Kind,
  ListInfo,
  Row,
  ScheduleInfo,
  TimerInfo,
} from '#kernel/registry/registry.ts';
import { itemIdIn } from '#kernel/rest/lists.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { CELLS, EPOCH_MS, PER_MS } from '#shared/id-time.ts';
import { createDemandReferences, type DemandReferences } from '../aggregates/demand-references.ts';
import type { Limits } from '../aggregates/limits.ts';
import { createReferenceReader, type ReadReferences, readAfter } from '../aggregates/read-references.ts';
import { type ReadTarget, severalOf, targetReader } from '../aggregates/several.ts';
import type { Executor } from '../execute.ts';
import { type ExecutionContext, seededIds } from '../handling/execution-context.ts';
import { preparing, streamOf, type Target, toEvents } from '../handling/target.ts';
import type { States } from '../states.ts';
import { demandClocksAgree } from './clocks-agree.ts';
import { following, type TaskDependencies } from './execute-task.ts';
import { isEndedLater } from './held.ts';
import { isOvertaken } from './overtaken.ts';
import { isOfSchedule, isOfTimer, type ReactionTask, scheduleTask, timerTask } from './tasks.ts';

export type ReactDependencies = Pick<TaskDependencies, 'tracing' | 'clock' | 'pool'> & {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read' | 'find'>;
  readonly codec: Pick<Codec, 'decodeAll'>;
  readonly executor: Executor;
  readonly limits: Limits;
  readonly states: States;
};

/** A schedule is the author of what it sends, and no event is its cause; the reason says who had it run. */
const originOf = ({ cause: { metadata } }: ReactionTask) => ({
  ...{ actor: metadata.actor, causation: null, reason: metadata.reason },
});

/** Executes a task as declared now; a task that is no longer declared has no effect. */
export const createReact = (dependencies: ReactDependencies): ((task: ReactionTask) => Promise<void>) => {
  const readReferences = createReferenceReader(dependencies.domain, dependencies.states);
  const demandReferences = createDemandReferences({ ...dependencies, readReferences });
  const readTarget = targetReader(dependencies.domain, dependencies.states);
  // The time is compared from the start of the process on.
  if (Object.values(dependencies.domain.kinds).some(({ retain }) => retain !== undefined))
    demandClocksAgree(dependencies).catch(() => undefined);
  const execute =
    (task: ReactionTask) =>
    async (metadata: MetadataContext): Promise<void> => {
      const kind = kindOfStream(dependencies.domain, task.stream);
      if (kind === undefined) return;
      const parts = { ...dependencies, readReferences, readTarget, demandReferences };
      if (isOfTimer(task)) {
        const timer = kind.timers[task.name.slice(timerTask('').length)];
        return timer && runTimer(parts, { kind, timer }, { task, mark: ONLY, metadata });
      }
      if (isOfSchedule(task)) {
        const schedule = kind.schedules[task.name.slice(scheduleTask('').length)];
        return schedule && runSchedule(parts, { kind, schedule }, { task, mark: ONLY, metadata });
      }
      for (const [mark, { id, form, when, ...called }] of await commandsOf(dependencies, kind, task)) {
        const { kind: of, command } = commandIn(dependencies.domain, called);
        const only = when === undefined ? undefined : resolve(dependencies.domain, of, when);
        await give(parts, { kind: of, command, id, form, only }, { task, mark, metadata });
      }
    };
  return (task) =>
    following(dependencies, task.cause, execute(task), isOfSchedule(task) ? originOf(task) : undefined);
};

export const kindOfStream = ({ kinds }: Domain, stream: string): Kind | undefined => kinds[kindIn(stream)];

/** The commands of a task, each with a mark that distinguishes it. */
const commandsOf = async (
  dependencies: ReactDependencies,
  kind: Kind,
  task: ReactionTask,
): Promise<readonly Marked[]> => {
  if (task.task === 'react') return marked(dependencies.domain, await reactionOf(dependencies, kind, task));
  const [reference = '', type = ''] = task.name.split(' ');
  const [path = '', item = ''] = reference.split('/');
  const reaction = kind.reactions[path]?.[type.slice(type.indexOf('.') + 1)];
  if (reaction === undefined) return [];
  const list = kind.commands[reaction.run]?.list;
  const form = list === undefined ? {} : { [list.id.name]: itemIdIn(list, decodeURIComponent(item)) };
  return [
    [ONLY, { kind: kind.name, command: reaction.run, id: idIn(task.stream), form, when: reaction.when }],
  ];
};

type Marked = readonly [mark: string, commanded: Commanded];
/** The mark of a task’s only command. */
const ONLY = '0';

/**
 * Marks commands of code by their content, independent of their order; equal commands are numbered. Personal
 * data is excluded, because ids of events outlive an erasure.
 */
export const marked = (domain: Domain, commands: readonly Commanded[]): readonly Marked[] => {
  const counts = new Map<string, number>();
  return commands.map((commanded) => {
    const { kind, command, id = null, form } = commanded;
    const personal = personalIn(domain.kinds[kind]);
    const clear = Object.fromEntries(Object.entries(form).filter(([name]) => !personal.has(name)));
    const what = canonicalize([kind, command, id, clear]) ?? '';
    const count = counts.get(what) ?? 0;
    counts.set(what, count + 1);
    return [`${what} ${count}`, commanded];
  });
};

/** The names in forms. */
const personalIn = (kind: Kind | undefined): ReadonlySet<string> =>
  new Set(
    [kind?.fields ?? {}, ...Object.values(kind?.lists ?? {}).map(({ fields }) => fields)]
      .flatMap((fields) => Object.entries(fields))
      .flatMap(([name, def]) => (def.personal === undefined ? [] : [wire(name, def)])),
  );

/** Runs code on an event and the state of its aggregate right after it. */
const reactionOf = async (
  { domain, eventLog, codec, states }: ReactDependencies,
  kind: Kind,
  { stream, name, cause }: ReactionTask,
): Promise<readonly Commanded[]> => {
  const react = kind.react[name];
  if (react === undefined) return [];
  const found = await eventLog.find(stream, cause.id, before(cause));
  if (found === undefined) throw new Error(`${stream} has no event ${cause.id}.`);
  const [recorded = []] = await Array.fromAsync(eventLog.read(stream, found.version, found.version));
  const [event] = await codec.decodeAll(recorded);
  if (event === undefined) throw new Error(`${stream} has no event ${cause.id}.`);
  const state = await states.at<AggregateState, AnnalsEvent>(deciderOf(domain, kind), stream, found);
  return [react({ state: fieldsOf(state), form: event.data, now: event.metadata.at, run })].flat();
};

/** The position before the event, or an earlier one. */
const before = ({ position = START }: ReactionTask['cause']): Position =>
  Math.max(position - 1, START) as Position;

const fieldsOf = (state: AggregateState): Row => (state.status === 'absent' ? {} : state.fields);

type Reacting = { readonly task: ReactionTask; readonly mark: string; readonly metadata: MetadataContext };
type Parts = ReactDependencies & {
  readonly readReferences: ReadReferences;
  readonly readTarget: ReadTarget;
  readonly demandReferences: DemandReferences;
};

/** A refused command no longer applies; only the end of what was kept long enough is retried, such as after a hold. */
const runTimer = async (
  parts: Parts,
  { kind, timer }: { readonly kind: Kind; readonly timer: TimerInfo },
  given: Reacting,
): Promise<void> => {
  const { command } = commandIn(parts.domain, { kind: kind.name, command: timer.run });
  const ordered = {
    kind,
    command,
    id: idIn(given.task.stream),
    form: {},
    only: conditionOf(parts.domain, kind, timer),
  };
  const isRetention = kind.retain !== undefined && timer.name === RETENTION;
  if (isRetention) await demandClocksAgree(parts);
  await give(parts, ordered, given).catch((error: unknown) => {
    if (isRetention || !(error instanceof Rejection) || error.code === 'conflict') throw error;
  });
};

/** A refused command is parked, so that operators see it. */
const runSchedule = (
  parts: Parts,
  { kind, schedule }: { readonly kind: Kind; readonly schedule: ScheduleInfo },
  given: Reacting,
): Promise<void> => {
  const { run: name, when, form, timeZone } = schedule;
  const { command } = commandIn(parts.domain, { kind: kind.name, command: name });
  const time = scheduledTime(timeZone, Date.parse(given.task.cause.metadata.at));
  const only = when === undefined ? undefined : resolve(parts.domain, kind, when);
  return give(parts, { kind, command, id: idIn(given.task.stream), form: form?.(time) ?? {}, only }, given);
};

const commandIn = (
  { kinds }: Domain,
  called: Pick<Commanded, 'kind' | 'command'>,
): Pick<Ordered, 'kind' | 'command'> => {
  const kind = kinds[called.kind];
  if (kind === undefined) throw new Error(`${called.kind} is not in the domain: add it to \`assemble\`.`);
  const command = kind.commands[called.command];
  if (command === undefined) throw new Error(`${called.kind} has no command ${called.command}.`);
  if (command.signed !== undefined)
    throw new Error(
      `${called.kind}: a person signs ${called.command}, so a reaction cannot send it: let it send an internal command.`,
    );
  return { kind, command };
};

type Ordered = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly id: number | undefined;
  readonly form: Row;
  readonly only: Expression | undefined;
};

/** Sends the command as the system, without checking rights. The same event never sends it twice. */
const give = async (
  parts: Parts,
  { kind, command, id, form, only }: Ordered,
  given: Reacting,
): Promise<void> => {
  const { executor } = parts;
  const key = `${kind.name}Id`;
  const execution = executionOf(given);
  const schema = commandSchema(kind, command);
  const type = typeOfCommand(kind, command.name);
  if (command.kind !== 'create') {
    const parsed = schema.parse({ type, [key]: id, ...form });
    const asked = {
      id: Number(id),
      form: parsed,
      only,
      isCreation: false,
      list: command.list,
      reads: readsOf(kind, command),
      command,
    };
    await executor.change(targetOf(parts, kind, asked, given), execution);
    return;
  }
  const parsed = schema.parse({ type, ...form });
  const begun = (made: number): Asked => ({
    id: made,
    form: { ...parsed, [key]: made },
    only,
    isCreation: true,
    reads: readsOf(kind, command),
    command,
  });
  await executor.create((made) => targetOf(parts, kind, begun(made), given), execution);
};

const SYSTEM = { kind: 'system', name: 'reaction' } as const;

type Asked = {
  readonly id: number;
  readonly form: Row;
  readonly only: Expression | undefined;
  readonly isCreation: boolean;
  readonly reads: readonly string[];
  readonly command: CommandInfo;
  readonly list?: ListInfo | undefined;
};

const targetOf = (
  parts: Parts,
  kind: Kind,
  { id, form, only, isCreation, list, reads, command }: Asked,
  { task, metadata }: Reacting,
): Target => {
  const { domain, limits, readReferences, demandReferences } = parts;
  const decideAll = severalOf(parts, { kind, command, metadata });
  const decider = deciderOf(domain, kind);
  return {
    decider,
    stream: streamOf(kind, id),
    async decide(state) {
      // An ended aggregate gets no more commands.
      if (state.status === 'ended') return NOTHING_MORE;
      const { fields } = isCreation
        ? creationOf(kind)(form, state)
        : state.status === 'present'
          ? state
          : { fields: { id } };
      // Nor does a removed item, nor one whose aggregate never existed.
      const item =
        list === undefined || task.task !== 'run'
          ? undefined
          : itemsOf(fields, list).find(({ id: itemId }) => itemId === form[list.id.name]);
      if (list !== undefined && task.task === 'run' && item === undefined) return NOTHING_MORE;
      if (await isOvertaken(parts, { kind, command, task, only }, item ?? fields)) return NOTHING_MORE;
      const before = await readReferences(kind, fields, { also: only, isCreation, reads });
      const seen = await readAfter(readReferences, { kind, fields, form, before }, reads);
      if (only !== undefined && !holdsOf(only)(fields, null, findBy(seen.look))) return NOTHING_MORE;
      const { happened, ...beside } = await decideAll({
        ...{ fields, form, seen, caller: SYSTEM },
        decide: (look) =>
          decider.decide(form as Row & { type: string }, state, {
            callerId: null,
            at: metadata.at,
            look,
          }),
      }).catch((error: unknown) => {
        if (!isEndedLater(domain, { kind, task, error })) throw error;
        return { happened: [] };
      });
      await demandReferences.inEvents(happened, { form: {}, fields: isCreation ? {} : fields });
      return { events: toEvents(happened), ...beside };
    },
    ...preparing(limits.announce(kind, id, metadata)),
  };
};

const NOTHING_MORE = { events: [] };

/** The id of the first event of a timer’s command. */
export const eventIdOf = (task: ReactionTask): EventId =>
  seededIds({ eventSeed: seedOf(task, ONLY), firstId: 0 }).event(0);

const seedOf = ({ task, stream, name, cause }: ReactionTask, mark: string): string =>
  v5(`${task} ${stream} ${name} ${mark}`, cause.id);

/** The id of an aggregate that a reaction creates, of the time at which its cause was made. */
export const firstIdOf = ({ id, metadata }: ReactionTask['cause'], eventSeed: string): number =>
  Math.max(madeAtMs(id, metadata) - EPOCH_MS, 1) * PER_MS +
  (Number.parseInt(eventSeed.slice(0, 8), 16) % PER_MS);

/**
 * Many imported events claim one time, or one before there were ids: all creations that they cause would have to
 * share the ids of a millisecond. Their own ids have the time of the import (RFC 9562, version 7).
 */
const madeAtMs = (id: EventId, { at, importedAt }: MetadataContext): number =>
  importedAt === undefined ? Date.parse(at) : Number.parseInt(id.replace('-', '').slice(0, 12), 16);

/** Ids derived from the causing event, so that a retry has no further effect. */
const executionOf = ({ task, mark, metadata }: Reacting): ExecutionContext => {
  const eventSeed = seedOf(task, mark);
  return {
    metadata,
    // The aggregate that a schedule creates has the id in the stream of its task.
    ids: isOfSchedule(task)
      ? seededIds({ eventSeed, firstId: idIn(task.stream) }, CELLS)
      : seededIds({ eventSeed, firstId: firstIdOf(task.cause, eventSeed) }),
    ifVersion: undefined,
    unlessVersion: undefined,
    mayBeRepeatAfter: task.cause.position ?? START,
  };
};
