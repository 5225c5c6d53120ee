import type { Position, StreamName } from '#kernel/base/brands.ts';
import { readMetadata } from '#kernel/base/events/metadata.ts';
import type { Following } from '#kernel/decide/reactions.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { type Lead, leadsIn } from '#shared/process-manager/leads.ts';
import { nameOf, reactingTo } from './fan-out.ts';
import type { Cause } from './steps.ts';
import { addTasks, type ReactionTask } from './tasks.ts';

type Link = Lead & {
  readonly child: StreamName;
  readonly cause: Cause;
  readonly acts: boolean;
  /** Also true for an imported event, after which only the end of a parent has consequences. */
  readonly isNew: boolean;
};

/**
 * Records targets of references and tasks for a page of events, in order: once, because the checkpoint moves
 * in the same transaction.
 */
export const noteReactions = async (
  connection: Connection,
  {
    following,
    after,
    catalogue,
  }: { readonly following: Following; readonly after: Position; readonly catalogue: Catalogue },
  events: readonly RecordedEvent[],
  reportDamaged: (error: unknown, event: RecordedEvent) => void,
): Promise<void> => {
  const links: Link[] = [];
  const tasks: ReactionTask[] = [];
  const marks = new Map<StreamName, { readonly position: Position; readonly cause: Cause }>();
  const flush = async (): Promise<void> => {
    tasks.push(...(await link(connection, following, links.splice(0))));
    await addTasks(connection, tasks.splice(0));
  };
  for (const event of events) {
    const meaning = meaningOf({ following, catalogue }, event, reportDamaged);
    if (meaning === undefined) continue;
    const { cause, leading } = meaning;
    const { stream, type } = event;
    const isNew = event.position > after;
    const acts = isNew && !isImported(event);
    if (following.timed.has(type)) marks.set(stream, { position: event.position, cause });
    const isCoded = acts && following.coded.has(type);
    // Tasks of an earlier event of the same aggregate come first, even if its reference changes now.
    if ((isCoded || leading.length > 0) && links.some(({ child }) => child === stream)) await flush();
    links.push(...leading.map((lead) => ({ ...lead, child: stream, cause, acts, isNew })));
    if (isCoded) tasks.push({ task: 'react', stream, name: type.slice(type.indexOf('.') + 1), cause });
    const references = referencesTo(following, event);
    if (following.reactions.has(type)) {
      await flush();
      if (isNew && references.length > 0) {
        const happened = { parent: stream, type, position: event.position, references, cause };
        const reacting = await reactingTo(connection, happened);
        await addTasks(
          connection,
          reacting.map(({ task }) => task),
        );
      }
    }
    if (following.lastingEnds.has(type)) {
      await connection.query(
        'insert into process_manager.ended (parent, type) values ($1, $2) on conflict do nothing',
        [stream, type],
      );
      await connection.query('delete from process_manager.reference where parent = $1', [stream]);
    }
    if (following.ends.has(type)) {
      await flush();
      await connection.query('delete from process_manager.reference where child = $1', [stream]);
    }
  }
  await flush();
  const marked = [...marks.values()];
  if (marks.size > 0)
    await connection.query(
      `insert into process_manager.timer_mark as known (stream, position, cause_id, cause_metadata)
       select * from unnest($1::text[], $2::bigint[], $3::uuid[], $4::jsonb[])
       on conflict (stream) do update set position = excluded.position, cause_id = excluded.cause_id, cause_metadata = excluded.cause_metadata`,
      [
        [...marks.keys()],
        marked.map(({ position }) => position),
        marked.map(({ cause }) => cause.id),
        marked.map(({ cause }) => JSON.stringify(cause.metadata)),
      ],
    );
};

/** Its consequences are imported too: a reaction would be a second one. */
const isImported = ({ metadata }: Pick<RecordedEvent, 'metadata'>): boolean =>
  metadata.importedAt !== undefined;

/** The references through which aggregates react to an event. The end of a parent still ends its children. */
export const referencesTo = (
  { reactions, parents }: Following,
  event: Pick<RecordedEvent, 'type' | 'metadata'>,
): readonly string[] => (isImported(event) ? parents : reactions).get(event.type) ?? [];

type Meaning = {
  readonly cause: Cause;
  readonly leading: readonly Lead[];
};

/**
 * Undefined if nothing follows from the event, or if it is damaged; then only its own consequences are lost.
 */
export const meaningOf = (
  { following, catalogue }: { readonly following: Following; readonly catalogue: Catalogue },
  event: RecordedEvent,
  reportDamaged: (error: unknown, event: RecordedEvent) => void,
): Meaning | undefined => {
  const { id, type, position } = event;
  const matters =
    following.leads.has(type) ||
    following.reactions.has(type) ||
    following.ends.has(type) ||
    following.coded.has(type) ||
    following.timed.has(type);
  if (!matters) return undefined;
  try {
    const metadata = readMetadata(event.metadata);
    return { cause: { id, metadata, position }, leading: leadsIn(following, catalogue, event) };
  } catch (error) {
    reportDamaged(error, event);
    return undefined;
  }
};

/** Records the targets of references, and returns tasks for references to already ended targets. */
const link = async (
  connection: Connection,
  { lastingEnds, parents }: Following,
  links: readonly Link[],
): Promise<readonly ReactionTask[]> => {
  if (links.length === 0) return [];
  const led = links.flatMap(({ parent, ...each }) => (parent === null ? [] : [{ ...each, parent }]));
  const nowhere = links.filter(({ parent }) => parent === null);
  if (nowhere.length > 0)
    await connection.query(
      `delete from process_manager.reference r using unnest($1::text[], $2::text[]) as l (child, name)
       where r.child = l.child and r.name = l.name`,
      [nowhere.map(({ child }) => child), nowhere.map(({ name }) => name)],
    );
  if (led.length === 0) return [];
  await connection.query(
    `insert into process_manager.reference (child, name, parent) select * from unnest($1::text[], $2::text[], $3::text[])
     on conflict (child, name) do update set parent = excluded.parent`,
    [led.map(({ child }) => child), led.map(({ name }) => name), led.map(({ parent }) => parent)],
  );
  if (lastingEnds.size === 0) return [];
  const { rows } = await connection.query<{ parent: StreamName; type: string }>(
    'select parent, type from process_manager.ended where parent = any($1)',
    [led.map(({ parent }) => parent)],
  );
  const ended = new Map(rows.map(({ parent, type }) => [parent, type]));
  return led.flatMap(({ child, name, parent, cause, acts, isNew }) => {
    const type = ended.get(parent);
    return type !== undefined && (acts || (isNew && parents.get(type)?.includes(name)))
      ? [{ task: 'run', stream: child, name: nameOf(name, type), cause }]
      : [];
  });
};
